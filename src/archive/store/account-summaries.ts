import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import { type AccountReference, type Platform, platform } from '../../model/reference.ts';
import { secondOf } from './post-number.ts';

export interface AccountSummary {
  readonly platform: Platform;
  readonly handle: string;
  readonly isProtected: boolean;
  readonly posts: number;
  readonly reposts: number;
  readonly followers: number;
  readonly following: number;
  /** Unix second of the oldest post or repost; `null` if there are none. */
  readonly oldest: number | null;
  readonly newest: number | null;
  /** Unix second when the account was stored; if imported, when its export was made. */
  readonly stored: number;
}

const imported = platform.options.filter((one) => one !== 'sample');

/** Returns functions that list imported accounts (not the sample) and delete accounts. */
export function openAccountSummaries(database: SqliteDatabase) {
  const select = `
    SELECT platform, handle, protected, stored,
      (SELECT count(*) FROM posts WHERE ${ofAccount} AND gone = 0) AS posts,
      (SELECT count(*) FROM reposts WHERE ${ofAccount}) AS reposts,
      (SELECT count(DISTINCT follower) FROM follows WHERE platform = accounts.platform
        AND followed IN (accounts.handle, ${namedById})) AS followers,
      (SELECT count(*) FROM follows WHERE platform = accounts.platform
        AND follower = accounts.handle) AS following,
      ${atEnd('min')} AS oldest, ${atEnd('max')} AS newest
    FROM accounts WHERE platform <> 'sample'`;
  const list = database.prepare<unknown[], AccountSummaryRow>(
    `${select} ORDER BY platform, handle`,
  );
  const one = database.prepare<[AccountReference], AccountSummaryRow>(
    `${select} AND platform = @platform AND handle = @handle`,
  );
  const handles = database.prepare<[number], AccountReference>(
    `SELECT platform, handle FROM accounts WHERE platform <> 'sample'
     ORDER BY platform, handle LIMIT ?`,
  );
  const count = database
    .prepare<[], number>(`SELECT count(*) FROM accounts WHERE platform <> 'sample'`)
    .pluck();
  const some = database.prepare<[string, string], number>(
    `SELECT EXISTS (SELECT 1 FROM accounts WHERE platform = ?)
       OR EXISTS (SELECT 1 FROM posts WHERE platform = ?)`,
  );
  const hasImportsOf = (of: Platform) => some.pluck().get(of, of) === 1;
  return {
    /** Lists the imported accounts, ordered by platform and handle. */
    listAccounts: (): readonly AccountSummary[] => list.all().map(toAccountSummary),
    /** Lists the first `limit` imported accounts, ordered by platform and handle. */
    listHandles: (limit: number): readonly AccountReference[] => handles.all(limit),
    countAccounts: (): number => count.get() ?? 0,
    summarizeAccount: ({ platform, handle }: AccountReference): AccountSummary | undefined => {
      const row = one.get({ platform, handle });
      return row && toAccountSummary(row);
    },
    /** Returns whether any posts or accounts were imported, of all platforms by default. */
    hasImports: (of?: Platform): boolean => (of === undefined ? imported : [of]).some(hasImportsOf),
    /** Returns the counts of deleted rows; `undefined` for an unknown account. */
    removeAccount: openRemoval(database),
  };
}

const namedById = `iif(accounts.platform = 'bluesky', accounts.id, accounts.handle)`;

const ofAccount = 'platform = accounts.platform AND handle = accounts.handle';

/** SQL for the lowest or highest number of an account's posts and reposts. */
const atEnd = (end: 'min' | 'max') => `(SELECT ${end}(number) FROM (
    SELECT ${end}(number) AS number FROM posts WHERE ${ofAccount} AND gone = 0
    UNION ALL SELECT ${end}(number) FROM reposts WHERE ${ofAccount}))`;

interface AccountSummaryRow extends Omit<AccountSummary, 'isProtected'> {
  readonly protected: number;
}

function toAccountSummary({ protected: flag, ...row }: AccountSummaryRow): AccountSummary {
  const toSecond = (number: number | null) => (number === null ? null : secondOf(number));
  return {
    ...row,
    isProtected: flag === 1,
    oldest: toSecond(row.oldest),
    newest: toSecond(row.newest),
  };
}

/**
 * SQL condition for the posts to delete with their author. On X, a public account's post remains if
 * another archived account reposted it, because X exports include reposted posts.
 */
const ownPosts = `platform = @platform AND handle = @handle AND NOT (platform = 'x' AND EXISTS (
  SELECT 1 FROM reposts JOIN accounts USING (platform, handle)
  WHERE reposts.platform = posts.platform AND post_id = posts.id AND post_handle = posts.handle
    AND reposts.handle <> posts.handle
) AND NOT EXISTS (
  SELECT 1 FROM accounts WHERE platform = @platform AND handle = @handle AND protected = 1
))`;

/** SQL condition for posts that are archived only because the account `@handle` reposted them. */
const broughtPosts = `number IN (
    SELECT posts.number FROM reposts JOIN posts
      ON posts.platform = reposts.platform AND posts.id = post_id AND posts.handle = post_handle
    WHERE reposts.platform = @platform AND reposts.handle = @handle AND post_handle <> @handle
  ) AND NOT EXISTS (
    SELECT 1 FROM reposts WHERE reposts.platform = posts.platform
      AND reposts.handle <> @handle AND post_id = posts.id AND post_handle = posts.handle
  ) AND NOT EXISTS (
    SELECT 1 FROM accounts
    WHERE accounts.platform = posts.platform AND accounts.handle = posts.handle
  )`;

const ownFollows = `platform = @platform AND (@handle IN (follower, followed) OR followed = (
  SELECT ${namedById} FROM accounts WHERE platform = @platform AND handle = @handle
)) AND NOT EXISTS (
  SELECT 1 FROM accounts WHERE accounts.platform = follows.platform AND accounts.handle <> @handle
    AND (accounts.handle IN (follower, followed) OR ${namedById} = followed))`;

function openRemoval(database: SqliteDatabase) {
  const removePosts = (where: string) => {
    const words = database.prepare(
      `DELETE FROM post_words WHERE rowid IN (SELECT number FROM posts WHERE ${where})`,
    );
    const rows = database.prepare(`DELETE FROM posts WHERE ${where}`);
    return (account: AccountReference) => {
      words.run(account);
      return rows.run(account).changes;
    };
  };
  const [own, brought] = [removePosts(ownPosts), removePosts(broughtPosts)];
  const of = 'platform = @platform AND handle = @handle';
  const exists = database.prepare(`SELECT 1 FROM accounts WHERE ${of}`);
  const reposts = database.prepare(`DELETE FROM reposts WHERE ${of}`);
  const follows = database.prepare(`DELETE FROM follows WHERE ${ownFollows}`);
  const rest = [
    // An import whose rows were deleted must be repeated, so its record is deleted.
    `DELETE FROM imports WHERE number IN (SELECT import FROM import_accounts WHERE ${of})`,
    `DELETE FROM import_accounts WHERE ${of}`,
    `DELETE FROM media_references WHERE ${of}`,
    `DELETE FROM post_versions WHERE ${of}`,
    `DELETE FROM account_words WHERE rowid IN (SELECT number FROM accounts WHERE ${of})`,
    `DELETE FROM accounts WHERE ${of}`,
  ].map((sql) => database.prepare(sql));
  const remove = database.transaction((account: AccountReference) => {
    if (exists.get(account) === undefined) return undefined;
    const removed = {
      /** Number of others' posts that were archived only because this account reposted them. */
      others: brought(account),
      posts: own(account),
      reposts: reposts.run(account).changes,
      follows: follows.run(account).changes,
    };
    for (const statement of rest) statement.run(account);
    return removed;
  });
  return (account: AccountReference) => remove.immediate(account);
}
