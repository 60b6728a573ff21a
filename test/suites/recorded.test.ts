import { describe, expect, it } from 'vitest';
import type { PostFound, PostQuery, TimelineQuery } from '../../src/model/queries.ts';
import type { ProviderErrorKind } from '../../src/platforms/provider-error.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import { createSyndication } from '../../src/providers/syndication/index.ts';
import type { FakeHandler } from '../support/fake-upstream.ts';
import {
  answerFixture,
  fixturesFolder,
  fixturesPresent,
  listFixtures,
  readFixture,
  serveFixtures,
} from '../support/fixtures.ts';
import { expectSoundFound, type ListFound, type ListQuery } from './list-suite.ts';
import {
  askProvider,
  expectSound,
  expectTellable,
  failureOf,
  type ProviderSetup,
  withProvider,
} from './provider-suite.ts';
import { fxTwitterFolders, idOf } from './recordings.ts';

/** Expected result of each recording that is not a post. All others are posts. */
const failures: Readonly<Record<string, ProviderErrorKind>> = {
  'fxtwitter/conversation/991503-focal-tombstone.json': 'missing',
  'fxtwitter/errors/301-trailing-slash.json': 'malformed',
  'fxtwitter/errors/401-missing-user-agent.json': 'malformed',
  'fxtwitter/errors/404-unknown-route.json': 'malformed',
  'fxtwitter/errors/500-html-crash.json': 'unavailable',
  'fxtwitter/errors/conversation-404.json': 'ambiguous',
  'fxtwitter/errors/status-400-bad-id.json': 'ambiguous',
  'fxtwitter/errors/status-401-protected.json': 'missing',
  'fxtwitter/errors/status-404-deleted-tombstone.json': 'missing',
  'fxtwitter/errors/status-404.json': 'ambiguous',
  'fxtwitter/errors/upstream-down/status-404.json': 'ambiguous',
  'fxtwitter/status/991500-focal-suspended-tombstone.json': 'missing',
  'fxtwitter/v1/status-401-protected.json': 'missing',
  'fxtwitter/v1/status-bad-id-html.json': 'malformed',
  'fxtwitter/v1/status-not-found.json': 'ambiguous',
  'syndication/empty-object.json': 'unavailable',
  'syndication/error-400.json': 'ambiguous',
  'syndication/error-404-html.json': 'ambiguous',
  'syndication/error-429-text.json': 'throttled',
  'syndication/tombstone-bare.json': 'ambiguous',
  'syndication/tombstone-deleted.json': 'missing',
};

/** Expected result of each recording that is not a profile or a list. All others are found. */
const listFailures: Readonly<Record<string, ProviderErrorKind>> = {
  'fxtwitter/errors/search-400-empty.json': 'rejected',
  'fxtwitter/errors/search-400-feed.json': 'rejected',
  'fxtwitter/errors/search-400-missing.json': 'rejected',
  'fxtwitter/errors/search-400-rejected-by-x.json': 'rejected',
  'fxtwitter/errors/search-400-too-long.json': 'rejected',
  'fxtwitter/errors/statuses-204-since.json': 'malformed',
  'fxtwitter/errors/statuses-400-count.json': 'malformed',
  'fxtwitter/errors/statuses-404-unknown-user.json': 'missing',
  'fxtwitter/errors/upstream-down/profile-404.json': 'ambiguous',
  'fxtwitter/errors/upstream-down/search-404.json': 'unavailable',
  'fxtwitter/errors/upstream-down/statuses-404.json': 'ambiguous',
  'fxtwitter/errors/upstream-down/statuses-by-id-500.json': 'unavailable',
  'fxtwitter/profile/not-found.json': 'missing',
  'fxtwitter/profile/suspended.json': 'missing',
  'fxtwitter/v1/profile-not-found.json': 'missing',
};

/** Numbers of items in the recorded lists, and of rows that cannot be read. */
const listed: Readonly<Record<string, { readonly items: number; readonly unreadable?: number }>> = {
  'fxtwitter/errors/statuses-200-empty.json': { items: 0 },
  'fxtwitter/relations/followers-synthetic-small.json': { items: 1 },
  'fxtwitter/relations/xdevelopers-followers-page.json': { items: 69 },
  'fxtwitter/search/neo-page.json': { items: 9 },
  'fxtwitter/search/no-results.json': { items: 0 },
  'fxtwitter/statuses/xdevelopers-page.json': { items: 20 },
  'fxtwitter/statuses/xdevelopers-page-grouped.json': { items: 18, unreadable: 1 },
};

/** Recorded profiles, with their handles. */
const profiles: Readonly<Record<string, string>> = {
  'fxtwitter/profile/x-with-about-account.json': 'X',
  'fxtwitter/profile/x.json': 'X',
  'fxtwitter/profile/xdevelopers.json': 'XDevelopers',
  'fxtwitter/v1/profile-x.json': 'X',
};

/** Recordings that no provider requests. */
const unasked: readonly string[] = ['syndication/oembed-publish-x-com.json'];

/** Recordings of reads other than posts. */
const otherReads = /\/(?:profile-|oembed-|search-|statuses-)/;

const wanted = {
  status: { thread: false, replies: 'off' },
  thread: { thread: true, replies: 'off' },
  conversation: { thread: false, replies: 'top' },
} as const;

const names = [
  'fxtwitter/status',
  'fxtwitter/thread',
  'fxtwitter/conversation',
  'fxtwitter/v1',
  'fxtwitter/errors',
  'syndication',
]
  .flatMap(listFixtures)
  .filter((name) => !otherReads.test(name));
const posts = names.filter((name) => failures[name] === undefined);

function wantedBy(name: string) {
  if (name.includes('conversation')) return wanted.conversation;
  return name.startsWith('fxtwitter/thread/') ? wanted.thread : wanted.status;
}

function createFor(name: string): ProviderSetup['create'] {
  return name.startsWith('fxtwitter/') ? createFxTwitter : createSyndication;
}

async function askRecorded<T>(name: string, use: (asked: Promise<PostFound>) => Promise<T>) {
  const handler: FakeHandler = (_, response) => answerFixture(response, readFixture(name));
  const query: PostQuery = {
    kind: 'post',
    post: { platform: 'x', handle: null, id: idOf(name) },
    ...wantedBy(name),
  };
  return withProvider(createFor(name), { handler }, ({ ask }) => use(ask(query)));
}

async function askFxTwitter(id: string): Promise<PostFound> {
  const handler = serveFixtures(...fxTwitterFolders);
  const post = { platform: 'x', handle: null, id } as const;
  const found = await withProvider(createFxTwitter, { handler }, ({ ask }) =>
    ask({ kind: 'post', post, thread: true, replies: 'top' }),
  );
  expectSound(found);
  return found;
}

const anyPage = { cursor: null, count: 20 } as const;

/** Returns the read that a recording of a profile or a list answers. */
function listQueryOf(name: string): ListQuery {
  const [, handle = ''] =
    /^(?:\/2\/profile)?\/([^/]+)/.exec(new URL(readFixture(name).request.url).pathname) ?? [];
  const account = { platform: 'x', handle } as const;
  if (/\/search/.test(name)) {
    const anyTime = { sinceSeconds: null, untilSeconds: null };
    return { kind: 'search', platform: 'x', text: 'neo', feed: 'latest', ...anyTime, ...anyPage };
  }
  if (/\/profile/.test(name)) return { kind: 'profile', account };
  if (name.includes('/relations/')) return { kind: 'followers', account, ...anyPage };
  return {
    kind: 'timeline',
    account,
    withReplies: true,
    withReposts: true,
    untilSeconds: null,
    ...anyPage,
  };
}

/** Answers to other requests while a recording is served: profiles, except in an outage of X. */
function besideOf(name: string): FakeHandler {
  return serveFixtures(
    name.includes('/upstream-down/') ? 'fxtwitter/errors/upstream-down' : 'fxtwitter/profile',
  );
}

/** Answers the first request with a recording, and the others with other recordings. */
function serveFirst(name: string): FakeHandler {
  const beside = besideOf(name);
  let isFirst = true;
  return (request, response) => {
    if (isFirst) answerFixture(response, readFixture(name));
    else beside(request, response);
    isFirst = false;
  };
}

async function findRecorded(name: string): Promise<ListFound> {
  const found = await withProvider(
    createFxTwitter,
    { handler: serveFirst(name) },
    ({ provider }): Promise<ListFound> => askProvider(provider, listQueryOf(name)),
  );
  expectSoundFound(found);
  return found;
}

describe.skipIf(!fixturesPresent)(`the recorded profiles and lists in ${fixturesFolder}`, () => {
  it('are all listed', () => {
    const known = [...names, ...unasked, listFailures, listed, profiles].flatMap((each) =>
      typeof each === 'string' ? [each] : Object.keys(each),
    );

    expect(known.toSorted()).toEqual(
      [...listFixtures('fxtwitter'), ...listFixtures('syndication')].toSorted(),
    );
  });

  it.each(Object.entries(profiles))('have a profile: %s', async (name, handle) => {
    const found = await findRecorded(name);

    expect(found).toMatchObject({ account: { screen_name: handle }, warnings: [] });
  });

  it.each(Object.entries(listed))('have a page: %s', async (name, { items, unreadable = 0 }) => {
    const found = await findRecorded(name);

    if ('account' in found) throw new Error('The recording is a list.');
    expect(found.items).toHaveLength(items);
    expect(found.warnings).toHaveLength(unreadable);
  });

  it.each(Object.entries(listFailures))('fail: %s is %s', async (name, kind) => {
    await withProvider(createFxTwitter, { handler: serveFirst(name) }, async (rig) => {
      const failure = await failureOf(askProvider(rig.provider, listQueryOf(name)));

      expect(failure.kind).toBe(kind);
      expectTellable(failure, rig.upstream);
    });
  });
});

describe.skipIf(!fixturesPresent)('the recorded timeline', () => {
  const name = 'fxtwitter/statuses/xdevelopers-page.json';

  async function read(fields: Partial<TimelineQuery>) {
    const query = listQueryOf(name);
    if (query.kind !== 'timeline') throw new Error('The recording is a timeline.');
    const handler: FakeHandler = (_, response) => answerFixture(response, readFixture(name));
    const { items } = await withProvider(createFxTwitter, { handler }, ({ provider }) =>
      askProvider<'timeline'>(provider, { ...query, ...fields }),
    );
    return items.map(({ id }) => id);
  }

  const own = [
    '2082640274845811115',
    '2082640276389249363',
    '2074882755905585583',
    '2072126677535346779',
  ];

  it('has four posts of its own', async () => {
    expect(await read({ withReposts: false })).toEqual(own);
    expect(await read({ withReposts: false, withReplies: false })).toEqual(own);
  });

  it('is cut at a time between its own posts', async () => {
    const untilSeconds = Date.UTC(2026, 6, 8) / 1000;

    const earlier = await read({ untilSeconds });

    expect(earlier).toEqual([
      '2072439358314131626',
      '2072435828102447211',
      '2072327843372257460',
      '2072126677535346779',
    ]);
  });
});

describe.skipIf(!fixturesPresent)(`the recordings in ${fixturesFolder}`, () => {
  it('are all listed, except posts', () => {
    expect(names).toEqual(expect.arrayContaining(Object.keys(failures)));
  });

  it.each(posts)('have a post: %s', async (name) => {
    await askRecorded(name, async (asked) => {
      const found = await asked;

      expectSound(found);
      expect(found.post.type).toBe('status');
    });
  });

  it.each(Object.entries(failures))('fail: %s is %s', async (name, kind) => {
    await askRecorded(name, async (asked) => {
      expect(await failureOf(asked)).toMatchObject({ kind });
    });
  });

  it('combine a thread with its conversation', async () => {
    const found = await askFxTwitter('1649191520250245121');

    expect(found).toMatchObject({ ancestors: [], missing: [], warnings: [] });
    expect(found.continuation).toHaveLength(3);
    expect(found.replies).toHaveLength(33);
    expect(found.replies[0]).toMatchObject({ author: { screen_name: 'MattEason' }, likes: 165 });
  });

  it('keep recommended posts of X out of the replies', async () => {
    const found = await askRecorded(
      'fxtwitter/conversation/1671753569412820992-unrelated-posts-in-replies.json',
      (asked) => asked,
    );

    expect(found.replies).toHaveLength(10);
    expect(found.replies.map(({ id }) => id)).not.toContain('1667220696295178240');
  });

  it.each([
    ['1649191520250245121-replies', 36, []],
    ['1671753569412820992-unrelated-posts-in-replies', 10, []],
    ['1682072224013099008-author-answers-replies', 10, []],
    ['20-no-replies', 0, [expect.stringMatching(/^X counts \d+ replies to this post/)]],
  ])('are a page of replies: %s', async (name, count, warnings) => {
    const recording = `fxtwitter/conversation/${name}.json`;
    const handler: FakeHandler = (_, response) => answerFixture(response, readFixture(recording));
    const post = { platform: 'x', handle: null, id: idOf(recording) } as const;

    const page = await withProvider(createFxTwitter, { handler }, ({ provider }) =>
      askProvider<'replies'>(provider, { ...anyPage, kind: 'replies', post, order: 'top' }),
    );

    expectSoundFound(page);
    expect(page.items).toHaveLength(count);
    expect(page.answered?.id).toBe(post.id);
    expect([page.cursor === null, page.warnings]).toEqual([count === 0, warnings]);
  });

  it('place the author’s answers after the replies that they answer', async () => {
    const found = await askRecorded(
      'fxtwitter/conversation/1682072224013099008-author-answers-replies.json',
      (asked) => asked,
    );

    const authors = found.replies.map((each) => each.author?.screen_name);
    expect(authors.filter((_, index) => index % 2 === 1)).toEqual(Array(5).fill('FortniteStatus'));
  });

  it('link every tag and URL of a long post', async () => {
    const { post } = await askRecorded(
      'fxtwitter/status/1682072224013099008-note-post.json',
      (asked) => asked,
    );

    if (post.type !== 'status') throw new Error('The recording is a post.');
    const points = [...post.text];
    expect(post.facets.map(({ start, end }) => points.slice(start, end).join(''))).toEqual([
      '#Fortnite',
      '@FortniteStatus',
      'http://fn.gg/support',
      'http://fn.gg/accounts',
      'https://trello.com/b/Bs7hgkma/fortnite-community-issues',
      'https://status.epicgames.com',
    ]);
  });

  it('link the leading mentions of replies', async () => {
    const { replies } = await askRecorded(
      'fxtwitter/conversation/1682072224013099008-author-answers-replies.json',
      (asked) => asked,
    );

    const starting = replies.flatMap((post) =>
      post.type === 'status' && post.text.startsWith('@') ? [post] : [],
    );
    expect(starting.length).toBeGreaterThan(0);
    for (const { facets } of starting)
      expect(facets[0]).toMatchObject({ type: 'mention', start: 0 });
  });

  it('locate the bold words of an article after emoji', async () => {
    const { post } = await askRecorded(
      'fxtwitter/status/2075503860689281453-article.json',
      (asked) => asked,
    );

    if (post.type !== 'status') throw new Error('The recording is a post.');
    const blocks = post.article?.blocks ?? [];
    const bold = blocks.flatMap((block) =>
      'styles' in block
        ? block.styles.map(({ start, end }) => [...block.text].slice(start, end).join(''))
        : [],
    );
    expect(bold).toEqual(expect.arrayContaining(['Messaging', 'Webhooks', 'agentskills.io']));
    expect(blocks.filter(({ type }) => type === 'markdown')).toHaveLength(15);
    expect(blocks.filter(({ type }) => type === 'divider')).toHaveLength(8);
  });
});
