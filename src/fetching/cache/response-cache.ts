import { LRUCache } from 'lru-cache';
import type { Problem } from '../../core/problem.ts';
import type { ListPart } from '../lists/browse.ts';
import type { Found } from '../plan.ts';
import { createViews, type Views } from '../views.ts';

/** A read that was answered, or whose subject is confirmed gone. */
export type Outcome =
  | {
      readonly found: Found | ListPart;
      readonly source: string;
      /** Whether a provider of this machine gave it. */
      readonly isLocal: boolean;
      /** When the provider was asked, in milliseconds since the epoch; of several, the first time. */
      readonly askedMs: number;
    }
  | { readonly gone: Problem };

/** An outcome with its times, in milliseconds since the epoch. */
export interface CacheEntry {
  /** What it is about: posts and their authors, an account, or a search. */
  readonly subjects: readonly string[];
  readonly outcome: Outcome;
  readonly fetchedAtMs: number;
  readonly freshUntilMs: number;
  /** Until then a stale answer may be served while a new one is fetched. */
  readonly revalidateUntilMs: number;
  /** Until then it may be served when no upstream answers. */
  readonly errorUntilMs: number;
}

export type Entry = CacheEntry & { readonly views: Views };

/** Maximum number of gone subjects that are remembered for reads under way. */
const maxGone = 1000;

interface StoredEntry extends Entry {
  bytes: number;
}

export type ResponseCache = ReturnType<typeof createResponseCache>;

interface CacheOptions {
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** Called with each subject that is gone. */
  readonly onGone?: (subject: string) => void;
}

/** Creates a bounded cache of outcomes, least recently used out first. */
export function createResponseCache(limits: CacheOptions) {
  const keysOf = new Map<string, Set<string>>();
  const goneAt = new LRUCache<string, number>({ max: maxGone });
  const isPast = ({ subjects, outcome }: CacheEntry): boolean =>
    !('gone' in outcome) &&
    subjects.some((subject) => (goneAt.get(subject) ?? outcome.askedMs) > outcome.askedMs);
  const forget = (kept: StoredEntry, key: string): void => {
    for (const subject of kept.subjects) {
      const keys = keysOf.get(subject);
      keys?.delete(key);
      if (keys?.size === 0) keysOf.delete(subject);
    }
  };
  const file = (entry: CacheEntry, key: string): void => {
    for (const subject of entry.subjects) {
      keysOf.set(subject, (keysOf.get(subject) ?? new Set()).add(key));
    }
  };
  // Each has a box of its own, because the library looks at the size only of a new value.
  const entries = new LRUCache<string, { readonly kept: StoredEntry }>({
    max: limits.maxEntries,
    maxSize: limits.maxBytes,
    sizeCalculation: ({ kept }) => kept.bytes,
    dispose: ({ kept }, key, reason) => {
      if (reason !== 'set') forget(kept, key);
    },
  });
  const put = (key: string, kept: StoredEntry): void => {
    entries.set(key, { kept });
    if (entries.peek(key)?.kept !== kept) forget(kept, key); // larger than the cache
  };
  const grow = (key: string, kept: StoredEntry, bytes: number): void => {
    kept.bytes += bytes;
    if (entries.peek(key)?.kept === kept) put(key, kept);
  };

  return {
    get: (key: string): Entry | undefined => entries.get(key)?.kept,
    set: (key: string, entry: CacheEntry): Views => {
      if (isPast(entry)) return createViews(() => undefined);
      const bytes = 200 + 2 * key.length + 120 * entry.subjects.length + sizeOf(entry.outcome);
      const kept: StoredEntry = {
        ...entry,
        bytes,
        views: createViews((more) => grow(key, kept, more)),
      };
      const before = entries.peek(key)?.kept;
      if (before !== undefined) forget(before, key);
      file(entry, key);
      put(key, kept);
      return kept.views;
    },
    /** Drops and refuses every entry about a subject that was fetched before it was gone (ms). */
    dropSubject: (subject: string, goneMs: number): void => {
      limits.onGone?.(subject);
      goneAt.set(subject, goneMs);
      for (const key of [...(keysOf.get(subject) ?? [])]) entries.delete(key);
    },
    get bytes() {
      return entries.calculatedSize;
    },
    get size() {
      return entries.size;
    },
  };
}

/** Estimates an outcome in memory: two bytes for each character of its JSON. */
function sizeOf(outcome: Outcome): number {
  return 'gone' in outcome ? 500 : 2 * JSON.stringify(outcome.found).length;
}
