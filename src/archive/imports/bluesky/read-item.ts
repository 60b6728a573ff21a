import type { Account } from '../../../model/account.ts';
import type { Status } from '../../../model/post.ts';
import { hidingLabels } from '../../../platforms/bluesky-labels.ts';
import type { ExportItem, SkippedRecord } from '../export-source.ts';
import { skip, skipPrivate } from '../skip.ts';
import type { Blocks } from './blocks.ts';
import {
  followRecord,
  type PostRecord,
  parseAddress,
  postRecord,
  repostRecord,
} from './records.ts';
import { type Owner, quotedBy, shapePost } from './shape.ts';
import { type Found, findRecord, type KeyedRecord, readRecord } from './stored-record.ts';

/** The collections that are imported besides the profile; a tree has them in this order. */
export const collections = {
  post: 'app.bsky.feed.post',
  repost: 'app.bsky.feed.repost',
  follow: 'app.bsky.graph.follow',
} as const;

/** What records are read with. */
export interface Reading {
  readonly blocks: Blocks;
  readonly owner: Owner;
  readonly account: Account;
}

/** Reads one record of the collections above. */
export function readItem(record: KeyedRecord, reading: Reading): ExportItem {
  switch (record.collection) {
    case collections.post:
      return orSkipped(record, readPost(record, reading));
    case collections.repost:
      return orSkipped(record, readRepost(record, reading));
    default:
      return orSkipped(record, readFollow(record, reading));
  }
}

function orSkipped({ collection, key }: KeyedRecord, item: ExportItem | string): ExportItem {
  return typeof item === 'string' ? skip(`${collection}/${key}`, item) : item;
}

function readPost(of: KeyedRecord, reading: Reading): ExportItem | string {
  const found = readRecord(of, { blocks: reading.blocks, schema: postRecord });
  if (typeof found === 'string') return found;
  if (found.record.labels.some((label) => hidingLabels.has(label))) return hide(of);
  const post = shapePost({
    ...found,
    author: reading.account,
    quote: readOwnQuote(found.record, reading),
  });
  const parentId = post.replying_to?.status ?? null;
  return { kind: 'post', post, parentId, created: found.createdMs / 1000 };
}

function hide({ collection, key }: KeyedRecord): SkippedRecord {
  return skipPrivate(`${collection}/${key}`, 'Its author asks that not everybody sees it.');
}

/** A post of one's own that is quoted stands in the same file, by the CID that the quote names. */
function readOwnQuote({ embed }: PostRecord, { blocks, owner, account }: Reading): Status | null {
  const quoted = quotedBy(embed);
  const address = quoted === null ? null : parseAddress(quoted.uri);
  if (quoted === null || address?.did !== owner.did || address.collection !== collections.post) {
    return null;
  }
  const found: Found<PostRecord> | string = findRecord(
    { collection: address.collection, key: address.key, cid: quoted.cid },
    { blocks, schema: postRecord },
  );
  if (typeof found === 'string' || found.record.labels.some((label) => hidingLabels.has(label))) {
    return null;
  }
  return shapePost({ ...found, author: account, quote: null });
}

function readRepost(of: KeyedRecord, { blocks, owner }: Reading): ExportItem | string {
  const found = readRecord(of, { blocks, schema: repostRecord });
  if (typeof found === 'string') return found;
  const subject = parseAddress(found.record.subject.uri);
  if (subject?.collection !== collections.post) return 'What it passes on is no post.';
  return {
    kind: 'repost',
    handle: owner.name,
    postHandle: subject.did === owner.did ? owner.name : subject.did,
    postId: subject.key,
    created: found.createdMs / 1000,
  };
}

function readFollow(of: KeyedRecord, { blocks, owner }: Reading): ExportItem | string {
  const block = blocks.read(of.cid);
  if (block.state === 'fault') return block.why;
  const parsed = followRecord.safeParse(block.value);
  if (!parsed.success) return 'It is no record of a follow.';
  return { kind: 'follow', follower: owner.name, followed: parsed.data.subject };
}
