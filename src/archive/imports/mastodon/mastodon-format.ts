import { parseHandle } from '../../../model/reference.ts';
import {
  type ExportFormat,
  type ExportHints,
  type ExportItem,
  type ExportSource,
  skipRecord,
} from '../export-source.ts';
import { createExportSource, type ExportFile, type ExportFiles } from '../files/export-files.ts';
import { openExportFiles } from '../files/open-files.ts';
import { readLeftOut } from '../left-out.ts';
import { type Line, readLines } from '../ndjson/lines.ts';
import { readRecords } from '../records.ts';
import { type Owner, readOwner } from './actor.ts';
import { createReasonOf } from './left-out.ts';
import { mediaNameOf, referToPictures } from './media.ts';
import { type ActivityPayload, activity, isPublic, namesRecipients } from './payload.ts';
import { shapePost, shapeRepost } from './shape.ts';

/** Import format of Mastodon exports: an archive file or folder. Imports public posts, and CSV lists of follows. */
export const mastodonFormat: ExportFormat = {
  name: 'mastodon',
  takesHandle: true,
  open: async (path, hints) => {
    const files = await openExportFiles(path);
    if (files === null) return null;
    const parts = findParts(files.files);
    if (parts !== null) return openSource(path, { files, parts, hints: hints ?? {} });
    await files.close();
    return null;
  },
};

/** Finds the files to read in the folder that contains `outbox.json`. Returns `null` without an `outbox.json`. */
function findParts(files: readonly ExportFile[]) {
  const outbox = files.find(({ name }) => /(?:^|\/)outbox\.json$/.test(name));
  if (outbox === undefined) return null;
  const folder = outbox.name.slice(0, -'outbox.json'.length);
  const find = (name: string) => files.find((file) => file.name === `${folder}${name}`);
  // Likes and bookmarks are private, so they are not imported.
  return {
    folder,
    outbox,
    actor: find('actor.json'),
    following: find('following_accounts.csv'),
    followers: find('followers.csv'),
  };
}

type Parts = NonNullable<ReturnType<typeof findParts>>;
type Groups = AsyncGenerator<readonly ExportItem[], void, undefined>;
type Read = ExportFiles['read'];

interface Opened {
  readonly files: ExportFiles;
  readonly parts: Parts;
  readonly hints: ExportHints;
}

function openSource(path: string, { files, parts, hints }: Opened): ExportSource {
  const { actor, outbox, folder, following, followers } = parts;
  const countedFiles = [outbox, following, followers].filter((file) => file !== undefined);
  const imported = new Set([...countedFiles, actor].flatMap((file) => file?.name ?? []));
  const readGroups = async function* (read: Read): Groups {
    if (actor === undefined) {
      throw new Error(
        `There is no actor.json beside ${outbox.name}, so the account is unknown. The export may be incomplete. Download it again.`,
      );
    }
    const owner = await readOwner(actor, files.read, hints.handle);
    yield [{ kind: 'account', account: owner.account, media: referToPictures(owner.account) }];
    yield* readOutbox(outbox, read, owner);
    const own = owner.account.screen_name.toLowerCase();
    const list = { read, domain: own.slice(own.lastIndexOf('@') + 1) };
    yield* readList(following, list, (other) => ({ follower: own, followed: other }));
    yield* readList(followers, list, (other) => ({ follower: other, followed: own }));
    yield* readLeftOut(path, createReasonOf(folder, imported));
  };
  return createExportSource(files, countedFiles, (read) => ({
    title: 'Mastodon export',
    mediaNameOf: (file) => mediaNameOf(file, folder),
    groups: () => readGroups(read),
  }));
}

async function* readOutbox(outbox: ExportFile, read: Read, owner: Owner): Groups {
  const reading = { schema: activity, start: /"orderedItems"\s*:\s*\[/, read };
  let number = 0;
  for await (const records of readRecords([outbox], reading)) {
    yield records.map((record) => {
      number += 1;
      if (record.kind === 'skipped') return record;
      return shape(record.row, owner, `${outbox.name}, record ${number}`);
    });
  }
}

function shape(row: ActivityPayload, owner: Owner, location: string): ExportItem {
  if (isHidden(row)) return { ...skipRecord(location, 'It is not public.'), cause: 'private' };
  const shaped = row.type === 'Announce' ? shapeRepost(row, owner) : shapePost(row, owner);
  return typeof shaped === 'string' ? skipRecord(location, shaped) : shaped;
}

/**
 * Returns whether an activity is not public. This is the case if the activity or its post has recipients that do not
 * include everyone, or if neither of the two has recipients.
 */
function isHidden(row: ActivityPayload): boolean {
  const naming = (row.type === 'Create' ? [row, row.object] : [row]).filter(namesRecipients);
  return naming.length === 0 || !naming.every(isPublic);
}

/**
 * Reads `following_accounts.csv` or `followers.csv`: a heading, then lines that each start with an account's handle.
 * `domain` is the host of handles without a host. Source: https://docs.joinmastodon.org/user/moving/#export
 */
async function* readList(
  file: ExportFile | undefined,
  { read, domain }: { readonly read: Read; readonly domain: string },
  toPair: (handle: string) => { readonly follower: string; readonly followed: string },
): Groups {
  if (file === undefined) return;
  for await (const lines of readLines(read(file))) {
    const cells = lines.map((line) => ({ number: line.number, name: firstCellOf(line) }));
    const named = cells.filter(({ number, name }) => name !== '' && !isHeading(number, name));
    yield named.map(({ number, name }): ExportItem => {
      const account = parseHandle(name.includes('@') ? name : `${name}@${domain}`);
      if (account?.platform === 'mastodon') return { kind: 'follow', ...toPair(account.handle) };
      return skipRecord(`${file.name}, line ${number}`, 'It does not start with a handle.');
    });
  }
}

const isHeading = (number: number, name: string): boolean =>
  number === 1 && /^account address$/i.test(name);

function firstCellOf(line: Line): string {
  const [cell = ''] = line.kind === 'text' ? line.text.split(',') : ['?'];
  return cell
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .replace(/^@/, '');
}
