import type { Account } from '../../../model/account.ts';
import type { ExportItem, LeftOutContent } from '../export-source.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRecords } from '../records.ts';
import { createEdits } from './edits.ts';
import { isShortened, type Notes } from './notes.ts';
import { type TweetPayload, tweetPayload } from './payload.ts';
import { shapePost, shapeRepost } from './shape.ts';

interface PostReading {
  readonly read: ExportFiles['read'];
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
  { read, account, notes, edited, hasOriginals }: PostReading,
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
    for await (const records of readRecords([file], { schema: tweetPayload, read }))
      yield records.flatMap((record) => (record.kind === 'row' ? shape(record.row) : [record]));
    const reason = 'the export lacks the full text of these posts';
    const counted = { name: file.name, count: shortened, unit: 'item' } as const;
    if (shortened > 0) yield [{ kind: 'left-out', ...counted, reason }];
    shortened = 0;
  }
  yield [...edits.finish()];
  yield listUnused(notes);
}

const listUnused = (notes: Notes): readonly LeftOutContent[] =>
  [...notes.countUnused()]
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ({
      kind: 'left-out',
      name,
      count,
      unit: 'item',
      reason: 'the posts of these full texts are not in the export',
    }));
