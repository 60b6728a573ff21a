import { describe, expect, it } from 'vitest';
import { type Account, account as accountSchema } from '../../src/model/account.ts';
import type { Post } from '../../src/model/post.ts';
import type {
  Page,
  PostQuery,
  ProfileFound,
  ProfileQuery,
  Query,
  SearchQuery,
  TimelineQuery,
} from '../../src/model/queries.ts';
import type { AccountReference } from '../../src/model/reference.ts';
import type { Provider } from '../../src/providers/provider.ts';
import type { FakeHandler } from '../support/fake-upstream.ts';
import { expectReadable } from '../support/printed-urls.ts';
import {
  askProvider,
  expectSoundPosts,
  expectTellable,
  expectUnique,
  failingCases,
  failureOf,
  type ProviderSetup,
  withProvider,
} from './provider-suite.ts';

/** Query for anything but a post. */
export type ListQuery = Exclude<Query, PostQuery>;

/** Result of a provider for a list query. */
export type ListFound = ProfileFound | Page<Post> | Page<Account>;

/** Provider and upstream, with the queries to test. */
export interface ListSetup {
  readonly create: ProviderSetup['create'];
  readonly healthy: FakeHandler;
  /**
   * One query for each of the provider's reads, without a time range, that finds something. The timeline
   * (without reposts) and the search find posts of at least two times.
   */
  readonly queries: readonly ListQuery[];
  /** Queries that the provider does not cover. */
  readonly elsewhere: readonly ListQuery[];
  /** Handler that answers like the upstream for a missing account. */
  readonly absent: FakeHandler;
  /** Account that does not exist even in the healthy upstream. Default: that of the query. */
  readonly absentAccount?: AccountReference;
}

/** Runs the cases for every provider of profiles and lists behind an upstream. */
export function listSuite(name: string, setup: ListSetup): void {
  answeringListSuite(name, setup);
  failingListSuite(name, setup);
}

/** Runs the cases of a failing upstream for every query. */
export function failingListSuite(name: string, setup: ListSetup): void {
  const { create, healthy, queries } = setup;
  failingCases(name, { create, healthy, queries, single: queries });
}

/** Runs the cases for every provider of profiles and lists, with or without an upstream. */
export function answeringListSuite(name: string, setup: ListSetup): void {
  it(`${name} is tested with all its reads, and with no other`, async () => {
    await rig(setup, async (provider) => {
      const reads = [...provider.reads].filter((read) => !postReads.has(read));

      expect(setup.queries.map(({ kind }) => kind).toSorted()).toEqual(reads.toSorted());
    });
  });

  describe.each(setup.queries)(`${name}, successful $kind`, (query) =>
    answeringCases(query, setup),
  );

  describe.each(setup.queries.filter(isTimeline))(`${name}, successful $kind pages`, (query) =>
    timelineCases(query, setup),
  );

  describe.each(setup.queries.filter(isSearch))(`${name}, successful $kind pages`, (query) =>
    searchCases(query, setup),
  );

  describe(`${name}, with an upstream that does not answer`, () => {
    it.each(setup.elsewhere)('does not cover $kind elsewhere', async (query) => {
      await rig(setup, async (provider) => expect(provider.covers(query)).toBe(false));
    });

    it.each(setup.queries.filter(isOfAccount))(
      'reports for $kind that the account is missing',
      (query) =>
        withProvider(setup.create, { handler: setup.absent }, async ({ provider, upstream }) => {
          const account = setup.absentAccount ?? query.account;
          const failure = await failureOf(askProvider(provider, { ...query, account }));

          expect(['missing', 'ambiguous']).toContain(failure.kind);
          expectTellable(failure, upstream);
        }),
    );
  });
}

const postReads: ReadonlySet<string> = new Set(['post', 'thread', 'replies']);

type AccountQuery = Extract<ListQuery, { readonly account: AccountReference }>;

function isOfAccount(query: ListQuery): query is AccountQuery {
  return 'account' in query;
}

function isTimeline(query: ListQuery): query is TimelineQuery {
  return query.kind === 'timeline';
}

function isSearch(query: ListQuery): query is SearchQuery {
  return query.kind === 'search';
}

function rig<T>(setup: ListSetup, run: (provider: Provider) => Promise<T>): Promise<T> {
  return withProvider(setup.create, { handler: setup.healthy }, ({ provider }) => run(provider));
}

function answeringCases(query: ListQuery, setup: ListSetup): void {
  it('is covered', async () => {
    await rig(setup, async (provider) => expect(provider.covers(query)).not.toBe(false));
  });

  if (query.kind === 'profile') {
    it('returns a valid account', async () => {
      await rig(setup, async (provider) => expectSoundFound(await askProvider(provider, query)));
    });
    return;
  }

  it('returns valid rows on every page, and ends', async () => {
    await rig(setup, async (provider) => {
      expect((await walk(provider, query)).length).toBeGreaterThan(0);
    });
  });

  it.each([1, 100])('returns valid rows if %i are requested', async (count) => {
    await rig(setup, async (provider) => {
      expectSoundFound(await askProvider(provider, { ...query, count }));
    });
  });
}

function timelineCases(query: TimelineQuery, setup: ListSetup): void {
  it('returns nothing at or after the end time', async () => {
    await rig(setup, async (provider) => {
      const own = { ...query, withReposts: false };
      const untilSeconds = middleOf(await walkPosts(provider, own));

      const earlier = await walkPosts(provider, { ...own, untilSeconds });

      expect(earlier.length).toBeGreaterThan(0);
      for (const seconds of earlier) expect(seconds).toBeLessThan(untilSeconds);
    });
  });

  it('returns only what the account wrote without reposts and replies', async () => {
    await rig(setup, async (provider) => {
      const only = { ...query, withReplies: false, withReposts: false };

      const rows = await walk(provider, only);

      for (const row of rows.filter(isStatusRow)) {
        expect(row.reposted_by).toBeNull();
        expect(row.author.screen_name.toLowerCase()).toBe(query.account.handle.toLowerCase());
        const repliedTo = row.replying_to?.screen_name ?? query.account.handle;
        expect(repliedTo.toLowerCase()).toBe(query.account.handle.toLowerCase());
      }
    });
  });
}

function searchCases(query: SearchQuery, setup: ListSetup): void {
  it('returns nothing before the start time, or at or after the end time', async () => {
    await rig(setup, async (provider) => {
      const bound = middleOf(await walkPosts(provider, query));

      const later = await walkPosts(provider, { ...query, sinceSeconds: bound });
      const earlier = await walkPosts(provider, { ...query, untilSeconds: bound });

      expect(later.length).toBeGreaterThan(0);
      for (const seconds of later) expect(seconds).toBeGreaterThanOrEqual(bound);
      for (const seconds of earlier) expect(seconds).toBeLessThan(bound);
    });
  });

  it('returns only media of the kind of the feed', async () => {
    await rig(setup, async (provider) => {
      for (const feed of ['photos', 'videos'] as const) {
        const rows = await walk(provider, { ...query, feed });
        for (const row of rows.filter(isStatusRow)) expect(row.media[feed]).not.toEqual([]);
      }
    });
  });
}

type WalkedQuery = Exclude<ListQuery, ProfileQuery>;
type Row = Post | Account;

const maxPages = 20;

/** Reads page by page to the end, checks each page, and returns all rows. */
async function walk(provider: Provider, query: WalkedQuery): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let { cursor } = query;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page: Page<Row> = await askProvider(provider, { ...query, cursor });
    expectSoundFound(page as Page<Post> | Page<Account>); // each kind of query has one kind of row
    expect(page.cursor).not.toBe('');
    rows.push(...page.items);
    if (page.cursor === null) return rows;
    expect(page.cursor).not.toBe(cursor);
    cursor = page.cursor;
  }
  throw new Error(`The list does not end within ${maxPages} pages.`);
}

async function walkPosts(provider: Provider, query: WalkedQuery): Promise<readonly number[]> {
  const rows = await walk(provider, query);
  return rows.filter(isStatusRow).map(({ created_timestamp }) => created_timestamp);
}

function middleOf(seconds: readonly number[]): number {
  const middle = seconds.toSorted((a, b) => a - b).at(Math.ceil((seconds.length - 1) / 2));
  if (middle === undefined || middle === Math.min(...seconds)) {
    throw new Error('The list needs posts of at least two times.');
  }
  return middle;
}

function isStatusRow(row: Row): row is Extract<Post, { type: 'status' }> {
  return 'type' in row && row.type === 'status';
}

/** Checks every profile and every page of any provider. */
export function expectSoundFound(found: ListFound): void {
  for (const warning of found.warnings) expect(warning).toMatch(/^[A-Z0-9][^\n]*\.$/);
  if ('account' in found) {
    expectSoundAccounts([found.account]);
    return;
  }
  const rows: readonly Row[] = found.items;
  expect(found.rows ?? rows.length).toBeGreaterThanOrEqual(rows.length);
  expectUnique(rows);
  expectSoundPosts(rows.filter((row) => 'type' in row));
  expectSoundAccounts(rows.filter((row): row is Account => !('type' in row)));
}

function expectSoundAccounts(accounts: readonly Account[]): void {
  expectReadable(accounts);
  for (const each of accounts) expect(accountSchema.parse(each)).toEqual(each);
}
