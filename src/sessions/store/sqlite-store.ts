import { openSqlite } from '../../core/files/sqlite.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { createHolderRows } from './holder-rows.ts';
import { createLifeRows } from './life-rows.ts';
import { createLogRows } from './log-rows.ts';
import { createOnceRows } from './once-rows.ts';
import type { StoreBounds } from './room.ts';
import { createSessionRows } from './session-rows.ts';
import { createSessionWrites, type Rows } from './session-writes.ts';
import { sessionMigrations } from './sqlite-schema.ts';
import type { Commit, SessionCommit, SessionStore, StampEvent } from './store.ts';

/** Where sessions are kept, and what gives their events ids and times. */
export interface SqliteSessionsOptions {
  /** A file path, or `:memory:`. */
  readonly path: string;
  readonly stamp: StampEvent;
  /** Refuses a file that is not there. Default: it is made. */
  readonly mustExist?: boolean;
  /** Calls back when this turn of the event loop has ended. Default: setImmediate. */
  readonly onTurnEnd?: (callback: () => void) => void;
}

/**
 * Opens the store of sessions in one SQLite file. What is changed in one turn of the event loop shares
 * one commit, which is on the disk before any of it is acknowledged or read. Close it with `close()`.
 *
 * @throws Error when the file cannot be opened
 */
export function openSqliteSessions(options: SqliteSessionsOptions): SessionStore {
  const { path, stamp, mustExist = false, onTurnEnd = setImmediate } = options;
  const database = openSqlite({
    path,
    mustExist,
    migrations: sessionMigrations,
    journal: 'durable',
  });
  const sessions = createSessionRows(database);
  let isRead: StoreBounds['isRead'] = () => false;
  const rows: Rows = {
    sessions,
    log: createLogRows(database),
    once: createOnceRows(database),
    life: createLifeRows(database),
    holders: createHolderRows(database, { toRow: sessions.toRow, isRead: (id) => isRead(id) }),
  };
  const news = createNews();
  const group = createGroupCommit({
    database,
    onTurnEnd,
    onCommitted: news.tell,
    onUndone: news.drop,
  });
  const writes = createSessionWrites(rows, { stamp, note: news.note });
  return {
    ...createQueries(rows, group),
    bound: (bounds) => {
      isRead = bounds.isRead;
      writes.bound(bounds);
    },
    trim: () => group.write(() => writes.trim()),
    start: (start) => group.write(() => writes.start(start)),
    accept: (message) => group.write(() => writes.accept(message)),
    change: (id, decide, urgency) => group.write(() => writes.change(id, decide), urgency),
    purge: (id, nowMs) => group.write(() => writes.purge(id, nowMs)),
    forget: ({ purgedMs, onceMs }) => group.write(() => rows.life.forget(purgedMs, onceMs)),
    onCommit: news.listen,
    close: () => {
      group.flush();
      database.close();
    },
  };
}

type Queries = Omit<
  SessionStore,
  'bound' | 'trim' | 'start' | 'accept' | 'change' | 'purge' | 'forget' | 'onCommit' | 'close'
>;

function createQueries(rows: Rows, { read }: GroupCommit): Queries {
  const { sessions, log, once, life } = rows;
  const numberOf = (id: string) => sessions.find(id)?.number ?? -1;
  return {
    find: (id) =>
      read(() => {
        const row = sessions.find(id);
        if (row !== undefined) return { kind: 'known', record: row.record };
        return { kind: life.isPurged(id) ? 'purged' : 'unknown' };
      }),
    recall: (asked) => read(() => once.recall(asked)),
    readEvents: (id, from) => read(() => log.events(numberOf(id), from)),
    readPart: (id, from) => read(() => log.part(numberOf(id), from)),
    readText: (id, sequence) => read(() => log.text(numberOf(id), sequence)),
    readMessages: (id) => read(() => log.messages(numberOf(id))),
    readAnswered: (id, { before, count }) => read(() => log.answered(numberOf(id), before, count)),
    list: (after) => read(() => sessions.page('all', after)),
    listRunning: (after) => read(() => sessions.page('running', after)),
    listExpired: ({ idleMs, createdMs }) => read(() => life.expired(idleMs, createdMs)),
    listStale: ({ endedMs }) => read(() => life.stale(endedMs)),
    countLive: () => read(() => life.countLive()),
  };
}

/** What the group that is open will have changed, until it is committed and told. */
function createNews() {
  let commit = new Map<string, SessionCommit>();
  let listener: (commit: Commit) => void = () => {};
  return {
    note: (id: string, { record, events }: SessionCommit): void => {
      const before = commit.get(id)?.events ?? [];
      commit.set(id, { record, events: before.length === 0 ? events : [...before, ...events] });
    },
    tell: (): void => {
      if (commit.size === 0) return;
      const told = commit;
      commit = new Map();
      listener(told);
    },
    drop: (): void => {
      commit = new Map();
    },
    listen: (next: (commit: Commit) => void): void => {
      listener = next;
    },
  };
}
