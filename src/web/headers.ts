import { create as createDisposition } from 'content-disposition';
import type { FastifyInstance } from 'fastify';
import type { CacheState } from '../fetching/plan.ts';
import type { Representation } from '../render/formats.ts';

export interface ReplyFacts {
  readonly representation: Representation;
  readonly source: string;
  readonly cache: CacheState;
  /** Seconds that a shared cache may keep the reply; 0 says nothing of it. */
  readonly sharedCacheSeconds: number;
  readonly variesByAgent: boolean;
  readonly variesByKey: boolean;
}

/** Response headers, by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** Adds `X-Request-Id` and `X-Content-Type-Options` to each reply that goes through Fastify's `send`. */
export function setCommonHeaders(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
  });
}

type HeaderPolicy = (facts: ReplyFacts) => Headers;

/** RFC 9110 §8.3, §8.6; RFC 6266 for what is meant to be saved. */
const content: HeaderPolicy = ({ representation: { mediaType, body, fileName } }) => ({
  'content-type': mediaType,
  'content-length': String(body.length),
  ...(fileName === null ? {} : { 'content-disposition': createDisposition(fileName) }),
});

/** A minute in the caller's own cache, validated by a strong entity tag. */
const caching: HeaderPolicy = ({ representation, sharedCacheSeconds }) => ({
  etag: representation.etag,
  'cache-control': `public, max-age=60, ${
    sharedCacheSeconds > 0 ? `s-maxage=${sharedCacheSeconds}, ` : ''
  }stale-while-revalidate=300`,
});

/** Names the request headers that chose a reply (RFC 9110 §12.5.5); an oEmbed document is the same for everybody. */
const variation: HeaderPolicy = ({ representation, variesByAgent, variesByKey }) => {
  const names = [
    ...(representation.kind === 'embed' ? [] : ['Accept']),
    ...(variesByKey ? ['Authorization'] : []),
    ...(variesByAgent ? ['User-Agent'] : []),
  ];
  return names.length === 0 ? {} : { vary: names.join(', ') };
};

/** Who answered, whether from the cache, and how much. */
const provenance: HeaderPolicy = ({ source, cache, representation }) => ({
  'x-source': source,
  'x-cache': cache,
  'x-result-count': String(representation.count),
});

/** oEmbed 1.0 §4: where the post's oEmbed document is (RFC 8288). */
const embedding: HeaderPolicy = ({ representation: { embedUrl } }) =>
  embedUrl === null
    ? {}
    : { link: `<${embedUrl}>; rel="alternate"; type="application/json+oembed"` };

/** The results of a search are not live. */
const degradation: HeaderPolicy = ({ representation: { degraded } }) =>
  degraded ? { 'x-search-degraded': 'true' } : {};

const policies: readonly HeaderPolicy[] = [
  content,
  caching,
  variation,
  provenance,
  embedding,
  degradation,
];

/** Returns the headers of a read's reply, by every policy in order. */
export function toReplyHeaders(facts: ReplyFacts): Headers & { readonly etag: string } {
  return Object.assign({ etag: '' }, ...policies.map((policy) => policy(facts)));
}

/** The headers that a 304 repeats (RFC 9110 §15.4.5); those of the content stay away. */
export function toNotModifiedHeaders(headers: Headers): Headers {
  const {
    'content-type': _type,
    'content-length': _length,
    'content-disposition': _disposition,
    ...rest
  } = headers;
  return rest;
}
