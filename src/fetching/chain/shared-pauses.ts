import { defineScript, type Engine } from '../../core/engine/engine.ts';

/**
 * Pauses of providers, shared by all instances. A pause stops all queries to a provider, or all queries of one kind.
 */
export interface SharedPauses {
  /**
   * Announces to the other instances that this instance has paused queries for the next `ms` milliseconds, so that
   * they pause these queries too. `name`: name of a provider for all queries to it; for one kind of query only, the
   * provider's name, a space and the kind.
   */
  announce(name: string, ms: number): void;
  close(): void;
}

interface SharedPausesOptions {
  readonly engine: Engine;
  /**
   * Called every second for each current pause of a provider, including pauses that this instance
   * announced. `leftMs`: milliseconds until the pause ends.
   */
  readonly onPause: (name: string, leftMs: number) => void;
}

const key = 'pauses';
const pollMs = 1000;

const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Lua script that stores the end of a provider's pause, unless a later end is stored. ARGV: name, duration in
 * milliseconds.
 */
const announceScript = defineScript(`${now}
redis.call('ZADD', KEYS[1], 'GT', now + ARGV[2], ARGV[1])
`);

/** Lua script that returns all current pauses of providers, as alternating names and remaining milliseconds. */
const listScript = defineScript(`${now}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local found = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for at = 2, #found, 2 do found[at] = tostring(found[at] - now) end
return found
`);

/**
 * Starts to share pauses between instances: when one instance pauses queries to a provider, all instances pause
 * these queries. Call `close` of the result to stop sharing.
 */
export function sharePauses({ engine, onPause }: SharedPausesOptions): SharedPauses {
  const closing = new AbortController();
  const { signal } = closing;
  const poll = async (): Promise<void> => {
    while (!signal.aborted) {
      const found = await engine.evaluate(listScript, { keys: [key], args: [] }).catch(() => []);
      const pairs = Array.isArray(found) ? found.map(String) : [];
      for (let at = 0; at < pairs.length; at += 2) onPause(pairs[at] ?? '', Number(pairs[at + 1]));
      await Promise.allSettled([engine.clock.sleep(pollMs, signal)]);
    }
  };
  void poll();
  return {
    announce: (name, ms) => {
      engine.evaluate(announceScript, { keys: [key], args: [name, Math.ceil(ms)] }).catch(() => {});
    },
    close: () => closing.abort(),
  };
}
