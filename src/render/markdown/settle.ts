import { isPlain, isSoft, isSpace } from './characters.ts';
import { isAtom, isStyle, nestSpans, type Span } from './spans.ts';

/** A line and its spans, sorted from outside to inside. Offsets count from the line's start. */
export interface SpannedLine {
  readonly characters: readonly string[];
  readonly spans: readonly Span[];
}

/** Each round narrows a span or drops it; styles that have not settled by then are dropped. */
const maxRounds = 20;

/**
 * Narrows the spans of one line until Markdown reads every marker as one (CommonMark 0.31.2 §6.2):
 * white space, and where needed punctuation, moves outside; what cannot be marked is dropped.
 */
export function settleSpans(spans: readonly Span[], characters: readonly string[]): Span[] {
  let settled = nestSpans(spans);
  for (let round = 0; round < maxRounds; round += 1) {
    const line = { spans: settled, characters };
    const fitted = line.spans.flatMap((span) => fitSpan(span, line) ?? []);
    const isSettled =
      fitted.length === settled.length && fitted.every((span, at) => span === settled[at]);
    if (isSettled) return settled;
    settled = nestSpans(fitted);
  }
  return settled.filter((span) => !isStyle(span));
}

/** Gives the span itself where it fits, a narrower one, or null where nothing is left of it. */
function fitSpan(span: Span, line: SpannedLine): Span | null {
  const trimmed = trimSpaces(span, line.characters);
  if (trimmed !== span || !isStyle(span)) return trimmed;
  if (!canOpen(span, line)) return narrow(span, 'start', line);
  if (!canClose(span, line)) return narrow(span, 'end', line);
  return runsTogether(span, line) ? null : span;
}

function trimSpaces(span: Span, characters: readonly string[]): Span | null {
  let { start, end } = span;
  while (start < end && isSpace(characters[start])) start += 1;
  while (start < end && isSpace(characters[end - 1])) end -= 1;
  if (start === end) return null;
  return start === span.start && end === span.end ? span : { ...span, start, end };
}

function canOpen(span: Span, line: SpannedLine): boolean {
  if (isSoftBefore(span, line)) return true;
  return (
    isPlain(line.characters[span.start]) &&
    !innerOf(span, line).some(({ start }) => start === span.start)
  );
}

function canClose(span: Span, line: SpannedLine): boolean {
  if (isSoftAfter(span, line)) return true;
  return (
    isPlain(line.characters[span.end - 1]) &&
    !innerOf(span, line).some(({ end }) => end === span.end)
  );
}

/** Gives the spans that can nest in one, besides others that come after it. */
function innerOf(span: Span, { spans }: SpannedLine): readonly Span[] {
  return spans.slice(spans.indexOf(span) + 1);
}

/** Tells whether a space, punctuation or the mark of a link or of code stands before a span. */
function isSoftBefore(span: Span, { characters, spans }: SpannedLine): boolean {
  if (isSoft(characters[span.start - 1])) return true;
  return spans.some(
    (other) =>
      !isStyle(other) &&
      (other.end === span.start || (other.start === span.start && other.end > span.end)),
  );
}

/** Tells whether a space, punctuation or the mark of a link or of code stands after a span. */
function isSoftAfter(span: Span, { characters, spans }: SpannedLine): boolean {
  if (isSoft(characters[span.end])) return true;
  return spans.some(
    (other) =>
      !isStyle(other) &&
      (other.start === span.end || (other.end === span.end && other.start < span.start)),
  );
}

/** Tells whether `_` can mark a span: within words only `*` can. */
export function isWordwise(span: Span, line: SpannedLine): boolean {
  return isSoftBefore(span, line) && isSoftAfter(span, line);
}

/** Tells whether the `*` of italics would touch the `**` of bold and make one run with it. */
function runsTogether(span: Span, line: SpannedLine): boolean {
  if (span.kind !== 'italic' || isWordwise(span, line)) return false;
  const edges = new Set([span.start, span.end]);
  return line.spans.some(
    ({ kind, start, end }) => kind === 'bold' && (edges.has(start) || edges.has(end)),
  );
}

/** Moves one character of punctuation out of a style; null where that would cut more than that. */
function narrow(
  span: Span,
  edge: 'start' | 'end',
  { spans, characters }: SpannedLine,
): Span | null {
  const offset = edge === 'start' ? span.start : span.end - 1;
  const isHeld = spans.some((other) => isWritten(other) && covers(other, offset));
  if (isHeld || isPlain(characters[offset])) return null;
  return edge === 'start' ? { ...span, start: offset + 1 } : { ...span, end: offset };
}

function isWritten(span: Span): boolean {
  return span.kind === 'link' || isAtom(span);
}

function covers(span: Span, offset: number): boolean {
  return span.start <= offset && offset < span.end;
}
