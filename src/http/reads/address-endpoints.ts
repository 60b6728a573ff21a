import { z } from 'zod';
import type { Endpoint } from '../../core/endpoint.ts';
import { browseReply, postReply } from '../../model/results.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';

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
        content: {
          'text/markdown': 'text',
          'application/json': z.union([postReply, browseReply]),
        },
        headers: ofReply,
      },
      { status: 304, description: 'The caller has it already.', headers: ofReply },
    ],
    problems: [
      'invalid_url',
      'unsupported_host',
      'invalid_path',
      'missing_query',
      'invalid_query',
      'invalid_handle',
      'invalid_params',
      'invalid_feed',
      'invalid_cursor',
      'invalid_format',
      'invalid_thread',
      'invalid_context',
      'invalid_replies',
      'invalid_userinfo',
      'unsupported_platform',
      'not_found',
      'upstream_error',
      'upstream_unavailable',
      'upstream_rate_limited',
      'overloaded',
    ],
    access: 'key',
  },
];
