import type { CID } from 'multiformats/cid';
import { parseHandle } from '../../../model/reference.ts';
import type { ExportHints, ExportItem, SkippedRecord } from '../export-source.ts';
import { skip, skipPrivate } from '../skip.ts';
import type { Blocks } from './blocks.ts';
import { collections, type Reading, readItem } from './read-item.ts';
import { commit, profileRecord } from './records.ts';
import { type Owner, type Profile, shapeAccount } from './shape.ts';
import type { KeyedRecord } from './stored-record.ts';
import { type Leaf, type TreeFault, walkTree } from './tree.ts';

/** Where a repository begins, and what is known of it besides. */
export interface RepositoryStart {
  /** The commit. */
  readonly root: CID;
  readonly hints: ExportHints;
}

const profilePath = 'app.bsky.actor.profile/self';

const wanted: ReadonlySet<string> = new Set(Object.values(collections));

/**
 * Gives what a repository holds: the account, then posts, reposts and follows in the order of their
 * keys. Records of other collections are none of its business and are not even read.
 *
 * @throws Error with a sentence where the repository has no commit, or an account that cannot be named
 */
export function* readItems(
  blocks: Blocks,
  { root, hints }: RepositoryStart,
): Generator<ExportItem> {
  const { owner, data } = readCommit(blocks, { root, hints });
  let reading: Reading | null = null;
  let unread: Profile = 'none';
  for (const step of walkTree(blocks, data)) {
    if (step.kind === 'fault') {
      unread = 'unreadable';
      yield toSkipped(step);
    } else if (isWanted(step)) {
      // The profile's key stands before all the others: here it comes, or there is none.
      reading ??= yield* introduce({ blocks, owner, profile: readProfile(blocks, step) ?? unread });
      if (step.path !== profilePath) yield readItem(toKeyed(step), reading);
    }
  }
  reading ??= yield* introduce({ blocks, owner, profile: unread });
}

function isWanted({ path }: Leaf): boolean {
  return path === profilePath || wanted.has(path.slice(0, path.indexOf('/')));
}

function readCommit(
  blocks: Blocks,
  { root, hints }: RepositoryStart,
): { readonly owner: Owner; readonly data: CID } {
  const block = blocks.read(root);
  if (block.state === 'fault') {
    throw new Error(`The repository's commit cannot be read. ${block.why}`);
  }
  const parsed = commit.safeParse(block.value);
  if (!parsed.success) throw new Error('The root of this CAR file is no commit of a repository.');
  const { did, data } = parsed.data;
  const name = hints.handle ?? did;
  if (parseHandle(name)?.platform !== 'bluesky') {
    throw new Error(
      hints.handle === undefined
        ? `The account ${did} can be read by its handle only, so its handle is needed.`
        : `${name} is no handle of Bluesky.`,
    );
  }
  return { owner: { did, name }, data };
}

/** Null where the record is another one. */
function readProfile(blocks: Blocks, { path, cid }: Leaf): Profile | null {
  if (path !== profilePath) return null;
  const block = blocks.read(cid);
  const parsed = profileRecord.safeParse(block.state === 'read' ? block.value : null);
  return parsed.success ? parsed.data : 'unreadable';
}

interface Introduction {
  readonly blocks: Blocks;
  readonly owner: Owner;
  readonly profile: Profile;
}

function* introduce({ blocks, owner, profile }: Introduction): Generator<ExportItem, Reading> {
  const account = shapeAccount(owner, profile);
  yield { kind: 'account', account };
  if (profile === 'unreadable') yield { ...skip(profilePath, unreadable), isAccount: true };
  else if (account.protected) yield { ...skipPrivate(profilePath, unwilling), isAccount: true };
  return { blocks, owner, account };
}

const unreadable =
  'The profile cannot be read, so it is not known whether its author shows the account to everybody; it is kept and not shown.';

const unwilling =
  'The author asks that readers without a login do not see the account; it is kept and not shown.';

function toSkipped({ after, why }: TreeFault): SkippedRecord {
  const place = after === null ? 'at its beginning' : `after ${after}`;
  return skip(`the tree of records ${place}`, why);
}

function toKeyed({ path, cid }: Leaf): KeyedRecord {
  const slash = path.indexOf('/');
  return { collection: path.slice(0, slash), key: path.slice(slash + 1), cid };
}
