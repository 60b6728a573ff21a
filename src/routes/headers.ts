import { create as createDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CacheState } from '../fetching/plan.ts';
import type { Representation } from '../render/formats.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Arrival time of the request, in milliseconds of `performance.now()`. Fastify's own timing adds
     * listeners that slow down each response.
     */
    arrivedMs: number;
  }
}

/** Value of `Cache-Control` in every reply to a request with an API key. */
export const privateCaching = 'private, no-store';

interface ReplyFacts {
  readonly representation: Representation;
  readonly source: string;
  readonly cache: CacheState;
  /** Seconds for which a shared cache may store the reply; 0 for no `s-maxage`. */
  readonly sharedCacheSeconds: number;
  readonly variesByAgent: boolean;
  /** Whether the format of the reply depends on the request header `Sec-Fetch-Mode`. */
  readonly variesByMode: boolean;
}

/** Response headers, by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

export const toCommonHeaders = (id: string): Headers => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
});

/** Adds `X-Request-Id` and `X-Content-Type-Options` to all replies, and records arrival times. */
export function setCommonHeaders(app: FastifyInstance): void {
  app.decorateRequest('arrivedMs', 0);
  app.addHook('onRequest', (request, reply, done) => {
    request.arrivedMs = performance.now();
    reply.headers(toCommonHeaders(request.id));
    done();
  });
}

/** Adds header names to the `Vary` header of a reply (RFC 9110 §12.5.5). */
export function addVary(reply: FastifyReply, ...names: readonly string[]): void {
  const present = reply.getHeader('vary');
  const listed = present === undefined ? [] : String(present).split(', ');
  reply.header('vary', [...new Set([...names, ...listed])].join(', '));
}

/** Adds `Accept-Encoding` to the value of a `Vary` header. */
export const varyByCoding = (vary: unknown): string =>
  [vary ?? [], 'Accept-Encoding'].flat().join(', ');

export function toReplyHeaders(facts: ReplyFacts): Headers & { readonly etag: string } {
  const { representation, sharedCacheSeconds } = facts;
  const { mediaType, body, fileNames: names } = representation;
  const link = toLink(representation);
  const maxAge = Math.max(
    60,
    facts.cache === 'stale' ? 0 : Math.round(representation.maxAgeSeconds ?? 0),
  );
  const shared = sharedCacheSeconds > 0 ? `s-maxage=${sharedCacheSeconds}, ` : '';
  return {
    etag: representation.etag,
    'content-type': mediaType,
    ...representation.headers,
    'content-length': String(body.length),
    // RFC 6266: only formats that are meant to be saved have a file name. `curl -J` reads only the
    // ASCII name.
    ...(names !== null && {
      'content-disposition': createDisposition(names.readable, { fallback: names.ascii }),
    }),
    'cache-control': `public, max-age=${maxAge}, ${shared}stale-while-revalidate=300`,
    ...toVary(facts),
    'x-source': facts.source,
    'x-cache': facts.cache,
    'x-result-count': String(representation.count),
    ...(link === '' ? {} : { link }),
    ...(representation.degraded ? { 'x-search-degraded': 'true' } : {}),
  };
}

/** Maximum length in bytes of a feed URL in the header `Link`. Longer URLs are omitted. */
const maxFeedUrl = 2048;

/** Returns links to oEmbed (oEmbed 1.0 §4) and Atom (RFC 8288); an empty string if none. */
function toLink({ embedUrl, feedUrl }: Representation): string {
  const isFeedLinked = feedUrl !== null && feedUrl.length <= maxFeedUrl;
  return [
    ...(embedUrl === null
      ? []
      : [`<${embedUrl}>; rel="alternate"; type="application/json+oembed"`]),
    ...(isFeedLinked ? [`<${feedUrl}>; rel="alternate"; type="application/atom+xml"`] : []),
  ].join(', ');
}

/** Returns `Vary`: the request headers on which the reply depends (RFC 9110 §12.5.5). */
function toVary({ representation, variesByAgent, variesByMode }: ReplyFacts): Headers {
  const names = [
    ...(representation.kind === 'embed' ? [] : ['Accept']),
    ...(variesByAgent ? ['User-Agent'] : []),
    ...(variesByMode && representation.kind !== 'embed' ? ['Sec-Fetch-Mode'] : []),
  ];
  return names.length === 0 ? {} : { vary: names.join(', ') };
}

const contentHeaders = [
  'content-type',
  'content-length',
  'content-disposition',
  'content-encoding',
];

/** Returns all headers except those about the content (RFC 9110 §15.4.5). */
export function toNotModifiedHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !contentHeaders.includes(name)),
  );
}
