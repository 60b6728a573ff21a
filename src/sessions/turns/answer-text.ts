import type { Clock } from '../../core/clock.ts';
import type { Unsent } from '../store/state.ts';

/** Options of the buffer. `onDue` is called when text should be sent, by calling `take`. `signal` stops the timer. */
interface AnswerTextOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onDue: () => void;
}

export type AnswerText = ReturnType<typeof createAnswerText>;

/** Text is sent if `minCharacters` and 1/`minFraction` of the text sent before are buffered, or after `maxDelayMs`. */
const minCharacters = 64;
const minFraction = 16;
const maxDelayMs = 250;
/** Maximum total of characters sent in `messageSoFar`, which repeats the text. The rest is sent at the end. */
const maxRepeated = 4_194_304;

/** Creates a buffer for the text of one answer, so that `messageSoFar` does not repeat the text too often. */
export function createAnswerText({ clock, signal, onDue }: AnswerTextOptions) {
  let soFar = '';
  let sent = 0;
  let repeated = 0;
  let bufferedSinceMs: number | null = null;
  let isWaiting = false;
  /** Returns the unsent text and marks it as sent; `null` if all text was sent. */
  const take = (): Unsent => {
    bufferedSinceMs = null;
    if (sent === soFar.length) return null;
    const delta = soFar.slice(sent);
    sent = soFar.length;
    repeated += sent;
    return { delta, soFar };
  };
  /** Calls `onDue` when the oldest buffered text is due. Only one timer runs at a time. */
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
    /** Returns the unsent rest of the final answer, or of the buffered text if the answer differs from sent text. */
    takeRest: (whole: string): Unsent => {
      if (!whole.startsWith(soFar.slice(0, sent))) return take();
      soFar = whole;
      // Even an empty answer has one `message.appended` event.
      return sent === 0 && whole === '' ? { delta: '', soFar: '' } : take();
    },
  };
}
