import type { Hold } from '../core/ledger.ts';
import { Problem } from '../core/problem.ts';
import { createHistoryDocument } from '../render/history.ts';
import type { SentHistory } from './history-lines.ts';
import { overloadedByReplies } from './reply-bytes.ts';

/** Maximum size of a history as one JSON document, in bytes. */
const maxDocumentBytes = 16_777_216;

/**
 * Reads a history to its end and returns it as one JSON document.
 *
 * @param hold Takes the bytes of the document (`replyBytes`).
 * @throws Problem `invalid_option` for a document over 16 MiB; `overloaded`; see `PostStream.next`
 */
export async function readHistoryJson({ about, posts }: SentHistory, hold: Hold): Promise<Buffer> {
  const document = createHistoryDocument(about);
  const pieces: Buffer[] = [];
  let size = 0;
  const write = (text: string): void => {
    const piece = Buffer.from(text);
    size += piece.length;
    if (size > maxDocumentBytes) throw tooLarge();
    if (!hold.take(piece.length)) throw overloadedByReplies();
    pieces.push(piece);
  };
  write(document.begin());
  let step = await posts.next();
  for (; step.done !== true; step = await posts.next()) {
    write(document.add(step.value));
  }
  write(document.end(step.value));
  return Buffer.concat(pieces);
}

function tooLarge(): Problem {
  const mebibytes = maxDocumentBytes / 1_048_576;
  return new Problem('invalid_option', {
    detail: `The history is over ${mebibytes} MiB as one JSON document. Send \`format=ndjson\`, which has no limit, or a smaller \`max_posts\`.`,
  });
}
