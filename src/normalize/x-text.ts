import type { Facet } from '../model/post.ts';
import { nestRuns } from './runs.ts';
import { isNamed, type TagType, tagUrl } from './tags.ts';
import { countCodePoints, type DecodedText, isWebUrl } from './text.ts';
import type { RichText } from './text-writer.ts';

/** Start and end in code points of the encoded text; -1 if they are unknown. */
type Indices = readonly [start: number, end: number];

interface LinkEntity {
  readonly url: string;
  readonly expanded_url: string | null;
  readonly indices: Indices;
}

interface MediaEntity {
  readonly url: string | null;
  readonly indices: Indices;
}

type TagEntity = { readonly text: string; readonly indices: Indices };

/** Links, mentions, tags and media links of a post, as X lists them beside its text. */
interface Entities {
  readonly urls: readonly LinkEntity[];
  readonly user_mentions: readonly { readonly screen_name: string; readonly indices: Indices }[];
  readonly hashtags: readonly TagEntity[];
  readonly symbols: readonly TagEntity[];
  readonly media: readonly MediaEntity[];
}

export interface Annotation {
  /** Start in code points of the encoded text; negative if it is unknown. */
  readonly start: number;
  readonly written: string;
  /** Text to display instead of `written`; `null` for `written` unchanged. */
  readonly shown: string | null;
  readonly facet: Pick<Facet, 'type' | 'url'> | null;
}

/** Maximum number of annotations of a post. Later annotations are dropped. */
export const maxAnnotations = 2000;

/** Returns the annotations of a post, sorted by their start. Media links are not displayed. */
export function annotationsOf(entities: Entities): readonly Annotation[] {
  const annotations: readonly Annotation[] = [
    ...entities.urls.flatMap(toLinkAnnotation),
    ...entities.user_mentions.flatMap((row) => toTag('mention', `@${row.screen_name}`, row)),
    ...entities.hashtags.flatMap((row) => toTag('hashtag', `#${row.text}`, row)),
    ...entities.symbols.flatMap((row) => toTag('symbol', `$${row.text}`, row)),
    ...entities.media.flatMap(toMediaAnnotation),
  ];
  return annotations.toSorted((a, b) => a.start - b.start).slice(0, maxAnnotations);
}

function toTag(type: TagType, written: string, { indices: [start] }: Pick<TagEntity, 'indices'>) {
  const url = tagUrl(type, written);
  return url === null ? [] : [{ start, written, shown: null, facet: { type, url } }];
}

export function toLinkAnnotation({ indices, ...row }: LinkEntity): readonly Annotation[] {
  const url = row.expanded_url ?? row.url;
  if (row.url === '' || !isWebUrl(url)) return [];
  return [{ start: indices[0], written: row.url, shown: url, facet: { type: 'link', url } }];
}

export const toMediaAnnotation = ({ url, indices }: MediaEntity): readonly Annotation[] =>
  url === null ? [] : [{ start: indices[0], written: url, shown: '', facet: null }];

/**
 * Returns the text for display from code point `begin` on. Searches for annotations that are not at
 * their start, and omits those that the text does not contain.
 */
export function annotate(
  decoded: DecodedText,
  annotations: readonly Annotation[],
  begin: number = 0,
): RichText {
  const parts: string[] = [];
  const facets: Facet[] = [];
  let length = 0;
  const write = (part: string) => {
    parts.push(part);
    length += countCodePoints(part);
  };
  let at = decoded.toIndex(begin);
  for (const item of annotations) {
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
