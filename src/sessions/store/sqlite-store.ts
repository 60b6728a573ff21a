import { openSqlite, type SqliteDatabase } from '../../core/files/sqlite.ts';
import { type EventStamp, toEventLine } from '../events.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { createLogReads, createLogWrites } from './log-rows.ts';
import { createRoom } from './room.ts';
import {
  createLifeRows,
  createOnceRows,
  createSessionRows,
  type Once,
  type Receipt,
  type SessionRow,
} from './session-rows.ts';
import { sessionMigrations } from './sqlite-schema.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';
import { emptySessionBytes, onceBytes, toEventBytes, toMessageBytes } from './stored-bytes.ts';

export type Found =
  | { readonly kind: 'known'; readonly record: SessionRecord }
  | { readonly kind: 'purged' }
  | { readonly kind: 'unknown' };

/** A message that is to be stored, and the reply to it. */
export type Acceptance = Readonly<{ transition: Transition; receipt: Receipt }>;

/** The sessions that were changed together, by id; undefined for one that was purged. */
export type Commit = ReadonlyMap<string, SessionRecord | undefined>;

export type StampEvent = (index: number) => EventStamp;

interface SqliteSessionsOptions {
  readonly path: string;
  readonly stamp: StampEvent;
  /** Refuses a file that does not exist. Default: it is created. */
  readonly mustExist?: boolean;
  /** Calls back when this turn of the event loop has ended. Default: setImmediate. */
  readonly onTurnEnd?: (callback: () => void) => void;
}

export type SessionStore = ReturnType<typeof openSqliteSessions>;

/**
 * Opens the store of sessions in one SQLite file. Changes in one turn of the event loop share one commit, which is on
 * the disk before any of them is acknowledged or read. Promises reject with Problem `not_ready` if the file cannot be
 * used. Close it with `close()`, which records what is under way. @throws Error if the file cannot be opened
 */
export function openSqliteSessions(options: SqliteSessionsOptions) {
  const { path, stamp, mustExist = false, onTurnEnd = setImmediate } = options;
  const migrations = sessionMigrations;
  const database = openSqlite({ path, mustExist, migrations, journal: 'durable' });
  const rows = prepareRows(database);
  let changed = new Map<string, SessionRecord | undefined>();
  let listener: ((commit: Commit) => void) | undefined;
  const group = createGroupCommit({
    database,
    onTurnEnd,
    onEnd: (isCommitted) => {
      const commit = changed;
      changed = new Map();
      if (isCommitted && commit.size > 0) listener?.(commit);
    },
  });
  const note: Note = (id, record) => void changed.set(id, record);
  return {
    ...createReads(rows, group),
    ...createWrites(group, rows, createChanges(database, { rows, stamp, note })),
    /** Calls back with all changes, in order, once they are durable. One listener. */
    onCommit: (next: (commit: Commit) => void): void => {
      listener = next;
    },
    close: (): void => {
      group.flush();
      database.close();
    },
  };
}

function prepareRows(database: SqliteDatabase) {
  return {
    sessions: createSessionRows(database),
    once: createOnceRows(database),
    life: createLifeRows(database),
    log: { ...createLogReads(database), ...createLogWrites(database) },
  };
}

type Rows = ReturnType<typeof prepareRows>;

function createReads({ sessions, log, once, life }: Rows, { read }: GroupCommit) {
  const numberOf = (id: string) => sessions.find(id)?.number ?? -1;
  return {
    find: (id: string): Promise<Found> =>
      read(() => {
        const record = sessions.find(id)?.record;
        if (record !== undefined) return { kind: 'known', record };
        return { kind: life.isPurged.get(id) ? 'purged' : 'unknown' };
      }),
    /** Returns the reply to the same request, if it was accepted before. @throws Problem `idempotency_conflict` */
    recall: async (asked: Once | null) =>
      asked === null ? undefined : read(() => once.recall(asked)),
    /** Reads events from an index, at least one if there is one, and not many more than `pieceLength`. */
    readEvents: (id: string, from: number) => read(() => log.events(numberOf(id), from)),
    /** Reads an event that is longer than `pieceLength` bytes, from a byte on; `undefined` for any other. */
    readPart: (id: string, { index, offset }: Record<'index' | 'offset', number>) =>
      read(() => log.part(numberOf(id), index, offset)),
    readText: (id: string, sequence: number) => read(() => log.text.get(numberOf(id), sequence)),
    readMessages: (id: string) => read(() => log.messages.all(numberOf(id))),
    readAnswered: (id: string, { before, count }: Record<'before' | 'count', number>) =>
      read(() => log.answered.all(numberOf(id), before, count).reverse()),
    /** Reads sessions in the order of their start, page by page. */
    list: async function* (which: 'all' | 'running'): AsyncGenerator<readonly SessionRecord[]> {
      const pageAfter = (number: number) => read(() => sessions.page(which, number));
      let page = await pageAfter(0);
      for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
        yield page.map(({ record }) => record);
        page = await pageAfter(last.number);
      }
    },
    /** Reads ids of waiting sessions that are idle or old, a hundred at most. */
    listExpired: ({ idleMs, createdMs }: Record<'idleMs' | 'createdMs', number>) =>
      read(() => life.expired.all(idleMs, createdMs)),
    /** Reads ids of sessions that ended before an instant, a hundred at most. */
    listStale: (endedMs: number) => read(() => life.stale.all(endedMs)),
    countLive: () => read(() => life.live.get() ?? 0),
  };
}

type Note = (id: string, record: SessionRecord | undefined) => void;

type Changes = ReturnType<typeof createChanges>;

function createWrites({ write }: GroupCommit, { sessions, once, life }: Rows, changes: Changes) {
  const { room, apply, purge, start, accept } = changes;
  return {
    bound: room.bound,
    /**
     * Starts a session, or returns the reply to the same request. At a bound, others are evicted (`docs/sessions.md`).
     * @throws Problem `overloaded` if none can be evicted; `turn_queue_full`, `idempotency_conflict`
     */
    start: (acceptance: Acceptance, asked: Once | null) =>
      write(() => once.recall(asked) ?? start(acceptance, asked)),
    /**
     * Adds a message, or returns the reply to the same request; `undefined` if the session is not known any more.
     * @throws what `decide` throws; Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`
     */
    accept: (id: string, asked: Once | null, decide: (record: SessionRecord) => Acceptance) =>
      write(() => {
        const row = sessions.find(id);
        return once.recall(asked) ?? (row && accept(row, asked, decide(row.record)));
      }),
    /**
     * Returns the new record; `undefined` if the session is not known, or `decide` changes nothing. A change that is
     * to be recorded `soon` may wait a little for more; default: `now`.
     */
    change: (
      id: string,
      decide: (record: SessionRecord) => Transition | null,
      urgency?: 'now' | 'soon',
    ): Promise<SessionRecord | undefined> =>
      write(() => {
        const row = sessions.find(id);
        const transition = row && decide(row.record);
        return row && transition ? apply(row, transition) : undefined;
      }, urgency),
    /** Deletes all of a session but its id and the date. Returns whether it was there. */
    purge: (id: string, nowMs: number): Promise<boolean> =>
      write(() => {
        const row = sessions.find(id);
        if (row !== undefined) purge(row, nowMs);
        return row !== undefined;
      }),
    /** Forgets purged ids and idempotency keys from before these instants. */
    forget: ({ purgedMs, onceMs }: Record<'purgedMs' | 'onceMs', number>): Promise<void> =>
      write(() => life.forget(purgedMs, onceMs)),
    /** Deletes sessions while too many bytes are stored, up to 256 at a time. Returns how many. */
    trim: () => write(() => room.trim(null, 0)),
  };
}

type ChangesOptions = Readonly<{ rows: Rows; stamp: StampEvent; note: Note }>;

/**
 * Creates the changes inside a transaction. A Problem is thrown before anything of the change itself is written;
 * sessions evicted for it stay evicted.
 */
function createChanges(database: SqliteDatabase, { rows, stamp, note }: ChangesOptions) {
  const { sessions, once, life } = rows;
  const purge = (row: SessionRow, nowMs: number): void => {
    life.purge(row, nowMs);
    note(row.record.id, undefined);
  };
  const room = createRoom(database, {
    toRow: sessions.toRow,
    evict: (row, holding, nowMs) => {
      if (holding === 'sessionBytes') purge(row, nowMs);
      else apply(row, endSession(row.record, 'evicted', nowMs));
    },
  });
  const apply = (row: SessionRow, transition: Transition): SessionRecord => {
    const after = writeTransition(row, transition, { rows, stamp });
    note(after.id, after);
    room.trim(after.client, row.number);
    return after;
  };
  const start = ({ transition, receipt }: Acceptance, asked: Once | null): Receipt => {
    const { client } = transition.record;
    room.demandMessage(client, emptySessionBytes + onceBytes + toBytesOfMessages(transition), 0);
    room.demandSession(client);
    const storedBytes = emptySessionBytes + (asked === null ? 0 : onceBytes);
    const record = { ...transition.record, events: 0, storedBytes };
    const number = sessions.insert(record);
    apply({ number, bytes: 0, record }, transition);
    return once.insert(asked, number, receipt);
  };
  const accept = (row: SessionRow, asked: Once | null, acceptance: Acceptance): Receipt => {
    const { transition, receipt } = acceptance;
    room.demandMessage(row.record.client, toBytesOfMessages(transition) + onceBytes, row.number);
    apply(row, transition);
    return once.insert(asked, row.number, receipt);
  };
  return { room, apply, purge, start, accept };
}

function toBytesOfMessages({ messages }: Transition): number {
  const bytes = messages.map((one) => (one.kind === 'add' ? toMessageBytes(one.text) : 0));
  return bytes.reduce((sum, more) => sum + more, 0);
}

function writeTransition(
  { number, bytes, record: before }: SessionRow,
  transition: Transition,
  { rows: { sessions, log }, stamp }: Omit<ChangesOptions, 'note'>,
): SessionRecord {
  const { events: drafts, messages } = transition;
  let ends = bytes;
  let storedBytes = before.storedBytes + toBytesOfMessages(transition);
  let completed: number | null = null;
  for (const [at, draft] of drafts.entries()) {
    const index = before.events + at;
    const line = toEventLine(draft, stamp(index));
    ends += line.length;
    storedBytes += toEventBytes(draft, line);
    log.append(number, { index, line }, ends);
    if (draft.type === 'message.completed') completed ??= index;
  }
  for (const change of messages) log.changeMessage(number, change, completed);
  const after = { ...transition.record, events: before.events + drafts.length, storedBytes };
  sessions.update({ number, bytes: ends, record: after });
  return after;
}
