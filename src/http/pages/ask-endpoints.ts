import { z } from 'zod';
import type { Endpoint } from '../../core/endpoint.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';
import { askPath, maxQueryLength } from './paths.ts';

const headers = listEndpointHeaders(['ETag', 'Vary']);

/** The route on which the documentation is asked; only a server with sessions has it. */
export const askEndpoints: readonly Endpoint[] = [
  {
    id: 'askDocs',
    method: 'GET',
    path: askPath,
    tag: 'pages',
    summary:
      'Answers a question from the documentation, with its sources; HTML, or Markdown where `Accept` prefers it.',
    parameters: {
      query: z.object({
        q: z
          .string()
          .max(maxQueryLength)
          .optional()
          .describe('The question; HTML without it is the form alone, Markdown needs it.'),
      }),
    },
    replies: [
      {
        status: 200,
        description: 'The answer. A page also where it could not be given: then it says why.',
        content: { 'text/html': 'text', 'text/markdown': 'text' },
        headers,
      },
      { status: 304, description: 'The caller has it already.', headers },
    ],
    problems: [
      'missing_query',
      'invalid_query',
      'invalid_option',
      'route_not_found',
      'rate_limited',
      'overloaded',
      'not_ready',
    ],
    access: 'open',
  },
];
