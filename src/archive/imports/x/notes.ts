import { decodeEntities } from '../../../platforms/text.ts';
import { readTimeMs } from '../../../platforms/times.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRows } from '../records.ts';
import { type NotePayload, notePayload, type TweetPayload } from './payload.ts';
import { type ShapedText, shapeNote } from './text.ts';

const maxCharacters = 8_000_000;

const noteCharacters = 100; // memory of a full text in addition to its characters

const maxPerSecond = 50; // maximum number of full texts of the same second

interface Note {
  readonly note: NotePayload;
  readonly key: string;
  readonly file: string;
}

export interface FoundNote {
  /** Full text; `null` if the post itself has it too. */
  readonly text: ShapedText | null;
}

export interface Notes {
  /** Returns the full text of a post. Other posts then do not get it. */
  take(row: TweetPayload): FoundNote | undefined;
  /** Returns, for each file, the number of full texts that no post has taken. */
  countUnused(): ReadonlyMap<string, number>;
}

export const noNotes: Notes = {
  take: () => undefined,
  countUnused: () => new Map(),
};

/** Reads the full texts of long posts, which do not contain the ids of their posts. */
export async function readNotes(
  files: readonly ExportFile[],
  read: ExportFiles['read'],
): Promise<Notes> {
  const bySecond = new Map<number, Note[]>();
  const taken = new Map<string, Note>(); // by the id of the post, which can be in the export twice
  const unused = new Map<string, number>();
  let characters = 0;
  const keep = (note: NotePayload, file: string) => {
    unused.set(file, (unused.get(file) ?? 0) + 1);
    characters += note.core.text.length + noteCharacters;
    const ms = readTimeMs(note.createdAt);
    if (ms === null || characters > maxCharacters) return;
    const second = Math.floor(ms / 1000);
    const same = bySecond.get(second) ?? [];
    if (same.length < maxPerSecond) same.push({ note, key: toKey(note.core.text), file });
    bySecond.set(second, same);
  };
  for (const file of files) {
    for await (const { noteTweet } of readRows([file], { schema: notePayload, read }))
      keep(noteTweet, file.name);
  }
  const takeFirst = (row: TweetPayload): Note | undefined => {
    const found = findNote(bySecond, row);
    if (found === undefined) return undefined;
    found.among.splice(found.among.indexOf(found.note), 1);
    taken.set(row.id_str, found.note);
    unused.set(found.note.file, (unused.get(found.note.file) ?? 0) - 1);
    return found.note;
  };
  return {
    take: (row) => {
      const found = taken.get(row.id_str) ?? takeFirst(row);
      if (found === undefined) return undefined;
      const isSame = found.key === toKey(row.full_text);
      return { text: isSame ? null : shapeNote(found.note, row.entities?.media ?? []) };
    },
    countUnused: () => unused,
  };
}

function findNote(bySecond: ReadonlyMap<number, Note[]>, row: TweetPayload) {
  const second = Math.floor(row.createdMs / 1000);
  const listAt = (at: number) => bySecond.get(at) ?? [];
  const lists = [listAt(second), listAt(second - 1), listAt(second + 1)];
  if (lists.every(({ length }) => length === 0)) return undefined;
  const fits = createFit(row);
  const [same = [], ...near] = lists.map((among) =>
    among.filter(fits).map((note) => ({ note, among })),
  );
  const others = near.flat();
  return same[0] ?? (others.length === 1 ? others[0] : undefined);
}

function createFit(row: TweetPayload): (note: Note) => boolean {
  const whole = toKey(row.full_text);
  const beginning = toKey(row.full_text.replace(end, ''));
  const isCut = row.truncated || shortened.test(row.full_text);
  const isBeginning = beginning !== '' && (isCut || widthOf(beginning) >= minBeginning);
  return ({ key }) => key === whole || (isBeginning && key.startsWith(beginning));
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

/** Returns whether X has shortened a post's text. Authors end posts with an ellipsis too. */
export function isShortened({ full_text: text, createdMs, truncated }: TweetPayload): boolean {
  if (!text.includes('…') || !shortened.test(text)) return false;
  if (truncated) return true;
  return createdMs >= longPostsSinceMs && lengthWithoutNames(text) >= minShortened;
}

const lengthWithoutNames = (text: string): number =>
  text.replaceAll(/https?:\/\/\S{1,500}|@\w{1,20}/g, '').length;
