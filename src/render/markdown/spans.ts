import type { Facet } from '../../model/post.ts';
import { type Characters, isPlain, isSoft, isSpace } from './characters.ts';
import { type BareLink, findBareLinks, showsUrl, toAutolink, toDestination } from './links.ts';

/** A run of characters. Offsets count characters, end exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

type Style = 'bold' | 'italic' | 'strikethrough';
type StyleSpan = Range & { readonly kind: Style | 'code' };
/** `autolink`: the visible text is the URL and is replaced by it. */
type LinkSpan = BareLink & { readonly kind: 'link' | 'autolink' };

export type Span = StyleSpan | LinkSpan;

export type Mark = Pick<Facet, 'type' | 'start' | 'end' | 'url'>;

/** Maximum number of marks, and of bare URLs, of one text; the rest stays plain. */
const maxMarks = 1000;

/** Returns the spans of a text, nested and sorted: marks that are out of range or cross are dropped. */
export function toSpans(text: Characters, marks: readonly Mark[]): Span[] {
  const marked = marks.slice(0, maxMarks).flatMap((mark) => toSpan(text, mark) ?? []);
  const closed = marked.filter((span) => span.kind === 'link' || isAtom(span));
  const bare = withoutOverlaps(findBareLinks(text.characters, maxMarks), closed);
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
    default:
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

export const isAtom = ({ kind }: Span): boolean => kind === 'code' || kind === 'autolink';

const isStyle = ({ kind }: Span): boolean =>
  kind === 'bold' || kind === 'italic' || kind === 'strikethrough';

/** Joins the spans of one style that touch or overlap: Markdown cannot set two beside each other. */
function mergeStyles(spans: readonly Span[]): Span[] {
  const isJoinable = (span: Span) => isStyle(span) || span.kind === 'code';
  const merged = spans.filter((span) => !isJoinable(span));
  const latest = new Map<Span['kind'], Span & { end: number }>();
  for (const span of spans.filter(isJoinable).toSorted((a, b) => a.start - b.start)) {
    const last = latest.get(span.kind);
    if (last !== undefined && span.start <= last.end) {
      last.end = Math.max(last.end, span.end);
      continue;
    }
    const own = { ...span };
    latest.set(span.kind, own);
    merged.push(own);
  }
  return merged;
}

/** The kinds of spans from outside to inside, where they cover the same characters. */
const ranks: readonly Span['kind'][] = [
  'bold',
  'italic',
  'strikethrough',
  'link',
  'autolink',
  'code',
];

/** Sorts spans from outside to inside, and drops those that cross an earlier one or cannot nest. */
function nestSpans(spans: readonly Span[]): Span[] {
  const sorted = spans.toSorted(
    (a, b) => a.start - b.start || b.end - a.end || ranks.indexOf(a.kind) - ranks.indexOf(b.kind),
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
  return outer.kind !== 'link' || !('url' in inner);
}

export function splitLines(characters: readonly string[]): Range[] {
  const lines: Range[] = [];
  for (let start = 0; start <= characters.length; ) {
    const found = characters.indexOf('\n', start);
    const end = found === -1 ? characters.length : found;
    lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}

/** Returns the parts of spans in each of the sorted ranges, from outside to inside; offsets count from its start. */
export function clipSpans(spans: readonly Span[], ranges: readonly Range[]): Span[][] {
  let ahead = 0;
  let open: readonly Span[] = [];
  return ranges.map((range) => {
    const from = ahead;
    while ((spans[ahead]?.start ?? range.end) < range.end) ahead += 1;
    if (open.length === 0 && ahead === from) return [];
    open = [...open, ...spans.slice(from, ahead)].filter((span) => span.end > range.start);
    return open.flatMap((span) => {
      const start = Math.max(span.start, range.start) - range.start;
      const end = Math.min(span.end, range.end) - range.start;
      return start < end ? [{ ...span, start, end }] : [];
    });
  });
}

/** Puts the marks of spans, which are sorted from outside to inside, between written characters. */
export function weaveSpans(
  written: readonly string[],
  spans: readonly Span[],
  marksOf: (span: Span) => readonly [open: string, close: string],
): string {
  if (spans.length === 0) return written.join('');
  const characters = [...written, ''];
  const opening = characters.map(() => '');
  const closing = characters.map(() => '');
  for (const span of spans) {
    const [open, close] = marksOf(span);
    opening[span.start] = `${opening[span.start]}${open}`;
    closing[span.end] = `${close}${closing[span.end]}`;
  }
  return characters.map((text, at) => `${closing[at]}${opening[at]}${text}`).join('');
}

/** Each round narrows a span or drops it; styles that still change after so many rounds are dropped. */
const maxRounds = 20;

/**
 * Narrows the spans of one line until Markdown reads every marker as one (CommonMark 0.31.2 §6.2):
 * white space, and where needed punctuation, moves outside; what cannot be marked is dropped.
 */
export function settleSpans(spans: readonly Span[], characters: readonly string[]): Span[] {
  if (spans.length === 0) return [];
  let settled = nestSpans(spans);
  for (let round = 0; round < maxRounds; round += 1) {
    const line = findNeighbours(settled, characters);
    const fitted = settled.flatMap((span, at) => fitSpan(span, at, line) ?? []);
    const isSettled =
      fitted.length === settled.length && fitted.every((span, at) => span === settled[at]);
    if (isSettled) return settled;
    settled = nestSpans(fitted);
  }
  return settled.filter((span) => !isStyle(span));
}

type Neighbours = ReturnType<typeof findNeighbours>;

/** Returns the spans of a line by their edges, so that none has to be compared with every other one. */
function findNeighbours(spans: readonly Span[], characters: readonly string[]) {
  // The latest end of a link or code that starts at an offset, and the earliest start by the end.
  const closedEnds = new Map<number, number>();
  const closedStarts = new Map<number, number>();
  const isClosed = new Uint8Array(characters.length);
  for (const { start, end } of spans.filter((span) => !isStyle(span))) {
    closedEnds.set(start, Math.max(end, closedEnds.get(start) ?? end));
    closedStarts.set(end, Math.min(start, closedStarts.get(end) ?? start));
    isClosed.fill(1, start, end);
  }
  // The index of the last span that ends at an offset.
  const lastEnding = new Map<number, number>(spans.map(({ end }, at) => [end, at]));
  const bold = spans.filter(({ kind }) => kind === 'bold');
  const boldEdges = new Set(bold.flatMap(({ start, end }) => [start, end]));
  return { spans, characters, closedEnds, closedStarts, isClosed, lastEnding, boldEdges };
}

/** Returns the span itself if it fits, a narrower one, or `null` if nothing is left of it. */
function fitSpan(span: Span, at: number, line: Neighbours): Span | null {
  const trimmed = trimRange(span, line.characters);
  if (trimmed.start === trimmed.end) return null;
  if (trimmed !== span || !isStyle(span)) return trimmed;
  if (!canOpen(span, at, line)) return narrow(span, 'start', line);
  if (!canClose(span, at, line)) return narrow(span, 'end', line);
  // The `*` of italics within a word would make one run with the `**` of bold.
  const isStar = span.kind === 'italic' && !isWordwise(span, line);
  return isStar && (line.boldEdges.has(span.start) || line.boldEdges.has(span.end)) ? null : span;
}

/** Returns a range without the spaces at its ends; the same one if it has none. */
export function trimRange<Trimmed extends Range>(range: Trimmed, characters: readonly string[]) {
  let { start, end } = range;
  while (start < end && isSpace(characters[end - 1])) end -= 1;
  while (start < end && isSpace(characters[start])) start += 1;
  return start === range.start && end === range.end ? range : { ...range, start, end };
}

/** Next to a letter only the innermost span can open: the last of those that start there. */
function canOpen(span: Span, at: number, line: Neighbours): boolean {
  const isLast = line.spans[at + 1]?.start !== span.start;
  return isSoftBefore(span, line) || (isLast && isPlain(line.characters[span.start]));
}

function canClose(span: Span, at: number, line: Neighbours): boolean {
  const isLast = (line.lastEnding.get(span.end) ?? at) <= at;
  return isSoftAfter(span, line) || (isLast && isPlain(line.characters[span.end - 1]));
}

/** Returns whether a space, punctuation or the mark of a link or of code is before a span. */
function isSoftBefore({ start, end }: Span, line: Neighbours): boolean {
  if (isSoft(line.characters[start - 1]) || line.closedStarts.has(start)) return true;
  return (line.closedEnds.get(start) ?? end) > end;
}

function isSoftAfter({ start, end }: Span, line: Neighbours): boolean {
  if (isSoft(line.characters[end]) || line.closedEnds.has(end)) return true;
  return (line.closedStarts.get(end) ?? start) < start;
}

const isWordwise = (span: Span, line: Neighbours) =>
  isSoftBefore(span, line) && isSoftAfter(span, line);

/** Returns the spans that `_` can mark: within words only `*` can. */
export function findWordwise(spans: readonly Span[], characters: readonly string[]) {
  const line = findNeighbours(spans, characters);
  return new Set(spans.filter((span) => isWordwise(span, line)));
}

/** Moves one character of punctuation out of a style; `null` where that would cut more than that. */
function narrow(span: Span, edge: 'start' | 'end', line: Neighbours): Span | null {
  const offset = edge === 'start' ? span.start : span.end - 1;
  if (line.isClosed[offset] === 1 || isPlain(line.characters[offset])) return null;
  return edge === 'start' ? { ...span, start: offset + 1 } : { ...span, end: offset };
}
