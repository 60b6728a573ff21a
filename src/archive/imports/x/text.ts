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

/** A run of the exported text that is marked or replaced. */
interface Mark {
  /** In code points of the text as it is exported. */
  readonly start: number;
  readonly end: number;
  readonly written: string;
  /** What stands there for readers; null where that is what is written. */
  readonly shown: string | null;
  readonly facet: Pick<Facet, 'type' | 'url'> | null;
}

/**
 * Returns the text of a post from a code point on: without HTML entities, with links in full, and without the short
 * links of its media, which stand at its end.
 */
export function shapeText(
  exported: string,
  entities: EntitiesPayload | null,
  begin: number,
): ShapedText {
  // Most posts have no marks, and their offsets need not be known.
  if (begin === 0 && entities === noEntities) {
    return { text: decodeEntities(exported).trimEnd(), facets: [] };
  }
  const decoded = decodeWithOffsets(exported);
  if (entities !== null) return writeMarks(decoded, marksOf(entities), begin);
  const text = decoded.text.slice(decoded.toIndex(begin));
  return { text, facets: scanFacets(text) };
}

/** Gives the text of a long post. It tells where its links are by themselves only. */
function shapeNote({ core }: NotePayload): ShapedText {
  const marks = core.urls.flatMap(({ shortUrl, expandedUrl }) =>
    toLinkMark({ url: shortUrl, expanded_url: expandedUrl, indices: [0, 0] }),
  );
  const { text, facets } = writeMarks(decodeWithOffsets(core.text), marks, 0);
  const length = countCodePoints(text);
  return { text, facets: nestRuns([...facets, ...scanFacets(text)], length) };
}

/** More than a post needs. Those that come later in its text are dropped. */
const maxMarks = 2000;

function marksOf(entities: EntitiesPayload): readonly Mark[] {
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
  const marks: readonly Mark[] = [
    ...entities.urls.flatMap(toLinkMark),
    ...entities.user_mentions.flatMap((row) => toMention(row.screen_name, row.indices)),
    ...entities.hashtags.flatMap((row) => toHashtag(row.text, row.indices)),
    ...entities.symbols.flatMap((row) => toSymbol(row.text, row.indices)),
    ...entities.media.flatMap(({ url, indices }) => toMediaMark(url, indices)),
  ];
  return marks.toSorted((a, b) => a.start - b.start).slice(0, maxMarks);
}

type Indices = readonly [start: number, end: number];

function toLinkMark(row: EntitiesPayload['urls'][number]): readonly Mark[] {
  const [start, end] = row.indices;
  const url = row.expanded_url ?? row.url;
  if (row.url === '' || !isWebUrl(url)) return [];
  return [{ start, end, written: row.url, shown: url, facet: { type: 'link', url } }];
}

function toMediaMark(url: string | null, [start, end]: Indices): readonly Mark[] {
  return url === null ? [] : [{ start, end, written: url, shown: '', facet: null }];
}

function writeMarks(decoded: DecodedText, marks: readonly Mark[], begin: number): ShapedText {
  const pieces: string[] = [];
  const facets: Facet[] = [];
  let length = 0;
  const write = (piece: string) => {
    pieces.push(piece);
    length += countCodePoints(piece);
  };
  let at = decoded.toIndex(begin);
  for (const mark of marks) {
    const start = locate(decoded, mark, at);
    if (start === null) continue;
    write(decoded.text.slice(at, start));
    at = start + mark.written.length;
    const from = length;
    write(mark.shown ?? decoded.text.slice(start, at));
    if (mark.facet !== null) facets.push({ ...mark.facet, start: from, end: length });
  }
  write(decoded.text.slice(at));
  const text = pieces.join('').trimEnd();
  return { text, facets: nestRuns(facets, countCodePoints(text)) };
}

/** Finds a mark where it is told to be, else further on: several photos have one link, and offsets can be wrong. */
function locate({ text, toIndex }: DecodedText, mark: Mark, from: number): number | null {
  const told = mark.start < 0 ? from : toIndex(mark.start);
  if (told >= from && isNamed(text.slice(told, told + mark.written.length), mark.written)) {
    return told;
  }
  const found = text.indexOf(mark.written, from);
  return found < 0 ? null : found;
}

/** The most characters of long posts that are kept in memory at once; more are left short. */
const maxCharacters = 8_000_000;

/**
 * Reads the long posts of an export, and returns the function that returns the whole text of a post; undefined if the
 * export has but the post. Those that cannot be read are short, as their posts are.
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

/** A post is the beginning of its long one, and of the same second or the next one. */
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

/** Takes off the ellipsis, and the link to the whole, with which a shortened text ends. */
function beginningOf(text: string): string {
  return decodeEntities(text)
    .trimEnd()
    .replace(/https:\/\/t\.co\/\w+$/, '')
    .trimEnd()
    .replace(/…$/, '')
    .trimEnd();
}

function isLonger(whole: string, beginning: string): boolean {
  return beginning !== '' && whole.length > beginning.length && whole.startsWith(beginning);
}
