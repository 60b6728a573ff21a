import { linkSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock } from '../core/clock.ts';
import type { Random } from '../core/random.ts';
import {
  connectSqlite,
  errorCodeOf,
  openSqlite,
  type SqliteDatabase,
  setUpSqlite,
  UnusableFileError,
} from '../core/sqlite.ts';
import {
  checkHeader,
  type FileFacts,
  isSameFile,
  isUnchanged,
  type KeyFileTrouble,
  lookAt,
  toTrouble,
} from './key-file-look.ts';
import { type KeyRows, keyMigrations, openKeyRows } from './key-rows.ts';

/** What a use of the file came to. */
export type Outcome<Value> = { readonly value: Value } | { readonly trouble: KeyFileTrouble };

/** The file of the keys, whatever happens to it. Nothing here is remembered of the keys. */
export interface KeyFile {
  /** Uses the rows of what lies at the path now. Waits, blocking, at most 20 ms for a lock. */
  use<Value>(work: (rows: KeyRows) => Value): Outcome<Value>;
  /** Whether a look is enough to be certain that the file holds what these rows have read. */
  isSettled(rows: KeyRows): boolean;
  /** Makes a store without keys where what is wrong is one of these faults; else does nothing. */
  makeWhere(faults: readonly MendableFault[]): KeyFileTrouble | undefined;
  close(): void;
}

/** What a new store can take the place of, because no key is lost by it. */
export type MendableFault = 'missing' | 'empty';

/** What a key file may use. */
export interface KeyFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** The longest that anything waits for a lock, blocking (decisions section 6). */
const busyMs = 20;

const schema = { migrations: keyMigrations, journal: 'rollback', busyMs } as const;

/** Opens the keys in a file; touches nothing yet. `:memory:` is a store that goes with the process. */
export function openKeyFile(options: KeyFileOptions): KeyFile {
  if (options.path === ':memory:') return openMemory();
  const path = resolve(options.path);
  const upkeep = createUpkeep(path, options.clock);
  let isClosed = false;
  return {
    use: (work) => (isClosed ? { trouble: { fault: 'closed' } } : upkeep.use(work)),
    isSettled: (rows) => !isClosed && upkeep.isSettled(rows),
    makeWhere: (faults) => {
      if (isClosed) return { fault: 'closed' };
      const look = lookAt(path);
      const fault = faults.find((each) => 'trouble' in look && look.trouble.fault === each);
      return fault && makeStore(fault, path, options.random);
    },
    close: () => {
      isClosed = true;
      upkeep.disconnect();
    },
  };
}

function openMemory(): KeyFile {
  const database = openSqlite({ path: ':memory:', ...schema });
  const rows = openKeyRows(database);
  return {
    use: (work) => (database.open ? { value: work(rows) } : { trouble: { fault: 'closed' } }),
    isSettled: () => database.open,
    makeWhere: () => undefined,
    close: () => void database.close(),
  };
}

interface Connection {
  readonly database: SqliteDatabase;
  /** Absent until the file could be read. */
  tables?: Tables;
  /** What was seen when the content was last looked through. */
  facts: FileFacts;
  /** When the file was last used without a failure; Unix milliseconds. */
  usedAtMs: number | undefined;
}

interface Tables {
  readonly rows: KeyRows;
  /** Gives what is wrong with the content, or `ok`. */
  examine(): string | undefined;
}

/** A file that was found unusable; it is not opened again before it changes. */
interface Rejected {
  readonly facts: FileFacts;
  readonly trouble: KeyFileTrouble;
  /** Whether it may still change within the grain of its times. */
  readonly isFresh: boolean;
}

/** Coarser than the times of every file system that SQLite runs on. */
const freshMs = 2000;

/** How long a look is enough: only a use notices a lock of somebody else. */
const lookMs = 10;

type Upkeep = Pick<KeyFile, 'use' | 'isSettled'> & { disconnect(): void };

/**
 * Keeps a connection to the file that lies at the path. Native objects are never given back
 * (docs/decisions/0011), so one connection serves as long as the file is the same, through locks
 * and failures of the disk; and what is damaged is opened again only when it has changed.
 */
function createUpkeep(path: string, clock: Clock): Upkeep {
  let connection: Connection | undefined;
  let rejected: Rejected | undefined;
  const disconnect = () => {
    connection?.database.close();
    connection = undefined;
  };
  const fail = (error: unknown, facts: FileFacts) => {
    const trouble = toTrouble(error);
    if (trouble.fault === 'damaged') {
      disconnect();
      const isFresh = Math.abs(clock.now() - facts.ctimeMs) < freshMs;
      rejected = { facts, trouble, isFresh };
    }
    return { trouble };
  };
  const connect = (facts: FileFacts): Connection => {
    checkHeader(path);
    const database = connectSqlite({ path, busyMs, mustExist: true });
    return { database, facts, usedAtMs: undefined };
  };
  const use: KeyFile['use'] = (work) => {
    const look = lookAt(path);
    if ('trouble' in look || !isSameFile(connection?.facts ?? look.facts, look.facts)) disconnect();
    if ('trouble' in look) return look;
    const { facts } = look;
    if (isKnownBad(rejected, facts)) return { trouble: rejected.trouble };
    try {
      connection ??= connect(facts);
      connection.usedAtMs = undefined;
      const value = work(bringUp(connection, facts, path));
      connection.usedAtMs = clock.now();
      return { value };
    } catch (error) {
      return fail(error, facts);
    }
  };
  const isSettled: KeyFile['isSettled'] = (rows) => {
    if (connection?.tables?.rows !== rows || !isCertain(connection, clock.now())) return false;
    const look = lookAt(path);
    return 'facts' in look && isUnchanged(connection.facts, look.facts);
  };
  return { use, isSettled, disconnect };
}

/**
 * Whether every change since the last use shows in the times of the file: that use came so long
 * after the last change that the next one cannot get the same time.
 */
function isCertain({ facts, usedAtMs }: Connection, nowMs: number): boolean {
  if (usedAtMs === undefined) return false;
  const sinceMs = nowMs - usedAtMs;
  return sinceMs >= 0 && sinceMs < lookMs && usedAtMs - facts.ctimeMs > freshMs;
}

function isKnownBad(rejected: Rejected | undefined, facts: FileFacts): rejected is Rejected {
  return rejected !== undefined && !rejected.isFresh && isUnchanged(rejected.facts, facts);
}

/** Gives the rows, after a look through the content where the file has changed since the last one. */
function bringUp(connection: Connection, facts: FileFacts, path: string): KeyRows {
  const { database } = connection;
  const isExamined = connection.tables !== undefined && isUnchanged(connection.facts, facts);
  if (connection.tables !== undefined && isExamined) return connection.tables.rows;
  connection.tables ??= setUp(database, path);
  // Pages in memory would hide what somebody else wrote over the file past SQLite.
  database.exec('PRAGMA shrink_memory');
  const found = connection.tables.examine();
  if (found !== 'ok') throw new UnusableFileError(`${path} is damaged: ${found}`);
  connection.facts = facts;
  // Others rows, though by the same statements: what was known of the old content does not hold.
  connection.tables = { ...connection.tables, rows: { ...connection.tables.rows } };
  return connection.tables.rows;
}

function setUp(database: SqliteDatabase, path: string): Tables {
  setUpSqlite(database, { path, ...schema, mustExist: true });
  const rows = openKeyRows(database);
  const check = database.prepare<[], string>('PRAGMA quick_check(1)').pluck();
  return { rows, examine: () => check.get() };
}

function makeStore(fault: MendableFault, path: string, random: Random): KeyFileTrouble | undefined {
  try {
    if (fault === 'missing') makeFile(path, random);
    else openSqlite({ path, ...schema }).close();
    return undefined;
  } catch (error) {
    return toTrouble(error);
  }
}

/**
 * The file appears whole, and the first one stays, so that processes can start together. SQLite would
 * play the journal of a file that is gone into the new one, so nobody can use that before the journal is
 * away; and where somebody else was first, the journal is that of his transaction and stays.
 */
function makeFile(path: string, random: Random): void {
  const draft = `${path}.${random.bytes(6).toString('hex')}`;
  try {
    const database = openSqlite({ path: draft, ...schema });
    try {
      database.exec('BEGIN EXCLUSIVE'); // locks the file under both names
      linkSync(draft, path);
      rmSync(`${path}-journal`, { force: true });
    } finally {
      database.close();
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
