import type { Clock } from '../core/clock.ts';
import type { KeyFile } from './key-file.ts';

/** When keys were last used, on its way to the store. */
export interface KeyUses {
  note(id: string): void;
  /** Writes what is not written yet, and stops. */
  close(): void;
}

const minuteMs = 60_000;

/**
 * Creates the notes of uses. They are as coarse as the minute and written once a minute, all in one
 * transaction. What cannot be written is kept for the next minute: no read waits or fails for it.
 */
export function createKeyUses(file: KeyFile, clock: Clock): KeyUses {
  const unwritten = new Map<string, number>();
  const closing = new AbortController();
  let isWaiting = false;
  const flush = () => {
    if (unwritten.size === 0) return;
    const outcome = file.use((rows) => rows.noteUses(unwritten));
    if (!('trouble' in outcome)) unwritten.clear();
  };
  const wait = async () => {
    isWaiting = true;
    try {
      while (unwritten.size > 0) {
        await clock.sleep(minuteMs, closing.signal);
        flush();
      }
    } catch {
      // Closed, or a defect of writing uses: neither concerns anybody who reads.
    }
    isWaiting = false;
  };
  return {
    note: (id) => {
      unwritten.set(id, Math.floor(clock.now() / minuteMs) * minuteMs);
      if (!isWaiting) void wait();
    },
    close: () => {
      closing.abort();
      flush();
    },
  };
}
