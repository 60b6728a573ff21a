import type { Account } from '../../../model/account.ts';
import type { EarlierVersion, Status } from '../../../model/post.ts';
import type { ExportedPost, ExportItem, LeftOutContent } from '../export-source.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRecords } from '../records.ts';
import { isShortened, type Notes } from './notes.ts';
import { maxVersions, type TweetPayload, tweetPayload } from './payload.ts';
import { type OwnPost, shapePost, shapeRepost } from './shape.ts';

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

const firstIds =
  /"initialTweetId"\s{0,99}:\s{0,99}"(\d{1,20})"|"editTweetIds"\s{0,99}:\s{0,99}\[\s{0,99}"(\d{1,20})"\s{0,99},/g;

const overlap = 600; // maximum length of a match

const maxEdited = 65_536; // maximum number of edited posts whose first version is recognized

/** Returns the first versions' ids, because these often do not state that they were edited. */
export async function readEditedIds(
  files: readonly ExportFile[],
  read: ExportFiles['read'],
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const file of files) {
    for await (const id of findIds(read(file))) if (ids.size < maxEdited) ids.add(id);
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
    /** Yields the last version of each edited post. */
    *finish(): Generator<ExportedPost> {
      for (const [first, group] of groups) yield* joinVersions(group, first);
    },
  };
}

function* joinVersions(group: readonly OwnPost[], first: string): Generator<ExportedPost> {
  const byId = new Map(group.map((item) => [BigInt(item.post.id), item]));
  const versions = [...byId].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
  const last = versions.at(-1);
  if (last === undefined) return;
  const { post } = last;
  const earlier = versions.slice(0, -1).map(toEarlier);
  const edits: Partial<Status> = {
    ...(post.id !== first && { edited_at: post.created_at }),
    ...(earlier.length > 0 && { earlier_versions: earlier }),
  };
  yield { ...last, post: { ...post, ...edits } };
}

const toEarlier = ({ post: { id, text, created_at } }: OwnPost): EarlierVersion => ({
  id,
  text,
  created_at,
});
