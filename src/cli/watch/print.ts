import { toIsoSeconds } from '../../core/clock.ts';
import type { Status } from '../../model/post.ts';
import { renderPostBlock } from '../../render/markdown/post-block.ts';
import { toThread } from '../../render/markdown/thread.ts';
import type { Output } from '../output/output.ts';
import { toJsonLines } from '../output/table.ts';

export const printFormats = ['text', 'ndjson'] as const;
export type PrintFormat = (typeof printFormats)[number];

interface PrintOptions {
  readonly format: PrintFormat;
  readonly nowMs: number;
  /** Signal that ends the wait for a slow reader of the output, for example the program `less`. */
  readonly stop: AbortSignal;
}

/** Prints a post. Returns whether the whole post was written to the output. */
export async function printPost(
  post: Status,
  stdout: Output,
  { format, nowMs, stop }: PrintOptions,
): Promise<boolean> {
  if (format === 'ndjson') stdout.writeJson(toJsonLines([post]));
  else stdout.write(`${toText(post, nowMs)}\n\n`);
  return untilWritten(stdout, stop);
}

function toText(post: Status, nowMs: number): string {
  const thread = toThread([]);
  const context = { thread, owner: null, position: null, isRequested: false, level: 2 };
  const fetchedAt = toIsoSeconds(nowMs);
  return renderPostBlock(post, context, { full: false, fetchedAt, articles: 'preview' });
}

function untilWritten({ stream, hasLeft }: Output, stop: AbortSignal): Promise<boolean> {
  if (stream === null || hasLeft) return Promise.resolve(!hasLeft);
  return new Promise((resolve) => {
    const abandon = () => resolve(false);
    stop.addEventListener('abort', abandon, { once: true });
    stream.write('', (error) => {
      stop.removeEventListener('abort', abandon);
      resolve(error === null || error === undefined);
    });
  });
}
