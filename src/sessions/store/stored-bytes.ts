import type { EventDraft } from '../events.ts';

/** Estimated bytes of an empty session: its rows, their index entries, and the row that remains after deletion. */
export const emptySessionBytes = 1024;
export const keyRowBytes = 512;

/** Returns the size of a message: the row of its text, and its `message.received` event, which has the text twice. */
export function toMessageBytes(text: string): number {
  const escaped = Buffer.byteLength(JSON.stringify(text));
  return toRowBytes(Buffer.byteLength(text)) + toRowBytes(2 * escaped);
}

/** Returns the size of an event; 0 for `message.received`, which was counted when the message was accepted. */
export const toEventBytes = ({ type }: EventDraft, line: string): number =>
  type === 'message.received' ? 0 : toRowBytes(Buffer.byteLength(line));

/** Returns an upper estimate of the size of an event that is not stored yet. */
export const estimateEventBytes = (draft: EventDraft): number =>
  toRowBytes(Buffer.byteLength(JSON.stringify(draft)) + stampBytes);

const stampBytes = 256; // maximum number of bytes that the metadata adds to an event
/** Size of a database page in bytes, and the number of these bytes that a long text can use. */
const [pageBytes, usedBytes] = [4096, 4092];
const shortBytes = 1000; // maximum length of a row that shares its page with others

/** Estimates the size of a row, including its header, its key and unused space in pages. */
function toRowBytes(bytes: number): number {
  if (bytes <= shortBytes) return 64 + Math.ceil(bytes * 1.5);
  return shortBytes + Math.ceil(bytes / usedBytes) * pageBytes;
}
