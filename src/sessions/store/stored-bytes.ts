import type { EventDraft } from '../events.ts';

/** Bytes of a session's own rows and of their places in indexes, with its tombstone. */
export const emptySessionBytes = 1024;
/** Bytes of the row that remembers an `Idempotency-Key`. */
export const onceBytes = 512;

/** Returns the bytes that a message takes: in its row, and twice in its `message.received` event. */
export function toMessageBytes(text: string): number {
  const escaped = Buffer.byteLength(JSON.stringify(text));
  return toRowBytes(Buffer.byteLength(text)) + toRowBytes(2 * escaped);
}

/** Returns the bytes that an event takes; a message's own event was counted when it was accepted. */
export function toEventBytes({ type }: EventDraft, line: string): number {
  return type === 'message.received' ? 0 : toRowBytes(Buffer.byteLength(line));
}

/** Returns about the bytes that an event will take, and no fewer. */
export function estimateEventBytes(draft: EventDraft): number {
  return toRowBytes(Buffer.byteLength(JSON.stringify(draft)) + stampBytes);
}

/** Maximum number of bytes that recording adds to an event. */
const stampBytes = 256;
/** Bytes of a page of the file, and how many of each a long text can use. */
const [pageBytes, usedBytes] = [4096, 4092];
/** A row up to this length shares its page with others. */
const shortBytes = 1000;

/** Rows that share pages leave a part of them empty, and have a header, a key and an end each. */
function toRowBytes(bytes: number): number {
  if (bytes <= shortBytes) return 64 + Math.ceil(bytes * 1.5);
  return shortBytes + Math.ceil(bytes / usedBytes) * pageBytes;
}
