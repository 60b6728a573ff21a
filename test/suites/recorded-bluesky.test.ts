import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { Query } from '../../src/model/queries.ts';
import { feedFormats } from '../../src/model/results.ts';
import { parseRecordUri } from '../../src/normalize/bluesky/addresses.ts';
import { shapePost } from '../../src/normalize/bluesky/normalize.ts';
import { parseFeedRow } from '../../src/normalize/bluesky/wire.ts';
import type { ProviderErrorKind } from '../../src/normalize/provider-error.ts';
import { toAccounts } from '../../src/providers/bluesky/accounts.ts';
import { createBluesky } from '../../src/providers/bluesky/index.ts';
import { parseRows } from '../../src/providers/rows.ts';
import { bskyProfile } from '../support/bluesky-payloads.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { checkIfFeed } from '../support/feeds.ts';
import {
  answerFixture,
  fixturesFolder,
  fixturesPresent,
  listFixtures,
  readFixture,
} from '../support/fixtures.ts';
import { listen, upstream } from '../support/listen.ts';
import { expectBounded } from '../support/text-bound.ts';
import { expectSoundFound } from './list-suite.ts';
import {
  askProvider,
  expectSound,
  expectSoundPosts,
  expectTellable,
  failureOf,
  postsOf,
  withProvider,
} from './provider-suite.ts';

/** Recorded posts, with the number of posts of their reads, including placeholders. */
const posts: Readonly<Record<string, number>> = {
  'bluesky/recorded/get-post-thread-root.json': 4,
  'bluesky/synthetic/conversation-thread.json': 6,
  'bluesky/synthetic/thread-gallery.json': 1,
  'bluesky/synthetic/thread-quote-notfound.json': 1,
  'bluesky/synthetic/thread-single.json': 1,
};

/** Recorded profiles, with their handles. */
const profiles: Readonly<Record<string, string>> = {
  'bluesky/recorded/get-profile-custom-domain.json': 'favstats.eu',
  'bluesky/recorded/get-profile-pinned.json': 'jbgruber.bsky.social',
  'bluesky/synthetic/profile-detail.json': 'test.bsky.social',
};

/** Recorded lists, with the numbers of items and of rows left out. */
const lists: Readonly<Record<string, { readonly items: number; readonly leftOut?: number }>> = {
  'bluesky/recorded/get-author-feed.json': { items: 23, leftOut: 2 },
  'bluesky/recorded/search-actors.json': { items: 3 },
  'bluesky/recorded/search-posts-filters-no-cursor.json': { items: 1 },
  'bluesky/recorded/search-posts-page.json': { items: 99, leftOut: 1 },
  'bluesky/synthetic/author-feed.json': { items: 2 },
  'bluesky/synthetic/get-followers.json': { items: 2 },
  'bluesky/synthetic/search-posts.json': { items: 1 },
};

/** Other recordings, with the expected kind of failure. */
const failures: Readonly<Record<string, ProviderErrorKind>> = {
  'bluesky/errors/followers-unknown-actor.json': 'missing',
  'bluesky/errors/profile-deactivated.json': 'missing',
  'bluesky/errors/profile-not-found.json': 'missing',
  'bluesky/errors/profile-taken-down.json': 'missing',
  'bluesky/errors/rate-limited.json': 'throttled',
  'bluesky/errors/resolve-handle-unknown.json': 'missing',
  'bluesky/errors/search-cursor-403.json': 'unavailable',
  'bluesky/errors/thread-not-found.json': 'missing',
};

/** Recordings that no read requests, but which contain posts and accounts. */
const beside = {
  feed: 'bluesky/recorded/get-list-feed-video-and-record-with-media.json',
  reposters: 'bluesky/recorded/get-reposted-by.json',
  profiles: 'bluesky/synthetic/followers-profiles-batch.json',
  likes: 'bluesky/synthetic/get-likes.json',
  did: 'bluesky/recorded/resolve-handle.json',
  topics: 'bluesky/synthetic/get-trending-topics.json',
} as const;

const first = { cursor: null, count: 100 } as const;
const anyTime = { sinceSeconds: null, untilSeconds: null } as const;

function bodyOf(name: string): Readonly<Record<string, unknown>> {
  // Every recording that is read here is a JSON object.
  return readFixture(name).response.body as Readonly<Record<string, unknown>>;
}

function parametersOf(name: string): URLSearchParams {
  return new URL(readFixture(name).request.url).searchParams;
}

function queryOf(name: string): Query {
  const { pathname, searchParams } = new URL(readFixture(name).request.url);
  const handle = searchParams.get('actor') ?? 'nobody.invalid';
  const account = { platform: 'bluesky', handle } as const;
  const options = { withReplies: true, withReposts: true, untilSeconds: null };
  switch (pathname.split('.').at(-1)) {
    case 'getPostThread': {
      const { did = '', rkey = '' } = parseRecordUri(searchParams.get('uri') ?? '') ?? {};
      const post = { platform: 'bluesky', handle: did, id: rkey } as const;
      return { kind: 'post', post, thread: true, replies: 'top' };
    }
    case 'getAuthorFeed':
      return { kind: 'timeline', account, ...options, ...first };
    case 'getFollowers':
      return { kind: 'followers', account, ...first };
    case 'searchPosts':
      return {
        kind: 'search',
        platform: 'bluesky',
        text: 'a',
        feed: 'latest',
        ...anyTime,
        ...first,
      };
    case 'searchActors':
      return { kind: 'searchUsers', platform: 'bluesky', text: 'a', ...first };
    default:
      return { kind: 'profile', account };
  }
}

function serve(name: string): FakeHandler {
  return (_, response) => answerFixture(response, readFixture(name));
}

const place = `of Bluesky in ${fixturesFolder}`;

describe.skipIf(!fixturesPresent)(`the recordings ${place}`, () => {
  it('are all listed', () => {
    const known = [posts, profiles, lists, failures].flatMap((table) => Object.keys(table));

    expect([...known, ...Object.values(beside)].toSorted()).toEqual(listFixtures('bluesky'));
  });

  it.each(Object.entries(posts))('have a thread: %s', async (name, count) => {
    await withProvider(createBluesky, { handler: serve(name) }, async ({ provider }) => {
      const query = queryOf(name);
      if (query.kind !== 'post') throw new Error('The recording is a thread.');
      const found = await askProvider<'post'>(provider, query);

      expectSound(found);
      expect(found.post).toMatchObject({ type: 'status', id: query.post.id });
      expect(postsOf(found)).toHaveLength(count);
      expect(found.warnings).toEqual([]);
    });
  });

  it.each(Object.entries(profiles))('have a profile: %s', async (name, screen_name) => {
    await withProvider(createBluesky, { handler: serve(name) }, async ({ provider }) => {
      const found = await askProvider(provider, queryOf(name));

      expect(found).toMatchObject({ account: { screen_name, platform: 'bluesky' }, warnings: [] });
    });
  });

  it.each(Object.entries(lists))('have a page: %s', async (name, { items, leftOut = 0 }) => {
    await withProvider(createBluesky, { handler: serve(name) }, async ({ provider }) => {
      const found = await askProvider(provider, queryOf(name));

      if (!('items' in found)) throw new Error('The recording is a list.');
      expectSoundFound(found);
      expect(found.items).toHaveLength(items);
      expect(found.warnings.map((warning) => Number.parseInt(warning, 10))).toEqual(
        leftOut === 0 ? [] : [leftOut],
      );
    });
  });

  it.each(Object.entries(failures))('fail: %s is %s', async (name, kind) => {
    await withProvider(createBluesky, { handler: serve(name) }, async (rig) => {
      const failure = await failureOf(askProvider(rig.provider, queryOf(name)));

      expect(failure.kind).toBe(kind);
      expectTellable(failure, rig.upstream);
    });
  });

  it('have posts and accounts in answers that no read requests', async () => {
    const nowMs = Date.UTC(2026, 10, 21);
    const rows = await parseRows(bodyOf(beside.feed).feed, parseFeedRow);
    const found = (rows?.rows ?? []).map(({ post }) =>
      shapePost(post, { nowMs, parentAuthor: null }),
    );
    const likes = bodyOf(beside.likes).likes as readonly { readonly actor: unknown }[];
    const lists = [
      bodyOf(beside.reposters).repostedBy,
      bodyOf(beside.profiles).profiles,
      likes.map(({ actor }) => actor),
    ];
    const accounts = await Promise.all(lists.map((list) => toAccounts(list, nowMs)));

    expectSoundPosts(found);
    expect([rows?.unreadable, found.length > 20]).toEqual([0, true]);
    expect(found.some((post) => post.type === 'status' && post.media.videos.length > 0)).toBe(true);
    for (const page of accounts) expectSoundFound({ ...page, cursor: null });
    expect(accounts.map(({ warnings }) => warnings.length)).toEqual([1, 0, 0]);
    expect(bodyOf(beside.did).did).toMatch(/^did:plc:/);
  });
});

async function setUp(name: string) {
  const own = new URL(readFixture(name).request.url).pathname;
  const fake = await upstream((request, response) => {
    const asked = new URL(request.url ?? '/', 'http://bsky.example');
    const isProfile = asked.pathname.endsWith('.getProfile');
    const handle = asked.searchParams.get('actor') ?? '';
    if (asked.pathname === own) serve(name)(request, response);
    else if (isProfile && !handle.startsWith('did:')) answerJson(response, bskyProfile(handle));
    else answerJson(response, {}, { status: 500 });
  });
  const env = { PERCH_BREAKER_FAILURES: '1000', PERCH_BLUESKY_URL: fake.url };
  const { app } = await listen(env);
  return async (paths: readonly string[]) => {
    const replies: LightMyRequestResponse[] = [];
    for (const path of paths) {
      for (const full of [path, `${path}&full=true&userinfo=all`]) {
        replies.push(await app.request(full));
      }
      if (replies.at(-1)?.statusCode === 200) await expectBounded(app, path);
    }
    for (const reply of replies) {
      expect(reply.body).not.toMatch(/\bundefined\b|\[object |\bNaN\b|\bInfinity\b/);
      checkIfFeed(reply);
    }
    return replies.map(({ statusCode }) => statusCode);
  };
}

const accountFormats = ['markdown', 'json'];
const listFormats = [...accountFormats, ...feedFormats];

/** Returns the formats of a list. Lists of accounts have no feeds. */
const formatsOf = (kind: Query['kind']) =>
  kind === 'timeline' || kind === 'search' ? listFormats : accountFormats;

function pathsOf(name: string): readonly string[] {
  const query = queryOf(name);
  switch (query.kind) {
    case 'post': {
      const { thread } = bodyOf(name) as { thread?: { post: { author: { handle: string } } } };
      const handle = thread?.post.author.handle ?? 'nobody.invalid';
      const url = `https://bsky.app/profile/${handle}/post/${query.post.id}`;
      const formats = [...listFormats, 'obsidian'];
      return [
        ...formats.map((format) => `/api/v1/posts?url=${url}&format=${format}`),
        `/api/v1/oembed?url=${url}`,
      ];
    }
    case 'profile':
    case 'timeline':
    case 'followers': {
      const { handle } = query.account;
      const list = query.kind === 'followers' ? '/followers' : '';
      const options = query.kind === 'profile' ? '&include_posts=false' : '';
      return formatsOf(query.kind).map(
        (f) => `/api/v1/profiles/${handle}${list}?format=${f}${options}`,
      );
    }
    default: {
      const feed = query.kind === 'searchUsers' ? 'users' : 'latest';
      const search = `/search?platform=bluesky&q=${parametersOf(name).get('q')}&feed=${feed}`;
      return formatsOf(query.kind).map((format) => `${search}&format=${format}`);
    }
  }
}

const statuses: Readonly<Record<string, number>> = {
  // A profile whose posts cannot be read is shown without them.
  'bluesky/errors/rate-limited.json': 200,
  // No other provider can search Bluesky.
  'bluesky/errors/search-cursor-403.json': 503,
  // No read only resolves a handle.
  'bluesky/errors/resolve-handle-unknown.json': 200,
};

describe.skipIf(!fixturesPresent)(`over HTTP the recordings ${place}`, () => {
  const found = [posts, profiles, lists].flatMap((table) => Object.keys(table));
  const all = [
    ...found.map((name) => [name, 200] as const),
    ...Object.keys(failures).map((name) => [name, statuses[name] ?? 404] as const),
  ];

  it.each(all)('have the right answer in every format: %s, %i', async (name, status) => {
    const read = await setUp(name);

    const answered = await read(pathsOf(name));

    expect(new Set(answered)).toEqual(new Set([status]));
  });
});
