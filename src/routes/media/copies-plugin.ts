import { type FileHandle, open } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { CopyReader, StoredCopy } from '../../archive/media/copy-reader.ts';
import { copiesPath } from '../../archive/media/media-rows.ts';
import { mediaExtensions } from '../../lib/files/media-type.ts';
import { isCode } from '../../lib/files/private-files.ts';
import { matchesEtag } from '../../lib/http/accept.ts';
import { Problem } from '../../lib/problem.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import { toNotModifiedHeaders } from '../headers.ts';
import type { Identification } from '../key-status/plugin.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';
import { declareRoutes, serveRoutes } from '../route.ts';
import { type ByteRange, parseRange, sendFile } from './send-file.ts';

interface CopiesOptions {
  readonly identification: Pick<Identification, 'clientOf'>;
  readonly copies: CopyReader;
  readonly quotas: Quotas;
}

/** Registers the route that serves the media of imported archives and of the sample. */
export async function copiesPlugin(app: FastifyInstance, options: CopiesOptions) {
  type Found = FastifyRequest<{ Params: { hash: string } }>;
  const answer = async (request: Found, reply: FastifyReply) => {
    const copy = findCopy(request.params.hash, options.copies);
    const headers = toHeaders(copy);
    if (matchesEtag(request.headers['if-none-match'], headers.etag)) {
      return reply.code(304).headers(toNotModifiedHeaders(headers)).send();
    }
    const range = readRange(request, reply, { etag: headers.etag, bytes: copy.bytes });
    const file = await openCopy(copy);
    return sendFile(reply, file, { ...options, headers, range, bytes: copy.bytes });
  };
  serveRoutes(app, copiesRoutes, { getArchivedFile: answer });
}

function findCopy(hash: string, copies: CopyReader): StoredCopy {
  const copy = /^[0-9a-f]{64}$/.test(hash) ? copies.find(hash) : undefined;
  if (copy === undefined) throw notStored();
  return copy;
}

const notStored = (): Problem =>
  new Problem('not_found', {
    detail: 'The archive of this server has no public file with this SHA-256 hash.',
    resolution: 'Read the post again, and use the URLs in its `media`.',
  });

async function openCopy({ path, bytes }: StoredCopy): Promise<FileHandle> {
  const file = await open(path).catch((cause: unknown) => {
    throw isCode(cause, 'ENOENT') ? notStored() : cause;
  });
  const { size } = await file.stat();
  if (size === bytes) return file;
  await file.close();
  throw notStored();
}

const toHeaders = ({ hash, type }: StoredCopy) => ({
  etag: `"${hash}"`,
  'accept-ranges': 'bytes',
  'content-type': type,
  'content-disposition': 'inline',
  // The files come from an export, so browsers must not run anything in them.
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=31536000, immutable',
});

/** Returns `null` for the whole file. Throws `range_not_satisfiable` if the part is missing. */
function readRange(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { etag, bytes }: { readonly etag: string; readonly bytes: number },
): ByteRange | null {
  const condition = headers['if-range'];
  // RFC 9110 §13.1.5: a client with another version of the file gets the whole file.
  if (condition !== undefined && condition !== etag) return null;
  const range = parseRange(headers.range, bytes);
  if (range !== 'unsatisfiable') return range;
  reply.header('content-range', `bytes */${bytes}`);
  throw new Problem('range_not_satisfiable', {
    detail: `The file has ${bytes} bytes, and the header \`Range\` asks for bytes after its end.`,
  });
}

const content = Object.fromEntries(
  Object.keys(mediaExtensions).map((type) => [type, 'binary'] as const),
);

const headers = {
  ...listEndpointHeaders(['ETag']),
  'Accept-Ranges': { description: '`bytes`: the route supports the header `Range`.' },
  'Cross-Origin-Resource-Policy': { description: '`cross-origin`.' },
};

/** Route that serves the pictures, videos and sounds of imports and of the sample. */
export const copiesRoutes = declareRoutes(
  { method: 'GET', tag: 'media', access: 'open' },
  {
    getArchivedFile: {
      path: `${copiesPath}{hash}`,
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
    },
  },
);
