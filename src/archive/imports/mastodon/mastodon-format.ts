import { parseHandle } from '../../../model/reference.ts';
import {
  createExportSource,
  type ExportFile,
  type ExportFiles,
  type ExportFormat,
  type ExportItem,
  type ExportSource,
  folderOf,
  skipRecord,
} from '../export-source.ts';
import { type LeftOutRules, readLeftOut } from '../left-out.ts';
import { readCsvRows } from '../ndjson/lines.ts';
import { mediaNameOf, nameOf, readOwner, referToPictures } from './actor.ts';
import { readOutbox } from './outbox.ts';
import { openStatuses } from './statuses.ts';

/** Import format of Mastodon exports (archive file or folder) and files of backup tools. */
export const mastodonFormat: ExportFormat = {
  name: 'mastodon',
  takesHandle: true,
  open: async (files, { handle }) => {
    const outbox = files.files.find(({ name }) => /(?:^|\/)outbox\.json$/.test(name));
    return outbox === undefined ? openStatuses(files, handle) : openOutbox(files, outbox, handle);
  },
};

function openOutbox(
  files: ExportFiles,
  outbox: ExportFile,
  handle: string | undefined,
): ExportSource {
  const folder = folderOf(outbox.name);
  const find = (name: string) => files.files.find((file) => file.name === `${folder}${name}`);
  const actor = find('actor.json');
  return createExportSource(files, (count) => {
    const counted = count(outbox);
    const lists = ['following_accounts.csv', 'followers.csv'].map(find);
    const [following, followers] = lists.map((file) => file && count(file));
    return {
      title: 'Mastodon export',
      mediaNameOf: (file) => mediaNameOf(file, folder),
      groups: async function* () {
        if (actor === undefined) {
          throw new Error(
            `There is no actor.json beside ${outbox.name}, so the account is unknown. The export may be incomplete. Download it again.`,
          );
        }
        const owner = await readOwner(actor, handle);
        const { account } = owner;
        yield [{ kind: 'account', account, media: referToPictures(account) }];
        yield* readOutbox(owner, { outbox: counted, again: outbox });
        const own = nameOf(owner);
        yield* readList(following, own, (other) => ({ follower: own, followed: other }));
        yield* readList(followers, own, (other) => ({ follower: other, followed: own }));
        yield* readLeftOut(files, { folder, imported: [outbox, actor, ...lists], rules });
      },
    };
  });
}

/**
 * Reads account handles after a heading. Handles without a host are on the host of `own`.
 * Source: https://docs.joinmastodon.org/user/moving/#export
 */
async function* readList(
  file: ExportFile | undefined,
  own: string,
  toPair: (handle: string) => { readonly follower: string; readonly followed: string },
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  if (file === undefined) return;
  const domain = own.slice(own.lastIndexOf('@'));
  for await (const rows of readCsvRows(file.read())) {
    const cells = rows.map(({ number, cells }) => ({ number, name: toName(cells?.[0] ?? '?') }));
    const named = cells.filter(({ number, name }) => name !== '' && !isHeading(number, name));
    yield named.map(({ number, name }): ExportItem => {
      const account = parseHandle(name.includes('@') ? name : `${name}${domain}`);
      if (account?.platform === 'mastodon') return { kind: 'follow', ...toPair(account.handle) };
      return skipRecord(`${file.name}, line ${number}`, 'It does not start with a handle.');
    });
  }
}

const toName = (cell: string): string => cell.trim().replace(/^@/, '');

const isHeading = (number: number, name: string): boolean =>
  number === 1 && /^account address$/i.test(name);

const rules: LeftOutRules['rules'] = [
  [/^likes\.json$/, 'likes are private'],
  [/^bookmarks\.(?:json|csv)$/, 'bookmarks are private'],
  [/^lists\.csv$/, 'lists are private'],
  [/^blocked_(?:accounts|domains)\.csv$/, 'blocks are private'],
  [/^muted_accounts\.csv$/, 'mutes are private'],
  // Other files are media, whose import has a report of its own.
  [/(?<!\.json|\.csv)$/, null],
];
