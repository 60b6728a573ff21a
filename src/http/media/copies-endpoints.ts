import { z } from 'zod';
import { copiesPath } from '../../archive/media/media-links.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import { mediaExtensions } from '../../core/files/media-type.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';

const content = Object.fromEntries(
  Object.keys(mediaExtensions).map((type) => [type, 'binary'] as const),
);

const headers = {
  ...listEndpointHeaders(['ETag']),
  'Accept-Ranges': { description: '`bytes`: the route supports the header `Range`.' },
  'Cross-Origin-Resource-Policy': { description: '`cross-origin`.' },
};

/** Route that serves the pictures, videos and sounds of imports and of the sample. */
export const copiesEndpoints: readonly Endpoint[] = [
  {
    id: 'getArchivedFile',
    method: 'GET',
    path: `${copiesPath}{hash}`,
    tag: 'media',
    title: 'Get a picture, video or sound of an imported archive',
    summary:
      'Returns a picture, video or sound of an imported archive, or a picture of the sample.',
    description:
      'The file never changes, because its path contains the hash of its content. With the header `Range`, the response contains one part of the file.',
    parameters: {
      path: z.object({
        hash: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe('SHA-256 hash of the file, in lower-case hexadecimal.'),
      }),
      header: z.object({
        Range: z
          .string()
          .optional()
          .describe('Requested part of the file, such as `bytes=0-1023`.'),
      }),
    },
    replies: [
      { status: 200, description: 'The file.', content, headers },
      {
        status: 206,
        description: 'A part of the file.',
        content,
        headers: {
          ...headers,
          'Content-Range': { description: 'The part and the size of the file.' },
        },
      },
      { status: 304, description: 'The caller’s copy is still current.', headers },
    ],
    problems: ['not_found', 'range_not_satisfiable', 'overloaded'],
    access: 'open',
  },
];
