import { toEventLine } from '../events.ts';
import type { HolderRows } from './holder-rows.ts';
import type { LifeRows } from './life-rows.ts';
import type { LogRows } from './log-rows.ts';
import type { OnceRows } from './once-rows.ts';
import { createRoom, type Room } from './room.ts';
import type { SessionRow, SessionRows } from './session-rows.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';
import type {
  Acceptance,
  Message,
  Once,
  SessionCommit,
  StampEvent,
  Start,
  StoredEvent,
} from './store.ts';
import { emptySessionBytes, onceBytes, toEventBytes, toMessageBytes } from './stored-bytes.ts';

/** The tables. */
export interface Rows {
  readonly sessions: SessionRows;
  readonly log: LogRows;
  readonly once: OnceRows;
  readonly life: LifeRows;
  readonly holders: HolderRows;
}

/** What writing needs beside the tables. */
export interface SessionWritesOptions {
  readonly stamp: StampEvent;
  /** Is told of every change. */
  readonly note: (id: string, commit: SessionCommit) => void;
}

/** The changes of the store, each inside a transaction of the caller's. */
export interface SessionWrites extends Pick<Room, 'bound'> {
  start(start: Start): Acceptance;
  accept(message: Message): Acceptance | undefined;
  change(
    id: string,
    decide: (record: SessionRecord) => Transition | null,
  ): SessionRecord | undefined;
  purge(id: string, nowMs: number): boolean;
  trim(): number;
}

/**
 * Creates the changes. Problems are thrown before anything of the change itself is written; sessions
 * evicted for it stay evicted.
 */
export function createSessionWrites(rows: Rows, options: SessionWritesOptions): SessionWrites {
  const { sessions, once, life, holders } = rows;
  const purge = (row: SessionRow, nowMs: number): void => {
    life.purge(row, nowMs);
    options.note(row.record.id, { record: undefined, events: [] });
  };
  const room = createRoom({
    holders,
    evict: (row, holding, nowMs) => {
      if (holding === 'sessionBytes') purge(row, nowMs);
      else apply(row, endSession(row.record, 'evicted', nowMs));
    },
  });
  const apply = createApply(rows, { ...options, room });
  const insert = ({ transition, receipt, once: asked }: Start): void => {
    const stored = emptySessionBytes + (asked === null ? 0 : onceBytes);
    const record = { ...transition.record, events: 0, storedBytes: stored };
    const row = { number: sessions.insert(record), bytes: 0, record };
    apply(row, transition);
    if (asked !== null) once.insert(asked, row.number, receipt);
  };
  return {
    bound: room.bound,
    start: (start) => {
      const repeated = recallAcceptance(once, start.once);
      if (repeated !== undefined) return repeated;
      const { client } = start.transition.record;
      const bytes = emptySessionBytes + onceBytes + toBytesOfMessages(start.transition);
      room.demandMessage({ client, bytes, session: 0 });
      room.demandSession(client);
      insert(start);
      return { receipt: start.receipt, isRepeated: false };
    },
    accept: (message) => {
      const repeated = recallAcceptance(once, message.once);
      if (repeated !== undefined) return repeated;
      const row = sessions.find(message.sessionId);
      if (row === undefined) return undefined;
      const { transition, receipt } = message.decide(row.record);
      const bytes = toBytesOfMessages(transition) + onceBytes;
      room.demandMessage({ client: row.record.client, bytes, session: row.number });
      apply(row, transition);
      if (message.once !== null) once.insert(message.once, row.number, receipt);
      return { receipt, isRepeated: false };
    },
    change: (id, decide) => {
      const row = sessions.find(id);
      const transition = row && decide(row.record);
      return row && transition ? apply(row, transition) : undefined;
    },
    purge: (id, nowMs) => {
      const row = sessions.find(id);
      if (row === undefined) return false;
      purge(row, nowMs);
      return true;
    },
    trim: () => room.trim(null, 0),
  };
}

function recallAcceptance(rows: OnceRows, once: Once | null): Acceptance | undefined {
  const receipt = once === null ? undefined : rows.recall(once);
  return receipt && { receipt, isRepeated: true };
}

function toBytesOfMessages({ messages }: Transition): number {
  return messages.reduce(
    (sum, change) => sum + (change.kind === 'add' ? toMessageBytes(change.text) : 0),
    0,
  );
}

type Apply = (row: SessionRow, transition: Transition) => SessionRecord;

interface ApplyOptions extends SessionWritesOptions {
  readonly room: Room;
}

/** Creates the function that writes a transition, notes it, and evicts sessions if too many bytes are stored now. */
function createApply({ sessions, log }: Rows, { stamp, note, room }: ApplyOptions): Apply {
  return ({ number, bytes, record: before }, transition) => {
    const { record, events: drafts, messages } = transition;
    const events: StoredEvent[] = [];
    let ends = bytes;
    let storedBytes = before.storedBytes + toBytesOfMessages(transition);
    for (const draft of drafts) {
      const index = before.events + events.length;
      const event = { index, line: toEventLine(draft, stamp(index)) };
      ends += event.line.length;
      storedBytes += toEventBytes(draft, event.line);
      log.append(number, event, ends);
      events.push(event);
    }
    const completed = drafts.findIndex(({ type }) => type === 'message.completed');
    const completedEvent = completed === -1 ? null : before.events + completed;
    for (const change of messages) log.changeMessage(number, change, completedEvent);
    const after = { ...record, events: before.events + events.length, storedBytes };
    sessions.update({ number, bytes: ends, record: after });
    note(before.id, { record: after, events });
    room.trim(after.client, number);
    return after;
  };
}
