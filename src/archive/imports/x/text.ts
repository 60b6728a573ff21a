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
import { readTimeMs } from '../../../platforms/times.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRows } from '../records.ts';
import {
  type EntitiesPayload,
  type NotePayload,
  noEntities,
  notePayload,
  type TweetPayload,
} from './payload.ts';

export interface ShapedText {
  readonly text: string;
  readonly facets: readonly Facet[];
}

/** Link, mention, tag or media link in the exported text, with its position. */
interface Annotation {
  /** Start of the annotation, in code points of the exported text. */
  readonly start: number;
  readonly end: number;
  readonly written: string;
  /** Text to display instead of `written` (the exported text); `null` to display `written` unchanged. */
  readonly shown: string | null;
  readonly facet: Pick<Facet, 'type' | 'url'> | null;
}

/**
 * Returns the text of a post from code point `begin` on. Decodes HTML entities, expands links and
 * removes media links.
 */
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

/** Returns the text of a long post and its links, whose positions are found by searching the text. */
function shapeNote({ core }: NotePayload): ShapedText {
  const annotations = core.urls.flatMap(({ shortUrl, expandedUrl }) =>
    toLinkAnnotation({ url: shortUrl, expanded_url: expandedUrl, indices: [0, 0] }),
  );
  const { text, facets } = annotate(decodeWithOffsets(core.text), annotations, 0);
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

/**
 * Returns the index of `item.written` (the annotated string) in `text`: the exported position if the string occurs
 * there, else its first occurrence at or after `from`. Returns `null` if there is none.
 */
function locate({ text, toIndex }: DecodedText, item: Annotation, from: number): number | null {
  const start = item.start < 0 ? from : toIndex(item.start);
  if (start >= from && isNamed(text.slice(start, start + item.written.length), item.written)) {
    return start;
  }
  const found = text.indexOf(item.written, from);
  return found < 0 ? null : found;
}

/**
 * Maximum total length, in characters, of the full texts that an import keeps in memory for long posts. After the limit
 * is reached, the import ignores full texts and stores long posts with the shortened text from `tweets.js`.
 */
const maxCharacters = 8_000_000;

/**
 * Reads the full texts of long posts. The returned function finds the full text of a post, and
 * returns `undefined` for short posts.
 */
export async function readNotes(
  files: readonly ExportFile[],
  read: ExportFiles['read'],
): Promise<(row: TweetPayload) => ShapedText | undefined> {
  const bySecond = new Map<number, NotePayload[]>();
  let characters = 0;
  const keep = (note: NotePayload) => {
    characters += note.core.text.length;
    const ms = readTimeMs(note.createdAt);
    if (ms === null || characters > maxCharacters) return;
    const second = Math.floor(ms / 1000);
    bySecond.set(second, [...(bySecond.get(second) ?? []), note]);
  };
  for await (const { noteTweet } of readRows(files, { schema: notePayload, read })) keep(noteTweet);
  return (row) => findText(bySecond, row);
}

/**
 * Finds the full text of the long post `row`, whose own text is shortened. The full text begins
 * with the shortened text and was created at most about one second before or after the post.
 * Returns `undefined` if there is no such text.
 */
function findText(
  bySecond: ReadonlyMap<number, readonly NotePayload[]>,
  row: TweetPayload,
): ShapedText | undefined {
  if (bySecond.size === 0) return undefined;
  const second = Math.floor(row.createdMs / 1000);
  const near = [0, -1, 1].flatMap((step) => bySecond.get(second + step) ?? []);
  const beginning = beginningOf(row.full_text);
  const note = near.find(({ core }) => isLonger(decodeEntities(core.text), beginning));
  return note && shapeNote(note);
}

/** Removes the ellipsis and the link at the end of a text that X has shortened. Decodes HTML entities. */
function beginningOf(text: string): string {
  return decodeEntities(text)
    .trimEnd()
    .replace(/https:\/\/t\.co\/\w+$/, '')
    .trimEnd()
    .replace(/…$/, '')
    .trimEnd();
}

const isLonger = (whole: string, beginning: string): boolean =>
  beginning !== '' && whole.length > beginning.length && whole.startsWith(beginning);
