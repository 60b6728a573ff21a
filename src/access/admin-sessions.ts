import type { Clock } from '../lib/clock.ts';
import { createExpiringCache } from '../lib/expiring-cache.ts';
import { Problem } from '../lib/problem.ts';
import { defineScript, type Engine } from '../lib/redis/engine.ts';
import { EngineError } from '../lib/redis/engine-error.ts';

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
  const startedMs = createExpiringCache<number>(clock, { max: maxSessions, ttlMs: idleMs });
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

/** Timeout in milliseconds, long because the operator must sign in again after a timeout. */
const deadlineMs = 2000;

const toMilliseconds = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** Lua script that stores the start time by the engine's clock. ARGV: idle timeout (ms). */
const start = defineScript(`${toMilliseconds}
redis.call('SET', KEYS[1], string.format('%d', now), 'PX', ARGV[1])
return 1
`);

/** Lua script. Returns 1 for a live session, else 0. ARGV: maximum age, idle timeout or 0 (ms). */
const find = defineScript(`${toMilliseconds}
local started = redis.call('GET', KEYS[1])
if not started then return 0 end
local left = tonumber(started) + ARGV[1] - now
if left <= 0 then
  redis.call('DEL', KEYS[1])
  return 0
end
if tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], math.min(left, ARGV[2])) end
return 1
`);

/** Creates a store in the shared engine. Its methods throw EngineError if the engine fails. */
export function createSharedAdminSessions(engine: Engine): AdminSessions {
  return {
    add: async (id) => {
      await engine.evaluate(start, { keys: [keyOf(id)], args: [idleMs], deadlineMs });
    },
    find: async (id, reason) => {
      const args = [maxAgeMs, reason === 'visit' ? idleMs : 0];
      return (await engine.evaluate(find, { keys: [keyOf(id)], args, deadlineMs })) === 1;
    },
    remove: async (id) => {
      await engine.run((client) => client.del(keyOf(id)), deadlineMs);
    },
  };
}

const keyOf = (id: string): string => `admin-session:${id}`;

/** Creates a store in the engine that keeps new sessions in memory while the engine is down. */
export function createInstanceAdminSessions(
  shared: AdminSessions,
  own: AdminSessions,
): AdminSessions {
  return {
    add: (id) => shared.add(id).catch(duringOutage(() => own.add(id))),
    find: async (id, reason) =>
      (await own.find(id, reason)) ||
      shared.find(id, reason).catch(duringOutage(async () => false)),
    remove: async (id) => {
      await own.remove(id);
      await shared.remove(id).catch(duringOutage(refuse));
    },
  };
}

const refuse = async (cause: EngineError): Promise<never> => {
  const detail = 'The shared engine does not answer, so the session cannot be ended.';
  throw new Problem('not_ready', { detail, resolution: 'Sign out again in a moment.', cause });
};

function duringOutage<Value>(act: (error: EngineError) => Promise<Value>) {
  return async (error: unknown): Promise<Value> => {
    if (error instanceof EngineError) return act(error);
    throw error;
  };
}
