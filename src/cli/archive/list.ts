import type { AccountSummary } from '../../archive/store/account-summaries.ts';
import type { StoredImport } from '../../archive/store/import-rows.ts';
import { toIsoSeconds } from '../../core/clock.ts';
import { createListing } from '../arguments.ts';
import { exitCodes } from '../command.ts';
import { type Columns, toJsonLines, toTable } from '../output/table.ts';
import { withArchiveStore } from './open-store.ts';

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
      return exitCodes.ok;
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
