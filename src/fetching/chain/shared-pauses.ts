import { defineScript, type Engine } from '../../lib/redis/engine.ts';

/** Pauses of a provider or of one kind of its queries, shared by all instances. */
export interface SharedPauses {
  /** Announces a pause to other instances. `name`: provider, or provider, space and query kind. */
  announce(name: string, ms: number): void;
  close(): void;
}

interface SharedPausesOptions {
  readonly engine: Engine;
  /** Called every second for each current pause, including those announced by this instance. */
  readonly onPause: (name: string, leftMs: number) => void;
}

const key = 'pauses';
const pollMs = 1000;

const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Script that stores a pause's end unless a later one is stored. ARGV: name, duration in ms. */
const announceScript = defineScript(`${now}
redis.call('ZADD', KEYS[1], 'GT', now + ARGV[2], ARGV[1])
`);

/** Script that returns all current pauses as alternating names and remaining milliseconds. */
const listScript = defineScript(`${now}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local found = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for at = 2, #found, 2 do found[at] = tostring(found[at] - now) end
return found
`);

/** Shares pauses until `close`: when one instance pauses queries, all instances pause them. */
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
