import type { Clock } from '../../core/clock.ts';
import { ThreadEndedError, type ThreadSetting } from './messages.ts';
import type { StartThread } from './start-thread.ts';
import { createThreadClient, type ThreadClient } from './thread-client.ts';

/** What a lasting thread is made of. */
export interface LastingThreadOptions {
  readonly setting: ThreadSetting;
  readonly startThread: StartThread;
  readonly clock: Clock;
  /** Told when the thread has ended by itself, and all that it knew with it. */
  onLost(why: ThreadEndedError): void;
}

/** A thread that is started when it is needed, and again after it has ended. */
export type LastingThread = Pick<ThreadClient, 'call' | 'close' | 'kill'>;

/** After the first end, a thread is started again with the next task; after further ones, not at once. */
const restartMs = { first: 500, longest: 60_000 } as const;

/** Creates a thread that is not started yet. Close it with `close()`. */
export function createLastingThread(options: LastingThreadOptions): LastingThread {
  const { setting, startThread, clock, onLost } = options;
  let client: ThreadClient | null = null;
  let isClosed = false;
  let ends = 0;
  let restMs = 0;
  const lose = (lost: ThreadClient, why: ThreadEndedError): void => {
    if (client !== lost || isClosed) return;
    client = null;
    ends += 1;
    // The first end may be an accident.
    if (ends > 1) restMs = clock.now() + Math.min(restartMs.longest, restartMs.first * 2 ** ends);
    onLost(why);
  };
  const current = (): ThreadClient => {
    if (client !== null) return client;
    if (isClosed || clock.now() < restMs) throw new ThreadEndedError(null);
    const started = createThreadClient(startThread(setting), clock);
    client = started;
    void started.ended.then((why) => lose(started, why));
    return started;
  };
  return {
    call: async (kind, give, calling) => {
      const get = await current().call(kind, give, calling);
      ends = 0;
      return get;
    },
    kill: () => client?.kill(),
    close: async () => {
      isClosed = true;
      await client?.close();
    },
  };
}
