import type { CID } from 'multiformats/cid';
import type { Account } from '../../../model/account.ts';
import { parseHandle } from '../../../model/reference.ts';
import { shapeAccount } from '../../../platforms/bluesky/account.ts';
import { restrictionOf } from '../../../platforms/bluesky/labels.ts';
import { parseActor } from '../../../platforms/bluesky/payload.ts';
import { type ExportHints, type ExportItem, skipRecord } from '../export-source.ts';
import type { Blocks } from './blocks.ts';
import { listLeftOut } from './left-out.ts';
import { readers, readItem } from './read-item.ts';
import { type AnyRecord, anyRecord, commit, profileRecord } from './records.ts';
import { type TreeFault, walkTree } from './tree.ts';
import { type Owner, toActorView, toLabelViews } from './views.ts';

interface RepositoryStart {
  readonly root: CID;
  readonly hints: ExportHints;
  readonly nowMs: number;
}

const profileCollection = 'app.bsky.actor.profile';
const profilePath = `${profileCollection}/self`;

const groupLength = 100; // number of records that are read per turn of the event loop

/**
 * Yields groups with the account, then its posts, reposts and follows in the order of their keys,
 * then the numbers of other records.
 * @throws Error with a message for the user if the commit is unreadable or the account has no valid
 *   handle
 */
export function* readItems(
  blocks: Blocks,
  { root, hints, nowMs }: RepositoryStart,
): Generator<readonly ExportItem[]> {
  const { owner, data } = readCommit(blocks, { root, hints });
  const isReadable = yield* indexRecords(blocks, data);
  const profile = readProfile(blocks) ?? (isReadable ? {} : 'unreadable');
  const record = typeof profile === 'string' ? {} : profile;
  const account = toOwnAccount(owner, profile, nowMs);
  yield describeAccount(account, profile);
  const find = (path: string): AnyRecord | null => {
    const cid = blocks.records.find(path);
    const read = cid && blocks.read(cid, anyRecord, '');
    return typeof read === 'string' ? null : read;
  };
  const repository = { owner, actor: toActorView(owner, record), nowMs, find };
  for (const [collection, read] of readers) {
    for (let last: string | undefined = `${collection}/`; last !== undefined; ) {
      const page = blocks.records.list(collection, last, groupLength);
      yield page.map((of) =>
        blocks.markVisited(of.cid)
          ? readItem(read, of, { blocks, repository, account })
          : skipRecord(of.path, 'The repository refers to this record twice.'),
      );
      last = page.at(-1)?.path;
    }
  }
  yield listLeftOut(blocks);
}

const notACommit = 'The root of this CAR file is not the commit of a repository.';

function readCommit(blocks: Blocks, { root, hints }: Omit<RepositoryStart, 'nowMs'>) {
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
    if (step.kind === 'leaf') blocks.records.add(step);
    else {
      isReadable &&= (step.after ?? '') > profilePath;
      yield [describeFault(step)];
    }
    if (count % groupLength === 0) yield [];
  }
  return isReadable;
}

function describeFault({ after, reason }: TreeFault): ExportItem {
  const position = after === null ? 'at its start' : `after ${after}`;
  return skipRecord(`the record tree ${position}`, reason);
}

type Profile = AnyRecord | 'unreadable';

function readProfile(blocks: Blocks): Profile | null {
  const cid = blocks.records.find(profilePath);
  const read = cid && blocks.read(cid, profileRecord, '');
  return typeof read === 'string' ? 'unreadable' : read;
}

function toOwnAccount(owner: Owner, profile: Profile, nowMs: number): Account {
  const record = typeof profile === 'string' ? {} : profile;
  const view = toActorView(owner, record);
  const actor = parseActor(view);
  if (actor === null) throw new Error(`The account ${owner.did} cannot be read.`);
  const labelled = parseActor({ ...view, labels: toLabelViews(record) });
  const isPublic = profile !== 'unreadable' && labelled && restrictionOf(labelled, nowMs) === null;
  return { ...shapeAccount(actor), protected: !isPublic };
}

function describeAccount(account: Account, profile: Profile): readonly ExportItem[] {
  const item = { kind: 'account', account } as const;
  if (profile === 'unreadable') {
    return [item, { ...skipRecord(profilePath, unreadable), isAccount: true }];
  }
  if (!account.protected) return [item];
  return [item, { ...skipRecord(profilePath, hiddenProfile), cause: 'private', isAccount: true }];
}

const unreadable =
  'The profile cannot be read, so it is unknown whether the account is public. The account is imported but not served.';

const hiddenProfile =
  'The author hides the account from visitors without a login. The account is imported but not served.';
