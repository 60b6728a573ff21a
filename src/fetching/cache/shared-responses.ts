import { hash } from 'node:crypto';
import * as z from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { Problem, type ProblemCode } from '../../lib/problem.ts';
import {
  defineScript,
  type Engine,
  type EngineCall,
  type EngineScript,
} from '../../lib/redis/engine.ts';
import { version } from '../../lib/version.ts';
import type { Account } from '../../model/account.ts';
import type { ListItem } from '../lists/fetch-page.ts';
import type { CacheEntry, Outcome } from './response-cache.ts';

/** Exclusive right to fetch a response for all instances, until `publish` or `release`. */
export interface Lease {
  /** Stores the response for other instances, which may be waiting for it. */
  publish(entry: CacheEntry): void;
  /** Ends the lease without a response, so that another instance can fetch it. */
  release(): void;
}

/** Response cache that all instances share. Without its server, it returns and stores nothing. */
export interface SharedResponses {
  /** Returns an entry, which may be stale; `undefined` if the entry is missing. */
  read(key: string): Promise<CacheEntry | undefined>;
  write(key: string, entry: CacheEntry): void;
  /** Waits for the lease or another instance's entry. Rejects when `signal` is aborted. */
  claim(key: string, signal: AbortSignal): Promise<Lease | CacheEntry>;
  remove(key: string): void;
  /** Announces that a post or account is gone. Other instances learn of it within a second. */
  announceGone(gone: Gone): void;
  close(): void;
}

/** Deleted post or account, and the Unix time in ms at which its absence was confirmed. */
export type Gone = Readonly<{ subject: string; goneMs: number }>;

interface SharedResponsesOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Milliseconds after which a lease that is not renewed expires, so that others may fetch. */
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

/** Script that stores a response and ends the lease. ARGV: response, lifetime in ms, instance. */
const publishScript = defineScript(`
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if redis.call('GET', KEYS[2]) == ARGV[3] then redis.call('DEL', KEYS[2]) end
`);

/** Script that extends a lease if the instance still has it. ARGV: instance, lifetime in ms. */
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

/** Script that announces a deletion to all instances. ARGV: announcement, approximate count. */
const announceScript = defineScript(`
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'gone', ARGV[1])
`);

/** Script that returns alternating stream ids and announcements. ARGV: position to start after. */
const listenScript = defineScript(`
local found = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+')) do
  found[#found + 1] = entry[1]
  found[#found + 1] = entry[2][2]
end
return found
`);

/** Opens the cache that all instances share. Instances of different versions share no entries. */
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
  /** Returns the lease or a fresh entry; `null` if another instance has the lease. */
  const tryToClaim = async (key: string): Promise<Lease | CacheEntry | null> => {
    const { lease } = keysOf(key);
    // The lease comes first: another instance publishes its entry before it ends its lease.
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
    /** Announces a deletion to the other instances. If this fails, `exchange` sends it again. */
    add: (gone: Gone): void => {
      const text = JSON.stringify({ ...gone, by: engine.instance });
      const [oldest] = unsent;
      if (unsent.size === maxGone && oldest !== undefined) unsent.delete(oldest);
      unsent.add(text);
      send(text).catch(() => {});
    },
    /** Receives deletions and resends failed announcements until `signal` is aborted. */
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

type SerializedGone = Readonly<{ code: ProblemCode; detail: string }>;

/** Serializes an entry for instances of the same version. Includes each list author only once. */
export function serializeEntry({ outcome, ...entry }: CacheEntry): string {
  if (!('gone' in outcome)) {
    const authors: Account[] = [];
    return JSON.stringify({ ...entry, outcome: withoutAuthors(outcome, authors), authors });
  }
  const gone: SerializedGone = { code: outcome.gone.code, detail: outcome.gone.message };
  return JSON.stringify({ ...entry, outcome: { gone } });
}

type FoundOutcome = Exclude<Outcome, { readonly gone: Problem }>;

function withoutAuthors(outcome: FoundOutcome, authors: Account[]): unknown {
  const { found } = outcome;
  const indices = new Map<string, number>();
  const toIndex = (author: Account): number => {
    const text = JSON.stringify(author);
    const index = indices.get(text) ?? authors.push(author) - 1;
    indices.set(text, index);
    return index;
  };
  const strip = (item: ListItem) =>
    'author' in item && item.author !== null ? { ...item, author: toIndex(item.author) } : item;
  if ('page' in found) {
    const page = { ...found.page, items: found.page.items.map(strip) };
    return { ...outcome, found: { ...found, page } };
  }
  if (!('items' in found)) return outcome;
  return { ...outcome, found: { ...found, items: found.items.map(strip) } };
}

/** Parses a cache entry that `serializeEntry` of the same version serialized. */
export function parseEntry(text: string): CacheEntry {
  const { authors, ...entry }: CacheEntry & { authors: readonly Account[] } = JSON.parse(text);
  const { outcome } = entry;
  if ('gone' in outcome) {
    const { code, detail }: SerializedGone = JSON.parse(text).outcome.gone;
    return { ...entry, outcome: { gone: new Problem(code, { detail }) } };
  }
  restoreAuthors(outcome, authors);
  return { ...entry, length: text.length };
}

function restoreAuthors({ found }: FoundOutcome, authors: readonly Account[]): void {
  const { items = [] } = 'page' in found ? found.page : 'items' in found ? found : {};
  for (const item of items) {
    // The entry is not shared yet, and has indices in place of authors.
    const stored = item as { author?: unknown };
    if (typeof stored.author === 'number') stored.author = authors[stored.author];
  }
}
