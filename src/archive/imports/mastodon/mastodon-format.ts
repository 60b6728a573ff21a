import { parseHandle } from '../../../model/reference.ts';
import {
  createExportSource,
  type ExportFile,
  type ExportFiles,
  type ExportFormat,
  type ExportItem,
  type ExportSource,
  skipRecord,
} from '../export-source.ts';
import { type ReasonOf, readLeftOut, unknownFile } from '../left-out.ts';
import { type Line, readLines } from '../ndjson/lines.ts';
import { mediaNameOf, readOwner, referToPictures } from './actor.ts';
import { readOutbox } from './outbox.ts';
import { openStatuses } from './statuses.ts';

/** Import format of Mastodon exports (archive file or folder) and files of backup tools. */
export const mastodonFormat: ExportFormat = {
  name: 'mastodon',
  takesHandle: true,
  open: async (files, { handle }) => {
    const parts = findParts(files.files);
    return parts === null ? openStatuses(files, handle) : openOutbox(files, parts, handle);
  },
};

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

function openOutbox(files: ExportFiles, parts: Parts, handle: string | undefined): ExportSource {
  const { actor, outbox, folder, following, followers } = parts;
  const countedFiles = [outbox, following, followers].filter((file) => file !== undefined);
  const imported = new Set([...countedFiles, actor].flatMap((file) => file?.name ?? []));
  const readGroups = async function* (read: Read): Groups {
    if (actor === undefined) {
      throw new Error(
        `There is no actor.json beside ${outbox.name}, so the account is unknown. The export may be incomplete. Download it again.`,
      );
    }
    const owner = await readOwner(actor, files.read, handle);
    yield [{ kind: 'account', account: owner.account, media: referToPictures(owner.account) }];
    // Only the first pass counts as progress, because most exports need no second one.
    yield* readOutbox(outbox, { read, readAgain: files.read, owner });
    const own = owner.account.screen_name.toLowerCase();
    const list = { read, domain: own.slice(own.lastIndexOf('@') + 1) };
    yield* readList(following, list, (other) => ({ follower: own, followed: other }));
    yield* readList(followers, list, (other) => ({ follower: other, followed: own }));
    yield* readLeftOut(files, createReasonOf(folder, imported));
  };
  return createExportSource(files, countedFiles, (read) => ({
    title: 'Mastodon export',
    mediaNameOf: (file) => mediaNameOf(file, folder),
    groups: () => readGroups(read),
  }));
}

/**
 * Reads account handles after a heading. `domain` is the host of handles without a host.
 * Source: https://docs.joinmastodon.org/user/moving/#export
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

const reasons: ReadonlyMap<string, string> = new Map([
  ['likes.json', 'likes are private'],
  ['bookmarks.json', 'bookmarks are private'],
  ['bookmarks.csv', 'bookmarks are private'],
  ['lists.csv', 'lists are private'],
  ['blocked_accounts.csv', 'blocks are private'],
  ['blocked_domains.csv', 'blocks are private'],
  ['muted_accounts.csv', 'mutes are private'],
]);

const createReasonOf =
  (folder: string, imported: ReadonlySet<string>): ReasonOf =>
  (path) => {
    // Other files are media, whose import has a report of its own.
    if (imported.has(path) || !/\.(?:json|csv)$/.test(path)) return null;
    return reasons.get(path.slice(folder.length)) ?? unknownFile;
  };
