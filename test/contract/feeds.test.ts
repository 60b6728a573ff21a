import { describe, expect, it } from 'vitest';
import { feedFormats } from '../../src/model/results.ts';
import { feedMediaTypes } from '../../src/render/feeds/feeds.ts';
import { buildTestApp, shareTestApp, type TestClient } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createFakeList, fullPages } from '../support/fake-list.ts';
import { checkFeed, readWithParsers, textsAt } from '../support/feeds.ts';
import { walkList } from '../support/walk-list.ts';

const app = shareTestApp();
const profile = '/api/v1/profiles/ada.example';
const post = '/ada.example/status/1900000000000000001';
const base = 'http://localhost:8080';

/** Lists of posts: profile, search, replies, thread and history. */
const lists = [
  profile,
  '/ada.example',
  '/ada.example/media',
  '/api/v1/search?q=heron&platform=sample',
  '/api/v1/posts/1900000000000000001/replies?handle=ada.example',
  post,
  `${profile}/posts`,
];

const withFormat = (path: string, format: string) =>
  `${path}${path.includes('?') ? '&' : '?'}format=${format}`;

/** Returns the URLs of the links with a relation, relative to the server. */
const linksOf = (body: string, rel: string) =>
  textsAt(body, `/atom:feed/atom:link[@rel="${rel}"][contains(@type, "atom")]/@href`).map((url) =>
    url.slice(base.length),
  );

describe('a feed', () => {
  clause('read.feeds.formats').each(
    lists.flatMap((path) => feedFormats.map((format) => [path, format] as const)),
  )('is valid, and read by published parsers: %s as %s', async (path, format) => {
    const reply = await app.request(withFormat(path, format));

    expect(reply.headers['content-type']).toBe(feedMediaTypes[format]);
    const items = checkFeed(format, reply.body);
    expect(items.length).toBeGreaterThan(0);
    for (const [name, found] of Object.entries(await readWithParsers(format, reply.body))) {
      expect([name, found.map(({ id, published }) => [id, published])]).toEqual([
        name,
        items.map(({ id, published }) => [id, published]),
      ]);
    }
  });

  clause('read.feeds.by_accept').each([
    ['application/atom+xml', feedMediaTypes.atom],
    ['application/rss+xml, application/atom+xml;q=0.9', feedMediaTypes.rss],
    ['application/feed+json', feedMediaTypes.jsonfeed],
    ['application/feed+json;q=0.5, application/json', 'application/json; charset=utf-8'],
    ['application/xml, application/atom+xml, text/html, */*;q=0.9', feedMediaTypes.atom],
    ['application/ld+json', 'application/json; charset=utf-8'],
    ['application/*', 'application/json; charset=utf-8'],
    ['*/*', 'text/markdown; charset=utf-8'],
    ['application/xml', 'text/markdown; charset=utf-8'],
    ['text/html,application/xml;q=0.9,*/*;q=0.8', 'text/markdown; charset=utf-8'],
  ])('is chosen by Accept: %s', async (accept = '', type) => {
    for (const path of [profile, post]) {
      const reply = await app.request(path, { headers: { accept } });

      expect([path, reply.headers['content-type']]).toEqual([path, type]);
      expect(reply.headers.vary).toContain('Accept');
    }
  });

  it('has the same bytes at the permalink and under /api/v1', async () => {
    for (const format of feedFormats) {
      const [permalink, v1] = [
        await app.request(`/Ada.Example/?format=${format}`),
        await app.request(`${profile}?format=${format}`),
      ];
      expect([permalink.body, permalink.headers.etag]).toEqual([v1.body, v1.headers.etag]);
    }
  });

  it('is linked from all formats of a list of posts', async () => {
    for (const path of lists.filter((one) => !one.endsWith('/posts'))) {
      for (const format of ['markdown', 'json', 'atom']) {
        const reply = await app.request(withFormat(path, format));
        const [, url = ''] =
          /<([^<>]+)>; rel="alternate"; type="application\/atom\+xml"/.exec(
            String(reply.headers.link),
          ) ?? [];
        const feed = await app.request(url.slice(base.length));
        expect([path, format, feed.headers['content-type']]).toEqual([
          path,
          format,
          feedMediaTypes.atom,
        ]);
      }
    }
    const accounts = await app.request(`${profile}/followers`);
    expect(accounts.headers.link).toBeUndefined();
  });

  it('is revalidated with its ETag, and cached as long as the list', async () => {
    const reply = await app.request(`${profile}?format=rss`);
    const known = await app.request(`${profile}?format=rss`, {
      headers: { 'if-none-match': String(reply.headers.etag) },
    });

    expect([known.statusCode, known.body]).toEqual([304, '']);
    expect(known.headers['cache-control']).toBe(reply.headers['cache-control']);
    expect(reply.headers['cache-control']).toBe('public, max-age=300, stale-while-revalidate=300');
    expect(textsAt(reply.body, '/rss/channel/ttl')).toEqual(['5']);
    const search = await app.request('/search?q=heron&platform=sample&format=rss');
    expect(textsAt(search.body, '/rss/channel/ttl')).toEqual(['1']);
    expect(search.headers['cache-control']).toContain('max-age=60,');
  });

  it('keeps its ETag if the list is fetched again without changes', async () => {
    const list = createFakeList(10, fullPages);
    const app = await buildTestApp({ providers: [list.provider] });
    const path = '/wren?format=atom';

    const first = await app.request(path);
    await app.advance(3_000_000);
    const second = await app.request(path);

    expect(second.headers['x-cache']).not.toBe('hit');
    expect(list.asked).toBeGreaterThan(1);
    expect(second.headers.etag).toBe(first.headers.etag);
  });
});

it('the parameters of a feed are those of the profile', async () => {
  const count = async (query: string) =>
    checkFeed('atom', (await app.request(`${profile}?limit=100&${query}&format=atom`)).body).length;

  const counts = [
    await count('only_media=true'),
    await count(''),
    await count('with_replies=true'),
    await count('with_replies=true&with_reposts=true'),
  ];

  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(new Set(counts).size).toBe(4);
});

/** Follows the links of a feed. Returns the item ids of each page. */
async function walk(app: TestClient, start: string, rel: string) {
  const pages: { readonly path: string; readonly ids: readonly (string | undefined)[] }[] = [];
  let path: string | undefined = start;
  while (path !== undefined && pages.length < 100) {
    const { body }: { body: string } = await app.request(path);
    pages.push({ path, ids: checkFeed('atom', body).map(({ id }) => id) });
    [path] = linksOf(body, rel);
  }
  return pages;
}

const unlimited = { PERCH_PUBLIC_ALLOWANCE: '1000000' };

describe('the pages of a feed', () => {
  clause('read.feeds.paging')('have the same items as the pages of the cursors', async () => {
    const list = createFakeList(230, { ...fullPages, pageSize: (at) => 1 + ((at * 7) % 30) });
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });

    const pages = await walk(app, '/api/v1/profiles/wren?limit=17&format=atom', 'next');

    const expected = await walkList(app, '/api/v1/profiles/wren?', [17]);
    expect(pages.map(({ ids }) => ids)).toEqual(
      expected.map(({ ids }) => ids.map((id) => `tag:x.com,2026:perch/${id}`)),
    );
    expect(pages.flatMap(({ ids }) => ids)).toHaveLength(230);
  });

  it('link back to the first page', async () => {
    const list = createFakeList(100, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });
    const pages = await walk(app, '/api/v1/profiles/wren?limit=11&format=atom', 'next');

    const back = await walk(app, pages.at(-1)?.path ?? '', 'previous');

    expect(back.map(({ ids }) => ids)).toEqual(pages.map(({ ids }) => ids).toReversed());
    const last = await app.request(pages.at(-1)?.path ?? '');
    expect(linksOf(last.body, 'first')).toEqual(['/api/v1/profiles/wren?limit=11&format=atom']);
    expect(linksOf(last.body, 'self')).toEqual([pages.at(-1)?.path]);
  });

  it('have no link to the previous page after the eleventh', async () => {
    const list = createFakeList(130, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });
    const pages = await walk(app, '/api/v1/profiles/wren?limit=10&format=atom', 'next');
    const previousOf = async (page: number) =>
      linksOf((await app.request(pages[page - 1]?.path ?? '')).body, 'previous');

    expect(pages).toHaveLength(13);
    expect(await previousOf(1)).toEqual([]);
    expect(await previousOf(11)).toEqual(['/api/v1/profiles/wren?limit=10&page=10&format=atom']);
    expect(await previousOf(12)).toEqual([]);
  });

  it('are linked in RSS and JSON Feed too', async () => {
    const [atom, rss, json] = await Promise.all(
      feedFormats.map(
        async (format) => (await app.request(`${profile}?limit=2&page=2&format=${format}`)).body,
      ),
    );

    const nextOf = (url: string | undefined) => url?.replace(/format=\w+$/, '');
    const next = nextOf(textsAt(atom ?? '', '//atom:link[@rel="next"]/@href')[0]);
    expect(next).toMatch(/cursor=/);
    expect(nextOf(textsAt(rss ?? '', '/rss/channel/atom:link[@rel="next"]/@href')[0])).toBe(next);
    const feed = JSON.parse(json ?? '');
    expect(nextOf(feed.next_url)).toBe(next);
    expect(feed._perch.previous_url).toBe(`${base}${profile}?limit=2&format=jsonfeed`);
  });
});

describe('the feed of a thread', () => {
  it('has all posts in order, with the posts that they answer and the numbers of replies', async () => {
    const { posts } = (await app.request(`${post}?format=json`)).json();

    const { body } = await app.request(`${post}?format=atom`);

    const tagOf = (id: string) => `tag:perch.example,2026:perch/${id}`;
    const shown = posts.filter(({ type }: { type: string }) => type === 'status');
    expect(textsAt(body, '//atom:entry/atom:id')).toEqual(
      shown.map(({ id }: { id: string }) => tagOf(id)),
    );
    expect(textsAt(body, '//thr:in-reply-to/@ref')).toEqual(
      shown.flatMap(({ replying_to: to }: { replying_to: { status: string } | null }) =>
        to === null ? [] : [tagOf(to.status)],
      ),
    );
    expect(textsAt(body, '//atom:link[@rel="replies"]/@thr:count')).toEqual(
      shown.map(({ replies }: { replies: number }) => String(replies)),
    );
  });
});

describe('the feed of a history', () => {
  it('links to the next range until all posts are read', async () => {
    const pages = await walk(app, `${profile}/posts?max_posts=7&format=atom`, 'next');

    const ids = new Set(pages.flatMap((page) => page.ids));
    expect(pages.length).toBeGreaterThan(3);
    expect(ids.size).toBe((await app.request(`${profile}/posts`)).json().posts.length);
  });

  it('has no index', async () => {
    const reply = await app.request(`${profile}/posts?index=true&format=rss`);

    expect(reply.json()).toMatchObject({ status: 400, code: 'invalid_option' });
  });
});

describe('a request for a feed of something other than posts', () => {
  it.each([
    [`${profile}/followers?format=atom`, 'invalid_format'],
    ['/ada.example/following?format=jsonfeed', 'invalid_format'],
    ['/search?q=ada&platform=sample&feed=users&format=rss', 'invalid_format'],
    [`${profile}?include_posts=false&format=atom`, 'invalid_format'],
    ['/oembed?url=http://localhost:8080/ada.example/status/1&format=atom', 'not_implemented'],
  ])('is rejected: %s', async (path, code) => {
    const reply = await app.request(path);

    expect(reply.json().code).toBe(code);
    expect(reply.json().detail).toMatch(/`format`.*`json`/);
  });

  it('gets Markdown or JSON if only `Accept` asks for a feed', async () => {
    const typeOf = async (accept: string) =>
      (await app.request(`${profile}/followers`, { headers: { accept } })).headers['content-type'];

    expect(await typeOf('application/atom+xml')).toBe('text/markdown; charset=utf-8');
    expect(await typeOf('application/feed+json')).toBe('application/json; charset=utf-8');
  });
});

describe('the list of feeds', () => {
  clause('read.feeds.opml')('is OPML with a feed for each handle, in order', async () => {
    const reply = await app.request(
      '/api/v1/opml?handles=@Jack,ada.example,%20jack,wren@mastodon.social',
    );

    expect([reply.statusCode, reply.headers['content-type']]).toEqual([
      200,
      'text/x-opml; charset=utf-8',
    ]);
    expect(textsAt(reply.body, '/opml[@version="2.0"]/body/outline[@type="rss"]/@xmlUrl')).toEqual(
      ['jack', 'ada.example', 'wren%40mastodon.social'].map(
        (handle) => `${base}/api/v1/profiles/${handle}?format=atom`,
      ),
    );
    expect(textsAt(reply.body, '//outline/@htmlUrl')).toEqual([
      'https://x.com/jack',
      `${base}/ada.example`,
      'https://mastodon.social/@wren',
    ]);
    const known = await app.request('/api/v1/opml?handles=@Jack,ada.example,wren@mastodon.social', {
      headers: { 'if-none-match': String(reply.headers.etag) },
    });
    expect(known.statusCode).toBe(304);
  });

  it.each([
    ['', 'invalid_handle', /`handles` is missing/],
    ['?handles=', 'invalid_handle', /`handles` contains ""/],
    ['?handles=jack,,ada', 'invalid_handle', /`handles` contains ""/],
    ['?handles=jack,not%20a%20handle', 'invalid_handle', /"not a handle"/],
    ['?handles=a&handles=b', 'invalid_option', /more than once/],
    [`?handles=${Array.from({ length: 101 }, (_, at) => `a${at}`)}`, 'invalid_option', /101/],
  ])('is rejected for %s', async (query, code, detail) => {
    const reply = await app.request(`/api/v1/opml${query}`);

    expect([reply.statusCode, reply.json().code]).toEqual([400, code]);
    expect(reply.json().detail).toMatch(detail);
  });

  it('has up to 100 handles', async () => {
    const handles = Array.from({ length: 100 }, (_, at) => `a${at}`);

    const reply = await app.request(`/api/v1/opml?handles=${handles},A0`);

    expect(textsAt(reply.body, '//outline/@text')).toEqual(handles.map((handle) => `@${handle}`));
  });
});
