import type { FastifyReply, FastifyRequest } from 'fastify';

/** The web origins whose pages may use sessions; `*` for any. None: CORS is off. */
export type Origins = readonly string[];

/** The headers that such a page may read. */
const exposed = [
  'X-Eve-Session-Id',
  'X-Session-Id',
  'X-Request-Id',
  'X-Eve-Stream-Version',
  'X-Stream-Version',
  'X-Eve-Stream-Format',
  'X-Stream-Format',
  'X-Eve-Stream-Tail-Index',
  'X-Stream-Tail-Index',
  'X-Accel-Buffering',
  'Location',
  'Retry-After',
].join(', ');

/** The headers that it may send. */
const sendable = 'X-Continuation-Token, Authorization, Content-Type, Idempotency-Key';

/** Gives the headers that let the page of a request read the reply; none where it may not. */
export function toCorsHeaders(
  { headers: { origin } }: Pick<FastifyRequest, 'headers'>,
  origins: Origins,
): Readonly<Record<string, string>> {
  if (origins.length === 0) return {};
  const isAny = origins.includes('*');
  const vary: Record<string, string> = isAny ? {} : { vary: 'Origin' };
  if (origin === undefined || !(isAny || origins.includes(origin))) return vary;
  return {
    ...vary,
    'access-control-allow-origin': isAny ? '*' : origin,
    'access-control-expose-headers': exposed,
  };
}

/** Tells whether a request asks what another one may do (Fetch standard, CORS-preflight request). */
export function isSessionPreflight(request: FastifyRequest, origins: Origins): boolean {
  const { method, headers } = request;
  return (
    origins.length > 0 &&
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/** Answers it: only a page that may read the reply learns what it may send. */
export function answerPreflight(reply: FastifyReply, allow: readonly string[]): FastifyReply {
  return reply
    .code(204)
    .headers({
      'access-control-allow-methods': allow.join(', '),
      'access-control-allow-headers': sendable,
      'access-control-max-age': '86400',
    })
    .send();
}
