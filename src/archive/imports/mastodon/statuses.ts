import { basename } from 'node:path/posix';
import { parseUrl } from '../../../lib/http/url.ts';
import { type AccountReference, parseHandle } from '../../../model/reference.ts';
import {
  type Home,
  identifyStatus,
  shapeAccount,
  toHandle,
} from '../../../normalize/mastodon/identity.ts';
import {
  createSurroundings,
  hiddenReason,
  type Surroundings,
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
  skipRecord,
} from '../export-source.ts';
import { type ExportRecord, jsonElements, readRecords, readRows } from '../records.ts';

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
  const account = await readAuthor(files, saved);
  return account === null ? null : openSource(files, saved, { account, handle });
}

interface Owner {
  readonly account: AccountPayload;
  readonly home: Home;
}

function openSource(
  files: ExportFiles,
  saved: readonly ExportFile[],
  { account, handle }: { readonly account: AccountPayload; readonly handle: string | undefined },
): ExportSource {
  return createExportSource(files, saved, (read) => ({
    title: 'Mastodon posts',
    mediaNameOf,
    groups: async function* () {
      const owner = toOwner(account, handle);
      const shaped = shapeAccount(owner.account, owner.home);
      const pictures = [shaped.avatar_url, shaped.banner_url].filter((url) => url !== null);
      yield [{ kind: 'account', account: shaped, media: pictures.map(referTo) }];
      for (const file of saved) yield* readItems(file, { files, read, owner });
      for (const file of saved) yield* readOtherLists(file, files.read);
    },
  }));
}

interface Reading {
  readonly files: ExportFiles;
  /** Reads a file, and counts the progress. */
  readonly read: ExportFiles['read'];
  readonly owner: Owner;
}

async function* readItems(
  file: ExportFile,
  { files, read, owner }: Reading,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const start = await findStart(files, file);
  let number = 0;
  const reading = { schema: statusPayload, start, prepare, read };
  for await (const records of readRecords([file], reading)) {
    const rows = records.flatMap((record) => (record.kind === 'row' ? [record.row] : []));
    const around = createSurroundings(rows, owner.home);
    yield records.flatMap((record) => {
      number += 1;
      return toItems(record, { owner, around, location: `${file.name}, record ${number}` });
    });
  }
}

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
  read: ExportFiles['read'],
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  for (const [name, start, reason] of otherLists) {
    let count = 0;
    for await (const elements of jsonElements(read(file), { start })) {
      count += elements.filter(({ kind }) => kind === 'value').length;
    }
    if (count === 0) continue;
    yield [{ kind: 'left-out', name: `${file.name}, ${name}`, count, unit: 'item', reason }];
  }
}

async function readAuthor(
  files: ExportFiles,
  saved: readonly ExportFile[],
): Promise<AccountPayload | null> {
  const { read } = files;
  for (const file of saved) {
    const start = await findStart(files, file);
    const reading = { schema: statusPayload, start, prepare, read };
    for await (const row of readRows([file], reading)) return row.account;
  }
  return null;
}

async function findStart({ read }: ExportFiles, file: ExportFile): Promise<RegExp> {
  for await (const chunk of read(file)) {
    if (/^\uFEFF?\s*\[/.test(Buffer.from(chunk).toString('utf8'))) break;
    return /"statuses"\s*:\s*\[/;
  }
  return /\[/;
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

function toOwner(account: AccountPayload, handle: string | undefined): Owner {
  const host = parseUrl(account.url ?? '')?.hostname ?? '';
  const domain = handle?.slice(handle.lastIndexOf('@') + 1) ?? host;
  const home = { host, domain };
  const own = toHandle(account.acct, home);
  const named: AccountReference | null = parseHandle(own);
  if (named?.platform !== 'mastodon') {
    throw new Error(`The posts are by ${own}, which is not a valid handle.`);
  }
  if (handle !== undefined && handle !== named.handle) {
    throw new Error(`The posts are by ${own}, and not by ${handle}.`);
  }
  return { account, home };
}

interface Context {
  readonly owner: Owner;
  readonly around: Surroundings;
  readonly location: string;
}

function toItems(record: ExportRecord<StatusPayload>, context: Context): readonly ExportItem[] {
  if (record.kind === 'skipped') return [record];
  const { row } = record;
  const { owner, location } = context;
  if (row.account.acct !== owner.account.acct)
    return [skipRecord(location, 'It is by another account.')];
  if (parseStatus(row) === null) return [skipRecord(location, 'The boosted post cannot be read.')];
  const boosted = boostedIn(row);
  if ([row, boosted].some((each) => each !== null && hiddenReason(each) !== null))
    return [{ ...skipRecord(location, 'It is not public.'), cause: 'private' }];
  const post = toPost(boosted ?? row, context);
  return boosted === null ? post : [...post, toRepost(row, boosted, owner)];
}

function toPost(row: StatusPayload, { around }: Context): readonly ExportItem[] {
  const post = shapePost(row, around);
  if (post.type === 'tombstone') return [];
  const parentId = post.replying_to?.status ?? null;
  const media = post.media.all.map(({ url }) => referTo(url));
  return [{ kind: 'post', post, parentId, created: row.createdMs / 1000, media }];
}

function toRepost(
  row: StatusPayload,
  boosted: StatusPayload,
  { account, home }: Owner,
): ExportItem {
  const { id, handle } = identifyStatus(boosted, home);
  return {
    kind: 'repost',
    handle: toHandle(account.acct, home).toLowerCase(),
    postHandle: handle.toLowerCase(),
    postId: id,
    created: row.createdMs / 1000,
  };
}
