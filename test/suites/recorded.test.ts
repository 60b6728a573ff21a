import { describe, expect, it } from 'vitest';
import type { Account } from '../../src/model/account.ts';
import type { Post, Status } from '../../src/model/post.ts';
import type { PostFound, PostQuery, TimelineQuery } from '../../src/model/queries.ts';
import { shapePost as shapeBluesky } from '../../src/normalize/bluesky/normalize.ts';
import { parsePost as parseBluesky } from '../../src/normalize/bluesky/wire.ts';
import { shapeAccount } from '../../src/normalize/mastodon/identity.ts';
import {
  createSurroundings,
  shapePost as shapeMastodon,
  shapePoll,
} from '../../src/normalize/mastodon/normalize.ts';
import { type PollPayload, parseAccount, parseStatus } from '../../src/normalize/mastodon/wire.ts';
import type { ProviderErrorKind } from '../../src/normalize/provider-error.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import { shapePost as shapeFxTwitter } from '../../src/providers/fxtwitter/normalize.ts';
import { parsePost as parseFxTwitter } from '../../src/providers/fxtwitter/wire.ts';
import { createSyndication } from '../../src/providers/syndication/index.ts';
import { shapePost as shapeSyndication } from '../../src/providers/syndication/normalize.ts';
import { parsePost as parseSyndication } from '../../src/providers/syndication/wire.ts';
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

type Row = Readonly<Record<string, unknown>>;

function findRows(
  folder: string,
  is: (value: Row) => boolean,
): readonly (readonly [string, Row])[] {
  const search = (value: unknown): readonly Row[] => {
    if (typeof value !== 'object' || value === null) return [];
    const below = Object.values(value).flatMap(search);
    return !Array.isArray(value) && is(value as Row) ? [value as Row, ...below] : below;
  };
  return listFixtures(folder).flatMap((name) =>
    search(readFixture(name).response.body).map((row) => [name, row] as const),
  );
}

const namesOf = (rows: readonly (readonly [string, Row])[]) => [
  ...new Set(rows.map(([name]) => name)),
];

function toStatus(post: Post | null): Status {
  if (post?.type !== 'status') throw new Error('The recording can be shown.');
  return post;
}

/** A server that has none of the recorded posts. */
const host = 'reader.example.org';
const home = { host, domain: host };
const readMastodon = (row: Row): Status => {
  const status = parseStatus(row);
  if (status === null) throw new Error('The recording is readable.');
  return toStatus(shapeMastodon(status, createSurroundings([status], home)));
};

describe.skipIf(!fixturesPresent)(`fields in some recordings (${fixturesFolder})`, () => {
  it('have the link cards of X', () => {
    const found = findRows('fxtwitter', ({ card }) => typeof card === 'object' && card !== null);

    expect(namesOf(found)).toEqual([
      'fxtwitter/conversation/1649191520250245121-replies.json',
      'fxtwitter/statuses/xdevelopers-page-grouped.json',
      'fxtwitter/statuses/xdevelopers-page.json',
      'fxtwitter/thread/1649191520250245121-author-thread.json',
    ]);
    for (const [, row] of found) {
      const row_card = row.card as Row & { readonly image?: Row };
      const { card } = toStatus(shapeFxTwitter(parseFxTwitter(row) ?? raise()));
      expect(card).toEqual({
        url: row_card.url,
        title: row_card.title,
        description: row_card.description ?? null,
        image_url: row_card.image?.url ?? null,
        provider_name: row_card.domain,
      });
    }
  });

  it('have the link card of syndication, with the target of its link', () => {
    const { body } = readFixture('syndication/tweet-link-card.json').response;

    expect(shapeSyndication(parseSyndication(body) ?? raise()).card).toMatchObject({
      url: expect.stringMatching(/^https:\/\/reddit\.com\/r\/technology\/comments\//),
      title: expect.stringContaining('From the technology community on Reddit'),
      description: 'Explore this post and more from the technology community',
      image_url: expect.stringMatching(/^https:\/\/pbs\.twimg\.com\/card_img\//),
      provider_name: 'reddit.com',
    });
  });

  it('have edits, and the site and author of linked pages', () => {
    const edited = findRows(
      'mastodon',
      (row) => 'content' in row && typeof row.edited_at === 'string',
    );
    const named = findRows('mastodon', ({ card }) => Boolean((card as Row | null)?.provider_name));
    const written = findRows('mastodon', ({ card }) => Boolean((card as Row | null)?.author_name));

    expect(edited.length).toBeGreaterThan(5);
    expect(named.length).toBeGreaterThan(10);
    for (const [, row] of edited) {
      const at = String(row.edited_at).replace(/\.\d+/, '');
      expect(readMastodon(row).edited_at).toBe(at);
    }
    for (const [, row] of named) {
      expect(readMastodon(row).card?.provider_name).toBe((row.card as Row).provider_name);
    }
    for (const [, row] of written) {
      expect(readMastodon(row).card?.author_name).toBe((row.card as Row).author_name);
    }
  });

  it('have the number of voters', () => {
    const { body } = readFixture('mastodon/poll/closed.json').response;

    // The schema of a poll is read with its post; here it reads the poll as it was sent.
    expect(shapePoll(body as PollPayload)).toMatchObject({ total_votes: 25, total_voters: 25 });
  });

  it('have links in profiles, with their target if it differs from the label', () => {
    const found = findRows('mastodon', (row) => 'note' in row && 'acct' in row);
    const accounts = found.map(([, row]) => shapeAccount(parseAccount(row) ?? raise(), home));
    const hrefs = found.flatMap(([, row]) => {
      const html = [row.note, ...(row.fields as readonly Row[]).map(({ value }) => value)].join('');
      // One profile has links within the URLs of links.
      const links = html.matchAll(/<a [^>]*href="(https?:[^"<%]+)"/g);
      return [...links].map(([, href = '']) => href.replaceAll('&amp;', '&'));
    });
    const kept = accounts.flatMap(linksOf);

    expect(kept.filter(({ label, url }) => label !== url).length).toBeGreaterThan(20);
    const urls = new Set(kept.map(({ url }) => url));
    expect(hrefs.filter((href) => !urls.has(href))).toEqual([]);
  });

  it('have servers that sent copies', () => {
    const found = findRows('mastodon', (row) => 'content' in row && 'account' in row);
    const isOther = ([, { account }]: readonly [string, Row]) =>
      String((account as Row).acct).includes('@');
    const others = found.filter(isOther);

    expect(others.length).toBeGreaterThan(50);
    for (const each of found) {
      const post = readMastodon(each[1]);
      const source = isOther(each)
        ? { host, url: expect.stringContaining(`https://${host}/@`) }
        : undefined;
      expect([post.copied_from, post.author.copied_from]).toEqual([source, source]);
    }
  });

  it('have quotes within quotes, and tags beside the text, on Bluesky', () => {
    const nowMs = Date.UTC(2026, 10, 21);
    const found = findRows('bluesky', (row) => 'author' in row && 'record' in row);
    const posts = found.flatMap(([, row]) => {
      const post = parseBluesky(row);
      return post === null ? [] : [shapeBluesky(post, { nowMs, parentAuthor: null })];
    });
    const statuses = posts.filter((post) => post.type === 'status');
    const deep = statuses.filter(({ quote }) => quote?.type === 'status' && quote.quote !== null);

    expect(deep.length).toBeGreaterThan(0);
    expect(statuses.filter(({ tags }) => tags !== undefined).length).toBeGreaterThan(0);
  });
});

function linksOf({ description, description_facets = [] }: Account) {
  const points = [...(description ?? '')];
  return description_facets
    .filter(({ url }) => url !== undefined)
    .map(({ start, end, url }) => ({ label: points.slice(start, end).join(''), url }));
}

function raise(): never {
  throw new Error('The recording is readable.');
}
