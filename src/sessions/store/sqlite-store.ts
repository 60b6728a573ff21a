import { statSync } from 'node:fs';
import type { Client } from '../../core/caller.ts';
import { openSqlite, type SqliteDatabase } from '../../core/files/sqlite.ts';
import { Problem } from '../../core/problem.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { createLogReads, createLogWrites } from './log-rows.ts';
import { createRoom } from './room.ts';
import {
  createIdempotencyRows,
  createLifetimeRows,
  createSessionRows,
  type KeyedRequest,
  type Receipt,
  type SessionRow,
} from './session-rows.ts';
import type { Acceptance, Commit, Found, SessionStore, StampEvent } from './session-store.ts';
import { sessionMigrations } from './sqlite-schema.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';
import { LostFileError, type StoreWatch } from './store-faults.ts';
import { emptySessionBytes, keyRowBytes } from './stored-bytes.ts';
import { bytesOf, toWrites } from './transition-writes.ts';

interface SqliteSessionsOptions {
  readonly path: string;
  readonly stamp: StampEvent;
  /** Whether to throw if the file does not exist. Default: `false`, which creates it. */
  readonly mustExist?: boolean;
  /** Calls the callback after the current event loop iteration. Default: `setImmediate`. */
  readonly onTurnEnd?: (callback: () => void) => void;
  readonly watch?: StoreWatch | undefined;
}

/**
 * Opens the store in one SQLite file. A change is on disk before its promise resolves and before
 * any read returns it. Promises reject with Problem `not_ready` if the file becomes unusable.
 * `close()` commits pending changes.
 * @throws Error if the file cannot be opened
 */
export function openSqliteSessions(options: SqliteSessionsOptions): SessionStore {
  const { path, stamp, mustExist = false, onTurnEnd = setImmediate, watch } = options;
  const migrations = sessionMigrations;
  const database = openSqlite({ path, mustExist, migrations, journal: 'durable' });
  // Writes wait for a lock of another process in `createGroupCommit`, without blocking this
  // process.
  database.exec('PRAGMA busy_timeout = 0');
  const rows = prepareRows(database);
  let changed = new Map<string, SessionRecord | undefined>();
  let listener: ((commit: Commit) => void) | undefined;
  const group = createGroupCommit({
    database,
    onTurnEnd,
    watch,
    onEnd: (isCommitted) => {
      const commit = changed;
      changed = new Map();
      if (!isCommitted || commit.size === 0) return;
      watch?.worked();
      listener?.(commit);
    },
  });
  const noteChange: Note = (id, record) => void changed.set(id, record);
  const touch = database.prepare(`UPDATE holders SET live = live WHERE name = '*'`);
  const isLost = createLossCheck(path);
  return {
    isShared: false,
    runs: () => true,
    ...createReads(rows, group),
    ...createWrites(group, rows, createChanges(database, { rows, stamp, noteChange })),
    probe: async () => {
      if (isLost()) {
        const cause = new LostFileError(`${path} was deleted or replaced.`);
        watch?.failed(cause);
        throw new Problem('not_ready', { detail: 'The session store is unavailable.', cause });
      }
      await group.write(() => touch.run());
      watch?.worked();
    },
    onCommit: (next: (commit: Commit) => void): void => {
      listener = next;
    },
    close: (): void => {
      group.flush();
      database.close();
    },
  };
}

function createLossCheck(path: string): () => boolean {
  if (path === ':memory:') return () => false;
  const inodeOf = () => statSync(path, { throwIfNoEntry: false })?.ino;
  const inode = inodeOf();
  return () => inodeOf() !== inode;
}

function prepareRows(database: SqliteDatabase) {
  return {
    sessions: createSessionRows(database),
    idempotency: createIdempotencyRows(database),
    life: createLifetimeRows(database),
    log: { ...createLogReads(database), ...createLogWrites(database) },
  };
}

type Rows = ReturnType<typeof prepareRows>;

function createReads({ sessions, log, idempotency, life }: Rows, { read }: GroupCommit) {
  const numberOf = (id: string) => sessions.find(id)?.number ?? -1;
  return {
    find: (id: string): Promise<Found> =>
      read(() => {
        const record = sessions.find(id)?.record;
        if (record !== undefined) return { kind: 'known', record };
        return { kind: life.isPurged.get(id) ? 'purged' : 'unknown' };
      }),
    recall: async (request: KeyedRequest | null) =>
      request === null ? undefined : read(() => idempotency.recall(request)),
    readEvents: (id: string, from: number) => read(() => log.events(numberOf(id), from)),
    readPart: (id: string, { index, offset }: Record<'index' | 'offset', number>) =>
      read(() => log.part(numberOf(id), index, offset)),
    readText: (id: string, sequence: number) => read(() => log.text.get(numberOf(id), sequence)),
    readMessages: (id: string) => read(() => log.messages.all(numberOf(id))),
    readAnswered: (id: string, { before, count }: Record<'before' | 'count', number>) =>
      read(() => log.answered.all(numberOf(id), before, count).reverse()),
    list: async function* (which: 'all' | 'running'): AsyncGenerator<readonly SessionRecord[]> {
      const pageAfter = (number: number) => read(() => sessions.page(which, number));
      let page = await pageAfter(0);
      for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
        yield page.map(({ record }) => record);
        page = await pageAfter(last.number);
      }
    },
    listExpired: ({ idleMs, createdMs }: Record<'idleMs' | 'createdMs', number>) =>
      read(() => life.expired.all(idleMs, createdMs)),
    listStale: (endedMs: number) => read(() => life.stale.all(endedMs)),
    countLive: () => read(() => life.live.get() ?? 0),
    countStored: () => read(() => life.stored.get() ?? 0),
  };
}

type Note = (id: string, record: SessionRecord | undefined) => void;

type Changes = ReturnType<typeof createChanges>;

function createWrites(
  { write }: GroupCommit,
  { sessions, idempotency, life }: Rows,
  changes: Changes,
) {
  const { room, apply, purge, start, accept } = changes;
  const change: SessionStore['change'] = (id, decide, urgency) =>
    write(() => {
      const row = sessions.find(id);
      const transition = row && decide(row.record);
      return row && transition ? apply(row, transition) : undefined;
    }, urgency);
  return {
    setBounds: room.setBounds,
    hasRoom: async (client: Client | null) => room.hasRoom(client),
    start: (acceptance: Acceptance, request: KeyedRequest | null) =>
      write(() => idempotency.recall(request) ?? start(acceptance, request)),
    accept: (
      id: string,
      request: KeyedRequest | null,
      decide: (record: SessionRecord) => Acceptance,
    ) =>
      write(() => {
        const row = sessions.find(id);
        return idempotency.recall(request) ?? (row && accept(row, request, decide(row.record)));
      }),
    change,
    changeOwn: change,
    purge: (id: string, nowMs: number): Promise<boolean> =>
      write(() => {
        const row = sessions.find(id);
        if (row !== undefined) purge(row, nowMs);
        return row !== undefined;
      }),
    forget: ({
      purgedMs,
      idempotencyMs,
    }: Record<'purgedMs' | 'idempotencyMs', number>): Promise<void> =>
      write(() => life.forget(purgedMs, idempotencyMs)),
    trim: () => write(() => room.trim(null, 0)),
  };
}

type ChangesOptions = Readonly<{ rows: Rows; stamp: StampEvent; noteChange: Note }>;

function createChanges(database: SqliteDatabase, { rows, stamp, noteChange }: ChangesOptions) {
  const { sessions, idempotency, life } = rows;
  const purge = (row: SessionRow, nowMs: number): void => {
    life.purge(row, nowMs);
    noteChange(row.record.id, undefined);
  };
  const room = createRoom(database, {
    toRow: sessions.toRow,
    evict: (row, quantity, nowMs) => {
      if (quantity === 'sessionBytes') purge(row, nowMs);
      else apply(row, endSession(row.record, 'evicted', nowMs));
    },
  });
  const apply = (row: SessionRow, transition: Transition): SessionRecord => {
    const after = writeTransition(row, transition, { rows, stamp });
    noteChange(after.id, after);
    room.trim(after.client, row.number);
    return after;
  };
  const start = ({ transition, receipt }: Acceptance, request: KeyedRequest | null): Receipt => {
    const { client } = transition.record;
    room.admitMessage(client, emptySessionBytes + keyRowBytes + bytesOf(transition), 0);
    room.admitSession(client);
    const storedBytes = emptySessionBytes + (request === null ? 0 : keyRowBytes);
    const record = { ...transition.record, events: 0, storedBytes };
    const number = sessions.insert(record);
    apply({ number, bytes: 0, record }, transition);
    return idempotency.insert(request, number, receipt);
  };
  const accept = (
    row: SessionRow,
    request: KeyedRequest | null,
    acceptance: Acceptance,
  ): Receipt => {
    const { transition, receipt } = acceptance;
    room.admitMessage(row.record.client, bytesOf(transition) + keyRowBytes, row.number);
    apply(row, transition);
    return idempotency.insert(request, row.number, receipt);
  };
  return { room, apply, purge, start, accept };
}

function writeTransition(
  { number, bytes, record: before }: SessionRow,
  transition: Transition,
  { rows: { sessions, log }, stamp }: Omit<ChangesOptions, 'noteChange'>,
): SessionRecord {
  const { after, lines, completed } = toWrites(before, transition, stamp);
  let ends = bytes;
  for (const event of lines) {
    ends += event.line.length;
    log.append(number, event, ends);
  }
  for (const change of transition.messages) log.changeMessage(number, change, completed);
  sessions.update({ number, bytes: ends, record: after });
  return after;
}
