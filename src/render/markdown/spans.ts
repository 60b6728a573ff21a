import type { Facet } from '../../model/post.ts';
import { type BareLink, findBareLinks } from './bare-links.ts';
import type { Characters } from './characters.ts';
import { showsUrl, toAutolink, toDestination } from './links.ts';

/** A style that Markdown can show. */
export type Style = 'bold' | 'italic' | 'strikethrough';

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
export function isStyle(span: Span): span is Span & { readonly kind: Style } {
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
export function nestSpans(spans: readonly Span[]): Span[] {
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
