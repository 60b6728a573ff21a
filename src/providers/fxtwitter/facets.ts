import type { Facet } from '../../model/post.ts';
import { maximums } from '../../platforms/maximums.ts';
import { lastWhere, nestRuns } from '../../platforms/runs.ts';
import { isNamed, scanFacets, tagUrl } from '../../platforms/tags.ts';
import {
  codePointOffsets,
  type DecodedText,
  decodeWithOffsets,
  toCodePoints,
  webUrlOrNull,
} from '../../platforms/text.ts';
import type { StatusPayload } from './payload.ts';

type RawText = NonNullable<StatusPayload['raw_text']>;
type FacetPayload = RawText['facets'][number];

interface Anchor {
  readonly rawStart: number;
  readonly rawEnd: number;
  readonly start: number;
  readonly end: number;
  readonly facet: Pick<Facet, 'type' | 'url'> | null;
}

interface Texts {
  readonly text: string;
  readonly raw: DecodedText;
}

/** Converts facets of X's original text (`raw`) to facets of FxTwitter's edited `text`. */
export function shapeFacets(text: string, raw: RawText | null): readonly Facet[] {
  if (raw === null) return scanFacets(text);
  const texts = { text, raw: decodeWithOffsets(raw.text) };
  const origin = anchorOrigin(texts, raw.display_text_range?.[0] ?? 0);
  const facets = raw.facets
    .toSorted((a, b) => a.indices[0] - b.indices[0])
    .slice(0, maximums.facets);
  const anchors = anchorLinks(texts, facets, origin);
  const styles = facets.map((facet) => anchorStyle(texts, facet, anchors));
  const toOffset = codePointOffsets(text);
  const found = [...anchors, ...styles].flatMap((anchor): Facet[] => {
    if (anchor === null || anchor.facet === null) return [];
    return [{ ...anchor.facet, start: toOffset(anchor.start), end: toOffset(anchor.end) }];
  });
  return nestRuns(found, toOffset(text.length));
}

/** Returns the links of a text that FxTwitter has not edited, such as a community note. */
export function shapeLinks({ text, facets }: Pick<RawText, 'text' | 'facets'>): readonly Facet[] {
  const points = toCodePoints(text);
  const found = facets.flatMap((facet): Facet[] => {
    const [start, end] = facet.indices;
    const link = toLink({ ...facet, original: points.slice(start, end).join('') });
    return link === null ? [] : [{ ...link, start, end }];
  });
  return nestRuns(found, points.length);
}

function anchorOrigin({ text, raw }: Texts, visibleStart: number): Anchor {
  const isServed = text.startsWith(slice(raw, 0, visibleStart));
  return { rawStart: 0, rawEnd: isServed ? 0 : visibleStart, start: 0, end: 0, facet: null };
}

function anchorLinks(texts: Texts, facets: readonly FacetPayload[], origin: Anchor) {
  const anchors = [origin];
  for (const facet of facets) {
    const anchor = anchorLink(texts, facet, anchors.at(-1) ?? origin);
    if (anchor !== null) anchors.push(anchor);
  }
  return anchors;
}

function anchorLink(texts: Texts, facet: FacetPayload, last: Anchor): Anchor | null {
  const [rawStart, rawEnd] = facet.indices;
  if (rawStart < last.rawEnd || rawStart >= rawEnd || facet.original === null) return null;
  const original = slice(texts.raw, rawStart, rawEnd);
  const link = toLink(facet);
  if (link === null || !isNamed(original, facet.original)) return null;
  const shown = link.type === 'link' ? link.url : original;
  const expected = project(texts.raw, last, { rawIndex: rawStart, inside: last.start });
  const start = locate(texts.text, shown, { expected, from: last.end });
  if (start === null) return null;
  return { rawStart, rawEnd, start, end: start + shown.length, facet: link };
}

function toLink({ type, original, replacement }: FacetPayload) {
  if (type === 'url') {
    const url = webUrlOrNull(replacement);
    return url === null ? null : ({ type: 'link', url } as const);
  }
  if (type !== 'mention' && type !== 'hashtag' && type !== 'symbol') return null;
  const url = tagUrl(type, original ?? '');
  return url === null ? null : ({ type, url } as const);
}

const styles = ['bold', 'italic', 'strikethrough'] as const;

function anchorStyle({ text, raw }: Texts, facet: FacetPayload, anchors: readonly Anchor[]) {
  const type = styles.find((style) => style === facet.type);
  const [rawStart, rawEnd] = facet.indices;
  if (type === undefined || rawStart >= rawEnd || rawEnd > raw.length) return null;
  const first = lastWhere(anchors, (anchor) => anchor.rawStart <= rawStart);
  const last = lastWhere(anchors, (anchor) => anchor.rawStart < rawEnd);
  if (first === undefined || last === undefined) return null;
  const expected = project(raw, first, { rawIndex: rawStart, inside: first.start });
  const expectedEnd = project(raw, last, { rawIndex: rawEnd, inside: last.end });
  const found = { rawStart, rawEnd, facet: { type }, start: expected, end: expectedEnd };
  if (last !== first || rawStart < first.rawEnd) return found;
  const shown = slice(raw, rawStart, rawEnd);
  const start = locate(text, shown, { expected, from: first.end });
  return start === null ? null : { ...found, start, end: start + shown.length };
}

function project(raw: DecodedText, anchor: Anchor, place: { rawIndex: number; inside: number }) {
  if (place.rawIndex < anchor.rawEnd) return place.inside;
  return anchor.end + raw.toIndex(place.rawIndex) - raw.toIndex(anchor.rawEnd);
}

function locate(text: string, run: string, place: { expected: number; from: number }) {
  if (run === '') return null;
  if (text.startsWith(run, place.expected)) return place.expected;
  const index = text.indexOf(run, place.from);
  return index < 0 ? null : index;
}

const slice = (raw: DecodedText, start: number, end: number): string =>
  raw.text.slice(raw.toIndex(start), raw.toIndex(end));
