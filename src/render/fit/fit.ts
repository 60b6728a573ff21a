import type { BrowseResult, PostResult } from '../../model/results.ts';
import { shortenList } from './shorten-list.ts';
import { shortenThread } from './shorten-thread.ts';

type TextResult = PostResult | BrowseResult;

export interface Fitted<Of extends TextResult> {
  readonly result: Of;
  readonly text: string;
  /** Number of items if others were left out; `null` if the result has all items. */
  readonly shown: number | null;
}

export interface Shortener<Of extends TextResult> {
  readonly count: number;
  /** Returns the result with the `count` most important items, and a warning about the others. */
  keep(count: number): Of;
  /** Returns up to one item, in which no text is longer than `max`, and a warning. */
  cut(max: number): Of;
}

/** Shortest text of a post that is too long by itself, in UTF-16 code units. */
const shortestCut = 100;

/** Shortens a result to `result.bound.maxChars` UTF-16 code units: whole items, then texts. */
export function fitResult<Of extends TextResult>(
  result: Of,
  write: (result: Of) => string,
): Fitted<Of> {
  const whole = { result, text: write(result), shown: null };
  const maxChars = result.bound?.maxChars ?? Number.POSITIVE_INFINITY;
  if (whole.text.length <= maxChars) return whole;
  // The kind of a result decides how it is shortened, and stays the same, which the compiler cannot
  // follow.
  const shortener = (result.kind === 'post'
    ? shortenThread(result)
    : shortenList(result)) as unknown as Shortener<Of>;
  const { count } = shortener;
  const attempt = (shorter: Of, shown: number | null): Fitted<Of> => ({
    result: shorter,
    text: write(shorter),
    shown,
  });
  const kept = findLargest(
    { from: 0, to: count, ...{ textLength: whole.text.length, maxChars, precision: 1 } },
    (size) => attempt(shortener.keep(size), size),
  );
  if (kept !== undefined) return kept;
  const shown = count > 1 ? 1 : null;
  const cut = findLargest(
    {
      from: shortestCut,
      to: maxChars,
      ...{ textLength: whole.text.length, maxChars, precision: 64 },
    },
    (size) => attempt(shortener.cut(size), shown),
  );
  return cut ?? attempt(shortener.cut(shortestCut), shown);
}

interface Search {
  /** Size below all others, which is not tried. */
  readonly from: number;
  readonly to: number;
  readonly textLength: number;
  readonly maxChars: number;
  readonly precision: number;
}

function findLargest<Of extends TextResult>(
  { from, to, textLength, maxChars, precision }: Search,
  attempt: (size: number) => Fitted<Of>,
): Fitted<Of> | undefined {
  let best: Fitted<Of> | undefined;
  let low = { size: from, length: 0 };
  let high = { size: to, length: textLength };
  for (let tries = 0; high.size - low.size > precision; tries += 1) {
    const share =
      tries % 2 === 0 ? (maxChars - low.length) / Math.max(1, high.length - low.length) : 0.5;
    const size = low.size + Math.floor(share * (high.size - low.size));
    const inside = Math.min(Math.max(size, low.size + 1), high.size - 1);
    const tried = attempt(inside);
    const bracket = { size: inside, length: tried.text.length };
    if (tried.text.length > maxChars) {
      high = bracket;
    } else {
      low = bracket;
      best = tried;
    }
  }
  return best;
}
