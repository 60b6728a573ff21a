import type { EventDraft } from '../events.ts';

/** Estimated bytes of an empty session: rows, index entries, and the id after a deletion. */
export const emptySessionBytes = 1024;
export const keyRowBytes = 512;

/** Estimates a message's row and its `message.received` event, which has the text twice. */
export function toMessageBytes(text: string): number {
  const escaped = Buffer.byteLength(JSON.stringify(text));
  return toRowBytes(Buffer.byteLength(text)) + toRowBytes(2 * escaped);
}

/** Estimates an event's bytes; 0 for `message.received`, which `toMessageBytes` includes. */
export const toEventBytes = ({ type }: EventDraft, line: string): number =>
  type === 'message.received' ? 0 : toRowBytes(Buffer.byteLength(line));

/** Returns an upper estimate of the bytes that an event will occupy in the database. */
export const estimateEventBytes = (draft: EventDraft): number =>
  toRowBytes(Buffer.byteLength(JSON.stringify(draft)) + stampBytes);

const stampBytes = 256; // maximum number of bytes that the metadata adds to an event
const pageBytes = 4096;
/** Number of bytes of a database page that a long text can use. */
const usedBytes = 4092;
const shortBytes = 1000; // maximum length of a row that shares its page with others

function toRowBytes(bytes: number): number {
  if (bytes <= shortBytes) return 64 + Math.ceil(bytes * 1.5);
  return shortBytes + Math.ceil(bytes / usedBytes) * pageBytes;
}
