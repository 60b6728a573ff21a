import { readFileSync } from 'node:fs';
import { packagePath } from '../core/files/package-path.ts';
import type { Account } from '../model/account.ts';
import { type Media, toMediaSet } from '../model/media.ts';
import type { Post, Status, Tombstone } from '../model/post.ts';

/** The version of the sample. It is raised when a file in `resources/sample/` changes. */
export const sampleVersion: number = 6;

/** A made-up archive: accounts, posts from the oldest to the newest, and who follows whom. */
export interface Sample {
  readonly accounts: readonly Account[];
  readonly posts: readonly SamplePost[];
  readonly reposts: readonly SampleRepost[];
  /** The handles that each account follows, by its own handle. */
  readonly follows: Readonly<Record<string, readonly string[]>>;
}

/** A post of the sample. */
export interface SamplePost {
  readonly id: string;
  /** The id of the post that it answers. A tombstone has one too. */
  readonly parentId: string | null;
  readonly post: Post;
}

/** A repost of the sample. */
interface SampleRepost {
  readonly handle: string;
  readonly postHandle: string;
  readonly postId: string;
  /** Unix seconds. */
  readonly created: number;
}

/** Fields of a status that `posts.json` leaves out where they are empty. */
type Optional = 'possibly_sensitive' | 'poll' | 'article' | 'community_note';

/** Fields that are the same in all posts of the sample, so that `posts.json` lacks them. */
type Constant = 'reposted_by' | 'content_warning' | 'card' | 'context' | 'platform';

/** A status in `posts.json`: its author by handle, other posts by id. */
interface StatusRecord
  extends Omit<Status, Optional | Constant | 'author' | 'replying_to' | 'quote' | 'media'>,
    Partial<Pick<Status, Optional>> {
  readonly author: string;
  readonly replying_to?: string;
  readonly quote?: string;
  readonly media?: readonly Media[];
}

/** A tombstone in `posts.json`. */
interface TombstoneRecord extends Omit<Tombstone, Constant | 'id' | 'author'> {
  readonly id: string;
  readonly author: string | null;
  readonly replying_to?: string;
}

/** The accounts and posts that records name. */
interface Named {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly posts: ReadonlyMap<string, Post>;
}

/**
 * Reads the made-up archive that a fresh installation serves. Addresses that lead to Perch itself begin
 * with `perch:`.
 *
 * @throws Error if a record names an account that is not there, or a post that is not before it
 */
export function readSample(): Sample {
  // A test checks the records against the schemas of the model.
  const accounts = readRecords('accounts') as Sample['accounts'];
  const records = readRecords('posts') as readonly (StatusRecord | TombstoneRecord)[];
  const posts = new Map<string, Post>();
  const named = { accounts: new Map(accounts.map((one) => [one.screen_name, one])), posts };
  return {
    accounts,
    posts: records.map((record) => {
      const post = record.type === 'status' ? toStatus(record, named) : toTombstone(record, named);
      posts.set(record.id, post);
      return { id: record.id, parentId: record.replying_to ?? null, post };
    }),
    reposts: readRecords('reposts') as Sample['reposts'],
    follows: readRecords('follows') as Sample['follows'],
  };
}

function readRecords(name: string): unknown {
  return JSON.parse(readFileSync(packagePath(`resources/sample/${name}.json`), 'utf8'));
}

function toStatus(record: StatusRecord, { accounts, posts }: Named): Status {
  const { replying_to: parentId, quote } = record;
  // Listed one by one: to copy the rest of a record is thirty times as slow.
  return {
    type: record.type,
    id: record.id,
    url: record.url,
    text: record.text,
    facets: record.facets,
    created_at: record.created_at,
    created_timestamp: record.created_timestamp,
    author: take(accounts, record.author),
    lang: record.lang,
    replies: record.replies,
    reposts: record.reposts,
    likes: record.likes,
    quotes: record.quotes,
    bookmarks: record.bookmarks,
    views: record.views,
    source: record.source,
    possibly_sensitive: record.possibly_sensitive ?? false,
    replying_to: parentId === undefined ? null : toAnswered(take(posts, parentId)),
    quote: quote === undefined ? null : take(posts, quote),
    reposted_by: null,
    media: toMediaSet(record.media ?? []),
    poll: record.poll ?? null,
    article: record.article ?? null,
    content_warning: null,
    card: null,
    community_note: record.community_note ?? null,
    context: null,
    platform: 'sample',
  };
}

function toAnswered({ author, id, url }: Post): Status['replying_to'] {
  return { screen_name: author?.screen_name ?? null, status: id, url };
}

function toTombstone(record: TombstoneRecord, { accounts }: Named): Tombstone {
  const { type, id, url, text, reason, author } = record;
  return {
    type,
    id,
    url,
    text,
    reason,
    author: author === null ? null : take(accounts, author),
    context: null,
    platform: 'sample',
  };
}

function take<Value>(known: ReadonlyMap<string, Value>, name: string): Value {
  const value = known.get(name);
  if (value === undefined) throw new Error(`The sample names ${name} before it is there.`);
  return value;
}
