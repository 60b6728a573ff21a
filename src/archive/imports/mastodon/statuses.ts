import { parseUrl } from '../../../core/http/url.ts';
import { type AccountReference, parseHandle } from '../../../model/reference.ts';
import { shapeAccount } from '../../../platforms/mastodon/account.ts';
import { type Home, identifyStatus, toHandle } from '../../../platforms/mastodon/identity.ts';
import {
  type AccountPayload,
  boostedIn,
  parseStatus,
  type StatusPayload,
  statusPayload,
} from '../../../platforms/mastodon/payload.ts';
import {
  createSurroundings,
  hiddenReason,
  type Surroundings,
  shapePost,
} from '../../../platforms/mastodon/shape.ts';
import {
  type ExportHints,
  type ExportItem,
  type ExportSource,
  skipRecord,
} from '../export-source.ts';
import { createExportSource, type ExportFile, type ExportFiles } from '../files/export-files.ts';
import { type ExportRecord, readRecords, readRows } from '../records.ts';

/*
 * Backup tools save the posts of an account as Mastodon's API sends them: as an array, or in the member `statuses` of an
 * object beside lists of other posts, such as favourites. Source: https://src.alexschroeder.ch/mastodon-archive.git
 */

/** Returns whether a file has the name that `mastodon-archive` gives the file of an account: `HOST.user.NAME.json`. */
const isSaved = ({ name }: ExportFile): boolean =>
  name.slice(name.lastIndexOf('/') + 1).includes('.user.') && name.endsWith('.json');

/**
 * Opens a file with the posts of an account in the format of Mastodon's API: the only file of `files`, or the one with
 * the name that `mastodon-archive` gives it. Returns `null` if there is no such file.
 */
export async function openStatuses(
  files: ExportFiles,
  hints: ExportHints,
): Promise<ExportSource | null> {
  const [only, ...others] = files.files;
  const file = others.length === 0 ? only : files.files.find(isSaved);
  if (file === undefined || !file.name.endsWith('.json')) return null;
  const account = await readAuthor(files, file);
  return account === null ? null : openSource(files, file, { account, hints });
}

interface Owner {
  readonly account: AccountPayload;
  readonly home: Home;
}

function openSource(
  files: ExportFiles,
  file: ExportFile,
  { account, hints }: { readonly account: AccountPayload; readonly hints: ExportHints },
): ExportSource {
  return createExportSource(files, [file], (read) => ({
    title: 'Mastodon posts',
    groups: async function* () {
      const owner = toOwner(account, hints);
      yield [{ kind: 'account', account: shapeAccount(owner.account, owner.home) }];
      const start = await findStart(files, file);
      let number = 0;
      for await (const records of readRecords([file], {
        schema: statusPayload,
        start,
        prepare,
        read,
      })) {
        const rows = records.flatMap((record) => (record.kind === 'row' ? [record.row] : []));
        const around = createSurroundings(rows, owner.home);
        yield records.flatMap((record) => {
          number += 1;
          return toItems(record, { owner, around, location: `${file.name}, record ${number}` });
        });
      }
    },
  }));
}

/** Returns the author of the first readable post; `null` if the file contains no posts. */
async function readAuthor(files: ExportFiles, file: ExportFile): Promise<AccountPayload | null> {
  const start = await findStart(files, file);
  const { read } = files;
  for await (const row of readRows([file], { schema: statusPayload, start, prepare, read })) {
    return row.account;
  }
  return null;
}

/** Returns the pattern of the start of the posts in a file that contains an array or an object. */
async function findStart({ read }: ExportFiles, file: ExportFile): Promise<RegExp> {
  for await (const chunk of read(file)) {
    if (/^\uFEFF?\s*\[/.test(Buffer.from(chunk).toString('utf8'))) break;
    return /"statuses"\s*:\s*\[/;
  }
  return /\[/;
}

/** Writes ids as text. Mastodon.py saves them as numbers, of which many are too large for JavaScript. */
const prepare = (json: string): string =>
  json.replaceAll(/"(id|\w{1,40}_id)"(\s*:\s*)(\d{1,40})(?=\s*[,}])/g, '"$1"$2"$3"');

/** @throws Error for an invalid handle, or one that is not that of the account */
function toOwner(account: AccountPayload, { handle }: ExportHints): Owner {
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
  return [{ kind: 'post', post, parentId, created: row.createdMs / 1000 }];
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
