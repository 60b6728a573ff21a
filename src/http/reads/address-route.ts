import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Endpoint } from '../../core/endpoint.ts';
import { joinParameters, parseQuery } from '../../core/http/query.ts';
import { Problem } from '../../core/problem.ts';
import { jsonFeed } from '../../model/json-feed.ts';
import { browseReply, postReply } from '../../model/results.ts';
import { findWholeUrl, parseAddress } from '../../reads/addresses/address.ts';
import type { ReadId } from '../../reads/index.ts';
import { routeNotFound } from '../../web/errors.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';
import type { ReadEndpoint, ReadRoutesOptions } from './read-routes.ts';
import { findVersioned, surfaceOf } from './routes.ts';

/**
 * Route paths for a complete URL in the path: with `//`, with `//` merged to `/`, or percent-encoded as one segment.
 */
export const addressPaths = ['/https::/*', '/http::/*', '/:address(^https?:.+$)'] as const;

/**
 * Creates the endpoint for paths that contain a complete URL. The endpoint returns the post,
 * account, list or search at this URL.
 */
export function createAddressEndpoint({ context }: ReadRoutesOptions): ReadEndpoint {
  /** Parses the URL in the path of a request. @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` */
  const parseUrl = (request: FastifyRequest) => {
    const url = findWholeUrl(request.raw.url ?? '');
    if (url === null) throw routeNotFound(request);
    try {
      return parseAddress(url, context, 'The URL in the path');
    } catch (error) {
      throw error instanceof Problem ? error.with({ param: 'address' }) : error;
    }
  };
  const readIdOf = (request: FastifyRequest): ReadId => {
    try {
      return parseUrl(request).read;
    } catch {
      return 'getPost'; // The handler throws the same error again.
    }
  };
  return {
    // A request uses the quota of its read operation. An invalid URL is treated as the URL of a post.
    config: { allowance: (request) => surfaceOf(findVersioned(readIdOf(request))) },
    isRoute: () => true,
    // Link previews are available at the permalinks of posts only.
    hasPreviews: false,
    toRequestedRead: (request) => {
      const { read, given } = parseUrl(request);
      return { read, given: joinParameters(parseQuery(request.raw.url ?? ''), given) };
    },
  };
}

export const addressProblems = ['invalid_url', 'unsupported_host', 'invalid_path'] as const;

export const upstreamProblems = [
  'upstream_error',
  'upstream_unavailable',
  'upstream_rate_limited',
  'overloaded',
] as const;

/** Option for response headers that only some of the read operations send. */
const onSomeReads = { isOptional: true } as const;

const replyHeaders = {
  ...listEndpointHeaders(['ETag', 'X-Source', 'X-Cache', 'X-Result-Count']),
  ...listEndpointHeaders(['Link', 'X-Search-Degraded'], onSomeReads),
};

export const addressEndpoints: readonly Endpoint[] = [
  {
    id: 'readAddress',
    method: 'GET',
    path: '/https://{address}',
    tag: 'permalink',
    summary: 'Reads the post, account, list of accounts or search that a whole URL stands for.',
    description:
      'The URL is one of X, its mirrors, Bluesky, a Mastodon server or this server. It may be percent-encoded, start with `http:` instead of `https:`, and have one slash after the scheme instead of two. The parameters, the body and the allowance are those of the read under `/api/v1`.',
    parameters: {
      path: z.object({
        address: z.string().describe('The URL without its scheme, such as `x.com/jack/status/20`.'),
      }),
    },
    headers: {
      ...listEndpointHeaders(['Vary'], onSomeReads),
      ...listEndpointHeaders(['X-Api-Key-Status', 'RateLimit-Policy', 'RateLimit'], onSomeReads),
    },
    replies: [
      {
        status: 200,
        description: 'The result of the read.',
        content: {
          'text/markdown': 'text',
          'application/json': z.union([postReply, browseReply]),
          'text/html': 'text',
          'application/atom+xml': 'text',
          'application/rss+xml': 'text',
          'application/feed+json': jsonFeed,
        },
        headers: replyHeaders,
      },
      { status: 304, description: 'The caller’s copy is still current.', headers: replyHeaders },
    ],
    problems: [
      ...addressProblems,
      ...(['missing_query', 'invalid_query', 'invalid_handle', 'invalid_params'] as const),
      ...(['invalid_feed', 'invalid_cursor', 'invalid_format', 'invalid_thread'] as const),
      ...(['invalid_context', 'invalid_replies', 'invalid_userinfo'] as const),
      'unsupported_platform',
      'not_found',
      ...upstreamProblems,
    ],
    access: 'key',
  },
];
