import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';

/** Milliseconds without a request after which a dashboard session ends. */
export const idleMs = 30 * 60_000;

export const maxAgeMs = 8 * 3_600_000;

/** Cause of a lookup: a request by the operator (`visit`), or an automatic one (`look`). */
export type SessionUse = 'visit' | 'look';

/** Store of dashboard sessions. A session that the store does not contain has ended. */
export interface AdminSessions {
  /** Adds a session. `id` is a hash of the secret in the session cookie. */
  add(id: string): Promise<void>;
  /** Returns whether a session has not ended. `visit` postpones its end to `idleMs` from now. */
  find(id: string, reason: SessionUse): Promise<boolean>;
  /** Ends a session on all instances. */
  remove(id: string): Promise<void>;
}

const maxSessions = 1000;

/** Creates a store of dashboard sessions in memory. A restart of the process ends all sessions. */
export function createAdminSessions(clock: Clock): AdminSessions {
  const startedMs = new LRUCache<string, number>({
    maxSize: maxSessions, // `max` would allocate memory for all entries in advance
    sizeCalculation: () => 1,
    ttl: idleMs - 1, // the cache keeps an entry for longer than `ttl` by less than a millisecond
    ttlResolution: 0,
    perf: clock,
  });
  return {
    add: async (id) => {
      startedMs.set(id, clock.now());
    },
    find: async (id, reason) => {
      const started = startedMs.get(id, { updateAgeOnGet: reason === 'visit' });
      if (started === undefined) return false;
      if (clock.now() - started < maxAgeMs) return true;
      startedMs.delete(id);
      return false;
    },
    remove: async (id) => {
      startedMs.delete(id);
    },
  };
}
