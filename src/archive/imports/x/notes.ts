import { decodeEntities } from '../../../platforms/text.ts';
import { readTimeMs } from '../../../platforms/times.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRows } from '../records.ts';
import { type NotePayload, notePayload, type TweetPayload } from './payload.ts';
import { type ShapedText, shapeNote } from './text.ts';

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
