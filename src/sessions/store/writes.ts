import { type EventDraft, toEventLine } from '../events.ts';
import type { Need } from './quotas.ts';
import type { KeyedRequest, StampEvent, StoredEvent } from './session-store.ts';
import type { SessionRecord, Transition } from './state.ts';

export type TransitionWrites = ReturnType<typeof toWrites>;

/** Returns the new record, the event lines to append, and the index of `message.completed`. */
export function toWrites(before: SessionRecord, transition: Transition, stamp: StampEvent) {
  const { events: drafts } = transition;
  const lines: StoredEvent[] = [];
  let storedBytes = before.storedBytes + toMessageBytes(transition);
  let completed: number | null = null;
  for (const [at, draft] of drafts.entries()) {
    const index = before.events + at;
    const line = toEventLine(draft, stamp(index));
    // `toMessageBytes` includes the event `message.received`.
    if (draft.type !== 'message.received') storedBytes += toRowBytes(Buffer.byteLength(line));
    lines.push({ index, line });
    if (draft.type === 'message.completed') completed ??= index;
  }
  const events = before.events + drafts.length;
  const after: SessionRecord = { ...transition.record, events, storedBytes };
  return { after, lines, completed };
}

/** Estimated bytes of an empty session: rows, index entries, and the id after a deletion. */
const emptySessionBytes = 1024;
const keyRowBytes = 512;

/** Returns the record of a session that has no events yet. */
export function toNewRecord({ record }: Transition, request: KeyedRequest | null): SessionRecord {
  const storedBytes = emptySessionBytes + (request === null ? 0 : keyRowBytes);
  return { ...record, events: 0, storedBytes };
}

/** Returns the amounts that an accepted message adds to those of its client. */
export function toNeeds(transition: Transition, isFirst: boolean): readonly Need[] {
  const bytes = toMessageBytes(transition) + keyRowBytes + (isFirst ? emptySessionBytes : 0);
  return [
    { quantity: 'queuedTurns', amount: 1 },
    { quantity: 'sessionBytes', amount: bytes },
    ...(isFirst ? [{ quantity: 'sessions', amount: 1 } as const] : []),
  ];
}

/** Estimates the rows of messages and their `message.received` events, which have a text twice. */
function toMessageBytes({ messages }: Transition): number {
  let sum = 0;
  for (const message of messages) {
    if (message.kind !== 'add') continue;
    const escaped = Buffer.byteLength(JSON.stringify(message.text));
    sum += toRowBytes(Buffer.byteLength(message.text)) + toRowBytes(2 * escaped);
  }
  return sum;
}

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
