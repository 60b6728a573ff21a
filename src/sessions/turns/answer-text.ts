import type { Clock } from '../../lib/clock.ts';
import type { Unsent } from '../store/state.ts';

interface AnswerTextOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onDue: () => void;
}

export type AnswerText = ReturnType<typeof createAnswerText>;

const minCharacters = 64;
const minFraction = 16; // text is sent at once if it is also at least 1/16 of the text sent before
const maxDelayMs = 250;
const maxRepeated = 4_194_304;

/** Groups text into few events, because each event repeats the whole text so far. */
export function createAnswerText({ clock, signal, onDue }: AnswerTextOptions) {
  let soFar = '';
  let sent = 0;
  let repeated = 0;
  let bufferedSinceMs: number | null = null;
  let isWaiting = false;
  /** Returns the unsent text and marks the text as sent; `null` if there is no unsent text. */
  const take = (): Unsent => {
    bufferedSinceMs = null;
    if (sent === soFar.length) return null;
    const delta = soFar.slice(sent);
    sent = soFar.length;
    repeated += sent;
    return { delta, soFar };
  };
  const waitUntilDue = async (): Promise<void> => {
    isWaiting = true;
    while (bufferedSinceMs !== null && !signal.aborted) {
      const leftMs = bufferedSinceMs + maxDelayMs - clock.now();
      if (leftMs <= 0) onDue();
      else await Promise.allSettled([clock.sleep(leftMs, signal)]);
    }
    isWaiting = signal.aborted;
  };
  return {
    get soFar() {
      return soFar;
    },
    add: (piece: string): void => {
      if (piece === '') return;
      soFar += piece;
      if (repeated + soFar.length > maxRepeated) return;
      if (soFar.length - sent >= Math.max(minCharacters, sent / minFraction)) onDue();
      else {
        bufferedSinceMs ??= clock.now();
        if (!isWaiting) void waitUntilDue();
      }
    },
    take,
    /** Returns the unsent rest of `whole`; the buffered text if what was sent differs from it. */
    takeRest: (whole: string): Unsent => {
      if (!whole.startsWith(soFar.slice(0, sent))) return take();
      soFar = whole;
      // Even an empty answer has one `message.appended` event.
      return sent === 0 && whole === '' ? { delta: '', soFar: '' } : take();
    },
  };
}
