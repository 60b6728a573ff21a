import type { Engine } from './engine.ts';
import { readNumber } from './engine-report.ts';

/** Memory limit for cached responses, which leaves memory for sessions and API keys. */
export interface EngineSpace {
  /** Returns whether the shared Valkey or Redis server has space for further cached responses. */
  isFree(): boolean;
  close(): void;
}

const maxShare = 0.6;
const checkMs = 5000;

/** Starts to check the memory use of all primaries every five seconds, until `close`. */
export function watchEngineSpace(engine: Pick<Engine, 'info' | 'clock' | 'state'>): EngineSpace {
  const closing = new AbortController();
  let isFree = true;
  const check = async (): Promise<void> => {
    const answers = await engine.info('memory');
    isFree = answers.every((text) => {
      const limit = readNumber(text, 'maxmemory');
      return limit === 0 || readNumber(text, 'used_memory') <= maxShare * limit;
    });
  };
  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      if (engine.state.isUp) await check().catch(() => {}); // the state stays as it was
      await Promise.allSettled([engine.clock.sleep(checkMs, closing.signal)]);
    }
  };
  void watch();
  return { isFree: () => isFree, close: () => closing.abort() };
}
