import type { Account } from '../../../model/account.ts';
import type { ExportItem } from '../export-source.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { type ExportRecord, readRecords } from '../records.ts';
import { createEdits } from './edits.ts';
import { isShortened, type Notes } from './notes.ts';
import { type TweetPayload, tweetPayload } from './payload.ts';
import { shapePost, shapeRepost } from './shape.ts';

interface PostReading {
  readonly read: ExportFiles['read'];
  readonly account: Account;
  readonly notes: Notes;
  /** Whether the export contains the original of each repost, so that other posts are not reposts. */
  readonly hasOriginals: boolean;
}

/** Yields the posts and reposts in `files`. Yields edited posts last, and without their earlier versions. */
export async function* readPosts(
  files: readonly ExportFile[],
  { read, account, notes, hasOriginals }: PostReading,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const edits = createEdits();
  let shortened = 0;
  const shape = (record: ExportRecord<TweetPayload>): readonly ExportItem[] => {
    if (record.kind === 'skipped') return [record];
    const { row } = record;
    const reposted = shapeRepost(row, account, { hasOriginals });
    if (reposted !== undefined) return reposted;
    const long = notes.find(row);
    const isCut = long === undefined && isShortened(row, notes);
    if (isCut) shortened += 1;
    const post = shapePost(row, account, { long, isShortened: isCut });
    return edits.take(post, row.versions) ? [] : [post];
  };
  for (const file of files) {
    for await (const records of readRecords([file], { schema: tweetPayload, read }))
      yield records.flatMap(shape);
    const reason = 'the export lacks the full text of these posts';
    const counted = { name: file.name, count: shortened, unit: 'item' } as const;
    if (shortened > 0) yield [{ kind: 'left-out', ...counted, reason }];
    shortened = 0;
  }
  yield [...edits.finish()];
}
