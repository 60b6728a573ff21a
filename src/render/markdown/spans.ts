import type { Facet } from '../../model/post.ts';
import { type Characters, isPlain, isSoft, isSpace } from './characters.ts';
import { type BareLink, findBareLinks, showsUrl, toAutolink, toDestination } from './links.ts';

/** A style that Markdown can show. */
type Style = 'bold' | 'italic' | 'strikethrough';

/** A run of characters that becomes more than text. Offsets count characters, end exclusive. */
export type Span =
  | { readonly kind: Style | 'code'; readonly start: number; readonly end: number }
  | {
      /** `autolink`: the visible text is the URL and is replaced by it. */
      readonly kind: 'link' | 'autolink';
      readonly start: number;
      readonly end: number;
      readonly url: string;
    };

/** What marks a run of text: a facet, or a style of an article. */
export type Mark = Pick<Facet, 'type' | 'start' | 'end' | 'url'>;

/** More marks or bare URLs than this on one text are no text; the rest stays plain. */
const maxMarks = 1000;

/** Gives the spans of a text, nested and sorted: marks that are out of range or cross are dropped. */
export function toSpans(text: Characters, marks: readonly Mark[]): Span[] {
  const marked = marks.slice(0, maxMarks).flatMap((mark) => toSpan(text, mark) ?? []);
  const bare = withoutOverlaps(findBareLinks(text.characters, maxMarks), marked.filter(isClosed));
  const links = bare.map((found) => linkSpan(text.characters, found));
  return dropTickedCode(nestSpans(mergeStyles([...marked, ...links])), text.characters);
}

/** Drops code with backticks that is in a link: not every parser reads such a link as one. */
function dropTickedCode(spans: readonly Span[], characters: readonly string[]): Span[] {
  let linkEnd = 0;
  return spans.filter(({ kind, start, end }) => {
    if (kind === 'link') linkEnd = end;
    if (kind !== 'code' || start >= linkEnd) return true;
    return !characters.slice(start, end).includes('`');
  });
}

/** Drops links that overlap a span. The links are sorted and do not overlap each other. */
function withoutOverlaps(links: readonly BareLink[], spans: readonly Span[]): BareLink[] {
  const sorted = spans.toSorted((a, b) => a.start - b.start);
  let ahead = 0;
  let covered = 0;
  return links.filter(({ start, end }) => {
    for (; (sorted[ahead]?.start ?? end) < end; ahead += 1) {
      covered = Math.max(covered, sorted[ahead]?.end ?? 0);
    }
    return covered <= start;
  });
}

function toSpan({ characters, positions }: Characters, mark: Mark): Span | null {
  const start = positions[mark.start];
  const end = positions[mark.end];
  if (start === undefined || end === undefined || start >= end) return null;
  switch (mark.type) {
    case 'bold':
    case 'italic':
    case 'strikethrough':
    case 'code':
      return { kind: mark.type, start, end };
    case 'link':
    case 'mention':
    case 'hashtag':
    case 'symbol':
      if (mark.url === undefined || toDestination(mark.url) === null) return null;
      return linkSpan(characters, { start, end, url: mark.url });
  }
}

function linkSpan(characters: readonly string[], { start, end, url }: BareLink): Span {
  // A text much longer than the URL does not show it, and need not be put together to be compared.
  const visible = end - start > url.length + 8 ? '' : characters.slice(start, end).join('').trim();
  const isAutolink = showsUrl(visible, url) && toAutolink(url) !== null;
  return { kind: isAutolink ? 'autolink' : 'link', start, end, url };
}

function isClosed(span: Span): boolean {
  return span.kind === 'link' || isAtom(span);
}

/** Tells whether a span is written as a whole, so that nothing can nest in it. */
export function isAtom(span: Span): boolean {
  return span.kind === 'code' || span.kind === 'autolink';
}

/** Tells whether a span is a style. */
function isStyle(span: Span): span is Span & { readonly kind: Style } {
  return span.kind === 'bold' || span.kind === 'italic' || span.kind === 'strikethrough';
}

type Joinable = Span & { readonly kind: Style | 'code' };

function isJoinable(span: Span): span is Joinable {
  return isStyle(span) || span.kind === 'code';
}

/** Joins the spans of one style that touch or overlap: Markdown cannot set two beside each other. */
function mergeStyles(spans: readonly Span[]): Span[] {
  const merged: Span[] = spans.filter((span) => !isJoinable(span));
  const open = new Map<Joinable['kind'], Joinable>();
  for (const span of spans.filter(isJoinable).toSorted((a, b) => a.start - b.start)) {
    const last = open.get(span.kind);
    if (last !== undefined && span.start <= last.end) {
      open.set(span.kind, { ...last, end: Math.max(last.end, span.end) });
      continue;
    }
    if (last !== undefined) merged.push(last);
    open.set(span.kind, span);
  }
  return [...merged, ...open.values()];
}

const ranks: Readonly<Record<Span['kind'], number>> = {
  bold: 0,
  italic: 1,
  strikethrough: 2,
  link: 3,
  autolink: 4,
  code: 5,
};

/** Sorts spans from outside to inside, and drops those that cross an earlier one or cannot nest. */
function nestSpans(spans: readonly Span[]): Span[] {
  const sorted = spans.toSorted(
    (a, b) => a.start - b.start || b.end - a.end || ranks[a.kind] - ranks[b.kind],
  );
  const kept: Span[] = [];
  let open: Span[] = [];
  for (const span of sorted) {
    open = open.filter((outer) => outer.end > span.start);
    if (!open.every((outer) => canHold(outer, span))) continue;
    kept.push(span);
    open.push(span);
  }
  return kept;
}

function canHold(outer: Span, inner: Span): boolean {
  if (inner.end > outer.end || isAtom(outer)) return false;
  return outer.kind !== 'link' || (inner.kind !== 'link' && inner.kind !== 'autolink');
}

/** A line and its spans, sorted from outside to inside. Offsets count from the line's start. */
interface SpannedLine {
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
