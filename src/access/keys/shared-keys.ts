import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import type { Random } from '../../lib/random.ts';
import {
  defineScript,
  type Engine,
  type EngineCall,
  type EngineScript,
} from '../../lib/redis/engine.ts';
import { describeEngineError, EngineError } from '../../lib/redis/engine-error.ts';
import { hashKey, isKeyShaped, type KeyRecord, type StoredKey, toLastUse } from './key-record.ts';
import {
  createKeyUses,
  createOperations,
  createVerdicts,
  type KeyCheck,
  type KeyStore,
} from './key-store.ts';

interface SharedKeysOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
}

/** Store of API keys that all instances share. */
export interface SharedKeyStore extends KeyStore {
  /** Copies keys, except those that already exist. Returns the number of copied keys. */
  copy(keys: readonly StoredKey[]): Promise<number>;
}

const tables = [
  /** Name of the Redis hash that maps the SHA-256 hash of a key to its record in JSON. */
  '{keys}:records',
  /** Name of the table (a Redis hash) that maps the id of an API key to the key's SHA-256 hash. */
  '{keys}:ids',
  /** Name of the Redis hash that maps key ids to last uses in Unix milliseconds. */
  '{keys}:used',
] as const;
const [records, ids, used] = tables;

const operatorDeadlineMs = 2000;
const maxAttempts = 20;

/** Lua script. ARGV: hash, record and id of a new key. Returns 0 if the hash or the id exists. */
const insertScript = defineScript(`
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 1 then return 0 end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[1])
return 1
`);

/** Lua script. ARGV: old hash, record, id; new ones. Returns 0 if the old record is outdated. */
const replaceScript = defineScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if ARGV[4] ~= ARGV[1] then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[3])
  redis.call('HDEL', KEYS[3], ARGV[3])
end
redis.call('HSET', KEYS[1], ARGV[4], ARGV[5])
redis.call('HSET', KEYS[2], ARGV[6], ARGV[4])
return 1
`);

/** Lua script that deletes an API key. ARGV: its id. Returns 0 if the key does not exist. */
const removeScript = defineScript(`
local hash = redis.call('HGET', KEYS[2], ARGV[1])
if not hash then return 0 end
redis.call('HDEL', KEYS[1], hash)
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
return 1
`);

/** Lua script. ARGV: alternating key ids and Unix ms. Skips deleted keys and earlier times. */
const useScript = defineScript(`
for at = 1, #ARGV, 2 do
  local before = tonumber(redis.call('HGET', KEYS[3], ARGV[at]) or -1)
  if redis.call('HEXISTS', KEYS[2], ARGV[at]) == 1 and before < tonumber(ARGV[at + 1]) then
    redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 1])
  end
end
`);

/** Opens the shared store. In an outage, keys checked in the last 30 seconds keep their status. */
export function openSharedKeys(options: SharedKeysOptions): SharedKeyStore {
  const { engine, clock } = options;
  const verdicts = createVerdicts(clock);
  const table = createKeyTable(engine);
  const uses = createKeyUses(clock, table.noteUses);
  const check = async (key: string): Promise<KeyCheck> => {
    try {
      const result = toCheck(await table.find(hashKey(key)));
      if (result.status === 'valid') uses.note(result.id);
      verdicts.note(key, result);
      return result;
    } catch {
      return verdicts.recall(key) ?? { status: 'unverified' };
    }
  };
  /** Waits up to two seconds for the engine. Throws Problem `key_store_unavailable`. */
  const operate = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    await engine.waitUntilUp(operatorDeadlineMs);
    return work().catch(throwUnavailable);
  };
  return {
    check: (key) => (isKeyShaped(key) ? check(key) : { status: 'invalid' }),
    ...createOperations(options, {
      list: () => operate(table.list),
      insert: (key) => operate(() => table.insert(key)),
      replace: (id, decide) => operate(() => table.replace(id, decide)),
      remove: (id) => operate(() => table.remove(id)),
    }),
    copy: (keys) =>
      operate(async () => {
        let added = 0;
        for (const key of keys) if (await table.insert(key)) added += 1;
        return added;
      }),
    close: uses.close,
  };
}

function throwUnavailable(error: unknown): never {
  if (!(error instanceof EngineError)) throw error;
  const detail = `The shared key store cannot be used. ${describeEngineError(error)} Check the server at PERCH_REDIS_URL.`;
  throw new Problem('key_store_unavailable', { detail, cause: error });
}

function createKeyTable(engine: Engine) {
  const change = (script: EngineScript, args: EngineCall['args']) =>
    engine.evaluate(script, { keys: tables, args, deadlineMs: operatorDeadlineMs });
  const read = (table: string, field: string) =>
    engine.run((client) => client.hGet(table, field), operatorDeadlineMs);
  const readAll = (table: string) =>
    engine.run((client) => client.hGetAll(table), operatorDeadlineMs);
  const findById = async (id: string) => {
    const hash = await read(ids, id);
    const text = hash === null ? null : await read(records, hash);
    return hash === null || text === null ? undefined : { hash, text };
  };
  return {
    find: (hash: string) => engine.run((client) => client.hGet(records, hash)),
    list: async (): Promise<readonly KeyRecord[]> => {
      const [texts, times] = await Promise.all([readAll(records), readAll(used)]);
      const all = Object.values(texts).map((text) => toRecord(text, times));
      return all.sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
    },
    /** Adds an API key. Returns `false` if the hash or the id of the key already exists. */
    insert: async ({ hash, record }: StoredKey): Promise<boolean> =>
      (await change(insertScript, [hash, toText(record), record.id])) === 1,
    /** Stores the result of `decide`. Returns its record; `undefined` if no key has this id. */
    replace: async (id: string, decide: (key: StoredKey) => StoredKey) => {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const found = await findById(id);
        if (found === undefined) return undefined;
        const { hash, text } = found;
        const next = decide({ hash, record: toRecord(text, null) });
        const args = [hash, text, id, next.hash, toText(next.record), next.record.id];
        if ((await change(replaceScript, args)) === 1) return next.record;
      }
      throw new EngineError('other changes of the key interfered', false);
    },
    remove: async (id: string): Promise<boolean> => (await change(removeScript, [id])) === 1,
    noteUses: async (times: ReadonlyMap<string, number>): Promise<void> => {
      await change(useScript, [...times].flat());
    },
  };
}

const toText = ({ lastUsedMs: _, ...record }: KeyRecord): string => JSON.stringify(record);

function toRecord(text: string, times: Readonly<Record<string, string>> | null): KeyRecord {
  const record: KeyRecord = JSON.parse(text);
  const atMs = times?.[record.id];
  const usedMs = atMs === undefined ? null : Number(atMs);
  return { ...record, lastUsedMs: toLastUse(usedMs, record.createdMs) };
}

function toCheck(text: string | null): KeyCheck {
  if (text === null) return { status: 'invalid' };
  const { id, enabled, allowance } = toRecord(text, null);
  return enabled ? { status: 'valid', id, allowance } : { status: 'invalid' };
}
