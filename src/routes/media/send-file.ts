import type { FileHandle } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import { overloadedByReplies, releaseAtEnd } from '../admission/body-limits.ts';
import type { Headers } from '../headers.ts';
import type { Identification } from '../key-status/plugin.ts';

/** Buffer size in bytes, which counts toward the limits on unread reply bytes. */
const bufferBytes = 65_536;

interface SendOptions {
  readonly identification: Pick<Identification, 'clientOf'>;
  readonly quotas: Quotas;
  readonly headers: Headers;
  readonly range: ByteRange | null;
  readonly bytes: number;
}

/** Sends a file or a part of it. Closes the file even if the client disconnects. */
export async function sendFile(
  reply: FastifyReply,
  file: FileHandle,
  { headers, range, bytes, quotas, identification }: SendOptions,
) {
  const { start, end } = range ?? { start: 0, end: bytes - 1 };
  const length = end - start + 1;
  const hold = quotas.open('replyBytes', identification.clientOf(reply.request));
  const isHead = reply.request.method === 'HEAD';
  if (!isHead && !hold.take(Math.min(length, bufferBytes))) {
    await file.close();
    throw overloadedByReplies();
  }
  reply.code(range === null ? 200 : 206).headers({ ...headers, 'content-length': String(length) });
  if (range !== null) reply.header('content-range', `bytes ${start}-${end}/${bytes}`);
  if (isHead) {
    await file.close();
    return reply.send();
  }
  const content = file.createReadStream({ start, end, highWaterMark: bufferBytes });
  releaseAtEnd(reply, () => {
    hold.release();
    content.destroy(); // closes the file
  });
  return reply.send(content);
}

/** Offsets of the first and the last byte, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses the header `Range` (RFC 9110 §14.1.2). Returns `null` for the whole file: if the header is
 * missing or invalid, has another unit than bytes, or several ranges.
 */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? [];
  if (first === '') return last === '' ? null : findSuffix(Number(last), size);
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

function findSuffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  return length === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 };
}
