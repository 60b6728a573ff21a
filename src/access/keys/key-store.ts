import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { createExpiringCache } from '../../lib/expiring-cache.ts';
import { Problem } from '../../lib/problem.ts';
import type { Random } from '../../lib/random.ts';
import { type KeyFile, KeyFileError, type KeyFileFault, openKeyFile } from './key-file.ts';
import {
  createKey,
  hashKey,
  isKeyShaped,
  type KeyChanges,
  type KeyRecord,
  type NewKey,
  type StoredKey,
  withChanges,
} from './key-record.ts';
import type { KeyRows } from './key-rows.ts';

/** Result of checking an API key. `unverified`: the key store is unavailable. */
export type KeyCheck =
  | { readonly status: 'valid'; readonly id: string; readonly allowance: number | null }
  | { readonly status: 'invalid' }
  | { readonly status: 'unverified' };

/** New API key with its record. Only its hash is stored, so the key cannot be read later. */
export type IssuedKey = Readonly<{ record: KeyRecord; key: string }>;

/**
 * Store of API keys. Changes are stored before the promise resolves. All methods except `check` and
 * `close` throw Problem `key_store_unavailable` if the store cannot be used within 2 seconds.
 */
export interface KeyStore {
  /** Checks a key against all earlier changes, including those by other processes. Never throws. */
  check(key: string): KeyCheck | Promise<KeyCheck>;
  /** Returns all keys, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Creates and stores an API key. Creates the store's file first if it is missing or empty. */
  create(fields: NewKey): Promise<IssuedKey>;
  /** Changes an API key. Returns the changed record; `undefined` if no key has this id. */
  change(id: string, changes: KeyChanges): Promise<KeyRecord | undefined>;
  /** Deletes an API key. Returns whether the key existed. */
  remove(id: string): Promise<boolean>;
  /** Replaces a key, but not its label and settings. Returns `undefined` if no key has this id. */
  rotate(id: string): Promise<IssuedKey | undefined>;
  /** Stores the buffered times at which keys were last used, then closes the store. */
  close(): void | Promise<void>;
}

/** Key store in a file. Its method `check` is synchronous. */
export interface KeyFileStore extends KeyStore {
  check(key: string): KeyCheck;
  /** Returns all keys with their hashes, for copying to another store. */
  dump(): Promise<readonly StoredKey[]>;
  close(): void;
}

interface KeyStoreOptions {
  /** Path of the store's file; `:memory:` for a store in memory. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Time at which a missing store is created: now (`make`, default) or in `create` (`wait`). */
  readonly whenMissing?: 'make' | 'wait';
  /** Called once per outage, when the store becomes unusable. */
  readonly onTrouble?: (reason: string, error: unknown) => void;
  readonly onRecovered?: () => void;
}

/** Milliseconds after a failure of the store during which `check` does not access the store. */
const cooldownMs = 1000;
/** Milliseconds for which another process may lock the file: checked keys keep their status. */
const briefLockMs = 1000;
const briefCooldownMs = 50;
/** Milliseconds for which an operator's request is retried while the key file is locked. */
const lockTimeoutMs = 2000;
const retryIntervalMs = 25;

/** Opens the store, even an unusable one. Throws NewerSchemaError for a file of a newer Perch. */
export function openKeyStore(options: KeyStoreOptions): KeyFileStore {
  const { path, clock, whenMissing = 'make' } = options;
  const file = openKeyFile(path, clock);
  const outage = createOutage(options);
  const uses = createKeyUses(clock, (times) => file.use((rows) => rows.noteUses(times)));
  const operate = <Value>(work: (rows: KeyRows) => Value, createOn?: readonly KeyFileFault[]) =>
    retryWhileLocked(clock, () => {
      const value = file.use(work, createOn);
      outage.end();
      return value;
    });
  const cached = createKeyCache(file);
  const verdicts = createVerdicts(clock);
  const findOffline = (key: string): KeyCheck =>
    (outage.isBrief() ? verdicts.recall(key) : undefined) ?? { status: 'unverified' };
  const find = (key: string): KeyCheck => {
    const check = cached.find(key, (read) => {
      outage.end();
      verdicts.note(key, read);
    });
    if (check.status === 'valid') uses.note(check.id);
    return check;
  };
  try {
    // An empty file stays: the operator may want to restore its keys from a backup.
    file.use((rows) => rows.find(''), whenMissing === 'make' ? ['missing'] : []);
  } catch (error) {
    if (error instanceof KeyFileError && error.fault === 'newer') {
      file.close();
      throw error.cause;
    }
    outage.begin(error);
  }
  return {
    check: (key) => {
      if (!isKeyShaped(key)) return { status: 'invalid' };
      if (outage.isRecent()) return findOffline(key);
      try {
        return find(key);
      } catch (error) {
        outage.begin(error);
        return findOffline(key);
      }
    },
    dump: () => operate((rows) => rows.dump()),
    ...createOperations(options, {
      list: () => operate((rows) => rows.list()),
      insert: (key) => operate((rows) => rows.insert(key), ['missing', 'empty']),
      replace: (id, decide) => operate((rows) => rows.replace(id, decide)),
      remove: (id) => operate((rows) => rows.remove(id)),
    }),
    close: () => {
      void uses.close(); // writes before it returns
      file.close();
    },
  };
}

const maxCached = 1000;

interface KeyTable extends Pick<KeyStore, 'list' | 'remove'> {
  insert(key: StoredKey): Promise<unknown>;
  /** Stores the result of `decide`. Returns its record; `undefined` if no key has this id. */
  replace(id: string, decide: (key: StoredKey) => StoredKey): Promise<KeyRecord | undefined>;
}

/** Creates the methods for operators over a table of API keys. */
export function createOperations(
  { random, clock }: Readonly<{ random: Random; clock: Clock }>,
  { list, insert, replace, remove }: KeyTable,
): Pick<KeyStore, 'list' | 'create' | 'change' | 'remove' | 'rotate'> {
  const issue = () => {
    const key = createKey(random);
    const issued = {
      id: random.bytes(6).toString('hex'),
      createdMs: clock.now(),
      lastUsedMs: null,
    };
    return { key, hash: hashKey(key), issued };
  };
  return {
    list,
    create: async ({ label, allowance = null, notes = null }) => {
      const { key, hash, issued } = issue();
      const record = { ...issued, label, enabled: true, allowance, notes };
      await insert({ hash, record });
      return { record, key };
    },
    change: (id, changes) =>
      replace(id, ({ hash, record }) => ({ hash, record: withChanges(record, changes) })),
    remove,
    rotate: async (id) => {
      const { key, hash, issued } = issue();
      const renew = ({ record }: StoredKey) => ({ hash, record: { ...record, ...issued } });
      const record = await replace(id, renew);
      return record && { record, key };
    },
  };
}

function createKeyCache(file: KeyFile) {
  const checks = new LRUCache<string, KeyCheck>({ max: maxCached });
  let cachedVersion: object | undefined;
  return {
    find: (secret: string, onRead: (check: KeyCheck) => void): KeyCheck => {
      // Reads the version before the key, so that a change between these reads invalidates the
      // cache entry.
      const version = file.version();
      if (version !== cachedVersion) checks.clear();
      cachedVersion = version;
      const known = checks.get(secret);
      if (known !== undefined) return known;
      const key = file.use((rows) => rows.find(hashKey(secret)));
      const check: KeyCheck =
        key === undefined ? { status: 'invalid' } : { status: 'valid', ...key };
      onRead(check);
      if (version !== undefined && key !== undefined) checks.set(secret, check);
      return check;
    },
  };
}

interface Outage {
  readonly sinceMs: number;
  readonly failedAtMs: number;
  readonly isLocked: boolean;
  readonly isReported: boolean;
}

function createOutage({ clock, onTrouble, onRecovered }: KeyStoreOptions) {
  let outage: Outage | undefined;
  // The absolute values, because the system clock can be set back.
  const since = (ms: number) => Math.abs(clock.now() - ms);
  const isBrief = () =>
    outage?.isLocked === true && Math.abs(outage.failedAtMs - outage.sinceMs) < briefLockMs;
  return {
    isBrief,
    isRecent: () =>
      outage !== undefined && since(outage.failedAtMs) < (isBrief() ? briefCooldownMs : cooldownMs),
    begin: (error: unknown) => {
      const nowMs = clock.now();
      const isFault = error instanceof KeyFileError;
      const isLocked = isFault && error.fault === 'locked';
      const { sinceMs = nowMs, isReported = false } = outage ?? {};
      outage = { sinceMs, failedAtMs: nowMs, isLocked, isReported };
      if (isReported || isBrief()) return;
      outage = { ...outage, isReported: true };
      onTrouble?.(isFault ? error.fault : 'unreadable', isFault ? error.cause : error);
    },
    end: () => {
      const wasReported = outage?.isReported === true;
      outage = undefined;
      if (wasReported) onRecovered?.();
    },
  };
}

async function retryWhileLocked<Value>(clock: Clock, use: () => Value): Promise<Value> {
  const lastTryMs = clock.now() + lockTimeoutMs;
  for (;;) {
    try {
      return use();
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
      if (error.fault !== 'locked' || clock.now() >= lastTryMs) {
        throw new Problem('key_store_unavailable', { detail: error.message, cause: error.cause });
      }
    }
    await clock.sleep(retryIntervalMs);
  }
}

const minuteMs = 60_000;

/** Creates a buffer of last uses. Writes at most once a minute, retries, and flushes on `close`. */
export function createKeyUses(
  clock: Clock,
  write: (times: ReadonlyMap<string, number>) => void | Promise<void>,
) {
  let unwritten = new Map<string, number>();
  const closing = new AbortController();
  const flush = async (): Promise<void> => {
    const times = unwritten;
    if (times.size === 0) return;
    unwritten = new Map();
    try {
      await write(times);
    } catch {
      unwritten = new Map([...times, ...unwritten]);
      flushLater();
    }
  };
  const flushLater = () => void clock.sleep(minuteMs, closing.signal).then(flush, () => {});
  return {
    note: (id: string): void => {
      if (unwritten.size === 0) flushLater();
      unwritten.set(id, Math.floor(clock.now() / minuteMs) * minuteMs);
    },
    close: (): Promise<void> => {
      closing.abort();
      return flush();
    },
  };
}

/** Milliseconds for which a key's last check result is reused while the key store fails. */
const knownMs = 30_000;
const maxKnown = 10_000;

/** Creates separate caches for valid and invalid keys, so that invalid ones evict no valid ones. */
export function createVerdicts(clock: Clock) {
  const create = () => createExpiringCache<KeyCheck>(clock, { max: maxKnown, ttlMs: knownMs });
  const verdicts = { valid: create(), invalid: create() };
  return {
    note: (key: string, check: KeyCheck): void => {
      const isValid = check.status === 'valid';
      verdicts[isValid ? 'valid' : 'invalid'].set(key, check);
      if (!isValid) verdicts.valid.delete(key);
    },
    recall: (key: string): KeyCheck | undefined =>
      verdicts.valid.get(key) ?? verdicts.invalid.get(key),
  };
}
