import { describe, expect, it } from 'vitest';
import type { Post } from '../../src/model/post.ts';
import type {
  Answers,
  Page,
  QueryKind,
  SearchQuery,
  TimelineQuery,
} from '../../src/model/queries.ts';
import { createFakeMastodon, type FakeMastodon } from '../support/fake-mastodon.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import {
  accountRow,
  homeHost,
  imageRow,
  type Row,
  snowflake,
  statusRow,
} from '../support/mastodon-payloads.ts';
import { createFakedMastodon } from '../support/mastodon-rig.ts';
import { serveHosts } from '../support/public-http.ts';
import { expectSoundFound } from './list-suite.ts';
import { askProvider, failureOf, type Rig, withProvider } from './provider-suite.ts';

const startMs = Date.UTC(2026, 0, 1);
const msAt = (minutes: number) => startMs + minutes * 60_000;
const idAt = (minutes: number) => snowflake(msAt(minutes));
const wren = accountRow('wren');
const account = { platform: 'mastodon', handle: `wren@${homeHost}` } as const;
const start = { cursor: null, count: 20 } as const;

function withServer<T>(handler: FakeHandler, run: (rig: Rig) => Promise<T>): Promise<T> {
  return withProvider(createFakedMastodon, { handler: serveHosts({ [homeHost]: handler }) }, run);
}

const fetchFrom = <Kind extends QueryKind>(
  handler: FakeHandler,
  query: Answers[Kind]['query'] & { readonly kind: Kind },
) => withServer(handler, ({ provider }) => askProvider<Kind>(provider, query));

function serverWithPosts(count: number, toFields: (at: number) => Row = () => ({})): FakeMastodon {
  const server = createFakeMastodon();
  server.addAccount(wren);
  for (let at = 0; at < count; at += 1) server.addStatus(statusRow(idAt(at), wren, toFields(at)));
  return server;
}

const timeline = (fields: Partial<TimelineQuery> = {}): TimelineQuery => ({
  kind: 'timeline',
  account,
  withReplies: true,
  withReposts: true,
  untilSeconds: null,
  ...start,
  ...fields,
});

async function walk(
  { provider }: Rig,
  query: TimelineQuery | SearchQuery,
): Promise<readonly Post[]> {
  const posts: Post[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Post> = await askProvider(provider, { ...query, cursor });
    expectSoundFound(page);
    posts.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== null);
  return posts;
}

const idsOf = (posts: readonly { readonly id: string | null }[]) => posts.map(({ id }) => id);

describe('a timeline of Mastodon', () => {
  it('returns every post once, newest first, following the links of the server', async () => {
    const server = serverWithPosts(130);

    const posts = await withServer(server.handler, (rig) => walk(rig, timeline({ count: 100 })));

    expect(idsOf(posts)).toEqual(server.idsBy(wren));
  });

  it('requests only what is needed', async () => {
    const { handler } = serverWithPosts(3);

    const urls = await withServer(handler, async ({ provider, upstream }) => {
      await askProvider(provider, timeline({ count: 5 }));
      await askProvider(provider, timeline({ withReplies: false, withReposts: false, count: 50 }));
      return upstream.requests.map(({ url }) => url);
    });

    const path = `/${homeHost}/api/v1/accounts`;
    expect(urls).toEqual([
      `${path}/lookup?acct=wren`,
      `${path}/${wren.id}/statuses?limit=20`,
      `${path}/${wren.id}/statuses?limit=40&exclude_replies=true&exclude_reblogs=true`,
    ]);
  });

  it('has only posts with media, even if a server sends others', async () => {
    const server = serverWithPosts(9, (at) => ({
      media_attachments: at % 4 === 0 ? [imageRow('mud', {})] : [],
    }));

    const { posts, urls } = await withServer(server.handler, async (rig) => {
      const found = await walk(rig, timeline({ onlyMedia: true }));
      return { posts: found, urls: rig.upstream.requests.map(({ url }) => url) };
    });

    expect(idsOf(posts)).toEqual(server.idsBy(wren).filter((_, at) => (8 - at) % 4 === 0));
    expect(urls.at(-1)).toContain('&only_media=true');
  });

  it('begins at the end time without reading newer pages', async () => {
    const server = serverWithPosts(300);
    const untilSeconds = msAt(10) / 1000;

    const { posts, requests } = await withServer(server.handler, async (rig) => {
      const found = await walk(rig, timeline({ untilSeconds }));
      return { posts: found, requests: rig.upstream.requests.length };
    });

    expect(idsOf(posts)).toEqual(server.idsBy(wren).slice(-10));
    expect(requests).toBe(2);
  });

  it('accepts an empty page before the first post', async () => {
    const { handler } = serverWithPosts(30);

    const { posts, requests } = await withServer(handler, async (rig) => ({
      posts: await walk(rig, timeline({ untilSeconds: msAt(-5) / 1000 })),
      requests: rig.upstream.requests.length,
    }));

    expect([posts, requests]).toEqual([[], 3]);
  });

  it('reads pages up to the end time on servers whose ids contain no time', async () => {
    const server = createFakeMastodon();
    server.addAccount(wren);
    for (let at = 0; at < 50; at += 1) {
      const created_at = new Date(msAt(at)).toISOString();
      server.addStatus(statusRow(String(1000 + at), wren, { created_at }));
    }

    const posts = await withServer(server.handler, (rig) =>
      walk(rig, timeline({ untilSeconds: msAt(5) / 1000 })),
    );

    expect(idsOf(posts)).toEqual(['1004', '1003', '1002', '1001', '1000']);
  });

  it('places a boost at the time of the boost', async () => {
    const server = serverWithPosts(3);
    const old = statusRow(idAt(-9000), accountRow('kelp@kelp.example.net'));
    server.addStatus(statusRow(idAt(9), wren, { content: '', reblog: old }));

    const [first, ...rest] = await withServer(server.handler, (rig) => walk(rig, timeline()));
    const before = await withServer(server.handler, (rig) =>
      walk(rig, timeline({ untilSeconds: msAt(9) / 1000 })),
    );

    expect(first).toMatchObject({
      id: idAt(-9000),
      reposted_by: { screen_name: `wren@${homeHost}` },
    });
    expect(idsOf(before)).toEqual(idsOf(rest));
  });

  it('continues below the last post of a full page if a server sends no links', async () => {
    const server = serverWithPosts(45);
    const handler: FakeHandler = (request, response) => {
      const { writeHead } = response;
      response.writeHead = (status: number) =>
        writeHead.call(response, status, { 'content-type': 'application/json' });
      server.handler(request, response);
    };

    const posts = await withServer(handler, (rig) => walk(rig, timeline()));

    expect(idsOf(posts)).toEqual(server.idsBy(wren));
  });

  it('has a post that its author boosted once, at the time of the boost', async () => {
    const server = serverWithPosts(3);
    const own = statusRow(idAt(1), wren);
    server.addStatus(statusRow(idAt(9), wren, { content: '', reblog: own }));

    const posts = await withServer(server.handler, (rig) => walk(rig, timeline()));

    expect(idsOf(posts)).toEqual([idAt(1), idAt(2), idAt(0)]);
  });

  it('omits posts that the server attributes to another account', async () => {
    const server = serverWithPosts(2);
    const victim = { ...accountRow('vera@victim.example.net'), id: wren.id };
    server.addStatus(statusRow(idAt(5), victim));

    const page = await fetchFrom(server.handler, timeline());

    expect(idsOf(page.items)).toEqual([idAt(1), idAt(0)]);
    expect(page.warnings.join()).toContain('1 post is missing');
  });

  it('keeps boosts of two posts whose ids are the same on their servers', async () => {
    const server = serverWithPosts(0);
    const authors = ['kelp@kelp.example.net', 'moss@moss.example.net'].map((acct) =>
      accountRow(acct),
    );
    for (const [at, author] of authors.entries()) {
      const reblog = statusRow('77', author, { created_at: '2026-01-01T00:00:00.000Z' });
      server.addStatus(statusRow(idAt(at), wren, { content: '', reblog }));
    }

    const page = await fetchFrom(server.handler, timeline());

    expect(idsOf(page.items)).toEqual(['77', '77']);
    expect(page.warnings.join()).toContain('Posts from other servers');
  });

  it('continues after a page without visible posts', async () => {
    const server = serverWithPosts(25, (at) => (at >= 5 ? { visibility: 'private' } : {}));

    const posts = await withServer(server.handler, (rig) => walk(rig, timeline()));

    expect(posts).toHaveLength(5);
  });

  it('counts the rows that could not be read', async () => {
    const { handler } = serverWithPosts(3, (at) => (at === 1 ? { reblog: { id: 'broken' } } : {}));

    const page = await fetchFrom(handler, timeline());

    expect(page.items).toHaveLength(2);
    expect(page.rows).toBe(3);
    expect(page.warnings).toHaveLength(1);
  });

  it('is malformed if a server sends far more than was requested', async () => {
    const error = await withServer(
      ({ url = '' }, response) =>
        answerJson(response, url.includes('/lookup') ? wren : Array(5000).fill({})),
      ({ provider }) => failureOf(askProvider(provider, timeline())),
    );

    expect(error).toMatchObject({ kind: 'malformed', isProviderWide: false });
  });

  it('is missing if its account is suspended', async () => {
    const server = createFakeMastodon();
    server.addAccount(accountRow('wren', { suspended: true }));

    const failure = await failureOf(fetchFrom(server.handler, timeline()));

    expect(failure).toMatchObject({ kind: 'missing', message: 'This account is suspended.' });
  });

  it('looks up an account again if its list is gone', async () => {
    const server = serverWithPosts(3);
    let isGone = false;
    const handler: FakeHandler = (request, response) => {
      if (isGone) answerJson(response, { error: 'Record not found' }, { status: 404 });
      else server.handler(request, response);
    };

    const urls = await withServer(handler, async ({ provider, upstream }) => {
      await askProvider(provider, timeline());
      isGone = true;
      expect((await failureOf(askProvider(provider, timeline()))).kind).toBe('missing');
      isGone = false;
      await askProvider(provider, timeline());
      return upstream.requests.map(({ url }) => url.includes('/lookup'));
    });

    expect(urls).toEqual([true, false, false, true, false]);
  });
});

describe('a profile of Mastodon', () => {
  it('is malformed if the server sends an account of another server', async () => {
    const victim = accountRow('vera@victim.example.net');
    const error = await withServer(
      (_request, response) => answerJson(response, victim),
      ({ provider }) => failureOf(askProvider(provider, { kind: 'profile', account })),
    );

    expect(error).toMatchObject({ kind: 'malformed', isProviderWide: false });
  });

  const readProfile = async (fields: Row) => {
    const server = createFakeMastodon();
    server.addAccount(accountRow('wren', fields));
    const found = await fetchFrom(server.handler, { kind: 'profile', account });
    expectSoundFound(found);
    return found;
  };
  const field = (name: string, url: string, verified_at: string | null = null) => ({
    name,
    value: `<a href="${url}"><span class="invisible">https://</span><span class="">x</span></a>`,
    verified_at,
  });

  it('has its fields below its description, and a verified link as its website', async () => {
    const fields = [
      { name: 'Pronouns', value: 'she/her', verified_at: null },
      field('Code', 'https://code.example.org/'),
      field('Home', 'https://wren.example.org/', '2024-01-01T00:00:00.000+00:00'),
    ];

    const found = await readProfile({ note: '<p>Birds &amp; <b>tides</b></p>', fields });

    expect(found.account).toMatchObject({
      description:
        'Birds & tides\n\nPronouns: she/her\nCode: https://code.example.org/\nHome: https://wren.example.org/',
      website: { url: 'https://wren.example.org/', display_url: 'wren.example.org' },
    });
  });

  const lookupsIn = ({ upstream }: Rig) =>
    upstream.requests.filter(({ url }) => url.includes('/lookup')).length;
  const profile = { kind: 'profile', account } as const;

  it('is looked up once with its posts, and again for another request', async () => {
    await withServer(serverWithPosts(3).handler, async (rig) => {
      await Promise.all([
        askProvider(rig.provider, timeline()),
        askProvider(rig.provider, profile),
      ]);
      expect(lookupsIn(rig)).toBe(1);

      await askProvider(rig.provider, profile);
      expect(lookupsIn(rig)).toBe(2);
    });
  });

  it('is read for the other callers if the first one disconnects', async () => {
    await withServer(serverWithPosts(3).handler, async (rig) => {
      const leaving = new AbortController();
      const left = askProvider(rig.provider, profile, { signal: leaving.signal });
      const staying = [
        askProvider(rig.provider, timeline()),
        askProvider(rig.provider, timeline()),
        askProvider(rig.provider, profile),
      ];
      leaving.abort();

      expect((await failureOf(left)).kind).toBe('unavailable');
      await Promise.all(staying);
      // The abandoned request may have been sent.
      expect(lookupsIn(rig)).toBeLessThanOrEqual(2);
    });
  });

  it.each([
    [{ moved: { acct: 'wren@kelp.example.net', url: null } }, 'moved to @wren@kelp.example.net'],
    [{ moved: { acct: 'wren2', url: null } }, `moved to @wren2@${homeHost}`],
    [{ limited: true }, `The moderators of ${homeHost} limit this account`],
    [{ memorial: true }, 'memorial to its owner'],
    [{ bot: true }, 'marked as automated'],
  ])('warns about %j', async (fields, words) => {
    const { warnings } = await readProfile(fields);

    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(words);
  });

  it('has no warning for approved followers, an empty name or hidden counts', async () => {
    const { account: found, warnings } = await readProfile({
      locked: true,
      display_name: '',
      followers_count: -1,
      note: '',
    });

    expect(found).toMatchObject({ name: 'wren', protected: false, followers: null });
    expect([found.description, warnings]).toEqual([null, []]);
  });
});

describe('the followers of a Mastodon account', () => {
  const followers = { kind: 'followers', account, ...start } as const;

  it('are paged by cursors that only the links contain', async () => {
    const server = serverWithPosts(0);
    const names = Array.from({ length: 130 }, (_, at) => `otter${at}@kelp.example.net`);
    for (const name of names) server.follow(accountRow(name), wren);

    const handles = await withServer(server.handler, async ({ provider }) => {
      const first = await askProvider(provider, { ...followers, count: 100 });
      const second = await askProvider(provider, {
        ...followers,
        count: 100,
        cursor: first.cursor,
      });
      expect(second.cursor).toBeNull();
      return [...first.items, ...second.items].map(({ screen_name }) => screen_name);
    });

    expect(handles).toEqual(names.toReversed());
  });

  it('are hidden if their owner hides them, with a warning', async () => {
    const server = createFakeMastodon();
    const shy = accountRow('wren', { hide_collections: true });
    server.addAccount(shy);
    server.follow(accountRow('otter'), shy);

    const page = await fetchFrom(server.handler, followers);

    expect([page.items, page.warnings]).toEqual([
      [],
      ['The owner of this account hides this list.'],
    ]);
  });

  it('have handles in ASCII, which can be queried', async () => {
    const server = serverWithPosts(0);
    server.follow(accountRow('otter@bücher.example.net'), wren);

    const { items } = await fetchFrom(server.handler, followers);

    expect(items[0]?.screen_name).toBe('otter@xn--bcher-kva.example.net');
  });

  it.each(['wren＠victim.example.net', 'wren\u202e', '](javascript:x)', 'wren@[::1]'])(
    'exclude accounts with misleading handles: %j',
    async (acct) => {
      const rows = [accountRow('kelp@kelp.example.net'), { ...wren, acct }];
      const page = await withServer(
        ({ url = '' }, response) => answerJson(response, url.includes('/lookup') ? wren : rows),
        ({ provider }) => askProvider(provider, { kind: 'followers', account, ...start }),
      );

      expect([page.items.length, page.rows]).toEqual([1, 2]);
    },
  );

  it('exclude suspended accounts', async () => {
    const server = serverWithPosts(0);
    server.follow(accountRow('otter', { suspended: true }), wren);
    server.follow(accountRow('seal'), wren);

    const page = await fetchFrom(server.handler, followers);

    expect(page.items.map(({ screen_name }) => screen_name)).toEqual([`seal@${homeHost}`]);
    expect([page.rows, page.warnings]).toEqual([
      2,
      ['1 account is missing, because the server has suspended it.'],
    ]);
  });
});

describe('an account search of Mastodon', () => {
  const find = (hosts: Readonly<Record<string, FakeHandler>>, text: string) =>
    withProvider(createFakedMastodon, { handler: serveHosts(hosts) }, ({ provider }) =>
      askProvider(provider, { kind: 'searchUsers', platform: 'mastodon', text, ...start }),
    );
  const server = serverWithPosts(0);
  server.addAccount(accountRow('wrenna@kelp.example.net'));
  const far = createFakeMastodon('otter.example.net');
  far.addAccount(accountRow('seal', { url: 'https://otter.example.net/@seal' }));
  const hosts = { [homeHost]: server.handler, 'otter.example.net': far.handler };

  it.each([
    ['wren', [`wren@${homeHost}`, 'wrenna@kelp.example.net']],
    ['nobody', []],
    ['@seal@otter.example.net', ['seal@otter.example.net']],
    [`Wren@${homeHost}`, [`wren@${homeHost}`]],
    ['nobody@otter.example.net', []],
    ['nobody@gone.example.net', []],
  ])('finds by %j', async (text, handles) => {
    const page = await find(hosts, text);

    expectSoundFound(page);
    expect(page.items.map(({ screen_name }) => screen_name)).toEqual(handles);
    expect(page.warnings[0]).toContain(`accounts stored on ${homeHost}`);
  });

  it('does not take a missing result of the named server for an absence', async () => {
    const gone = await find(hosts, 'nobody@gone.example.net');
    const absent = await find(hosts, 'nobody@otter.example.net');

    expect(gone.warnings).toContain(
      'The server of @nobody@gone.example.net did not answer, so this account may be missing.',
    );
    expect(absent.warnings).toHaveLength(1);
  });
});

describe('a search of Mastodon', () => {
  const tag = (name: string) => ({ name, url: `https://${homeHost}/tags/${name}` });
  const search = (text: string, fields: Partial<SearchQuery> = {}): SearchQuery => ({
    kind: 'search',
    platform: 'mastodon',
    text,
    feed: 'latest',
    sinceSeconds: null,
    untilSeconds: null,
    ...start,
    ...fields,
  });
  const server = serverWithPosts(60, (at) => ({
    tags: [
      tag('tides'),
      ...(at % 2 === 0 ? [tag('Birds')] : []),
      ...(at % 3 === 0 ? [tag('boats')] : []),
    ],
    media_attachments: at % 4 === 0 ? [imageRow('mud', at % 8 === 0 ? {} : { type: 'video' })] : [],
  }));
  const find = (query: SearchQuery) => withServer(server.handler, (rig) => walk(rig, query));

  it.each([
    ['#tides', 60],
    ['  #TIDES ', 60],
    ['＃tides', 60],
    ['#tides #birds', 30],
    ['#tides #birds #boats', 10],
    ['#tides -#birds', 30],
    ['#tides -#birds -#boats', 20],
    ['#nothing', 0],
  ])('finds by %j %i posts', async (text, count) => {
    expect(await find(search(text))).toHaveLength(count);
  });

  it('respects the time range', async () => {
    const times = { sinceSeconds: msAt(10) / 1000, untilSeconds: msAt(13) / 1000 };

    const found = await withServer(server.handler, async (rig) => ({
      posts: await walk(rig, search('#tides', times)),
      requests: rig.upstream.requests.length,
    }));

    expect(idsOf(found.posts)).toEqual([idAt(12), idAt(11), idAt(10)]);
    expect(found.requests).toBeLessThanOrEqual(2);
  });

  it('finds media by their type', async () => {
    expect(await find(search('#tides', { feed: 'photos' }))).toHaveLength(8);
    expect(await find(search('#tides', { feed: 'videos' }))).toHaveLength(7);
  });

  it.each([
    ['latest', 1],
    ['top', 2],
    ['photos', 2],
  ] as const)(
    'warns with feed=%s about the limits of a search without a login',
    async (feed, count) => {
      const page = await fetchFrom(server.handler, search('#tides', { feed }));

      expect(page.warnings).toHaveLength(count);
      expect(page.warnings[0]).toContain('Mastodon has no search for words in posts');
      expect(page.warnings[0]).toContain(homeHost);
    },
  );

  it.each([
    'tides',
    '#tides low',
    'from:wren #tides',
    '#',
    '##tides',
    '#low-tide',
    '-#tides',
    '#a/../b',
    '"#tides"',
    '#1 #2 #3 #4 #5 #6',
    '#1 -#2 -#3 -#4 -#5 -#6',
  ])('refuses %j without a request', async (text) => {
    await withServer(server.handler, async ({ provider, upstream }) => {
      const failure = await failureOf(askProvider(provider, search(text)));

      expect(failure.kind).toBe('rejected');
      expect(failure.message).toMatch(/hashtag/);
      expect(upstream.requests).toEqual([]);
    });
  });

  it('is unavailable if the server does not offer it', async () => {
    const closed: FakeHandler = (_, response) =>
      answerJson(
        response,
        { error: 'This method requires an authenticated user' },
        { status: 422 },
      );

    const failure = await failureOf(fetchFrom(closed, search('#tides')));

    expect([failure.kind, failure.isProviderWide]).toEqual(['unavailable', false]);
  });
});
