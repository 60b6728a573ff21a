import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { openSqlite, type SqliteDatabase } from '../../lib/files/sqlite.ts';
import { Problem } from '../../lib/problem.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import {
  columns,
  everyone,
  evictable,
  maxEvictions,
  type Quantity,
  quantities,
  toLimits,
  toQuotaProblem,
} from './quotas.ts';
import {
  createIdempotencyRows,
  createLifetimeRows,
  createLogRows,
  createSessionRows,
  type SessionRow,
} from './session-rows.ts';
import type {
  Acceptance,
  Commit,
  KeyedRequest,
  Receipt,
  SessionStore,
  StampEvent,
  StoreBounds,
} from './session-store.ts';
import { sessionMigrations } from './sqlite-schema.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';
import { LostFileError, type StoreWatch } from './store-faults.ts';
import { emptySessionBytes, keyRowBytes, toMessageBytes, toWrites } from './writes.ts';

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
  const database = openSqlite({ path, mustExist, migrations });
  const wal = openWal(path);
  // Writes wait for a lock of another process in `createGroupCommit`, without blocking this one.
  database.exec('PRAGMA busy_timeout = 0');
  const rows = prepareRows(database);
  let changed = new Map<string, SessionRecord | undefined>();
  let listener: ((commit: Commit) => void) | undefined;
  const onEnd = (isCommitted: boolean): void => {
    const commit = changed;
    changed = new Map();
    if (!isCommitted || commit.size === 0) return;
    watch?.worked();
    listener?.(commit);
  };
  const group = createGroupCommit({ database, onTurnEnd, watch, onEnd, sync: wal.sync });
  const noteChange: Note = (id, record) => void changed.set(id, record);
  const touch = database.prepare(`UPDATE holders SET live = live WHERE name = '${everyone}'`);
  const isLost = createLossCheck(path);
  return {
    isShared: false,
    runs: () => true,
    ...createReads(rows, group),
    ...createWrites(group, rows, createChanges(rows, stamp, noteChange)),
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
    close: async (): Promise<void> => {
      await group.drain();
      if (!database.open) return; // closed before
      database.close();
      wal.close();
    },
  };
}

/**
 * Opens the write-ahead log of a database. With `synchronous = NORMAL`, SQLite writes commits to it
 * without waiting for the disk. `sync` does that in another thread, so it blocks nothing here.
 */
function openWal(path: string) {
  if (path === ':memory:') return { sync: async () => {}, close: () => {} };
  const file = openSync(`${path}-wal`, 'r+');
  const write = promisify(fdatasync);
  return { sync: () => write(file), close: () => closeSync(file) };
}

function createLossCheck(path: string): () => boolean {
  if (path === ':memory:') return () => false;
  const inodeOf = () => statSync(path, { throwIfNoEntry: false })?.ino;
  const inode = inodeOf();
  return () => inodeOf() !== inode;
}

function prepareRows(database: SqliteDatabase) {
  const amountOf = (column: string) => {
    const sql = `SELECT ${column} FROM holders WHERE name = ?`;
    const amount = database.prepare<[string], number>(sql).pluck();
    return (name: string) => amount.get(name) ?? 0;
  };
  return {
    sessions: createSessionRows(database),
    idempotency: createIdempotencyRows(database),
    life: createLifetimeRows(database),
    log: createLogRows(database),
    usedBy: {
      sessions: amountOf(columns.sessions),
      sessionBytes: amountOf(columns.sessionBytes),
      queuedTurns: amountOf(columns.queuedTurns),
    },
  };
}

type Rows = ReturnType<typeof prepareRows>;

function createReads(rows: Rows, { read }: GroupCommit) {
  const { sessions, log, idempotency, life, usedBy } = rows;
  const numberOf = (id: string) => sessions.numberOf.get(id) ?? -1;
  return {
    find: (id) =>
      read(() => {
        const record = sessions.find(id)?.record;
        if (record !== undefined) return { kind: 'known', record };
        return { kind: life.isPurged.get(id) ? 'purged' : 'unknown' };
      }),
    recall: async (request) =>
      request === null ? undefined : read(() => idempotency.recall(request)),
    readEvents: (id, from) => read(() => log.events(numberOf(id), from)),
    readPart: (id, { index, offset }) => read(() => log.part(numberOf(id), index, offset)),
    readText: (id, sequence) => read(() => log.text.get(numberOf(id), sequence)),
    readMessages: (id) => read(() => log.messages.all(numberOf(id))),
    readAnswered: (id, { before, count }) =>
      read(() => log.answered.all(numberOf(id), before, count).reverse()),
    list: async function* (which) {
      const pageAfter = (number: number) => read(() => sessions.page(which, number));
      let page = await pageAfter(0);
      for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
        yield page.map(({ record }) => record);
        page = await pageAfter(last.number);
      }
    },
    listExpired: ({ idleMs, createdMs }) => read(() => life.expired.all(idleMs, createdMs)),
    listStale: (endedMs) => read(() => life.stale.all(endedMs)),
    countLive: () => read(() => usedBy.sessions(everyone)),
    countStored: () => read(() => usedBy.sessionBytes(everyone)),
  } satisfies Partial<SessionStore>;
}

type Note = (id: string, record: SessionRecord | undefined) => void;

function createWrites(
  { read, write }: GroupCommit,
  { sessions, idempotency, life }: Rows,
  changes: ReturnType<typeof createChanges>,
) {
  const { apply, purge, start, accept, findExcess, makeRoom, setBounds } = changes;
  const change: SessionStore['change'] = (id, decide) =>
    write(() => {
      const row = sessions.find(id);
      const transition = row && decide(row.record);
      return row && transition ? apply(row, transition) : undefined;
    });
  return {
    setBounds,
    makeRoom: async (id) => {
      const check = (find: typeof findExcess) => () => {
        const row = sessions.find(id);
        return row !== undefined && find('sessionBytes', row, 0) === undefined;
      };
      return (await read(check(findExcess))) || write(check(makeRoom));
    },
    start: (acceptance, request) =>
      write(() => idempotency.recall(request) ?? start({ ...acceptance, request })),
    accept: (id, request, decide) =>
      write(() => {
        const row = sessions.find(id);
        return (
          idempotency.recall(request) ?? (row && accept(row, { ...decide(row.record), request }))
        );
      }),
    change,
    changeOwn: change,
    purge: (id, nowMs) =>
      write(() => {
        const row = sessions.find(id);
        if (row !== undefined) purge(row, nowMs);
        return row !== undefined;
      }),
    forget: (before) => write(() => life.forget(before)),
  } satisfies Partial<SessionStore>;
}

type Evict = (quantity: Quantity, row: SessionRow, nowMs: number) => void;

/** Creates the check of limits, which evicts only sessions of the client that exceeds one. */
function createAdmission({ sessions, usedBy }: Rows, evict: Evict) {
  let bounds: StoreBounds | null = null;
  const findExcess = (quantity: Quantity, { record }: SessionRow, amount: number) => {
    if (bounds === null) return undefined;
    const { quotas } = bounds;
    const usedBy = (name: string) =>
      name === everyone ? quotas.totalOf(quantity) : quotas.usedBy(quantity, name);
    return toLimits(quotas, quantity, record.client).find(
      ({ name, most }) => usedBy(name) + amount > most,
    )?.scope;
  };
  const findVictim = (quantity: Quantity, { number, record: { client } }: SessionRow) =>
    client === null
      ? undefined
      : evictable[quantity]
          .map((state) => sessions.findOldest(client.address, state, number))
          .find((found) => found !== undefined);
  /** Returns the limit that is exceeded even after evictions of sessions except `row`, if any. */
  const makeRoom = (quantity: Quantity, row: SessionRow, amount: number) => {
    for (let evicted = 0; ; evicted += 1) {
      const excess = findExcess(quantity, row, amount);
      if (excess === undefined || excess === 'total' || evicted === maxEvictions) return excess;
      const victim = findVictim(quantity, row);
      if (victim === undefined) return excess;
      evict(quantity, victim, bounds?.clock.now() ?? 0);
    }
  };
  return {
    findExcess,
    makeRoom,
    admit: (quantity: Quantity, row: SessionRow, amount: number): void => {
      const excess = makeRoom(quantity, row, amount);
      if (excess !== undefined) throw toQuotaProblem(quantity, excess);
    },
    setBounds: (next: StoreBounds): void => {
      bounds = next;
      for (const quantity of quantities) {
        const of = usedBy[quantity];
        next.quotas.include(quantity, { usedBy: of, total: () => of(everyone) });
      }
    },
  };
}

function createChanges(rows: Rows, stamp: StampEvent, noteChange: Note) {
  const { sessions, idempotency, life, log } = rows;
  const purge = (row: SessionRow, nowMs: number): void => {
    life.purge(row, nowMs);
    noteChange(row.record.id, undefined);
  };
  const apply = (row: SessionRow, transition: Transition): SessionRecord => {
    const { after, lines, completed } = toWrites(row.record, transition, stamp);
    for (const { index, line } of lines) log.append.run(row.number, index, line);
    for (const change of transition.messages) log.changeMessage(row.number, change, completed);
    sessions.update({ ...row, record: after });
    noteChange(after.id, after);
    return after;
  };
  const { admit, findExcess, makeRoom, setBounds } = createAdmission(
    rows,
    (quantity, victim, nowMs) => {
      if (quantity === 'sessionBytes') purge(victim, nowMs);
      else apply(victim, endSession(victim.record, 'evicted', nowMs));
    },
  );
  type Message = Acceptance & Readonly<{ request: KeyedRequest | null }>;
  const admitMessage = (row: SessionRow, { transition }: Acceptance, emptyBytes: number): void => {
    admit('queuedTurns', row, 1);
    admit('sessionBytes', row, toMessageBytes(transition) + keyRowBytes + emptyBytes);
  };
  const record = (row: SessionRow, { transition, receipt, request }: Message): Receipt => {
    apply(row, transition);
    idempotency.insert(request, row.number, receipt);
    return receipt;
  };
  return {
    apply,
    purge,
    findExcess,
    makeRoom,
    setBounds,
    accept: (row: SessionRow, message: Message): Receipt => {
      admitMessage(row, message, 0);
      return record(row, message);
    },
    start: (message: Message): Receipt => {
      const storedBytes = emptySessionBytes + (message.request === null ? 0 : keyRowBytes);
      const empty = { ...message.transition.record, events: 0, storedBytes };
      const row = { number: 0, record: empty };
      admitMessage(row, message, emptySessionBytes);
      admit('sessions', row, 1);
      return record({ ...row, number: sessions.insert(empty) }, message);
    },
  };
}
