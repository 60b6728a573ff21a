import type { Facet } from '../../../model/post.ts';
import { nestRuns } from '../../../platforms/runs.ts';
import { isNamed, scanFacets, type TagType, tagUrl } from '../../../platforms/tags.ts';
import {
  countCodePoints,
  type DecodedText,
  decodeEntities,
  decodeWithOffsets,
  isWebUrl,
} from '../../../platforms/text.ts';
import { type EntitiesPayload, type NotePayload, noEntities } from './payload.ts';

export interface ShapedText {
  readonly text: string;
  readonly facets: readonly Facet[];
}

interface Annotation {
  /** Start of the annotation, in code points of the exported text. */
  readonly start: number;
  readonly end: number;
  readonly written: string;
  /** Text to display instead of `written` (the exported text); `null` for `written` unchanged. */
  readonly shown: string | null;
  readonly facet: Pick<Facet, 'type' | 'url'> | null;
}

/** Returns the text from code point `begin` on, with entities decoded and without media links. */
export function shapeText(
  exported: string,
  entities: EntitiesPayload | null,
  begin: number,
): ShapedText {
  // Fast path: most posts have no entities, so offsets are not needed.
  if (begin === 0 && entities === noEntities) {
    return { text: decodeEntities(exported).trimEnd(), facets: [] };
  }
  const decoded = decodeWithOffsets(exported);
  if (entities !== null) return annotate(decoded, annotationsOf(entities), begin);
  const text = decoded.text.slice(decoded.toIndex(begin));
  return { text, facets: scanFacets(text) };
}

/** Returns a long post's text without media links. Finds the positions of links by searching. */
export function shapeNote({ core }: NotePayload, media: EntitiesPayload['media']): ShapedText {
  const decoded = decodeWithOffsets(core.text);
  const unknown = [-1, -1] as const;
  const annotations = [
    ...core.urls.flatMap(({ shortUrl, expandedUrl }) =>
      toLinkAnnotation({ url: shortUrl, expanded_url: expandedUrl, indices: unknown }),
    ),
    ...media.flatMap(({ url }) => toMediaAnnotation(url, unknown)),
  ].slice(0, maxAnnotations);
  const places = annotations.map((item) => ({ item, at: decoded.text.indexOf(item.written) }));
  const sorted = places.toSorted((a, b) => a.at - b.at).map(({ item }) => item);
  const { text, facets } = annotate(decoded, sorted, 0);
  return { text, facets: nestRuns([...facets, ...scanFacets(text)], countCodePoints(text)) };
}

const maxAnnotations = 2000; // maximum number per post; later annotations are dropped

function annotationsOf(entities: EntitiesPayload): readonly Annotation[] {
  const tag =
    (type: TagType, sign: string) =>
    (name: string, [start, end]: Indices) => {
      const url = tagUrl(type, name);
      if (url === null) return [];
      return [{ start, end, written: `${sign}${name}`, shown: null, facet: { type, url } }];
    };
  const [toMention, toHashtag, toSymbol] = [
    tag('mention', '@'),
    tag('hashtag', '#'),
    tag('symbol', '$'),
  ];
  const annotations: readonly Annotation[] = [
    ...entities.urls.flatMap(toLinkAnnotation),
    ...entities.user_mentions.flatMap((row) => toMention(row.screen_name, row.indices)),
    ...entities.hashtags.flatMap((row) => toHashtag(row.text, row.indices)),
    ...entities.symbols.flatMap((row) => toSymbol(row.text, row.indices)),
    ...entities.media.flatMap(({ url, indices }) => toMediaAnnotation(url, indices)),
  ];
  return annotations.toSorted((a, b) => a.start - b.start).slice(0, maxAnnotations);
}

type Indices = readonly [start: number, end: number];

function toLinkAnnotation(row: EntitiesPayload['urls'][number]): readonly Annotation[] {
  const [start, end] = row.indices;
  const url = row.expanded_url ?? row.url;
  if (row.url === '' || !isWebUrl(url)) return [];
  return [{ start, end, written: row.url, shown: url, facet: { type: 'link', url } }];
}

const toMediaAnnotation = (url: string | null, [start, end]: Indices): readonly Annotation[] =>
  url === null ? [] : [{ start, end, written: url, shown: '', facet: null }];

function annotate(decoded: DecodedText, items: readonly Annotation[], begin: number): ShapedText {
  const parts: string[] = [];
  const facets: Facet[] = [];
  let length = 0;
  const write = (part: string) => {
    parts.push(part);
    length += countCodePoints(part);
  };
  let at = decoded.toIndex(begin);
  for (const item of items) {
    const start = locate(decoded, item, at);
    if (start === null) continue;
    write(decoded.text.slice(at, start));
    at = start + item.written.length;
    const from = length;
    write(item.shown ?? decoded.text.slice(start, at));
    if (item.facet !== null) facets.push({ ...item.facet, start: from, end: length });
  }
  write(decoded.text.slice(at));
  const text = parts.join('').trimEnd();
  return { text, facets: nestRuns(facets, countCodePoints(text)) };
}

function locate({ text, toIndex }: DecodedText, item: Annotation, from: number): number | null {
  const start = item.start < 0 ? from : toIndex(item.start);
  if (start >= from && isNamed(text.slice(start, start + item.written.length), item.written)) {
    return start;
  }
  const found = text.indexOf(item.written, from);
  return found < 0 ? null : found;
}
