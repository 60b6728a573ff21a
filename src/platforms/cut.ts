/** UTF-16 code units around a cut that are searched for the end of a character. */
const searched = 64;

/**
 * Returns the beginning of a text, at most `max` UTF-16 code units of it. The cut falls between two
 * characters as readers see them (UAX #29), as long as those are not made of dozens of marks.
 */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const from = Math.max(0, max - searched);
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  const index = segmenter.segment(text.slice(from, max + searched)).containing(max - from)?.index;
  if (index !== undefined && index > 0) return text.slice(0, from + index);
  // All that was searched is one character.
  return text.slice(0, splitsPair(text, max) ? max - 1 : max);
}

function splitsPair(text: string, index: number): boolean {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff;
}

/** Returns a text of at most `max` UTF-16 code units; one that is cut ends in an ellipsis. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${cutText(text, max - 1)}…`;
}
