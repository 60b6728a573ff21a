import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import {
  defineScript,
  type Engine,
  type EngineCall,
  type EngineScript,
} from '../../core/engine/engine.ts';
import { version } from '../../core/version.ts';
import type { CacheEntry } from './response-cache.ts';
import { parseEntry, serializeEntry } from './serialized-entry.ts';

/**
 * Exclusive right of this instance to fetch a response for all instances. Call `publish` or `release` after the fetch.
 */
export interface Lease {
  /** Stores the response for other instances, which may be waiting for it. */
  publish(entry: CacheEntry): void;
  /**
   * Releases this instance's exclusive right to fetch the response, and stores no response. Another instance can
   * then fetch it.
   */
  release(): void;
}

/**
 * Response cache on the Redis or Valkey server that all instances share. If the server fails, the
 * cache returns no entries and stores none.
 */
export interface SharedResponses {
  /** Returns an entry, which may be stale; `undefined` if the entry is missing. */
  read(key: string): Promise<CacheEntry | undefined>;
  write(key: string, entry: CacheEntry): void;
  /**
   * Waits for the exclusive right to fetch a response (the lease), or for the entry that another
   * instance is fetching. Rejects when `signal` is aborted.
   */
  claim(key: string, signal: AbortSignal): Promise<Lease | CacheEntry>;
  remove(key: string): void;
  /** Announces that a post or account does not exist. Other instances receive the announcement within a second. */
  announceGone(gone: Gone): void;
  close(): void;
}

/** Deleted post or account, and the time in Unix milliseconds at which its absence was confirmed. */
export type Gone = Readonly<{ subject: string; goneMs: number }>;

interface SharedResponsesOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Milliseconds after which a lease expires unless renewed, so that another instance may fetch the response. */
  readonly leaseMs: number;
  /** Returns whether the shared Redis or Valkey server has memory for more responses. */
  readonly hasSpace: () => boolean;
  /** Called with each deleted post or account that another instance announces. */
  readonly onGone: (gone: Gone) => void;
}

const maxLength = 1_048_576;
const pollMs = 25;
const renewalsPerLease = 3;
const goneKey = 'gone';
const gonePollMs = 1000;
const maxGone = 1000;

/**
 * Lua script that stores a response and ends the instance's lease (its exclusive right to fetch the response). ARGV:
 * response, lifetime in milliseconds, name of the instance.
 */
const publishScript = defineScript(`
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if redis.call('GET', KEYS[2]) == ARGV[3] then redis.call('DEL', KEYS[2]) end
`);

/**
 * Lua script that extends a lease if it still belongs to the instance. ARGV: name of the instance, lifetime in
 * milliseconds.
 */
const renewScript = defineScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`);

/** Lua script that ends a lease if it still belongs to the instance. ARGV: name of the instance. */
const releaseScript = defineScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

const removeScript = defineScript(`
redis.call('DEL', KEYS[1])
`);

/**
 * Lua script that announces a deleted post or account to all instances, which then remove it from their caches.
 * ARGV: announcement, approximate number of announcements to keep.
 */
const announceScript = defineScript(`
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'gone', ARGV[1])
`);

/**
 * Lua script that returns the announcements of deleted posts and accounts after a position in a
 * Redis stream, as alternating stream ids and announcements. ARGV: stream position.
 */
const listenScript = defineScript(`
local found = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+')) do
  found[#found + 1] = entry[1]
  found[#found + 1] = entry[2][2]
end
return found
`);

/** Opens the response cache that all instances share. Instances of different versions use separate entries. */
export function openSharedResponses(options: SharedResponsesOptions): SharedResponses {
  const { engine, clock } = options;
  const closing = new AbortController();
  const send = (script: EngineScript, keys: readonly string[], args: EngineCall['args']): void => {
    // Without the engine, instances fetch by themselves, and leases expire.
    engine.evaluate(script, { keys, args }).catch(() => {});
  };
  const read = async (key: string): Promise<CacheEntry | undefined> => {
    try {
      const text = await engine.run((client) => client.get(keysOf(key).response));
      return text === null ? undefined : parseEntry(text);
    } catch {
      return undefined; // the engine fails, or something else has written the entry
    }
  };
  const release = (lease: string): void => send(releaseScript, [lease], [engine.instance]);
  const write = (key: string, entry: CacheEntry): void => {
    const text = serializeEntry(entry);
    const lifetimeMs = Math.ceil(entry.errorUntilMs - clock.now());
    const { response, lease } = keysOf(key);
    const isStored = text.length <= maxLength && lifetimeMs > 0 && options.hasSpace();
    if (!isStored) release(lease);
    else send(publishScript, [response, lease], [text, lifetimeMs, engine.instance]);
  };
  const hold = (key: string, lease: string): Lease => {
    const ending = new AbortController();
    void renew(lease, options, ending.signal);
    return {
      publish: (entry) => {
        ending.abort();
        write(key, entry);
      },
      release: () => {
        ending.abort();
        release(lease);
      },
    };
  };
  /**
   * Tries to get the lease (the exclusive right to fetch the response for `key`). Returns the lease, or a fresh
   * entry from the shared cache; `null` if another instance has the lease, so that the caller must try again.
   */
  const tryToClaim = async (key: string): Promise<Lease | CacheEntry | null> => {
    const { lease } = keysOf(key);
    // The lease is requested first, because another instance publishes its entry before it ends its lease.
    const [isOwn, entry] = await Promise.all([takeLease(lease, options), read(key)]);
    if (entry === undefined || clock.now() >= entry.freshUntilMs) {
      return isOwn ? hold(key, lease) : null;
    }
    if (isOwn) release(lease);
    return entry;
  };
  const announcements = createAnnouncements(options);
  void announcements.exchange(closing.signal);
  return {
    read,
    write,
    claim: async (key, signal) => {
      for (;;) {
        const claimed = await tryToClaim(key);
        if (claimed !== null) return claimed;
        await engine.clock.sleep(pollMs, signal);
      }
    },
    remove: (key) => send(removeScript, [keysOf(key).response], []),
    announceGone: announcements.add,
    close: () => closing.abort(),
  };
}

function takeLease(lease: string, { engine, leaseMs }: SharedResponsesOptions): Promise<boolean> {
  const options = { condition: 'NX', expiration: { type: 'PX', value: leaseMs } } as const;
  return engine
    .run((client) => client.set(lease, engine.instance, options))
    .then(
      (reply) => reply !== null,
      () => true, // without the engine, this instance fetches by itself
    );
}

async function renew(
  lease: string,
  { engine, leaseMs }: SharedResponsesOptions,
  signal: AbortSignal,
): Promise<void> {
  const call = { keys: [lease], args: [engine.instance, leaseMs] };
  for (;;) {
    await Promise.allSettled([engine.clock.sleep(leaseMs / renewalsPerLease, signal)]);
    if (signal.aborted) return;
    engine.evaluate(renewScript, call).catch(() => {}); // then another instance may take the lease
  }
}

const announcement = z.object({ subject: z.string(), goneMs: z.number(), by: z.string() });

function createAnnouncements({ engine, onGone }: SharedResponsesOptions) {
  const unsent = new Set<string>();
  let after = '-';
  const send = async (text: string): Promise<void> => {
    await engine.evaluate(announceScript, { keys: [goneKey], args: [text, maxGone] });
    unsent.delete(text);
  };
  const receive = async (): Promise<void> => {
    const found = await engine.evaluate(listenScript, { keys: [goneKey], args: [after] });
    const [...texts] = Array.isArray(found) ? found.map(String) : [];
    for (let at = 0; at < texts.length; at += 2) {
      after = `(${texts[at]}`;
      const { by, ...gone } = announcement.parse(JSON.parse(texts[at + 1] ?? ''));
      if (by !== engine.instance) onGone(gone);
    }
  };
  return {
    /**
     * Announces a deleted post or account to the other instances. `exchange` resends failed announcements every
     * second.
     */
    add: (gone: Gone): void => {
      const text = JSON.stringify({ ...gone, by: engine.instance });
      const [oldest] = unsent;
      if (unsent.size === maxGone && oldest !== undefined) unsent.delete(oldest);
      unsent.add(text);
      send(text).catch(() => {});
    },
    /**
     * Receives the deletions of posts and accounts that other instances announce, and resends this
     * instance's failed announcements. Repeats both until `signal` is aborted.
     */
    exchange: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        const retries = [...unsent].map(send);
        const pause = engine.clock.sleep(gonePollMs, signal);
        await Promise.allSettled([receive(), ...retries, pause]);
      }
    },
  };
}

function keysOf(key: string) {
  const tag = hash('sha256', `${version} ${key}`, 'base64url');
  return { response: `response:{${tag}}`, lease: `lease:{${tag}}` };
}
