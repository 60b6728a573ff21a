import { describe, expect, it } from 'vitest';
import type {
  Answers,
  ConnectionsQuery,
  Query,
  QueryKind,
  TimelineQuery,
} from '../../src/model/queries.ts';
import type { ProviderError } from '../../src/normalize/provider-error.ts';
import { createBluesky } from '../../src/providers/bluesky/index.ts';
import {
  bskyActor,
  bskyDid,
  bskyImages,
  bskyLabel,
  bskyPost,
  bskyPrivateActor,
  bskyRepost,
} from '../support/bluesky-payloads.ts';
import { createFakeBluesky, type FakeBluesky } from '../support/fake-bluesky.ts';
import { answerHtml, answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { askProvider, expectTellable, failureOf, withProvider } from './provider-suite.ts';

const handle = 'mira.test';
const did = bskyDid(handle);
const account = { platform: 'bluesky', handle } as const;
const first = { cursor: null, count: 20 } as const;
const firstMs = Date.UTC(2026, 2, 4, 9, 12);
const minuteMs = 60_000;

function timeline(fields: Partial<TimelineQuery> = {}): TimelineQuery {
  const options = { withReplies: false, withReposts: false, untilSeconds: null };
  return { kind: 'timeline', account, ...options, ...first, ...fields };
}

function connections(fields: Partial<ConnectionsQuery> = {}): ConnectionsQuery {
  return { kind: 'followers', account, ...first, ...fields };
}

/** Asks once, and returns the result with the parameters of each request, by their method. */
async function read<Kind extends QueryKind>(
  handler: FakeHandler,
  query: Answers[Kind]['query'] & { readonly kind: Kind },
) {
  const clock = createManualClock();
  return withProvider(createBluesky, { handler, clock }, async ({ provider, upstream }) => {
    const found = await askProvider<Kind>(provider, query);
    const asked = upstream.requests.map(({ url }) => {
      const { pathname, searchParams } = new URL(url, 'http://bsky.example');
      return { method: pathname.split('.').at(-1), ...Object.fromEntries(searchParams) };
    });
    return { found, asked };
  });
}

async function fail(handler: FakeHandler, query: Query): Promise<ProviderError> {
  const clock = createManualClock();
  return withProvider(createBluesky, { handler, clock }, async ({ provider, upstream }) => {
    const failure = await failureOf(askProvider(provider, query));
    expectTellable(failure, upstream);
    return failure;
  });
}

const serve =
  (body: unknown): FakeHandler =>
  (_, response) =>
    answerJson(response, body);

const idsOf = (rows: readonly { readonly id: string | null }[]) => rows.map(({ id }) => id);

describe('a timeline of Bluesky', () => {
  it('has only posts and threads of the account', async () => {
    const fake = createFakeBluesky();
    const root = fake.addPost(handle, { rkey: '3k1' });
    const other = fake.addPost('tove.test', { rkey: '3kx' });
    fake.addPost(handle, { rkey: '3k2', parent: root });
    fake.addPost(handle, { rkey: '3k3', parent: other });
    fake.repost(handle, other);

    const own = await read(fake.handler, timeline());
    const all = await read(fake.handler, timeline({ withReplies: true, withReposts: true }));

    expect(idsOf(own.found.items)).toEqual(['3k2', '3k1']);
    expect(idsOf(all.found.items)).toEqual(['3kx', '3k3', '3k2', '3k1']);
    expect(all.found.items[0]).toMatchObject({
      author: { screen_name: 'tove.test' },
      reposted_by: { screen_name: handle },
    });
    expect(all.found.items[1]).toMatchObject({ replying_to: { screen_name: 'tove.test' } });
    expect([own.asked, all.asked]).toEqual([
      [
        {
          method: 'getAuthorFeed',
          actor: handle,
          limit: '100',
          filter: 'posts_and_author_threads',
        },
      ],
      [{ method: 'getAuthorFeed', actor: handle, limit: '20', filter: 'posts_with_replies' }],
    ]);
  });

  it('has only posts with media, even if the server sends others', async () => {
    const embed = bskyImages('heron');
    const feed = [
      { post: bskyPost({ rkey: '3k2' }, { embed }) },
      { post: bskyPost({ rkey: '3k1' }) },
    ];

    const { found, asked } = await read(serve({ feed }), timeline({ onlyMedia: true }));

    expect(idsOf(found.items)).toEqual(['3k2']);
    expect(found.rows).toBe(2);
    expect(asked).toMatchObject([{ method: 'getAuthorFeed', filter: 'posts_with_media' }]);
  });

  it('omits replies to others, even if the server sends them', async () => {
    const post = bskyPost({
      rkey: '3k',
      parent: `at://${bskyDid('tove.test')}/app.bsky.feed.post/3kx`,
    });

    const { found } = await read(serve({ feed: [{ post }] }), timeline());

    expect(found).toMatchObject({ items: [], rows: 1, cursor: null });
  });

  it('omits a pinned post at the top, which occurs again at its place', async () => {
    const feed = [
      { post: bskyPost({ rkey: '3kold' }), reason: { $type: 'app.bsky.feed.defs#reasonPin' } },
      { post: bskyPost({ rkey: '3knew' }) },
    ];

    const { found } = await read(serve({ feed }), timeline());

    expect(idsOf(found.items)).toEqual(['3knew']);
  });

  it('omits posts that others hide from the public, with a warning', async () => {
    const fake = createFakeBluesky();
    fake.addAccount('shy.test', { isPrivate: true });
    fake.addPost(handle, { rkey: '3k1' });
    fake.repost(handle, fake.addPost('shy.test', { rkey: '3kx', text: 'Secret words' }));
    fake.addPost(handle, { rkey: '3k2' }).labels.push(bskyLabel('!hide', 'at://it'));

    const { found } = await read(fake.handler, timeline({ withReposts: true }));

    expect(idsOf(found.items)).toEqual(['3k1']);
    expect(found.rows).toBe(3);
    expect(found.warnings).toEqual([
      '1 post is missing, because its author asks not to be shown to people who are not signed in.',
      '1 post is missing, because Bluesky’s moderation hides it.',
    ]);
  });

  it('counts rows that cannot be read', async () => {
    const feed = [{ post: { uri: 'odd' } }, { post: bskyPost({ rkey: '3k' }) }, null];

    const { found } = await read(serve({ feed, cursor: 'next' }), timeline());

    expect(found).toMatchObject({ items: [{ id: '3k' }], rows: 3, cursor: 'next' });
    expect(found.warnings).toEqual([
      '2 posts are missing, because the source sent unreadable data for them.',
    ]);
  });

  it('continues after an empty page with a cursor, and ends without a cursor', async () => {
    const empty = await read(serve({ feed: [], cursor: 'next' }), timeline({ cursor: 'here' }));
    const same = await read(serve({ feed: [], cursor: 'here' }), timeline({ cursor: 'here' }));

    expect(empty.found).toMatchObject({ items: [], rows: 0, cursor: 'next' });
    expect(same.found.cursor).toBeNull();
  });

  describe('with an end time', () => {
    const untilSeconds = firstMs / 1000 + 30 * 60;

    function createLong(): FakeBluesky {
      const fake = createFakeBluesky();
      fake.addPosts(handle, 300, firstMs);
      return fake;
    }

    it('begins there with a made-up cursor', async () => {
      const { found, asked } = await read(createLong().handler, timeline({ untilSeconds }));

      expect(found.items).toHaveLength(30);
      expect(found.items[0]).toMatchObject({ created_timestamp: untilSeconds - 60 });
      expect(asked.map((each) => ('cursor' in each ? each.cursor : ''))).toEqual([
        '2026-03-04T09:42:00.000Z',
      ]);
    });

    it.each([
      ['refused', (fake: FakeBluesky) => (fake.habits.refusesMadeUpCursors = true)],
      ['not there yet', () => {}],
    ])('reads the plain first page if the cursor is %s', async (title, prepare) => {
      const fake = createLong();
      prepare(fake);
      const handler: FakeHandler = (request, response) => {
        const isIgnored = title === 'not there yet';
        request.url = isIgnored ? request.url?.replace(/&cursor=[^&]*/, '') : request.url;
        fake.handler(request, response);
      };

      const { found, asked } = await read(handler, timeline({ untilSeconds }));

      expect(found).toMatchObject({ items: [], rows: 100 });
      expect(found.cursor).not.toBeNull();
      expect(asked).toHaveLength(2);
    });

    it('compares the time of a repost', async () => {
      const by = bskyActor(handle);
      const rows = [5, -5].map((minutes) => {
        const post = bskyPost({ handle: 'tove.test', rkey: `3k${minutes + 5}`, ms: 0 });
        return { post, reason: bskyRepost(by, untilSeconds * 1000 + minutes * minuteMs) };
      });

      const { found } = await read(
        serve({ feed: rows }),
        timeline({ untilSeconds, withReposts: true }),
      );

      expect(idsOf(found.items)).toEqual(['3k0']);
    });
  });

  it.each(['suspended', 'deactivated', 'deleted'] as const)(
    'reports the reason for an account that is %s',
    async (state) => {
      const fake = createFakeBluesky();
      fake.addAccount(handle).state = state;

      const failure = await fail(fake.handler, timeline());

      expect(failure.kind).toBe('missing');
      expect(failure.message).toContain(state === 'deleted' ? 'no such account' : state);
    },
  );

  it('is empty for an account without posts, and refused for an empty one that is suspended', async () => {
    const quiet = createFakeBluesky();
    quiet.addAccount(handle);
    const gone: FakeHandler = (request, response) => {
      if (request.url?.includes('getAuthorFeed')) answerJson(response, { feed: [] });
      else answerJson(response, { error: 'AccountTakedown', message: '' }, { status: 400 });
    };

    const { found } = await read(quiet.handler, timeline());

    expect(found).toEqual({ items: [], cursor: null, rows: 0, warnings: [] });
    expect(await fail(gone, timeline())).toMatchObject({ kind: 'missing' });
  });

  it('does not take an outage of the second request for absence', async () => {
    const handler: FakeHandler = (request, response) => {
      if (request.url?.includes('getAuthorFeed')) answerJson(response, { feed: [] });
      else answerHtml(response, { status: 500 });
    };

    expect((await read(handler, timeline())).found.items).toEqual([]);
  });

  it('keeps reading the account that it began with', async () => {
    const fake = createFakeBluesky();
    fake.addPosts(handle, 150);
    await withProvider(createBluesky, { handler: fake.handler }, async ({ provider, upstream }) => {
      const { cursor } = await askProvider<'timeline'>(provider, timeline());
      await askProvider(provider, timeline({ cursor }));

      const actors = upstream.requests.map(({ url }) =>
        new URL(url, 'http://bsky.example').searchParams.get('actor'),
      );
      expect(actors).toEqual([handle, did]);
    });
  });
});

describe('an account that is visible only after signing in', () => {
  const fake = createFakeBluesky();
  fake.addAccount(handle, { isPrivate: true });
  fake.addPosts(handle, 3);
  fake.follow('tove.test', handle);
  const empty = createFakeBluesky();
  empty.addAccount(handle, { isPrivate: true });

  it.each([
    ['profile', { kind: 'profile', account }, fake],
    ['timeline', timeline(), fake],
    ['empty timeline', timeline(), empty],
    ['followers', connections(), fake],
    ['following', connections({ kind: 'following' }), fake],
  ] as const)('is refused: its %s', async (_title, query, { handler }) => {
    expect(await fail(handler, query)).toMatchObject({
      kind: 'missing',
      message: 'This account asks not to be shown to people who are not signed in to Bluesky.',
    });
  });

  it('is omitted from lists of accounts, with a warning', async () => {
    const followers = [bskyPrivateActor('shy.test'), bskyActor('tove.test'), { did: 'odd' }];
    const body = { subject: bskyActor(handle), followers, actors: followers, cursor: 'next' };

    const list = await read(serve(body), connections());
    const users = await read(serve(body), {
      kind: 'searchUsers',
      platform: 'bluesky',
      text: 'a',
      ...first,
    });

    for (const { found } of [list, users]) {
      expect(found).toMatchObject({
        items: [{ screen_name: 'tove.test' }],
        rows: 3,
        cursor: 'next',
      });
      expect(found.warnings).toEqual([
        '1 account is missing, because it asks not to be shown to people who are not signed in.',
        '1 account is missing, because the source sent unreadable data for it.',
      ]);
    }
  });
});
