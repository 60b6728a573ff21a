import { removeUnusedMedia } from '../../archive/media/import-media.ts';
import { openMediaFolder } from '../../archive/media/media-folder.ts';
import type { AccountSummary } from '../../archive/store/account-summaries.ts';
import type { StoredImport } from '../../archive/store/import-rows.ts';
import { type ArchiveStore, openArchiveStore } from '../../archive/store/store.ts';
import { toIsoSeconds } from '../../lib/clock.ts';
import { isMissing } from '../../lib/files/private-files.ts';
import { errorCodeOf, UnusableFileError } from '../../lib/files/sqlite.ts';
import {
  type AccountReference,
  parseHandle,
  platform as platforms,
} from '../../model/reference.ts';
import {
  type Action,
  type CommandContext,
  CommandError,
  chooseWord,
  createListing,
  UsageError,
  withOptions,
} from '../command.ts';
import { findByCode } from '../output/explain.ts';
import { type Columns, countOf, toJsonLines, toTable } from '../output/output.ts';
import { dataFolderOf, withStore } from '../stores.ts';

/** Opens the archive for `use`; `empty` creates no file. @throws CommandError if it is unusable */
export async function withArchiveStore<Result>(
  context: CommandContext,
  whenMissing: 'create' | 'empty',
  use: (store: ArchiveStore) => Promise<Result>,
): Promise<Result> {
  const path = `${dataFolderOf(context, 'the archive')}/archive.db`;
  const open = () => {
    const isEmpty = whenMissing === 'empty' && isMissing(path);
    return openArchiveStore(isEmpty ? ':memory:' : path, context.config.PERCH_BASE_URL);
  };
  const explain = (error: unknown) => {
    const reason = explainStoreError(error);
    return reason === null ? null : `${reason}\nThe archive is ${path}.`;
  };
  return withStore(open, explain, use);
}

export function notArchived({ handle, platform }: AccountReference): CommandError {
  const fault = `The archive does not contain ${handle} on ${platform}. \`perch archive list\` lists its accounts.`;
  return new CommandError('notFound', fault);
}

const reasons: Readonly<Record<string, string>> = {
  'SQLITE_FULL ENOSPC': 'The disk is full. Free some space and run the command again.',
  SQLITE_BUSY: 'Another process has locked the archive. Run the command again.',
  'SQLITE_READONLY SQLITE_CANTOPEN SQLITE_PERM EACCES EROFS':
    'You have no permission to use the archive. Run perch as the user that runs the server.',
  'EEXIST ENOTDIR': 'PERCH_DATA_DIR, or a part of its path, is a file. Set it to a folder.',
  'SQLITE_CORRUPT SQLITE_NOTADB': 'The archive is damaged, or is not an archive of Perch.',
};

function explainStoreError(error: unknown): string | null {
  if (error instanceof UnusableFileError) return error.message;
  const known = findByCode(reasons, error);
  if (known !== undefined) return known;
  const isOfSqlite = errorCodeOf(error)?.startsWith('SQLITE_') === true;
  return isOfSqlite && error instanceof Error ? error.message : null;
}

type Listed = AccountSummary & { readonly imports: readonly StoredImport[] };

export const listAction = createListing(
  'account',
  'Lists the accounts in the archive.',
  (isJson) => (context) =>
    withArchiveStore(context, 'empty', async (store) => {
      const { stdout } = context;
      const listed = store.listAccounts().map(
        (summary): Listed => ({
          ...summary,
          imports: store.listImports(summary.platform, summary.handle),
        }),
      );
      if (isJson) stdout.writeJson(toJsonLines(listed.map(toMembers)));
      else if (listed.length > 0) stdout.write(toTable(listed, columns));
      else stdout.write('The archive has no accounts other than those of the sample.\n');
    }),
);

const columns: Columns<Listed> = {
  PLATFORM: ({ platform }) => platform,
  HANDLE: ({ handle, isProtected }) => (isProtected ? `${handle} (protected)` : handle),
  POSTS: ({ posts }) => String(posts),
  REPOSTS: ({ reposts }) => String(reposts),
  FOLLOWERS: ({ followers }) => String(followers),
  FOLLOWING: ({ following }) => String(following),
  OLDEST: ({ oldest }) => toDay(oldest),
  NEWEST: ({ newest }) => toDay(newest),
  EXPORTED: ({ stored }) => toDay(stored),
  FROM: ({ imports }) =>
    imports.map(({ name, isDone }) => (isDone ? name : `${name} (not finished)`)).join(', '),
};

function toMembers({ isProtected, oldest, newest, stored, imports, ...of }: Listed) {
  const { platform, handle, posts, reposts, followers, following } = of;
  return {
    platform,
    handle,
    protected: isProtected,
    posts,
    reposts,
    followers,
    following,
    oldest: oldest === null ? null : toIso(oldest),
    newest: newest === null ? null : toIso(newest),
    exported_at: toIso(stored),
    imports: imports.map((one) => ({
      file: one.name,
      title: one.title,
      done: one.isDone,
      exported_at: toIso(one.exported),
      imported_at: toIso(one.updated),
    })),
  };
}

function toDay(seconds: number | null): string {
  return seconds === null ? '' : toIso(seconds).slice(0, 10);
}

function toIso(seconds: number): string {
  return toIsoSeconds(seconds * 1000);
}

const archived = platforms.exclude(['sample']).options;

export const platformOption = {
  type: 'string',
  value: 'NAME',
  choices: archived,
  about: `Platform of the handle, if it could belong to several: ${archived.join(', ')}.`,
} as const;

export const removeAction: Action = {
  usage: 'remove HANDLE [--platform NAME]',
  about: 'Removes an account and all its data from the archive.',
  ...withOptions({ platform: platformOption }, (values, [text, ...more]) => {
    if (text === undefined || more.length > 0) throw new UsageError('Name one HANDLE to remove.');
    const account = toArchivedAccount(text, values.platform);
    const { platform } = account;
    return (context) =>
      withArchiveStore(context, 'empty', async (store) => {
        // A Bluesky account may be given by its DID.
        const handle = store.findAccount(account)?.handle ?? account.handle;
        const kept = store.deleteHistory({ platform, handle });
        if (kept > 0) {
          context.stdout.write(
            `Removed the imported history of ${account.handle} on ${platform}: ${countOf(kept, 'post')}.\n`,
          );
        }
        const isRemoved = removeAccount({ platform, handle }, store, context);
        if (!isRemoved && kept === 0) throw notArchived(account);
      });
  }),
};

function removeAccount(
  account: AccountReference,
  store: ArchiveStore,
  { stdout, config }: CommandContext,
): boolean {
  const removed = store.removeAccount(account);
  if (removed === undefined) return false;
  const files = removeUnusedMedia(store, openMediaFolder(config.PERCH_DATA_DIR));
  const { posts, reposts, follows, others } = removed;
  const counts = [
    countOf(posts, 'post'),
    `${countOf(reposts, 'repost')} (with ${countOf(others, 'post')} of other accounts)`,
    countOf(follows, 'follow'),
    ...(files > 0 ? [countOf(files, 'media file')] : []),
  ];
  stdout.write(`Removed ${account.handle} on ${account.platform}: ${counts.join(', ')}.\n`);
  return true;
}

/** Parses a handle. @throws UsageError for invalid handles and built-in sample accounts */
export function toArchivedAccount(text: string, platform: string | undefined): AccountReference {
  // With --platform, handles that requests would refuse are accepted, because the archive can
  // contain them.
  if (platform !== undefined) {
    const named = chooseWord('platform', platform, archived);
    return { platform: named, handle: text.replace(/^@/, '').toLowerCase() };
  }
  const account = parseHandle(text);
  if (account === null) throw new UsageError(`${JSON.stringify(text)} is not a handle.`);
  if (account.platform !== 'sample') return account;
  throw new UsageError(
    'The sample cannot be exported or removed. Set PERCH_SAMPLE=false to turn it off.',
  );
}
