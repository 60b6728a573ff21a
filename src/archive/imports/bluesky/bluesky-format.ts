import { setImmediate } from 'node:timers/promises';
import type { CID } from 'multiformats/cid';
import type { Account } from '../../../model/account.ts';
import type { Status } from '../../../model/post.ts';
import { parseHandle } from '../../../model/reference.ts';
import { restrictionOf, shapeAccount } from '../../../normalize/bluesky/account.ts';
import { postCollection, readTidMs } from '../../../normalize/bluesky/addresses.ts';
import { shapePost } from '../../../normalize/bluesky/normalize.ts';
import { parseActor, parsePost } from '../../../normalize/bluesky/wire.ts';
import { toIsoTime } from '../../../normalize/times.ts';
import {
  type ExportFormat,
  type ExportHints,
  type ExportItem,
  type ExportSource,
  type LeftOutContent,
  skipRecord,
  toPostItem,
} from '../export-source.ts';
import {
  type Blocks,
  type CarHeader,
  listBlocks,
  openBlocks,
  openRandomAccess,
  type RandomAccessFile,
  type RecordRef,
  readCarHeader,
  walkTree,
} from './repository.ts';
import {
  type AnyRecord,
  anyRecord,
  commit,
  followRecord,
  postRecord,
  profileRecord,
  type Repository,
  repostRecord,
  toActorView,
  toLabelViews,
  toPostView,
} from './views.ts';

/**
 * Import format of Bluesky repositories: CAR files from `com.atproto.sync.getRepo` or from the app.
 * Verifies the hash of each block, but not the signature of the commit, because the file lacks the
 * public key.
 */
export const blueskyFormat: ExportFormat = {
  name: 'bluesky',
  takesHandle: true,
  open: async ({ path, kind }, hints) => {
    if (kind !== 'file') return null;
    const file = openRandomAccess(path);
    let source: ExportSource | null = null;
    try {
      const header = readCarHeader(file);
      if (header !== null) source = openRepository(file, header, hints);
      return source;
    } finally {
      if (source === null) file.close();
    }
  },
};

const blocksPerTurn = 10_000; // number of blocks that are indexed per turn of the event loop

function openRepository(
  file: RandomAccessFile,
  { root, end }: CarHeader,
  hints: ExportHints,
): ExportSource {
  const blocks = openBlocks(file);
  // The file is read twice: for the positions of its blocks, then for their content.
  const totalBytes = 2 * file.size;
  let isDone = false;
  return {
    title: 'Bluesky repository',
    totalBytes,
    get bytesRead() {
      return isDone ? totalBytes : Math.min(blocks.bytesIndexed + blocks.bytesRead, totalBytes);
    },
    groups: async function* () {
      yield* indexBlocks(file, end, blocks);
      for (const group of readItems(blocks, root, hints)) {
        yield group;
        await setImmediate();
      }
      isDone = true;
    },
    close: async () => {
      blocks.close();
      file.close();
    },
  };
}

async function* indexBlocks(
  file: RandomAccessFile,
  from: number,
  blocks: Blocks,
): AsyncGenerator<readonly ExportItem[]> {
  let count = 0;
  for (const block of listBlocks(file, from)) {
    if (typeof block === 'string') yield [{ ...skipRecord('the file', block), isCutOff: true }];
    else blocks.add(block);
    count += 1;
    if (count % blocksPerTurn === 0) await setImmediate();
  }
}

const profileCollection = 'app.bsky.actor.profile';
const profilePath = `${profileCollection}/self`;

const groupLength = 100; // number of records that are read per turn of the event loop

function* readItems(
  blocks: Blocks,
  root: CID,
  { handle, nowMs = Number.POSITIVE_INFINITY }: ExportHints,
): Generator<readonly ExportItem[]> {
  const { owner, data } = readCommit(blocks, root, handle);
  const isReadable = yield* indexRecords(blocks, data);
  const profile = readProfile(blocks, isReadable);
  const actor = toActorView(owner, profile ?? {});
  const account = toOwnAccount(actor, profile, nowMs);
  yield describeAccount(account, profile);
  const find = (path: string): AnyRecord | null => {
    const cid = blocks.records.find(path);
    const read = cid && blocks.read(cid, anyRecord, '');
    return typeof read === 'string' ? null : read;
  };
  const repository = { owner, actor, nowMs, find };
  for (const [collection, read] of readers) {
    for (let last: string | undefined = `${collection}/`; last !== undefined; ) {
      const page = blocks.records.list(collection, last, groupLength);
      yield page.map((of) => {
        const item = blocks.markVisited(of.cid)
          ? read(of, { blocks, repository, account })
          : 'The repository refers to this record twice.';
        return typeof item === 'string' ? skipRecord(of.path, item) : item;
      });
      last = page.at(-1)?.path;
    }
  }
  yield listLeftOut(blocks);
}

const notACommit = 'The root of this CAR file is not the commit of a repository.';

function readCommit(blocks: Blocks, root: CID, handle: string | undefined) {
  const read = blocks.read(root, commit, notACommit);
  if (typeof read === 'string') {
    throw new Error(read === notACommit ? read : `The repository's commit cannot be read. ${read}`);
  }
  const { did, data } = read;
  const name = handle ?? did;
  if (parseHandle(name)?.platform !== 'bluesky') {
    throw new Error(
      handle === undefined
        ? `The account ${did} can only be imported with its handle. Set --handle to the handle.`
        : `${name} is not a Bluesky handle.`,
    );
  }
  return { owner: { did, name }, data };
}

/**
 * Indexes the records of a tree, and yields its unreadable parts, and empty groups at intervals.
 * Returns whether the part that would contain the profile is readable.
 */
function* indexRecords(
  blocks: Blocks,
  data: CID,
): Generator<readonly ExportItem[], boolean, undefined> {
  let count = 0;
  let isReadable = true;
  for (const step of walkTree(blocks, data)) {
    count += 1;
    if ('cid' in step) blocks.records.add(step);
    else {
      isReadable &&= (step.after ?? '') > profilePath;
      const position = step.after === null ? 'at its start' : `after ${step.after}`;
      yield [skipRecord(`the record tree ${position}`, step.reason)];
    }
    if (count % groupLength === 0) yield [];
  }
  return isReadable;
}

/** Returns the profile, empty if there is none; `null` if it is unreadable. */
function readProfile(blocks: Blocks, isReadable: boolean): AnyRecord | null {
  const cid = blocks.records.find(profilePath);
  if (cid === null) return isReadable ? {} : null;
  const read = blocks.read(cid, profileRecord, '');
  return typeof read === 'string' ? null : read;
}

function toOwnAccount(view: AnyRecord, profile: AnyRecord | null, nowMs: number): Account {
  const actor = parseActor(view);
  if (actor === null) throw new Error(`The account ${view.did} cannot be read.`);
  const labelled = profile && parseActor({ ...view, labels: toLabelViews(profile) });
  return {
    ...shapeAccount(actor),
    protected: !labelled || restrictionOf(labelled, nowMs) !== null,
  };
}

function describeAccount(account: Account, profile: AnyRecord | null): readonly ExportItem[] {
  const hidden =
    profile === null
      ? skipRecord(profilePath, unreadable)
      : skipRecord(profilePath, hiddenProfile, 'private');
  const item = { kind: 'account', account } as const;
  return account.protected ? [item, { ...hidden, isAccount: true }] : [item];
}

const unreadable =
  'The profile cannot be read, so it is unknown whether the account is public. The account is imported but not served.';

const hiddenProfile =
  'The author hides the account from visitors without a login. The account is imported but not served.';

interface RecordContext {
  readonly blocks: Blocks;
  readonly repository: Repository;
  readonly account: Account;
}

type Reader = (of: RecordRef, context: RecordContext) => ExportItem | string;

const readers: ReadonlyMap<string, Reader> = new Map([
  [postCollection, readPost],
  ['app.bsky.feed.repost', readRepost],
  ['app.bsky.graph.follow', readFollow],
]);

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
    return skipRecord(of.path, 'Its author did not make it public.', 'private');
  }
  return toPostItem(setAuthor(post, account), payload.createdMs / 1000);
}

function setAuthor(post: Status, author: Account): Status {
  const { quote } = post;
  const isShown = quote?.type === 'status';
  return { ...post, author, quote: isShown ? setAuthor(quote, author) : quote };
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

const embedded = /^app\.bsky\.(?:feed\.generator|graph\.(?:list|starterpack)|labeler\.service)$/;

/** Reasons by collection. Source: the lexicons at https://github.com/bluesky-social/atproto */
const reasons: readonly (readonly [collection: RegExp, reason: string])[] = [
  [/^app\.bsky\.feed\.like$/, 'Perch does not import likes'],
  [
    /^app\.bsky\.feed\.(?:post|thread)gate$/,
    'Perch does not import who may reply to or quote your posts',
  ],
  [/^app\.bsky\.graph\.(?:list)?block$/, 'Perch does not import blocks'],
  [/^app\.bsky\.graph\.listitem$/, 'Perch does not import the members of lists'],
  [embedded, 'Perch reads only the names of those that your posts embed'],
];

const imported: ReadonlySet<string> = new Set([profileCollection, ...readers.keys()]);

/** Counts records that are not imported, by collection. Sees only the first 100 collections. */
const listLeftOut = ({ records }: Blocks): readonly LeftOutContent[] =>
  records.count().flatMap(({ collection: name, count }) => {
    if (imported.has(name)) return [];
    const [, reason = 'Perch does not import this collection'] =
      reasons.find(([pattern]) => pattern.test(name)) ?? [];
    return { kind: 'left-out', name, count, unit: 'item', reason };
  });
