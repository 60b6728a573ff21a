import { Problem } from '../../lib/problem.ts';
import type { Excess, Limit } from '../../lib/scheduling/quotas.ts';
import { type EventDraft, toEventLine } from '../events.ts';
import type { KeyedRequest, StampEvent, StoredEvent } from './session-store.ts';
import type { SessionRecord, Transition } from './state.ts';

/** Names by which the stores count what each client has. */
export const columns = {
  /** Sessions that have not ended. */
  sessions: 'live',
  /** Bytes of all sessions, including those that have ended. */
  sessionBytes: 'stored',
  /** Unanswered messages. */
  queuedTurns: 'pending',
} as const;

export type Quantity = keyof typeof columns;

export const quantities = ['sessions', 'sessionBytes', 'queuedTurns'] as const;

/** Amount that a change adds to a quantity, whose limits are checked before. */
export type Need = Readonly<{ quantity: Quantity; amount: number }>;

/** Need of a new answer, whose size is not known before. */
export const needOfAnswer: Need = { quantity: 'sessionBytes', amount: 0 };

/** States of sessions that a client gives up at a limit, first ones first. */
export const evictable = {
  sessions: ['waiting'],
  sessionBytes: ['ended', 'failed', 'waiting'],
  queuedTurns: [],
} as const;

export const maxEvictions = 256; // maximum number per change, because deleting is slow

const tooMany = 'has reached the maximum number of waiting and running questions';

/** Reasons to refuse a question because too many others wait or run, by exceeded limit. */
export const turnDetails: Readonly<Record<Excess, string>> = {
  address: `This address ${tooMany} (\`PERCH_SESSION_TURNS_PER_ADDRESS\`).`,
  network: `This IPv6 /48 network ${tooMany} (four times \`PERCH_SESSION_TURNS_PER_ADDRESS\`).`,
  share: `This address or network ${tooMany}, half of all (\`PERCH_SESSION_WAITING_TURNS\`).`,
  total: `The server ${tooMany} (\`PERCH_SESSION_WAITING_TURNS\`).`,
};

const who = {
  address: ['this address', 'PERCH_SESSION_LIVE_PER_ADDRESS', 'PERCH_SESSION_BYTES_PER_ADDRESS'],
  network: ['this network', 'PERCH_SESSION_LIVE_PER_ADDRESS', 'PERCH_SESSION_BYTES_PER_ADDRESS'],
  total: ['the server', 'PERCH_SESSION_LIVE', 'PERCH_SESSION_BYTES'],
} as const;

/** Creates the error for a client that exceeds a limit and has no session to give up. */
export function toQuotaProblem(quantity: Quantity, scope: Limit['scope']): Problem {
  if (quantity === 'queuedTurns') {
    const code = scope === 'total' ? 'overloaded' : 'turn_queue_full';
    return new Problem(code, { detail: turnDetails[scope] });
  }
  const [of, live, bytes] = who[scope];
  const detail =
    quantity === 'sessions'
      ? `The number of sessions of ${of} has reached the limit (\`${live}\`).`
      : `The stored sessions of ${of} have reached the limit of bytes (\`${bytes}\`).`;
  return new Problem('overloaded', { detail });
}

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
