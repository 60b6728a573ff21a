import { defineScript, type Engine } from '../../core/engine/engine.ts';

/** Pause of a provider, or of one kind of its queries, that one instance announces to the others. */
export interface SharedPauses {
  /** Announces that `name` gets no queries for `ms` milliseconds. */
  announce(name: string, ms: number): void;
  close(): void;
}

interface SharedPausesOptions {
  readonly engine: Engine;
  /** Called every second with each pause in effect, including those of this instance. */
  readonly onPause: (name: string, leftMs: number) => void;
}

const key = 'pauses';
const pollMs = 1000;

const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Stores a pause by the engine's clock, unless a longer one is stored. ARGV: name, milliseconds. */
const announceScript = defineScript(`${now}
redis.call('ZADD', KEYS[1], 'GT', now + ARGV[2], ARGV[1])
`);

/** Returns the names and the remaining milliseconds of all pauses by turns. */
const listScript = defineScript(`${now}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local found = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for at = 2, #found, 2 do found[at] = tostring(found[at] - now) end
return found
`);

/** Starts to exchange pauses, so that one instance learns from the failures of another. Stop it with `close`. */
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
