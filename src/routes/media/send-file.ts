import type { FileHandle } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import type { Headers } from '../../web/headers.ts';
import { overloadedByReplies, releaseAtEnd } from '../../web/unread-bodies.ts';
import type { Identification } from '../key-status/plugin.ts';
import type { ByteRange } from './range.ts';

/** Buffer size in bytes, which counts toward the limits on unread reply bytes. */
const bufferBytes = 65_536;

interface SendOptions extends Pick<Identification, 'clientOf'> {
  readonly ledger: Quotas;
  readonly headers: Headers;
  readonly range: ByteRange | null;
  readonly bytes: number;
}

/** Sends a file or a part of it. Closes the file even if the client disconnects. */
export async function sendFile(
  reply: FastifyReply,
  file: FileHandle,
  { headers, range, bytes, ledger, clientOf }: SendOptions,
) {
  const { start, end } = range ?? { start: 0, end: bytes - 1 };
  const length = end - start + 1;
  const hold = ledger.open('replyBytes', clientOf(reply.request));
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
