import { basename } from 'node:path/posix';
import { parseUrl } from '../../../lib/http/url.ts';
import type { Account } from '../../../model/account.ts';
import { type AccountReference, parseHandle } from '../../../model/reference.ts';
import { type Home, shapeAccount, toHandle } from '../../../normalize/mastodon/identity.ts';
import {
  createSurroundings,
  hiddenReason,
  shapePost,
} from '../../../normalize/mastodon/normalize.ts';
import {
  type AccountPayload,
  boostedIn,
  parseStatus,
  type StatusPayload,
  statusPayload,
} from '../../../normalize/mastodon/wire.ts';
import {
  createExportSource,
  type ExportFile,
  type ExportFiles,
  type ExportItem,
  type ExportSource,
  type MediaReference,
  readStart,
  skipRecord,
  toPostItem,
  toRepostItem,
} from '../export-source.ts';
import { countList } from '../left-out.ts';
import {
  convertRecords,
  type ExportRecord,
  type RecordOptions,
  readFirst,
  readRecords,
} from '../records.ts';

/*
 * Backup tools save the posts of an account as Mastodon's API sends them: as an array, or in the member `statuses` of an
 * object beside lists of other posts, such as favourites. Source: https://src.alexschroeder.ch/mastodon-archive.git
 */

const isSaved = (name: string): boolean => name.includes('.user.');

/**
 * Opens posts in the format of Mastodon's API: the only file of `files`, or those with a name of
 * `mastodon-archive`. Returns `null` if there is no such file.
 */
export async function openStatuses(
  files: ExportFiles,
  handle: string | undefined,
): Promise<ExportSource | null> {
  const named = files.files.filter(({ name }) => name.endsWith('.json'));
  const saved = named.length === 1 ? named : named.filter(({ name }) => isSaved(basename(name)));
  const author = await readAuthor(saved);
  if (author === null) return null;
  return createExportSource(files, (count) => {
    const counted = saved.map(count);
    return {
      title: 'Mastodon posts',
      mediaNameOf,
      groups: async function* () {
        const owner = toOwner(author, handle);
        const account = shapeAccount(author, owner.home);
        const pictures = [account.avatar_url, account.banner_url].filter((url) => url !== null);
        yield [{ kind: 'account', account, media: pictures.map(referTo) }];
        for (const file of counted) {
          for await (const records of readRecords([file], await toReading(file))) {
            yield toItems(records, account, owner);
          }
        }
        for (const file of saved) yield* readOtherLists(file);
      },
    };
  });
}

async function toReading(file: ExportFile): Promise<RecordOptions<StatusPayload>> {
  const head = String(await readStart(file.read(), headBytes));
  const start = /^\uFEFF?\s*\[/.test(head) ? /\[/ : /"statuses"\s*:\s*\[/;
  return { schema: statusPayload, start, prepare };
}

const headBytes = 256;

const otherLists = [
  ['favourites', /"favourites"\s*:\s*\[/, 'favourites are private'],
  ['bookmarks', /"bookmarks"\s*:\s*\[/, 'bookmarks are private'],
  ['followers', /"followers"\s*:\s*\[/, 'Perch imports followers only from CSV files'],
  ['following', /"following"\s*:\s*\[/, 'Perch imports followed accounts only from CSV files'],
  ['mutes', /"mutes"\s*:\s*\[/, 'mutes are private'],
  ['blocks', /"blocks"\s*:\s*\[/, 'blocks are private'],
] as const;

async function* readOtherLists(
  file: ExportFile,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  for (const [name, pattern, reason] of otherLists) {
    const count = await countList(file.read(), pattern);
    if (count === 0) continue;
    yield [{ kind: 'left-out', name: `${file.name}, ${name}`, count, unit: 'item', reason }];
  }
}

async function readAuthor(saved: readonly ExportFile[]): Promise<AccountPayload | null> {
  for (const file of saved) {
    const row = await readFirst([file], await toReading(file));
    if (row !== null) return row.account;
  }
  return null;
}

function mediaNameOf(path: string): string | null {
  const folders = path.split('/', maxFolders);
  const name = folders.slice(folders.findIndex(isSaved) + 1).join('/');
  return folders.length === maxFolders || name === path || name === '' ? null : name;
}

const maxFolders = 30;

const referTo = (url: string): MediaReference => ({
  url,
  name: (parseUrl(url)?.pathname ?? '').slice(1),
});

const prepare = (json: string): string =>
  json.replaceAll(/"(id|\w{1,40}_id)"(\s*:\s*)(\d{1,40})(?=\s*[,}])/g, '"$1"$2"$3"');

interface Owner {
  readonly acct: string;
  readonly home: Home;
}

function toOwner({ acct, url }: AccountPayload, handle: string | undefined): Owner {
  const host = parseUrl(url ?? '')?.hostname ?? '';
  const domain = handle?.slice(handle.lastIndexOf('@') + 1) ?? host;
  const home = { host, domain };
  const own = toHandle(acct, home);
  const named: AccountReference | null = parseHandle(own);
  if (named?.platform !== 'mastodon') {
    throw new Error(`The posts are by ${own}, which is not a valid handle.`);
  }
  if (handle !== undefined && handle !== named.handle) {
    throw new Error(`The posts are by ${own}, and not by ${handle}.`);
  }
  return { acct, home };
}

function toItems(
  records: readonly ExportRecord<StatusPayload>[],
  account: Account,
  { acct, home }: Owner,
): readonly ExportItem[] {
  const rows = records.flatMap((record) => (record.kind === 'row' ? record.row : []));
  const around = createSurroundings(rows, home);
  return convertRecords(records, (row, location) => {
    if (row.account.acct !== acct) return 'It is by another account.';
    if (parseStatus(row) === null) return 'The boosted post cannot be read.';
    const boosted = boostedIn(row);
    const shown = boosted ?? row;
    const post = shapePost(shown, around);
    if (hiddenReason(row) !== null || post.type === 'tombstone')
      return skipRecord(location, 'It is not public.', 'private');
    const media = post.media.all.map(({ url }) => referTo(url));
    const item = toPostItem(post, shown.createdMs / 1000, media);
    return boosted === null ? item : [item, toRepostItem(account, post, row.createdMs / 1000)];
  });
}
