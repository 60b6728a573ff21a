import type { CID } from 'multiformats/cid';
import { parseHandle } from '../../../model/reference.ts';
import { type ExportHints, type ExportItem, skipRecord } from '../export-source.ts';
import type { Blocks } from './blocks.ts';
import { isImported, type RecordContext, readItem } from './read-item.ts';
import { commit, profileRecord } from './records.ts';
import { type Owner, type Profile, shapeAccount } from './shape.ts';
import { walkTree } from './tree.ts';

/** CID of a repository's commit (`root`), and details from the user, such as the account's handle (`hints`). */
interface RepositoryStart {
  readonly root: CID;
  readonly hints: ExportHints;
}

const profilePath = 'app.bsky.actor.profile/self';

/**
 * Yields the account of a Bluesky repository, then its posts, reposts and follows in the order of their keys.
 * @throws Error with a message for the user if the commit is unreadable or the account has no valid handle
 */
export function* readItems(blocks: Blocks, start: RepositoryStart): Generator<ExportItem> {
  const { owner, data } = readCommit(blocks, start);
  let context: RecordContext | null = null;
  let missingProfile: Profile = 'none';
  for (const step of walkTree(blocks, data)) {
    if (step.kind === 'fault') {
      missingProfile = 'unreadable';
      const position = step.after === null ? 'at its start' : `after ${step.after}`;
      yield skipRecord(`the record tree ${position}`, step.reason);
    } else if (step.path === profilePath) {
      context ??= yield* yieldAccount(blocks, owner, readProfile(blocks, step.cid));
    } else if (isImported(step)) {
      // The key of the profile sorts first, so the profile has been read by now or does not exist.
      context ??= yield* yieldAccount(blocks, owner, missingProfile);
      yield readItem(step, context);
    }
  }
  context ??= yield* yieldAccount(blocks, owner, missingProfile);
}

const notACommit = 'The root of this CAR file is not the commit of a repository.';

function readCommit(blocks: Blocks, { root, hints }: RepositoryStart) {
  const read = blocks.read(root, commit, notACommit);
  if (typeof read === 'string') {
    throw new Error(read === notACommit ? read : `The repository's commit cannot be read. ${read}`);
  }
  const { did, data } = read;
  const name = hints.handle ?? did;
  if (parseHandle(name)?.platform !== 'bluesky') {
    throw new Error(
      hints.handle === undefined
        ? `The account ${did} can only be imported with its handle. Set --handle to the handle.`
        : `${name} is not a Bluesky handle.`,
    );
  }
  return { owner: { did, name }, data };
}

function readProfile(blocks: Blocks, cid: CID): Profile {
  const record = blocks.read(cid, profileRecord, '');
  return typeof record === 'string' ? 'unreadable' : record;
}

function* yieldAccount(
  blocks: Blocks,
  owner: Owner,
  profile: Profile,
): Generator<ExportItem, RecordContext> {
  const account = shapeAccount(owner, profile);
  yield { kind: 'account', account };
  if (profile === 'unreadable') yield { ...skipRecord(profilePath, unreadable), isAccount: true };
  else if (account.protected) {
    yield { ...skipRecord(profilePath, hiddenProfile), cause: 'private', isAccount: true };
  }
  return { blocks, owner, account };
}

const unreadable =
  'The profile cannot be read, so it is unknown whether the account is public. The account is imported but not served.';

const hiddenProfile =
  'The author hides the account from visitors without a login. The account is imported but not served.';
