import { decodeEntities } from '../../../platforms/text.ts';
import { readTimeMs } from '../../../platforms/times.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRows } from '../records.ts';
import { type NotePayload, notePayload, type TweetPayload } from './payload.ts';
import { type ShapedText, shapeNote } from './text.ts';

/**
 * Maximum total length, in characters, of the full texts that an import keeps in memory for long posts. After the limit
 * is reached, the import ignores full texts and stores long posts with the shortened text from `tweets.js`.
 */
const maxCharacters = 8_000_000;

const noteCharacters = 100; // memory of a full text in addition to its characters

const maxPerSecond = 50; // maximum number of full texts of the same second

/** Full text of a long post. `key`: its text without the parts in which the text of the post differs. */
interface Note {
  readonly note: NotePayload;
  readonly key: string;
}

/** Full texts of the long posts of an export. */
export interface Notes {
  /** Whether the export has long posts. */
  readonly hasNotes: boolean;
  /** Returns the full text of a post whose own text is shortened; `undefined` if there is none. */
  find(row: TweetPayload): ShapedText | undefined;
}

/** Full texts of an export from before X had long posts. */
export const noNotes: Notes = { hasNotes: false, find: () => undefined };

/** Reads the full texts of long posts, which do not contain the ids of their posts. */
export async function readNotes(
  files: readonly ExportFile[],
  read: ExportFiles['read'],
): Promise<Notes> {
  const bySecond = new Map<number, Note[]>();
  let characters = 0;
  const keep = (note: NotePayload) => {
    characters += note.core.text.length + noteCharacters;
    const ms = readTimeMs(note.createdAt);
    if (ms === null || characters > maxCharacters) return;
    const second = Math.floor(ms / 1000);
    const same = bySecond.get(second) ?? [];
    if (same.length < maxPerSecond) same.push({ note, key: toKey(note.core.text) });
    bySecond.set(second, same);
  };
  for await (const { noteTweet } of readRows(files, { schema: notePayload, read })) keep(noteTweet);
  return { hasNotes: characters > 0, find: (row) => findText(bySecond, row) };
}

/**
 * Finds the full text of the long post `row`. The full text begins with the text of the row, and was created in the same
 * second. Because the two times can differ by a fraction of a second, a text of the second before or after is used too,
 * if it is the only one.
 */
function findText(
  bySecond: ReadonlyMap<number, readonly Note[]>,
  row: TweetPayload,
): ShapedText | undefined {
  const second = Math.floor(row.createdMs / 1000);
  const same = bySecond.get(second) ?? [];
  const near = [-1, 1].flatMap((step) => bySecond.get(second + step) ?? []);
  if (same.length + near.length === 0) return undefined;
  const beginning = toKey(row.full_text.replace(end, ''));
  const fits = ({ key }: Note) => key.length > beginning.length && key.startsWith(beginning);
  if (beginning === '') return undefined;
  const fitting = shortened.test(row.full_text) ? near.filter(fits) : [];
  const found = same.find(fits) ?? (fitting.length === 1 ? fitting[0] : undefined);
  return found && shapeNote(found.note, row.entities?.media ?? []);
}

/** Matches an ellipsis at the end of a text, and the links to the whole post or its media after it. */
const shortened = /…(?:\s{0,4}https?:\/\/t\.co\/\w{1,20}){0,4}\s{0,4}$/;

/** Matches the same links, also without an ellipsis. */
const end = /…?(?:\s{0,4}https?:\/\/t\.co\/\w{1,20}){0,4}\s{0,4}$/;

/**
 * Removes the parts of a text in which the two texts of a long post differ: the mentions at the start of a reply, HTML
 * entities, and the codes of short links.
 */
function toKey(text: string): string {
  const decoded = decodeEntities(text).trimStart();
  const mentions = /^(?:@\w{1,20}\s{1,4})*/.exec(decoded)?.[0].length ?? 0;
  return decoded
    .slice(mentions)
    .replaceAll(/https?:\/\/t\.co\/\w{1,20}/g, 'https://t.co/')
    .trimEnd();
}

/** Time in Unix milliseconds at which X introduced posts of more than 280 characters. */
const longPostsSinceMs = Date.UTC(2023, 1, 1);

/** Minimum length of a text that X has shortened, in UTF-16 code units. Chinese texts have half the length of others. */
const minShortened = 100;

/**
 * Returns whether X has shortened the text of an exported post. Authors end posts with an ellipsis too, so a short text
 * counts as shortened only if the account writes long posts.
 */
export function isShortened(row: TweetPayload, { hasNotes }: Notes): boolean {
  const { full_text: text } = row;
  if (!text.includes('…') || !shortened.test(text)) return false;
  if (row.truncated) return true;
  return row.createdMs >= longPostsSinceMs && (hasNotes || text.length >= minShortened);
}
