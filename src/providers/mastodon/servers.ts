import type { Clock } from '../../lib/clock.ts';
import { createExpiringCache } from '../../lib/expiring-cache.ts';
import type { HttpAnswer, HttpClient, RequestContext } from '../../lib/http/http-client.ts';
import { publicHostOf } from '../../lib/http/public-host.ts';
import { ProviderError, type ProviderErrorOptions } from '../../normalize/provider-error.ts';
import { toUnavailability } from '../../normalize/unavailable.ts';
import { createMalformed, toMissing } from '../failure.ts';
import { type CallHost, createAskHost, toHostFailure } from '../hosts.ts';
import { isBody } from '../upstream.ts';

export interface FoundReply {
  readonly is: 'found';
  readonly body: unknown;
  header(name: string): string | undefined;
}

/** Response. `absent`: 404. `suspended`: 410, sent by older versions for suspended accounts. */
export type Reply = FoundReply | { readonly is: 'absent' } | { readonly is: 'suspended' };

interface NoApi {
  readonly is: 'no api';
  /** Host to which it redirects; `null` if not public, `undefined` without a redirect. */
  readonly to: string | null | undefined;
  /** URL to which the response redirects; absent if it does not redirect. */
  readonly location?: URL;
  readonly failure: ProviderError;
}

/**
 * Function that sends a GET request to a host.
 * @throws ProviderError if the host fails; Problem `overloaded` if too many requests to the host
 *   are in flight; the errors of `context.takeRequest` and `context.takeBytes`
 */
export type FetchFrom = (
  host: string,
  path: string,
  context: RequestContext,
) => Promise<Reply | NoApi>;

export interface ServersOptions {
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly callHost: CallHost;
}

/** Paths of the API that a host does not have are not requested again for this time. */
const memoryOfAbsence = { max: 4096, ttlMs: 300_000 };

/** Creates the function that sends requests within the limits of each host. */
export function createServers({ http, ...options }: ServersOptions): FetchFrom {
  const askHost = createAskHost({ ...options, get: http.get });
  const absent = createExpiringCache<NoApi>(options.clock, memoryOfAbsence);
  return async (host, path, context) => {
    const [, api, version, resource] = path.split(/[/?]/, 4);
    const key = api === 'api' ? `${host} ${version} ${resource}` : null;
    const known = key === null ? undefined : absent.get(key);
    if (known !== undefined) return known;
    const url = new URL(`https://${host}${path}`);
    const reply = await askHost(url, context, (answer) =>
      answer instanceof URL ? toRedirected(answer) : toReply(answer, host),
    );
    if (key !== null && reply.is === 'no api') absent.set(key, reply);
    return reply;
  };
}

function toRedirected(location: URL): NoApi {
  const failure = createUnreadable(undefined, { isUnsupported: true });
  return { is: 'no api', to: publicHostOf(location), location, failure };
}

function refuseReaders({ status }: HttpAnswer, host: string): void {
  const fault = refusals.get(status);
  if (fault === undefined) return;
  throw toHostFailure('unavailable', `The server ${host} ${fault}`, { isUnsupported: true });
}

function toReply(answer: HttpAnswer, host: string): Reply | NoApi {
  const { status, mediaType, header, text } = answer;
  refuseReaders(answer, host);
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(mediaType)) return toNoApi(status, host);
  const body = parseJson(text);
  if (status === 200) return { is: 'found', body, header };
  if (status !== 404 && status !== 410) throw createUnreadable();
  // Other software also sends 404 with JSON, so the body must have the form of Mastodon's errors.
  if (!isBody(body) || typeof body.error !== 'string') return toNoApi(status, host);
  return { is: status === 404 ? 'absent' : 'suspended' };
}

const refusals: ReadonlyMap<number, string> = new Map([
  [401, 'requires a login for reading.'],
  [403, 'refuses requests from this server.'],
  [422, 'requires a login for this.'],
]);

function toNoApi(status: number, host: string): NoApi {
  const message = `The server ${host} does not have the API of Mastodon.`;
  const failure =
    status === 200
      ? createUnreadable(undefined, { isUnsupported: true })
      : toHostFailure('unavailable', message, { isUnsupported: true });
  return { is: 'no api', to: undefined, failure };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw createUnreadable(error);
  }
}

export const createUnreadable = (
  cause?: unknown,
  options: ProviderErrorOptions = {},
): ProviderError => toHostFailure('malformed', createMalformed().message, { ...options, cause });

export const createUnavailable = (sentence: string): ProviderError =>
  toHostFailure('unavailable', sentence);

const missing = {
  post: 'The server has no such post, or the post is not public.',
  account: 'The server has no such account.',
} as const;

/** Returns a successful reply. Throws ProviderError `missing` for 404 and 410 (suspended). */
export function expectFound(reply: Reply, what: keyof typeof missing): FoundReply {
  if (reply.is === 'found') return reply;
  throw reply.is === 'absent' ? new ProviderError('missing', missing[what]) : createSuspended();
}

export const createSuspended = (): ProviderError =>
  toMissing(toUnavailability('suspended', 'This account is suspended.'));
