import type { CID } from 'multiformats/cid';
import { parseHandle } from '../../../model/reference.ts';
import { type ExportHints, type ExportItem, skip } from '../export-source.ts';
import type { Blocks } from './blocks.ts';
import { isImported, type Reading, readItem } from './read-item.ts';
import { commit, profileRecord } from './records.ts';
import { type Owner, type Profile, shapeAccount } from './shape.ts';
import { walkTree } from './tree.ts';

/** Where a repository begins, which is its commit, and what is known of it besides. */
interface RepositoryStart {
  readonly root: CID;
  readonly hints: ExportHints;
}

const profilePath = 'app.bsky.actor.profile/self';

/**
 * Yields what a repository holds: the account, then posts, reposts and follows in the order of their keys. Records of
 * other collections are not even read.
 * @throws Error with a sentence if the repository has no commit, or an account that cannot be named
 */
export function* readItems(blocks: Blocks, start: RepositoryStart): Generator<ExportItem> {
  const { owner, data } = readCommit(blocks, start);
  let reading: Reading | null = null;
  let unread: Profile = 'none';
  for (const step of walkTree(blocks, data)) {
    if (step.kind === 'fault') {
      unread = 'unreadable';
      const place = step.after === null ? 'at its beginning' : `after ${step.after}`;
      yield skip(`the tree of records ${place}`, step.why);
    } else if (step.path === profilePath) {
      reading ??= yield* introduce(blocks, owner, readProfile(blocks, step.cid));
    } else if (isImported(step)) {
      // The profile's key stands before all the others: it has come, or there is none.
      reading ??= yield* introduce(blocks, owner, unread);
      yield readItem(step, reading);
    }
  }
  reading ??= yield* introduce(blocks, owner, unread);
}

const noCommit = 'The root of this CAR file is no commit of a repository.';

function readCommit(blocks: Blocks, { root, hints }: RepositoryStart) {
  const read = blocks.read(root, commit, noCommit);
  if (typeof read === 'string') {
    throw new Error(read === noCommit ? read : `The repository's commit cannot be read. ${read}`);
  }
  const { did, data } = read;
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

function readProfile(blocks: Blocks, cid: CID): Profile {
  const record = blocks.read(cid, profileRecord, '');
  return typeof record === 'string' ? 'unreadable' : record;
}

function* introduce(
  blocks: Blocks,
  owner: Owner,
  profile: Profile,
): Generator<ExportItem, Reading> {
  const account = shapeAccount(owner, profile);
  yield { kind: 'account', account };
  if (profile === 'unreadable') yield { ...skip(profilePath, unreadable), isAccount: true };
  else if (account.protected) {
    yield { ...skip(profilePath, unwilling), cause: 'private', isAccount: true };
  }
  return { blocks, owner, account };
}

const unreadable =
  'The profile cannot be read, so it is not known whether its author shows the account to everybody; it is kept and not shown.';

const unwilling =
  'The author asks that readers without a login do not see the account; it is kept and not shown.';
