import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { joinParameters, parseQuery, parseUrl } from '../../lib/http/url.ts';
import { Problem } from '../../lib/problem.ts';
import { isPlatformHost } from '../../model/addresses/address.ts';
import { jsonFeed } from '../../model/json-feed.ts';
import { listReply, postReply } from '../../model/results.ts';
import {
  type AddressedRead,
  type AddressOptions,
  encodedUrl,
  findWholeUrl,
  parseAddress,
  toTypedUrl,
} from '../../reads/addresses/address.ts';
import { getPost } from '../../reads/get-post.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';
import { routeNotFound } from '../problems.ts';
import { declareRoutes } from '../route.ts';
import type { ReadEndpoint, ReadRoutesOptions } from './read-routes.ts';
import { findVersioned, surfaceOf } from './routes.ts';

/** Route paths for an encoded or a segmented address. The second has the lowest priority of all. */
export const addressPaths = ['/:address(^(?:https?|at):.+$)', '/:address/*'] as const;

/** Creates the endpoint for paths that contain an address, even without scheme: `/x.com/jack`. */
export function createAddressEndpoint({ context }: ReadRoutesOptions): ReadEndpoint {
  const find = (request: FastifyRequest) => findAddressedRead(request.raw.url ?? '', context);
  return {
    // A request uses the quota of its read operation. An invalid URL is treated as the URL of a
    // post.
    config: {
      allowance: (request) => {
        const found = find(request);
        if (found === null) return null;
        return surfaceOf(findVersioned(found instanceof Problem ? 'getPost' : found.read));
      },
    },
    isRoute: (request) => find(request) !== null,
    // Link previews are available at the permalinks of posts only.
    hasPreviews: false,
    toRequestedRead: (request) => {
      const found = find(request);
      if (found === null) throw routeNotFound(request);
      if (found instanceof Problem) throw found;
      return {
        read: found.read,
        given: joinParameters(parseQuery(request.raw.url ?? ''), found.given),
      };
    },
  };
}

function findAddressedRead(
  target: string,
  context: AddressOptions,
): AddressedRead | Problem | null {
  const whole = findWholeUrl(target);
  const typed = whole ?? toTypedUrl(target.replace(/^\/+/, ''), context);
  if (typed === null) return null;
  try {
    const found = parseAddress(typed, context, subject);
    return 'url' in found.given ? readObject(target, whole, context) : found;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const host = parseUrl(typed)?.hostname ?? '';
    if (whole === null && !isPlatformHost(host, context)) return null;
    return error.with({ param: 'address' });
  }
}

const subject = 'The URL in the path';

/** Returns the read of an object by its exact URL; `null` for a path that may be no URL. */
const readObject = (target: string, whole: string | null, context: AddressOptions) =>
  whole === null ? null : parseAddress(toObjectUrl(target, whole), context, subject);

/**
 * Returns the URL of an object, without the parameters of the request. They are those after an
 * encoded URL, and those of a post in the query of a plain one.
 */
function toObjectUrl(target: string, whole: string): string {
  const [path = ''] = target.split('?');
  if (encodedUrl.test(path)) return findWholeUrl(path) ?? whole;
  const [page = '', ...queries] = whole.split('?');
  const pairs = queries.join('?').split('&');
  const kept = pairs.filter((pair) => !parametersOfPosts.has(pair.split('=')[0] ?? ''));
  return kept.join('&') === '' ? page : `${page}?${kept.join('&')}`;
}

const parametersOfPosts: ReadonlySet<string> = new Set(
  Object.keys(getPost.params.shape).filter((name) => !['url', 'handle', 'id'].includes(name)),
);

export const addressProblems = ['invalid_url', 'unsupported_host', 'invalid_path'] as const;

export const upstreamProblems = [
  'upstream_error',
  'upstream_unavailable',
  'upstream_rate_limited',
  'overloaded',
] as const;

const onSomeReads = { isOptional: true } as const;

const replyHeaders = {
  ...listEndpointHeaders(['ETag', 'X-Source', 'X-Cache', 'X-Result-Count']),
  ...listEndpointHeaders(['Link', 'X-Search-Degraded'], onSomeReads),
};

export const addressRoutes = declareRoutes(
  { method: 'GET', tag: 'permalink', access: 'key' },
  {
    readAddress: {
      path: '/https://{address}',
      topic: 'posts',
      title: 'Read a whole URL',
      summary: 'Reads the post, account, list of accounts or search that a whole URL stands for.',
      description:
        'The URL is one of X, its mirrors, Bluesky, a server of the fediverse or this server. It may be percent-encoded, start with `http:` instead of `https:`, and have one slash after the scheme instead of two. The parameters, the body and the allowance are those of the read under `/api/v1`.',
      parameters: {
        path: z.object({
          address: z
            .string()
            .describe('The URL without its scheme, such as `x.com/jack/status/20`.'),
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
            'application/json': z.union([postReply, listReply]),
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
    },
  },
);
