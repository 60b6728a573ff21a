import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Random } from '../../core/random.ts';
import { createKey, hashKey, isKeyShaped } from './key.ts';
import { type KeyFile, KeyFileError, type KeyFileFault, openKeyFile } from './key-file.ts';
import type { KeyChanges, KeyRecord, NewKey } from './key-record.ts';
import type { FoundKey, KeyRows } from './key-rows.ts';

/** Result of checking a key. `unverified`: the store could not be read at once. */
export type KeyCheck =
  | { readonly status: 'valid'; readonly id: string; readonly allowance: number | null }
  | { readonly status: 'invalid' }
  | { readonly status: 'unverified' };

/** A new key, which is shown now only, because its hash alone is stored. */
export interface IssuedKey {
  readonly record: KeyRecord;
  readonly key: string;
}

/**
 * The keys of callers. When a method that changes keys returns, the change is on the disk. All but
 * `check` and `close` throw Problem `key_store_unavailable` if the store cannot be used within 2 s.
 */
export interface KeyStore {
  /**
   * Checks a key of a request that has arrived. A change by any process is effective for every
   * request that arrives after it. Never throws.
   */
  check(key: string): KeyCheck;
  /** Returns all keys, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Adds a key. Creates a new store if it is missing or empty. */
  create(fields: NewKey): Promise<IssuedKey>;
  /** Returns the changed record; `undefined` if no key has the id. */
  change(id: string, changes: KeyChanges): Promise<KeyRecord | undefined>;
  /** Deletes a key; returns whether it existed. */
  remove(id: string): Promise<boolean>;
  /** Replaces a key by a new one like it, enabled or disabled; `undefined` if no key has the id. */
  rotate(id: string): Promise<IssuedKey | undefined>;
  /** Stores the last uses that are not stored yet, and closes the store. */
  close(): void;
}

interface KeyStoreOptions {
  /** A file path, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a missing store is created at once (the default), or only by `create`. */
  readonly whenMissing?: 'make' | 'wait';
  /** Called once at the start of an outage, and `onRecovered` once at its end. */
  readonly onTrouble?: (reason: string, error: unknown) => void;
  readonly onRecovered?: () => void;
}

const minuteMs = 60_000;
/** For how long a store that failed is not asked about keys. */
const restMs = 1000;
/** For how long an operator's request waits for a lock, and the time between two tries. */
const patienceMs = 2000;
const pauseMs = 25;

/** Opens the store of keys. A store that cannot be used is tried again by later requests. */
export function openKeyStore(options: KeyStoreOptions): KeyStore {
  const { path, clock, random, whenMissing = 'make' } = options;
  const file = openKeyFile(path, clock);
  const outage = createOutage(options);
  const uses = createKeyUses(file, clock);
  const operate = <Value>(work: (rows: KeyRows) => Value, mend?: readonly KeyFileFault[]) =>
    useWithPatience(clock, () => {
      const value = file.use(work, mend);
      outage.end();
      return value;
    });
  const issue = () => {
    const key = createKey(random);
    const id = random.bytes(6).toString('hex');
    return { key, hash: hashKey(key), id, createdMs: clock.now() };
  };
  const remembered = createFoundKeys(file);
  const find = (key: string): KeyCheck => {
    const found = remembered.find(hashKey(key), outage.end);
    if (found === undefined) return { status: 'invalid' };
    uses.note(found.id);
    return { status: 'valid', ...found };
  };
  try {
    // An empty file is left as it is: a new store in its place would make its keys invalid.
    file.use((rows) => rows.find(''), whenMissing === 'make' ? ['missing'] : []);
  } catch (error) {
    outage.begin(error);
  }
  return {
    check: (key) => {
      if (!isKeyShaped(key)) return { status: 'invalid' };
      if (outage.isRecent()) return { status: 'unverified' };
      try {
        return find(key);
      } catch (error) {
        outage.begin(error);
        return { status: 'unverified' };
      }
    },
    list: () => operate((rows) => rows.list()),
    create: async ({ label, allowance = null, notes = null }) => {
      const { key, hash, id, createdMs } = issue();
      const record = { id, label, enabled: true, allowance, createdMs, lastUsedMs: null, notes };
      await operate((rows) => rows.insert(record, hash), ['missing', 'empty']);
      return { record, key };
    },
    change: (id, changes) => operate((rows) => rows.change(id, changes)),
    remove: (id) => operate((rows) => rows.remove(id)),
    rotate: async (id) => {
      const { key, ...replacement } = issue();
      const record = await operate((rows) => rows.replace(id, replacement));
      return record && { record, key };
    },
    close: () => {
      uses.close();
      file.close();
    },
  };
}

/** Maximum number of keys that are remembered until the file changes. */
const maxFound = 1000;

/** Creates the search for keys, which reads a key that it found once again only after the file has changed. */
function createFoundKeys(file: KeyFile) {
  const found = new LRUCache<string, FoundKey>({ max: maxFound });
  let foundIn: string | undefined;
  return {
    find: (hash: string, onRead: () => void): FoundKey | undefined => {
      // Asked before the read: a change in between makes the next version another one.
      const version = file.version();
      if (version !== foundIn) found.clear();
      foundIn = version;
      const known = found.get(hash);
      if (known !== undefined) return known;
      const key = file.use((rows) => rows.find(hash));
      onRead();
      if (version !== undefined) found.set(hash, key);
      return key;
    },
  };
}

/** Creates the memory of the last failure; there is none yet. */
function createOutage({ clock, onTrouble, onRecovered }: KeyStoreOptions) {
  let failedAtMs: number | undefined;
  return {
    // The absolute value, because the machine's clock can be set back.
    isRecent: () => failedAtMs !== undefined && Math.abs(clock.now() - failedAtMs) < restMs,
    begin: (error: unknown) => {
      const isNew = failedAtMs === undefined;
      failedAtMs = clock.now();
      if (!isNew) return;
      const isFault = error instanceof KeyFileError;
      onTrouble?.(isFault ? error.fault : 'unreadable', isFault ? error.cause : error);
    },
    end: () => {
      if (failedAtMs === undefined) return;
      failedAtMs = undefined;
      onRecovered?.();
    },
  };
}

/** Calls `use` until the file is not locked, for two seconds. */
async function useWithPatience<Value>(clock: Clock, use: () => Value): Promise<Value> {
  const lastTryMs = clock.now() + patienceMs;
  for (;;) {
    try {
      return use();
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
      if (error.fault !== 'locked' || clock.now() >= lastTryMs) {
        throw new Problem('key_store_unavailable', { detail: error.message, cause: error.cause });
      }
    }
    await clock.sleep(pauseMs);
  }
}

/**
 * Creates the memory of last uses. They are rounded down to the minute and stored once a minute, in
 * one transaction. If that fails, they stay for the next minute: no request waits or fails for it.
 */
function createKeyUses(file: KeyFile, clock: Clock) {
  const unwritten = new Map<string, number>();
  const closing = new AbortController();
  const write = () => {
    if (unwritten.size === 0) return;
    try {
      file.use((rows) => rows.noteUses(unwritten));
      unwritten.clear();
    } catch {
      writeLater();
    }
  };
  const writeLater = () => void clock.sleep(minuteMs, closing.signal).then(write, () => {});
  return {
    note: (id: string) => {
      if (unwritten.size === 0) writeLater();
      unwritten.set(id, Math.floor(clock.now() / minuteMs) * minuteMs);
    },
    close: () => {
      closing.abort();
      write();
    },
  };
}
