import type { Clock } from '../../core/clock.ts';
import type { Unsent } from '../store/state.ts';

/** `signal` ends the waiting; `onDue` is called when enough is held back, or for long enough: `take` it then. */
interface AnswerTextOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onDue: () => void;
}

export type AnswerText = ReturnType<typeof createAnswerText>;

/** Least text that is held back, as a number and as a share of what was sent; and the longest time. */
const leastCharacters = 64;
const leastShare = 16;
const longestMs = 250;
/** Maximum number of characters that are sent in repeating an answer; the rest of it comes at its end. */
const mostRepeated = 4_194_304;

/** Collects the text of one answer and holds it back, so that it is not repeated too often. */
export function createAnswerText({ clock, signal, onDue }: AnswerTextOptions) {
  let soFar = '';
  let sent = 0;
  let repeated = 0;
  let heldSinceMs: number | null = null;
  let isWaiting = false;

  /** Takes what is not sent yet; null for nothing. */
  const take = (): Unsent => {
    heldSinceMs = null;
    if (sent === soFar.length) return null;
    const delta = soFar.slice(sent);
    sent = soFar.length;
    repeated += sent;
    return { delta, soFar };
  };
  /** One wait at a time: what is held when it is over may be younger, and gets its own time. */
  const waitUntilDue = async (): Promise<void> => {
    isWaiting = true;
    while (heldSinceMs !== null && !signal.aborted) {
      const leftMs = heldSinceMs + longestMs - clock.now();
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
      if (repeated + soFar.length > mostRepeated) return;
      if (soFar.length - sent >= Math.max(leastCharacters, sent / leastShare)) onDue();
      else {
        heldSinceMs ??= clock.now();
        if (!isWaiting) void waitUntilDue();
      }
    },
    take,
    /** Takes the rest of the whole answer, if it goes on from what was sent; else the rest of what was collected. */
    takeRest: (whole: string): Unsent => {
      if (!whole.startsWith(soFar.slice(0, sent))) return take();
      soFar = whole;
      // An answer has one piece at least, so that readers of pieces see an empty one too.
      return sent === 0 && whole === '' ? { delta: '', soFar: '' } : take();
    },
  };
}
