import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { openSqlite } from '../../lib/files/sqlite.ts';
import { everyone, type Quotas } from '../../lib/scheduling/quotas.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import {
  evictable,
  maxEvictions,
  type Need,
  needOfAnswer,
  type Quantity,
  quantities,
  toNeeds,
  toNewRecord,
  toQuotaProblem,
  toWrites,
} from './quotas.ts';
import { prepareRows, type Rows, type SessionRow } from './session-rows.ts';
import type {
  Acceptance,
  Commit,
  KeyedRequest,
  Receipt,
  SessionStore,
  StampEvent,
  StoreContext,
} from './session-store.ts';
import { sessionMigrations } from './sqlite-schema.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';
import { LostFileError, toUnavailable } from './store-faults.ts';

interface SqliteSessionsOptions extends StoreContext {
  readonly path: string;
  /** Whether to throw if the file does not exist. Default: `false`, which creates it. */
  readonly mustExist?: boolean;
  /** Calls the callback after the current event loop iteration. Default: `setImmediate`. */
  readonly onTurnEnd?: (callback: () => void) => void;
}

/**
 * Opens the store in one SQLite file. A change is on disk before its promise resolves and before
 * any read returns it. Promises reject with Problem `not_ready` if the file becomes unusable.
 * `close()` commits pending changes.
 * @throws Error if the file cannot be opened
 */
export function openSqliteSessions(options: SqliteSessionsOptions): SessionStore {
  const { path, stamp, quotas, mustExist = false, onTurnEnd = setImmediate, watch } = options;
  const database = openSqlite({ path, mustExist, migrations: sessionMigrations });
  const wal = openWal(path);
  // Writes wait for a lock of another process in `createGroupCommit`, without blocking this one.
  database.exec('PRAGMA busy_timeout = 0');
  const rows = prepareRows(database);
  for (const quantity of quantities) {
    quotas?.include(quantity, (name) => rows.usedBy(quantity, name));
  }
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
  const changes = createChanges(rows, stamp, (id, record) => void changed.set(id, record));
  const touch = database.prepare(`UPDATE holders SET live = live WHERE name = '${everyone}'`);
  return {
    isShared: false,
    runs: () => true,
    ...createReads(rows, group),
    ...createWrites(group, rows, changes, createAdmission(rows, changes, quotas)),
    probe: async () => {
      if (wal.isLost()) {
        throw toUnavailable(new LostFileError(`${path} was deleted or replaced.`), watch);
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
  if (path === ':memory:') return { sync: async () => {}, isLost: () => false, close: () => {} };
  const file = openSync(`${path}-wal`, 'r+');
  const write = promisify(fdatasync);
  const inodeOf = () => statSync(path, { throwIfNoEntry: false })?.ino;
  const inode = inodeOf();
  return {
    sync: () => write(file),
    /** Returns whether the database was deleted or replaced. */
    isLost: () => inodeOf() !== inode,
    close: () => closeSync(file),
  };
}

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
    readText: (id, sequence) => read(() => log.text.get(numberOf(id), sequence)),
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
    countLive: () => read(() => usedBy('sessions', everyone)),
    countStored: () => read(() => usedBy('sessionBytes', everyone)),
  } satisfies Partial<SessionStore>;
}

type Changes = ReturnType<typeof createChanges>;

/** Creates the changes of a session, which must run in a transaction. */
function createChanges(
  { sessions, life, log }: Rows,
  stamp: StampEvent,
  noteChange: (id: string, record: SessionRecord | undefined) => void,
) {
  return {
    apply: (row: SessionRow, transition: Transition): SessionRecord => {
      const { after, lines, completed } = toWrites(row.record, transition, stamp);
      for (const { index, line } of lines) log.append.run(row.number, index, line);
      for (const change of transition.messages) log.changeMessage(row.number, change, completed);
      sessions.update({ ...row, record: after });
      noteChange(after.id, after);
      return after;
    },
    purge: (row: SessionRow, nowMs: number): void => {
      life.purge(row, nowMs);
      noteChange(row.record.id, undefined);
    },
  };
}

function createWrites(
  { read, write }: GroupCommit,
  rows: Rows,
  { apply, purge }: Changes,
  { findExcess, evictFor }: ReturnType<typeof createAdmission>,
) {
  const { sessions, idempotency, life } = rows;
  const change: SessionStore['change'] = (id, decide) =>
    write(() => {
      const row = sessions.find(id);
      const transition = row && decide(row.record);
      return row && transition ? apply(row, transition) : undefined;
    });
  const admit = (
    { number, record }: SessionRow,
    { transition, receipt }: Acceptance,
    request: KeyedRequest | null,
  ): Receipt => {
    const isFirst = number === 0;
    for (const need of toNeeds(transition, isFirst)) {
      const excess = evictFor(need, { number, record }, transition.record.activeMs);
      if (excess !== null) throw toQuotaProblem(need.quantity, excess);
    }
    const row = { number: isFirst ? sessions.insert(record) : number, record };
    apply(row, transition);
    idempotency.insert(request, row.number, receipt);
    return receipt;
  };
  return {
    makeRoom: async (id, nowMs) => {
      const check = (find: typeof evictFor) => () => {
        const row = sessions.find(id);
        return row !== undefined && find(needOfAnswer, row, nowMs) === null;
      };
      return (await read(check(findExcess))) || write(check(evictFor));
    },
    start: (acceptance, request) =>
      write(() => {
        const row = { number: 0, record: toNewRecord(acceptance.transition, request) };
        return idempotency.recall(request) ?? admit(row, acceptance, request);
      }),
    accept: (id, request, decide) =>
      write(() => {
        const row = sessions.find(id);
        const known = idempotency.recall(request);
        return known ?? (row && admit(row, decide(row.record), request));
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

/** Creates the check of limits, which evicts only sessions of the client that exceeds one. */
function createAdmission({ sessions }: Rows, { apply, purge }: Changes, quotas?: Quotas) {
  const findExcess = ({ quantity, amount }: Need, { record }: SessionRow) => {
    const excess = quotas?.findExcess(quantity, record.client, amount) ?? null;
    return excess === 'share' ? null : excess;
  };
  /** Returns whether there was a session to evict except `row`. */
  const evict = (quantity: Quantity, { number, record: { client } }: SessionRow, nowMs: number) => {
    const victim = evictable[quantity]
      .map((state) => sessions.findOldest(client?.address ?? '', state, number))
      .find((found) => found !== undefined);
    if (victim === undefined) return false;
    if (quantity === 'sessionBytes') purge(victim, nowMs);
    else apply(victim, endSession(victim.record, 'evicted', nowMs));
    return true;
  };
  return {
    findExcess,
    /** Returns the limit that is exceeded even after evictions of sessions except `row`, if any. */
    evictFor: (need: Need, row: SessionRow, nowMs: number) => {
      for (let evicted = 0; ; evicted += 1) {
        const excess = findExcess(need, row);
        if (excess === null || excess === 'total' || evicted === maxEvictions) return excess;
        if (!evict(need.quantity, row, nowMs)) return excess;
      }
    },
  };
}
