import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Endpoint } from '../../core/endpoint.ts';
import { joinParameters, parseQuery } from '../../core/http/query.ts';
import { browseReply, postReply } from '../../model/results.ts';
import { readAddress, wholeUrlIn } from '../../reads/addresses/address.ts';
import type { ReadId } from '../../reads/index.ts';
import { routeNotFound } from '../../web/errors.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';
import type { Answering, ReadRoutesOptions } from './read-routes.ts';
import { findVersioned, surfaceOf } from './routes.ts';

/** The paths that are a whole URL: as it is, with merged slashes, and percent-encoded as one segment. */
export const addressPaths = ['/https::/*', '/http::/*', '/:address(^https?:.+$)'] as const;

/** Creates the answers to whole URLs: each is that of the read which the URL stands for. */
export function createAddressAnswering({ context }: ReadRoutesOptions): Answering {
  /** @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` */
  const readUrl = (request: FastifyRequest) => {
    const url = wholeUrlIn(request.raw.url ?? '');
    if (url === null) throw routeNotFound(request);
    return readAddress(url, context, 'The address in the path');
  };
  const readIdOf = (request: FastifyRequest): ReadId => {
    try {
      return readUrl(request).read;
    } catch {
      return 'getPost'; // The handler throws the same, and answers with it.
    }
  };
  return {
    // The allowance is that of the read; a URL that stands for none is treated as that of a post.
    config: { allowance: (request) => surfaceOf(findVersioned(readIdOf(request))) },
    isRoute: () => true,
    // The short paths have them.
    hasPreviews: false,
    toAsked: (request) => {
      const { read, given } = readUrl(request);
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

/** Which of them a reply has depends on the read. */
const ofSome = { isOptional: true } as const;

const ofReply = {
  ...listEndpointHeaders(['ETag', 'X-Source', 'X-Cache', 'X-Result-Count']),
  ...listEndpointHeaders(['Link', 'X-Search-Degraded'], ofSome),
};

export const addressEndpoints: readonly Endpoint[] = [
  {
    id: 'readAddress',
    method: 'GET',
    path: '/https://{address}',
    tag: 'permalink',
    summary:
      'Reads what a whole URL stands for: a post, an account, a list of accounts or a search.',
    description:
      'The URL is one of X, of its mirrors, of Bluesky, of a Mastodon server or of this server. It may be percent-encoded, have `http:` in place of `https:`, and one slash where two were merged. The parameters, the body and the allowance are those of the read under `/api/v1`.',
    parameters: {
      path: z.object({
        address: z.string().describe('The URL without its scheme, such as `x.com/jack/status/20`.'),
      }),
    },
    headers: {
      ...listEndpointHeaders(['Vary'], ofSome),
      ...listEndpointHeaders(['X-Api-Key-Status', 'RateLimit-Policy', 'RateLimit'], ofSome),
    },
    replies: [
      {
        status: 200,
        description: 'What was read.',
        content: { 'text/markdown': 'text', 'application/json': z.union([postReply, browseReply]) },
        headers: ofReply,
      },
      { status: 304, description: 'The caller has it already.', headers: ofReply },
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
