import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import { packagePath } from '../lib/files/package-path.ts';
import type { Account } from '../model/account.ts';
import { type Media, toMediaSet } from '../model/media.ts';
import type { Post, Status, Tombstone } from '../model/post.ts';
import type { StoredCopy } from './media/copy-reader.ts';
import type { ArchiveStore } from './store/store.ts';
import type { StoredRepost } from './store/timeline.ts';

/** Version of the sample archive. Increment it when a file in `resources/sample/` changes. */
export const sampleVersion: number = 7;

interface Sample {
  readonly accounts: readonly Account[];
  /** Posts, also placeholders for deleted replies. `parentId`: `null` if the post is no reply. */
  readonly posts: readonly Readonly<{ id: string; parentId: string | null; post: Post }>[];
  readonly reposts: readonly Omit<StoredRepost, 'platform' | 'stored'>[];
  /** Handles of followed accounts, keyed by the handle of the follower. */
  readonly follows: Readonly<Record<string, readonly string[]>>;
}

type Optional = 'possibly_sensitive' | 'poll' | 'article' | 'card' | 'community_note';

type Constant = 'reposted_by' | 'content_warning' | 'context' | 'platform';

interface StatusRecord
  extends Omit<Status, Optional | Constant | 'author' | 'replying_to' | 'quote' | 'media'>,
    Partial<Pick<Status, Optional>> {
  readonly author: string;
  readonly replying_to?: string;
  readonly quote?: string;
  readonly media?: readonly Media[];
}

interface TombstoneRecord extends Omit<Tombstone, Constant | 'id' | 'author'> {
  readonly id: string;
  readonly author: string | null;
  readonly replying_to?: string;
}

interface KnownRecords {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly posts: ReadonlyMap<string, Post>;
}

/** Reads the sample archive. @throws Error if a record refers to an unknown account or post */
export function readSample(): Sample {
  // A test checks the records against the schemas of the model.
  const accounts = readRecords('accounts') as Sample['accounts'];
  const records = readRecords('posts') as readonly (StatusRecord | TombstoneRecord)[];
  const posts = new Map<string, Post>();
  const known = { accounts: new Map(accounts.map((one) => [one.screen_name, one])), posts };
  return {
    accounts,
    posts: records.map((record) => {
      const post = record.type === 'status' ? toStatus(record, known) : toTombstone(record, known);
      posts.set(record.id, post);
      return { id: record.id, parentId: record.replying_to ?? null, post };
    }),
    reposts: readRecords('reposts') as Sample['reposts'],
    follows: readRecords('follows') as Sample['follows'],
  };
}

const pictureFolder = 'resources/sample/pictures';

/** Reads the sample's pictures, keyed by their hashes. */
export function readSamplePictures(): ReadonlyMap<string, StoredCopy> {
  const names = readdirSync(packagePath(pictureFolder), { recursive: true, encoding: 'utf8' });
  const paths = names
    .filter((name) => name.endsWith('.webp'))
    .map((name) => packagePath(`${pictureFolder}/${name}`));
  return new Map(
    paths.map((path) => {
      const content = readFileSync(path);
      const hash = createHash('sha256').update(content).digest('hex');
      return [hash, { hash, bytes: content.length, type: 'image/webp', path }];
    }),
  );
}

const readRecords = (name: string): unknown =>
  JSON.parse(readFileSync(packagePath(`resources/sample/${name}.json`), 'utf8'));

function toStatus(record: StatusRecord, { accounts, posts }: KnownRecords): Status {
  const { replying_to: parentId, quote } = record;
  // The fields are listed because copying the rest of a record is thirty times slower.
  return {
    type: record.type,
    id: record.id,
    url: record.url,
    text: record.text,
    facets: record.facets,
    created_at: record.created_at,
    created_timestamp: record.created_timestamp,
    author: lookUp(accounts, record.author),
    lang: record.lang,
    replies: record.replies,
    reposts: record.reposts,
    likes: record.likes,
    quotes: record.quotes,
    bookmarks: record.bookmarks,
    views: record.views,
    source: record.source,
    possibly_sensitive: record.possibly_sensitive ?? false,
    replying_to: parentId === undefined ? null : toReplyingTo(lookUp(posts, parentId)),
    quote: quote === undefined ? null : lookUp(posts, quote),
    reposted_by: null,
    media: toMediaSet(record.media ?? []),
    poll: record.poll ?? null,
    article: record.article ?? null,
    content_warning: null,
    card: record.card ?? null,
    community_note: record.community_note ?? null,
    context: null,
    platform: 'sample',
  };
}

function toReplyingTo({ author, id, url }: Post): Status['replying_to'] {
  return { screen_name: author?.screen_name ?? null, status: id, url };
}

function toTombstone(record: TombstoneRecord, { accounts }: KnownRecords): Tombstone {
  const { replying_to: _parent, author: name, ...rest } = record;
  const author = name === null ? null : lookUp(accounts, name);
  return { ...rest, author, context: null, platform: 'sample' };
}

function lookUp<Value>(known: ReadonlyMap<string, Value>, name: string): Value {
  const value = known.get(name);
  if (value === undefined) throw new Error(`The sample names ${name} before it is defined.`);
  return value;
}

const versionFact = 'sample_version';

/** Stores the sample archive or replaces an older version, unless it is current. */
export function seedSample(store: ArchiveStore, clock: Clock): void {
  const version = String(sampleVersion);
  if (store.readFact(versionFact) === version) return;
  store.transact(() => {
    store.removePlatform('sample');
    putSample(store, Math.floor(clock.now() / 1000));
    store.writeFact(versionFact, version);
  });
}

function putSample(store: ArchiveStore, stored: number): void {
  const { accounts, posts, reposts, follows } = readSample();
  const platform = 'sample';
  for (const account of accounts) store.putAccount({ account, stored });
  for (const row of posts) {
    const { post } = row;
    const handle = post.author?.screen_name ?? '';
    const created = post.type === 'status' ? post.created_timestamp : 0;
    store.putPost({ ...row, platform, handle, created, stored });
  }
  for (const repost of reposts) store.putRepost({ platform, ...repost, stored });
  for (const [follower, others] of Object.entries(follows)) {
    for (const followed of others) store.putFollow({ platform, follower, followed, stored });
  }
}
