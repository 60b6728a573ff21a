import type { Account } from '../../../model/account.ts';
import type { Status } from '../../../model/post.ts';
import { decodeEntities } from '../../../normalize/text.ts';
import type { RichText } from '../../../normalize/text-writer.ts';
import { readTimeMs } from '../../../normalize/times.ts';
import type { ExportedPost, ExportFile, ExportItem, LeftOutContent } from '../export-source.ts';
import { convertRecords, readRecords, readRows } from '../records.ts';
import { shapeNote, shapePost, shapeRepost } from './normalize.ts';
import {
  maxVersions,
  type NotePayload,
  notePayload,
  type TweetPayload,
  tweetPayload,
} from './wire.ts';

interface PostReading {
  readonly account: Account;
  readonly notes: Notes;
  /** Ids of the first versions of edited posts. */
  readonly edited: ReadonlySet<string>;
  /** Whether the export contains the originals of all reposts. Other posts are no reposts then. */
  readonly hasOriginals: boolean;
}

/** Yields posts and reposts. Yields edited posts last, and without their earlier versions. */
export async function* readPosts(
  files: readonly ExportFile[],
  { account, notes, edited, hasOriginals }: PostReading,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const edits = createEdits(edited);
  let shortened = 0;
  const shape = (row: TweetPayload): readonly ExportItem[] => {
    const note = notes.take(row);
    const isTyped = hasOriginals || note !== undefined || edits.isEdited(row);
    const reposted = shapeRepost(row, account, { isTyped });
    if (reposted !== undefined) return reposted;
    const isCut = note === undefined && isShortened(row);
    if (isCut) shortened += 1;
    const post = shapePost(row, account, { long: note?.text ?? null, isShortened: isCut });
    return edits.take(post, row) ? [] : [post];
  };
  for (const file of files) {
    for await (const records of readRecords([file], { schema: tweetPayload }))
      yield convertRecords(records, shape);
    const reason = 'the export lacks the full text of these posts';
    const counted = { name: file.name, count: shortened, unit: 'item' } as const;
    if (shortened > 0) yield [{ kind: 'left-out', ...counted, reason }];
    shortened = 0;
  }
  yield edits.finish();
  yield listUnused(notes);
}

const listUnused = ({ unused }: Notes): readonly LeftOutContent[] =>
  [...unused].flatMap(([name, count]) => {
    const reason = 'the posts of these full texts are not in the export';
    return count > 0 ? [{ kind: 'left-out', name, count, unit: 'item', reason }] : [];
  });

const firstIds =
  /"initialTweetId"\s{0,99}:\s{0,99}"(\d{1,20})"|"editTweetIds"\s{0,99}:\s{0,99}\[\s{0,99}"(\d{1,20})"\s{0,99},/g;

const overlap = 600; // maximum length of a match

const maxEdited = 65_536; // maximum number of edited posts whose first version is recognized

/** Returns the first versions' ids, because these often do not state that they were edited. */
export async function readEditedIds(files: readonly ExportFile[]): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const file of files) {
    for await (const id of findIds(file.read())) if (ids.size < maxEdited) ids.add(id);
  }
  return ids;
}

async function* findIds(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let text = '';
  for await (const { buffer, byteOffset, byteLength } of chunks) {
    text = text.slice(-overlap) + Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
    for (const [, initial, listed] of text.matchAll(firstIds)) yield initial ?? listed ?? '';
  }
}

type OwnPost = ReturnType<typeof shapePost>;

const maxCharacters = 2 ** 26;

const postCharacters = 500; // size of a post in addition to its text

/** Creates a collector of edits. X exports each version as a post, in any order and file. */
function createEdits(edited: ReadonlySet<string>) {
  const groups = new Map<string, OwnPost[]>();
  let characters = 0;
  const isEdited = (row: TweetPayload): boolean => row.isEdited || edited.has(row.id_str);
  return {
    isEdited,
    /** Takes a version. Returns `false` if the post was not edited, or if the collector is full. */
    take: (item: OwnPost, row: TweetPayload): boolean => {
      if (!isEdited(row)) return false;
      const group = groups.get(row.firstId) ?? [];
      characters += item.post.text.length + postCharacters;
      if (characters > maxCharacters || group.length >= maxVersions) return false;
      group.push(item);
      groups.set(row.firstId, group);
      return true;
    },
    /** Returns the last version of each edited post. */
    finish: () => [...groups].map(([first, group]) => joinVersions(group, first)),
  };
}

function joinVersions(group: readonly OwnPost[], first: string): ExportedPost {
  const byId = new Map(group.map((item) => [BigInt(item.post.id), item]));
  const versions = [...byId].toSorted(([a], [b]) => (a < b ? 1 : -1)).map(([, item]) => item);
  const [last, ...others] = versions as [OwnPost, ...OwnPost[]]; // no group is empty
  const { post } = last;
  const earlier = others.toReversed().map(({ post: { id, text, created_at } }) => {
    return { id, text, created_at };
  });
  const edits: Partial<Status> = {
    ...(post.id !== first && { edited_at: post.created_at }),
    ...(earlier.length > 0 && { earlier_versions: earlier }),
  };
  return { ...last, post: { ...post, ...edits } };
}

const maxNoteCharacters = 8_000_000;

const noteCharacters = 100; // memory of a full text in addition to its characters

const maxPerSecond = 50; // maximum number of full texts of the same second

interface Note {
  readonly note: NotePayload;
  readonly key: string;
  readonly file: string;
  /** Id of the post, which can be in the export twice. */
  takenBy: string | null;
}

type Notes = Awaited<ReturnType<typeof readNotes>>;

/** Reads the full texts of long posts, which do not contain the ids of their posts. */
export async function readNotes(files: readonly ExportFile[]) {
  const bySecond = new Map<number, Note[]>();
  const unused = new Map<string, number>();
  let characters = 0;
  const keep = (note: NotePayload, file: string) => {
    unused.set(file, (unused.get(file) ?? 0) + 1);
    characters += note.core.text.length + noteCharacters;
    const ms = readTimeMs(note.createdAt);
    if (ms === null || characters > maxNoteCharacters) return;
    const second = Math.floor(ms / 1000);
    const same = bySecond.get(second) ?? [];
    const key = toKey(note.core.text);
    if (same.length < maxPerSecond) same.push({ note, key, file, takenBy: null });
    bySecond.set(second, same);
  };
  for (const file of files) {
    for await (const { noteTweet } of readRows([file], { schema: notePayload }))
      keep(noteTweet, file.name);
  }
  return {
    /** Returns the full text of a post, `null` if the post has it too. Others do not get it. */
    take: (row: TweetPayload): { readonly text: RichText | null } | undefined => {
      const found = findNote(bySecond, row);
      if (found === undefined) return undefined;
      const { file, takenBy, key, note } = found;
      if (takenBy === null) unused.set(file, (unused.get(file) ?? 0) - 1);
      found.takenBy = row.id_str;
      const isSame = key === toKey(row.full_text);
      return { text: isSame ? null : shapeNote(note, row.entities?.media ?? []) };
    },
    /** Number of full texts that no post has taken, by file. */
    unused,
  };
}

function findNote(bySecond: ReadonlyMap<number, Note[]>, row: TweetPayload): Note | undefined {
  const second = Math.floor(row.createdMs / 1000);
  const lists = [second, second - 1, second + 1].map((at) => bySecond.get(at) ?? []);
  if (lists.every(({ length }) => length === 0)) return undefined;
  const own = lists.flat().find(({ takenBy }) => takenBy === row.id_str);
  const fits = createFit(row);
  const [same = [], ...near] = lists.map((notes) => notes.filter(fits));
  const others = near.flat();
  return own ?? same[0] ?? (others.length === 1 ? others[0] : undefined);
}

function createFit(row: TweetPayload): (note: Note) => boolean {
  const whole = toKey(row.full_text);
  const beginning = toKey(row.full_text.replace(end, ''));
  const isCut = row.truncated || shortened.test(row.full_text);
  const isBeginning = beginning !== '' && (isCut || widthOf(beginning) >= minBeginning);
  return ({ key, takenBy }) =>
    takenBy === null && (key === whole || (isBeginning && key.startsWith(beginning)));
}

const shortened = /…(?:\s{0,4}https?:\/\/t\.co\/\w{1,20}){0,4}\s{0,4}$/;

const end = /…?(?:\s{0,4}https?:\/\/t\.co\/\w{1,20}){0,4}\s{0,4}$/;

const minBeginning = 200;

const widthOf = (text: string): number =>
  text.length +
  (text.match(/[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]/g)?.length ?? 0);

const maxDecodings = 3; // number of times that exports encode entities, at most

function toKey(text: string): string {
  let decoded = text;
  for (let time = 0; time < maxDecodings && decoded.includes('&'); time++)
    decoded = decodeEntities(decoded);
  const plain = decoded.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  return plain
    .slice(mentionsOf(plain).length)
    .replaceAll(/https?:\/\/t\.co\/\w{1,20}/g, 'https://t.co/');
}

const mentionsOf = (text: string): string => /^(?:@\w{1,20}\s{1,4})*/.exec(text)?.[0] ?? '';

/** Unix milliseconds at which X introduced posts of more than 280 characters. */
const longPostsSinceMs = Date.UTC(2023, 1, 1);

const minShortened = 100;

function isShortened({ full_text: text, createdMs, truncated }: TweetPayload): boolean {
  if (!text.includes('…') || !shortened.test(text)) return false;
  if (truncated) return true;
  return createdMs >= longPostsSinceMs && lengthWithoutNames(text) >= minShortened;
}

const lengthWithoutNames = (text: string): number =>
  text.replaceAll(/https?:\/\/\S{1,500}|@\w{1,20}/g, '').length;
