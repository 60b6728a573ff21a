import { isPlain, isSoft, isSpace } from './characters.ts';
import { isStyle, nestSpans, type Span } from './spans.ts';

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
  if (spans.length === 0) return [];
  let settled = nestSpans(spans);
  for (let round = 0; round < maxRounds; round += 1) {
    const line = createNeighbours({ spans: settled, characters });
    const fitted = settled.flatMap((span, at) => fitSpan(span, at, line) ?? []);
    const isSettled =
      fitted.length === settled.length && fitted.every((span, at) => span === settled[at]);
    if (isSettled) return settled;
    settled = nestSpans(fitted);
  }
  return settled.filter((span) => !isStyle(span));
}

/** The spans of a line by their edges, so that none has to be compared with every other one. */
export interface Neighbours extends SpannedLine {
  /** The latest end of a link or code that starts at an offset, and the earliest start by the end. */
  readonly closedEnds: ReadonlyMap<number, number>;
  readonly closedStarts: ReadonlyMap<number, number>;
  /** The place among `spans` of the last span that ends at an offset. */
  readonly lastEnding: ReadonlyMap<number, number>;
  readonly boldEdges: ReadonlySet<number>;
  /** 1 for each character in a link or code. */
  readonly isHeld: Uint8Array;
}

/** Finds the neighbours of the spans of a line. */
export function createNeighbours({ spans, characters }: SpannedLine): Neighbours {
  const closedEnds = new Map<number, number>();
  const closedStarts = new Map<number, number>();
  const lastEnding = new Map<number, number>();
  const isHeld = new Uint8Array(characters.length);
  for (const [at, { end }] of spans.entries()) lastEnding.set(end, at);
  for (const { start, end } of spans.filter((span) => !isStyle(span))) {
    closedEnds.set(start, Math.max(end, closedEnds.get(start) ?? end));
    closedStarts.set(end, Math.min(start, closedStarts.get(end) ?? start));
    isHeld.fill(1, start, end);
  }
  const bold = spans.filter(({ kind }) => kind === 'bold');
  const boldEdges = new Set(bold.flatMap(({ start, end }) => [start, end]));
  return { spans, characters, closedEnds, closedStarts, lastEnding, boldEdges, isHeld };
}

/** Returns the span itself where it fits, a narrower one, or `null` where nothing is left of it. */
function fitSpan(span: Span, at: number, line: Neighbours): Span | null {
  const trimmed = trimSpaces(span, line.characters);
  if (trimmed !== span || !isStyle(span)) return trimmed;
  if (!canOpen(span, at, line)) return narrow(span, 'start', line);
  if (!canClose(span, at, line)) return narrow(span, 'end', line);
  return runsTogether(span, line) ? null : span;
}

function trimSpaces(span: Span, characters: readonly string[]): Span | null {
  let { start, end } = span;
  while (start < end && isSpace(characters[start])) start += 1;
  while (start < end && isSpace(characters[end - 1])) end -= 1;
  if (start === end) return null;
  return start === span.start && end === span.end ? span : { ...span, start, end };
}

/** A span that starts at the same place comes right after the one that it can nest in. */
function canOpen(span: Span, at: number, line: Neighbours): boolean {
  if (isSoftBefore(span, line)) return true;
  return isPlain(line.characters[span.start]) && line.spans[at + 1]?.start !== span.start;
}

/** A span that comes later and ends at the same place can nest in this one. */
function canClose(span: Span, at: number, line: Neighbours): boolean {
  if (isSoftAfter(span, line)) return true;
  return isPlain(line.characters[span.end - 1]) && (line.lastEnding.get(span.end) ?? at) <= at;
}

/** Returns whether a space, punctuation or the mark of a link or of code is before a span. */
function isSoftBefore({ start, end }: Span, line: Neighbours): boolean {
  if (isSoft(line.characters[start - 1]) || line.closedStarts.has(start)) return true;
  return (line.closedEnds.get(start) ?? end) > end;
}

/** Returns whether a space, punctuation or the mark of a link or of code is after a span. */
function isSoftAfter({ start, end }: Span, line: Neighbours): boolean {
  if (isSoft(line.characters[end]) || line.closedEnds.has(end)) return true;
  return (line.closedStarts.get(end) ?? start) < start;
}

/** Returns whether `_` can mark a span: within words only `*` can. */
export function isWordwise(span: Span, line: Neighbours): boolean {
  return isSoftBefore(span, line) && isSoftAfter(span, line);
}

/** Returns whether the `*` of italics would touch the `**` of bold and make one run with it. */
function runsTogether(span: Span, line: Neighbours): boolean {
  if (span.kind !== 'italic' || isWordwise(span, line)) return false;
  return line.boldEdges.has(span.start) || line.boldEdges.has(span.end);
}

/** Moves one character of punctuation out of a style; `null` where that would cut more than that. */
function narrow(
  span: Span,
  edge: 'start' | 'end',
  { isHeld, characters }: Neighbours,
): Span | null {
  const offset = edge === 'start' ? span.start : span.end - 1;
  if (isHeld[offset] === 1 || isPlain(characters[offset])) return null;
  return edge === 'start' ? { ...span, start: offset + 1 } : { ...span, end: offset };
}
