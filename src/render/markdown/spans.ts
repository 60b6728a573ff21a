import type { Facet } from '../../model/post.ts';
import { type Characters, canBeInsideMarker, canBeOutsideMarker, isSpace } from './characters.ts';
import { type BareLink, findBareLinks, showsUrl, toAutolink, toDestination } from './links.ts';

/** Range of characters in a text; the offset `end` is exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

type Style = 'bold' | 'italic' | 'strikethrough';
type StyleSpan = Range & { readonly kind: Style | 'code' };
type LinkSpan = BareLink & { readonly kind: 'link' | 'autolink' };

export type Span = StyleSpan | LinkSpan;

/** Style or link from the platform. Offsets count code points of the platform's text. */
export type Annotation = Pick<Facet, 'type' | 'start' | 'end' | 'url'>;

const maxAnnotations = 1000; // maximum number of annotations, and of bare URLs, in a text; the rest is plain text

/** Returns sorted and nested spans. Drops annotations that cannot be nested. */
export function toSpans(text: Characters, annotations: readonly Annotation[]): Span[] {
  const spans: Span[] = [];
  for (const annotation of annotations.slice(0, maxAnnotations)) {
    const span = toSpan(text, annotation);
    if (span !== null) spans.push(span);
  }
  const bare = findBareLinks(text.characters, maxAnnotations);
  for (const found of bare.length === 0 ? [] : withoutOverlaps(bare, spans)) {
    spans.push(linkSpan(text.characters, found));
  }
  return dropCodeWithBackticks(nestSpans(mergeStyles(spans)), text.characters);
}

function dropCodeWithBackticks(spans: readonly Span[], characters: readonly string[]): Span[] {
  let linkEnd = 0;
  return spans.filter(({ kind, start, end }) => {
    if (kind === 'link') linkEnd = end;
    if (kind !== 'code' || start >= linkEnd) return true;
    return !characters.slice(start, end).includes('`');
  });
}

const byStart = (a: Range, b: Range): number => a.start - b.start;

/** Returns the links that overlap no link or code. `links` must be sorted, without overlaps. */
function withoutOverlaps(links: readonly BareLink[], spans: readonly Span[]): BareLink[] {
  const sorted = spans.filter((span) => !isStyle(span)).toSorted(byStart);
  let ahead = 0;
  let covered = 0;
  return links.filter(({ start, end }) => {
    for (; (sorted[ahead]?.start ?? end) < end; ahead += 1) {
      covered = Math.max(covered, sorted[ahead]?.end ?? 0);
    }
    return covered <= start;
  });
}

function toSpan({ characters, positions }: Characters, annotation: Annotation): Span | null {
  const start = positions[annotation.start];
  const end = positions[annotation.end];
  if (start === undefined || end === undefined || start >= end) return null;
  switch (annotation.type) {
    case 'bold':
    case 'italic':
    case 'strikethrough':
    case 'code':
      return { kind: annotation.type, start, end };
    default:
      if (annotation.url === undefined || toDestination(annotation.url) === null) return null;
      return linkSpan(characters, { start, end, url: annotation.url });
  }
}

function linkSpan(characters: readonly string[], { start, end, url }: BareLink): Span {
  // A text much longer than the URL cannot equal the URL, so the slow comparison is skipped.
  const visible = end - start > url.length + 8 ? '' : characters.slice(start, end).join('').trim();
  const isAutolink = showsUrl(visible, url) && toAutolink(url) !== null;
  return { kind: isAutolink ? 'autolink' : 'link', start, end, url };
}

export const isLeaf = ({ kind }: Span): boolean => kind === 'code' || kind === 'autolink';

const isStyle = ({ kind }: Span): boolean =>
  kind === 'bold' || kind === 'italic' || kind === 'strikethrough';

function mergeStyles(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  const latest = new Map<Span['kind'], Span & { end: number }>();
  for (const span of spans.toSorted(byStart)) {
    const last = 'url' in span ? undefined : latest.get(span.kind);
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

const nestingOrder: readonly Span['kind'][] = [
  'bold',
  'italic',
  'strikethrough',
  'link',
  'autolink',
  'code',
];

function nestSpans(spans: readonly Span[]): Span[] {
  const sorted = spans.toSorted(
    (a, b) =>
      a.start - b.start ||
      b.end - a.end ||
      nestingOrder.indexOf(a.kind) - nestingOrder.indexOf(b.kind),
  );
  const kept: Span[] = [];
  const open: Span[] = []; // each contains the next one
  for (const span of sorted) {
    while ((open.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= span.start) open.pop();
    if (!open.every((outer) => canContain(outer, span))) continue;
    kept.push(span);
    open.push(span);
  }
  return kept;
}

function canContain(outer: Span, inner: Span): boolean {
  if (inner.end > outer.end || isLeaf(outer)) return false;
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

/** Returns for each of the sorted ranges its parts of spans, with offsets from its start. */
export function clipSpans(spans: readonly Span[], ranges: readonly Range[]): Span[][] {
  let ahead = 0;
  let open: readonly Span[] = [];
  return ranges.map((range) => {
    const from = ahead;
    while ((spans[ahead]?.start ?? range.end) < range.end) ahead += 1;
    if (open.length === 0 && ahead === from) return [];
    open = [...open, ...spans.slice(from, ahead)].filter((span) => span.end > range.start);
    return clipTo(range, open);
  });
}

function clipTo(range: Range, spans: readonly Span[]): Span[] {
  const clipped: Span[] = [];
  for (const span of spans) {
    const start = Math.max(span.start, range.start) - range.start;
    const end = Math.min(span.end, range.end) - range.start;
    if (start < end) clipped.push({ ...span, start, end });
  }
  return clipped;
}

/** Inserts markers such as `**` into escaped text. Outer spans must come first. */
export function insertMarkers(
  written: readonly string[],
  spans: readonly Span[],
  markersOf: (span: Span) => readonly [open: string, close: string],
): string {
  if (spans.length === 0) return written.join('');
  const opening = Array<string>(written.length + 1).fill('');
  const closing = [...opening];
  for (const span of spans) {
    const [open, close] = markersOf(span);
    opening[span.start] += open;
    closing[span.end] = `${close}${closing[span.end]}`;
  }
  let text = '';
  for (const [at, open] of opening.entries()) text += `${closing[at]}${open}${written[at] ?? ''}`;
  return text;
}

const maxRounds = 20; // maximum number of rounds that narrow or drop spans; after that, all styles are dropped

/** Narrows or drops styles with markers that Markdown ignores (CommonMark 0.31.2 §6.2). */
export function fitSpans(spans: readonly Span[], characters: readonly string[]): Span[] {
  if (spans.length === 0) return [];
  let current = nestSpans(spans);
  for (let round = 0; round < maxRounds; round += 1) {
    const fitted = fitOnce(findNeighbours(current, characters));
    if (fitted === null) return current;
    current = nestSpans(fitted);
  }
  return current.filter((span) => !isStyle(span));
}

/** Fits each span once. Returns `null` if none of them changes. */
function fitOnce(line: Neighbours): Span[] | null {
  const fitted: Span[] = [];
  let isChanged = false;
  for (const [at, span] of line.spans.entries()) {
    const fit = fitSpan(span, at, line);
    if (fit !== null) fitted.push(fit);
    if (fit !== span) isChanged = true;
  }
  return isChanged ? fitted : null;
}

type Neighbours = ReturnType<typeof findNeighbours>;

/** Returns the spans of a line with what decides which markers Markdown recognizes. */
export function findNeighbours(spans: readonly Span[], characters: readonly string[]) {
  // For links and code: the latest end by start offset, and the earliest start by end offset.
  const closedEnds = new Map<number, number>();
  const closedStarts = new Map<number, number>();
  const isClosed = new Uint8Array(characters.length);
  const lastEnding = new Map<number, number>(); // index of the last span that ends at an offset
  const boldEdges = new Set<number>();
  for (const [at, span] of spans.entries()) {
    const { kind, start, end } = span;
    lastEnding.set(end, at);
    if (kind === 'bold') boldEdges.add(start).add(end);
    if (isStyle(span)) continue;
    closedEnds.set(start, Math.max(end, closedEnds.get(start) ?? end));
    closedStarts.set(end, Math.min(start, closedStarts.get(end) ?? start));
    isClosed.fill(1, start, end);
  }
  return { spans, characters, closedEnds, closedStarts, isClosed, lastEnding, boldEdges };
}

/**
 * Returns `span` if Markdown recognizes its markers, otherwise a shorter span, which the caller
 * must pass to this function again. Returns `null` if the text must be rendered without markers.
 * `at`: index in `line.spans`.
 */
function fitSpan(span: Span, at: number, line: Neighbours): Span | null {
  const trimmed = trimRange(span, line.characters);
  if (trimmed.start === trimmed.end) return null;
  if (trimmed !== span || !isStyle(span)) return trimmed;
  if (!canOpen(span, at, line)) return narrow(span, 'start', line);
  if (!canClose(span, at, line)) return narrow(span, 'end', line);
  // The `*` of italics within a word and the `**` of bold would form one run.
  const isStar = span.kind === 'italic' && !isAtWordBoundaries(span, line);
  return isStar && (line.boldEdges.has(span.start) || line.boldEdges.has(span.end)) ? null : span;
}

/** Returns a range without spaces at its ends; the same object if there are none. */
export function trimRange<Trimmed extends Range>(range: Trimmed, characters: readonly string[]) {
  let { start, end } = range;
  while (start < end && isSpace(characters[end - 1])) end -= 1;
  while (start < end && isSpace(characters[start])) start += 1;
  return start === range.start && end === range.end ? range : { ...range, start, end };
}

function canOpen(span: Span, at: number, line: Neighbours): boolean {
  const isLast = line.spans[at + 1]?.start !== span.start;
  return (
    allowsMarkerBefore(span, line) || (isLast && canBeInsideMarker(line.characters[span.start]))
  );
}

function canClose(span: Span, at: number, line: Neighbours): boolean {
  const isLast = (line.lastEnding.get(span.end) ?? at) <= at;
  return (
    allowsMarkerAfter(span, line) || (isLast && canBeInsideMarker(line.characters[span.end - 1]))
  );
}

function allowsMarkerBefore({ start, end }: Span, line: Neighbours): boolean {
  if (canBeOutsideMarker(line.characters[start - 1]) || line.closedStarts.has(start)) return true;
  return (line.closedEnds.get(start) ?? end) > end;
}

function allowsMarkerAfter({ start, end }: Span, line: Neighbours): boolean {
  if (canBeOutsideMarker(line.characters[end]) || line.closedEnds.has(end)) return true;
  return (line.closedStarts.get(end) ?? start) < start;
}

/** Returns whether a span is between word boundaries, so that it can use `_` instead of `*`. */
export const isAtWordBoundaries = (span: Span, line: Neighbours) =>
  allowsMarkerBefore(span, line) && allowsMarkerAfter(span, line);

function narrow(span: Span, edge: 'start' | 'end', line: Neighbours): Span | null {
  const offset = edge === 'start' ? span.start : span.end - 1;
  if (line.isClosed[offset] === 1 || canBeInsideMarker(line.characters[offset])) return null;
  return edge === 'start' ? { ...span, start: offset + 1 } : { ...span, end: offset };
}
