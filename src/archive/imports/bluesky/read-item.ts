import type { Account } from '../../../model/account.ts';
import type { Post } from '../../../model/post.ts';
import { postCollection } from '../../../platforms/bluesky/addresses.ts';
import { parseActor, parsePost } from '../../../platforms/bluesky/payload.ts';
import { shapePost } from '../../../platforms/bluesky/shape.ts';
import { readTidMs } from '../../../platforms/bluesky/tid.ts';
import { toIsoTime } from '../../../platforms/times.ts';
import { type ExportItem, skipRecord } from '../export-source.ts';
import type { Blocks } from './blocks.ts';
import { followRecord, postRecord, repostRecord } from './records.ts';
import type { Leaf } from './tree.ts';
import { type Repository, toPostView } from './views.ts';

export interface RecordContext {
  readonly blocks: Blocks;
  readonly repository: Repository;
  readonly account: Account;
}

type RecordRef = Pick<Leaf, 'path' | 'cid'>;

type Reader = (of: RecordRef, context: RecordContext) => ExportItem | string;

/** Converters of imported collections in key order. `read-items.ts` converts the profile. */
export const readers: ReadonlyMap<string, Reader> = new Map([
  [postCollection, readPost],
  ['app.bsky.feed.repost', readRepost],
  ['app.bsky.graph.follow', readFollow],
]);

export function readItem(read: Reader, of: RecordRef, context: RecordContext): ExportItem {
  const item = read(of, context);
  return typeof item === 'string' ? skipRecord(of.path, item) : item;
}

const invalid = 'It is not a valid record of its collection.';

const keyOf = ({ path }: RecordRef): string => path.slice(path.indexOf('/') + 1);

function readPost(of: RecordRef, context: RecordContext): ExportItem | string {
  const { blocks, repository, account } = context;
  const record = blocks.read(of.cid, postRecord, invalid);
  if (typeof record === 'string') return record;
  const payload = parsePost(toPostView(record, keyOf(of), repository));
  if (payload === null) return invalid;
  // `parsePost` knows no current time, so it would accept a key with a time in the future.
  const hasTime = payload.indexedMs !== null || toIsoTime(payload.record.createdAt) !== null;
  if (!hasTime) return 'It has no date.';
  const parentDid = payload.record.reply?.parent.uri.did;
  // Of the author of the parent, the repository has only the DID.
  const parentAuthor = parseActor({ did: parentDid, handle: 'handle.invalid' });
  const post = shapePost(payload, { nowMs: repository.nowMs, parentAuthor });
  if (post.type === 'tombstone') {
    return { ...skipRecord(of.path, 'Its author did not make it public.'), cause: 'private' };
  }
  const parentId = post.replying_to?.status ?? null;
  return {
    kind: 'post',
    post: setAuthor(post, account),
    parentId,
    created: payload.createdMs / 1000,
  };
}

function setAuthor(post: Post, author: Account): Post {
  if (post.type === 'tombstone') return post;
  return { ...post, author, quote: post.quote && setAuthor(post.quote, author) };
}

function readRepost(of: RecordRef, { blocks, repository }: RecordContext): ExportItem | string {
  const record = blocks.read(of.cid, repostRecord, invalid);
  if (typeof record === 'string') return record;
  const { owner, nowMs } = repository;
  const { uri } = record.subject;
  const createdMs = record.createdAt ?? readTidMs(keyOf(of), nowMs);
  if (uri.collection !== postCollection) return 'The reposted record is not a post.';
  if (createdMs === null) return 'It has no date.';
  return {
    kind: 'repost',
    handle: owner.name,
    postHandle: uri.did === owner.did ? owner.name : uri.did,
    postId: uri.rkey,
    created: createdMs / 1000,
  };
}

function readFollow({ cid }: RecordRef, { blocks, repository }: RecordContext) {
  const record = blocks.read(cid, followRecord, 'It is not a follow record.');
  if (typeof record === 'string') return record;
  return { kind: 'follow', follower: repository.owner.name, followed: record.subject } as const;
}
