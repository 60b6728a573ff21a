import { CID } from 'multiformats/cid';
import type { z } from 'zod';
import type { Account } from '../../../model/account.ts';
import type { Status } from '../../../model/post.ts';
import { hidingLabels } from '../../../platforms/bluesky-labels.ts';
import { type ExportItem, skip } from '../export-source.ts';
import type { Blocks } from './blocks.ts';
import { followRecord, type PostRecord, postRecord, repostRecord, timeOfKey } from './records.ts';
import { type Owner, quotedBy, shapePost } from './shape.ts';
import type { Leaf } from './tree.ts';

export interface Reading {
  readonly blocks: Blocks;
  readonly owner: Owner;
  readonly account: Account;
}

type Place = Pick<Leaf, 'path' | 'cid'>;

const posts = 'app.bsky.feed.post';

/** The readers of the collections that are imported besides the profile. */
const readers: ReadonlyMap<string, (of: Place, reading: Reading) => ExportItem | string> = new Map([
  [posts, readPost],
  ['app.bsky.feed.repost', readRepost],
  ['app.bsky.graph.follow', readFollow],
]);

const readerOf = ({ path }: Place) => readers.get(path.slice(0, path.indexOf('/')));

export function isImported(of: Place): boolean {
  return readerOf(of) !== undefined;
}

/** Reads a record of a collection that is imported. */
export function readItem(of: Place, reading: Reading): ExportItem {
  const item = readerOf(of)?.(of, reading) ?? 'It is of no collection that is imported.';
  return typeof item === 'string' ? skip(of.path, item) : item;
}

function readPost(of: Place, reading: Reading): ExportItem | string {
  const found = readRecord(of, reading.blocks, postRecord);
  if (typeof found === 'string') return found;
  if (isHidden(found.record)) {
    return { ...skip(of.path, 'Its author asks that not everybody sees it.'), cause: 'private' };
  }
  const quote = readOwnQuote(found.record, reading);
  const post = shapePost({ ...found, author: reading.account, quote });
  const parentId = post.replying_to?.status ?? null;
  return { kind: 'post', post, parentId, created: found.createdMs / 1000 };
}

function isHidden({ labels }: PostRecord): boolean {
  return labels.some((label) => hidingLabels.has(label));
}

/** A post of one's own that is quoted stands in the same file, by the CID that the quote names. */
function readOwnQuote({ embed }: PostRecord, { blocks, owner, account }: Reading): Status | null {
  const { uri, cid } = quotedBy(embed) ?? {};
  if (cid === undefined || uri?.did !== owner.did || uri.collection !== posts) return null;
  try {
    const of = { path: `${posts}/${uri.key}`, cid: CID.parse(cid) };
    const found = readRecord(of, blocks, postRecord);
    if (typeof found === 'string' || isHidden(found.record)) return null;
    return shapePost({ ...found, author: account, quote: null });
  } catch {
    return null; // it is named by no CID
  }
}

function readRepost(of: Place, { blocks, owner }: Reading): ExportItem | string {
  const found = readRecord(of, blocks, repostRecord);
  if (typeof found === 'string') return found;
  const { uri } = found.record.subject;
  if (uri?.collection !== posts) return 'What it passes on is no post.';
  return {
    kind: 'repost',
    handle: owner.name,
    postHandle: uri.did === owner.did ? owner.name : uri.did,
    postId: uri.key,
    created: found.createdMs / 1000,
  };
}

function readFollow({ cid }: Place, { blocks, owner }: Reading): ExportItem | string {
  const record = blocks.read(cid, followRecord, 'It is no record of a follow.');
  if (typeof record === 'string') return record;
  return { kind: 'follow', follower: owner.name, followed: record.subject };
}

/** Reads a record and its time, which it says or its key was made from; else returns in a sentence why not. */
function readRecord<Row extends { readonly createdAt: number | null }>(
  { path, cid }: Place,
  blocks: Blocks,
  schema: z.ZodType<Row>,
) {
  const record = blocks.read(cid, schema, 'It is no record of its collection.');
  if (typeof record === 'string') return record;
  const key = path.slice(path.indexOf('/') + 1);
  const createdMs = record.createdAt ?? timeOfKey(key);
  return createdMs === null ? 'It has no time.' : { key, record, createdMs };
}
