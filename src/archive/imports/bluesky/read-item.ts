import { CID } from 'multiformats/cid';
import type { z } from 'zod';
import type { Account } from '../../../model/account.ts';
import type { Status } from '../../../model/post.ts';
import { hidingLabels } from '../../../platforms/bluesky/labels.ts';
import { type ExportItem, skipRecord } from '../export-source.ts';
import type { Blocks } from './blocks.ts';
import { followRecord, type PostRecord, postRecord, repostRecord, timeOfKey } from './records.ts';
import { type Owner, quotedBy, shapePost } from './shape.ts';
import type { Leaf } from './tree.ts';

export interface RecordContext {
  readonly blocks: Blocks;
  readonly owner: Owner;
  readonly account: Account;
}

type RecordRef = Pick<Leaf, 'path' | 'cid'>;

const posts = 'app.bsky.feed.post';

/**
 * Functions that convert records to import items, by the name of the record's collection. The
 * profile record is not included: `read-items.ts` converts it.
 */
const readers: ReadonlyMap<string, (of: RecordRef, context: RecordContext) => ExportItem | string> =
  new Map([
    [posts, readPost],
    ['app.bsky.feed.repost', readRepost],
    ['app.bsky.graph.follow', readFollow],
  ]);

const readerOf = ({ path }: RecordRef) => readers.get(path.slice(0, path.indexOf('/')));

export const isImported = (of: RecordRef): boolean => readerOf(of) !== undefined;

export function readItem(of: RecordRef, context: RecordContext): ExportItem {
  const item = readerOf(of)?.(of, context) ?? 'Its collection is not imported.';
  return typeof item === 'string' ? skipRecord(of.path, item) : item;
}

function readPost(of: RecordRef, context: RecordContext): ExportItem | string {
  const found = readRecord(of, context.blocks, postRecord);
  if (typeof found === 'string') return found;
  if (isHidden(found.record)) {
    return { ...skipRecord(of.path, 'Its author did not make it public.'), cause: 'private' };
  }
  const quote = readOwnQuote(found.record, context);
  const post = shapePost({ ...found, author: context.account, quote });
  const parentId = post.replying_to?.status ?? null;
  return { kind: 'post', post, parentId, created: found.createdMs / 1000 };
}

const isHidden = ({ labels }: PostRecord): boolean =>
  labels.some((label) => hidingLabels.has(label));

/** Returns the quoted post if it is by the same author and readable, otherwise `null`. */
function readOwnQuote(
  { embed }: PostRecord,
  { blocks, owner, account }: RecordContext,
): Status | null {
  const { uri, cid } = quotedBy(embed) ?? {};
  if (cid === undefined || uri?.did !== owner.did || uri.collection !== posts) return null;
  try {
    const of = { path: `${posts}/${uri.key}`, cid: CID.parse(cid) };
    const found = readRecord(of, blocks, postRecord);
    if (typeof found === 'string' || isHidden(found.record)) return null;
    return shapePost({ ...found, author: account, quote: null });
  } catch {
    return null; // the reference has no valid CID
  }
}

function readRepost(of: RecordRef, { blocks, owner }: RecordContext): ExportItem | string {
  const found = readRecord(of, blocks, repostRecord);
  if (typeof found === 'string') return found;
  const { uri } = found.record.subject;
  if (uri?.collection !== posts) return 'The reposted record is not a post.';
  return {
    kind: 'repost',
    handle: owner.name,
    postHandle: uri.did === owner.did ? owner.name : uri.did,
    postId: uri.key,
    created: found.createdMs / 1000,
  };
}

function readFollow({ cid }: RecordRef, { blocks, owner }: RecordContext): ExportItem | string {
  const record = blocks.read(cid, followRecord, 'It is not a follow record.');
  if (typeof record === 'string') return record;
  return { kind: 'follow', follower: owner.name, followed: record.subject };
}

/**
 * Returns a record with its key and its time (from the record or the key). Returns an error message if the record is
 * invalid or has no time.
 */
function readRecord<Row extends { readonly createdAt: number | null }>(
  { path, cid }: RecordRef,
  blocks: Blocks,
  schema: z.ZodType<Row>,
) {
  const record = blocks.read(cid, schema, 'It is not a valid record of its collection.');
  if (typeof record === 'string') return record;
  const key = path.slice(path.indexOf('/') + 1);
  const createdMs = record.createdAt ?? timeOfKey(key);
  return createdMs === null ? 'It has no date.' : { key, record, createdMs };
}
