import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/post.ts';
import { listReply } from '../../src/model/results.ts';
import { buildTestApp } from '../support/build-app.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { callTool } from '../support/mcp.ts';
import { withoutCoding } from '../support/vary.ts';
import { readWhole } from '../support/walk-list.ts';
import {
  type FxRoutes,
  fxBody,
  fxConversationPages,
  fxReply,
  fxStatus,
  fxUser,
  serveFxTwitter,
  syndicationPost,
} from '../support/x-payloads.ts';

const id = '1900000000000000001';
const path = `/api/v1/posts/${id}/replies`;
const url = `${path}?handle=ada.example&format=json`;

const idsOf = ({ posts }: { readonly posts: readonly { readonly id: string }[] }) =>
  posts.map((post) => post.id);

describe('the replies to a post', () => {
  it('are a list with pages', async () => {
    const app = await buildTestApp();

    const reply = await app.request(`${url}&limit=3`);

    const body = listReply.parse(reply.json());
    expect(body).toMatchObject({
      resource: 'replies',
      id,
      handle: 'ada.example',
      url: `http://localhost:8080/ada.example/status/${id}`,
      page: 1,
      limit: 3,
      nextCursor: expect.any(String),
      warnings: [],
      degraded: false,
      source: 'archive',
    });
    expect(body.posts?.map(({ context }) => context)).toEqual(['reply', 'reply', 'reply']);
    expect(reply.headers['x-result-count']).toBe('3');
  });

  it('include all replies below the post, those of its author too, each once', async () => {
    const app = await buildTestApp();
    const whole: { posts: Status[] } = (await app.request(`${url}&limit=100`)).json();
    const all = idsOf(whole);
    const post = `/api/v1/posts?handle=ada.example&id=${id}&thread=conversation&format=json`;
    const { posts }: { posts: Status[] } = (await app.request(post)).json();
    const shown = posts.filter(
      ({ context, type }) => type === 'status' && (context === 'reply' || context === 'thread'),
    );

    expect(all).toEqual([...new Set(all)]);
    expect(all).toEqual(expect.arrayContaining(idsOf({ posts: shown })));
    for (const { replying_to: to } of whole.posts) expect([id, ...all]).toContain(to?.status);
    for (const limit of [1, 4, 7]) {
      expect(await readWhole(app, `${path}?handle=ada.example`, [limit])).toEqual(all);
    }
  });

  it('are sorted by likes or by date of the direct replies', async () => {
    const app = await buildTestApp();
    const direct = async (order: string) => {
      const { posts } = (await app.request(`${url}&limit=100&replies=${order}`)).json();
      return (posts as readonly Status[]).filter(({ replying_to: to }) => to?.status === id);
    };

    const likes = (await direct('top')).map((post) => post.likes ?? 0);
    const times = (await direct('RECENT')).map((post) => post.created_timestamp);

    expect(likes.length).toBeGreaterThan(2);
    expect(likes).toEqual(likes.toSorted((a, b) => b - a));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('are a Markdown page with the post and a link to the next page', async () => {
    const app = await buildTestApp();

    const { body } = await app.request(`${path}?handle=ada.example&limit=2&replies=recent`);
    const second = await app.request(`${path}?handle=ada.example&limit=2&page=2`);

    expect(body).toMatch(/^# Replies to Ada Fenwick \(@ada\.example\)\n/);
    expect(body).toContain(`Post: <http://localhost:8080/ada.example/status/${id}>`);
    expect(body).not.toContain(
      `In reply to [@ada.example](http://localhost:8080/ada.example/status/${id})`,
    );
    const [, next = ''] = /\[Next page\]\((\S+)\)/.exec(body) ?? [];
    expect(next).toContain(`${path}?handle=ada.example&replies=recent&limit=2&cursor=`);
    expect((await app.request(next.replace('http://localhost:8080', ''))).statusCode).toBe(200);
    expect(second.body).toContain('Page 2');
  });

  it('are empty for a post without replies', async () => {
    const app = await buildTestApp();
    const { posts } = (await app.request(`${url}&limit=100`)).json();
    const leaf = (posts as readonly Status[]).findLast(({ replies }) => replies === 0);

    const reply = await app.request(
      `/api/v1/posts/${leaf?.id}/replies?handle=${leaf?.author.screen_name}`,
    );

    expect([reply.statusCode, reply.body]).toEqual([200, expect.stringContaining('No replies.')]);
  });

  it('spend the allowance of posts, and ignore keys', async () => {
    const app = await buildTestApp({
      env: { PERCH_POST_ALLOWANCE: '1', PERCH_PUBLIC_ALLOWANCE: '1', PERCH_POOL_ALLOWANCE: '1' },
    });
    const authorization = `Bearer perch_${'u'.repeat(43)}`;

    const first = await app.request(url, { headers: { authorization } });
    const again = await app.request(url);
    const spent = await app.request(`${url}&limit=2`);

    expect([first, again].map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(first.headers).toMatchObject({
      ratelimit: expect.stringMatching(/^"post";r=0;/),
    });
    expect(withoutCoding(first.headers.vary)).toBe('Accept');
    expect(again.headers['x-cache']).toBe('hit');
    expect([spent.statusCode, spent.json().code]).toEqual([429, 'rate_limited']);
  });

  it.each([
    ['/api/v1/posts/abc/replies', 400, 'invalid_params', /`id`.*"abc".*`handle`/],
    ['/api/v1/posts/1/replies?handle=a%20b', 400, 'invalid_params', /`handle`/],
    ['/api/v1/posts/a%20b/replies?handle=ada.example', 400, 'invalid_params', /`id`/],
    [`${url}&replies=off`, 400, 'invalid_replies', /`replies`.*"off".*`top` or `recent`/],
    [`${url}&limit=0`, 400, 'invalid_option', /`limit`/],
    [`${url}&page=2&cursor=x`, 400, 'invalid_option', /`page`/],
    [`${url}&cursor=x`, 400, 'invalid_cursor', /`cursor`/],
    ['/api/v1/posts/1900000000000000999/replies?handle=ada.example', 404, 'not_found', /sample/],
    [`${path}?handle=ada.example&format=obsidian`, 400, 'invalid_format', /`format`/],
  ])('are rejected: %s', async (address, status, code, detail) => {
    const app = await buildTestApp();

    const reply = await app.request(address);

    expect([reply.statusCode, reply.json().code]).toEqual([status, code]);
    expect(reply.json().detail).toMatch(detail);
  });

  it('have cursors of their own', async () => {
    const app = await buildTestApp();
    const { nextCursor } = (await app.request(`${url}&limit=2`)).json();

    const refused = [
      `/api/v1/posts/1738742806268192954/replies?handle=faro.example&cursor=${nextCursor}`,
      `${url}&limit=2&replies=recent&cursor=${nextCursor}`,
      `/ada.example/followers?cursor=${nextCursor}`,
    ];

    for (const address of refused) {
      expect((await app.request(address)).json().code).toBe('invalid_cursor');
    }
  });

  it('are available as an MCP tool', async () => {
    const app = await buildTestApp();

    const reply = await callTool(app, 'list_replies', {
      arguments: { id, handle: 'ada.example', limit: 2, format: 'json' },
    });

    const { markdown, ...expected } = (await app.request(`${url}&limit=2`)).json();
    expect(markdown).toMatch(/^# Replies to Ada Fenwick/);
    expect(reply.json().result.structuredContent).toEqual(expected);
  });
});

describe('the replies on X', () => {
  const focal = fxStatus('3001');
  /** Direct replies from an id on, the first of them answered once. */
  const pageOf = (from: number, bottom: string | null) =>
    fxBody(focal, {
      replies: [
        ...Array.from({ length: 7 }, (_, index) =>
          fxReply(String(from + index), '3001', 'tove_ek', { likes: 100 - index }),
        ),
        fxReply(String(from + 50), String(from), 'otto_lind'),
        fxStatus(String(from + 90), { author: fxUser('shop') }),
      ],
      cursor: bottom === null ? null : { bottom },
    });
  const routes: FxRoutes = {
    'status/3001': fxBody(focal),
    'conversation/3001': fxConversationPages({
      '': pageOf(4000, 'second'),
      second: pageOf(5000, 'third'),
      third: pageOf(6000, 'missing'),
    }),
  };
  const nothing: FakeHandler = (_, response) => answerJson(response, {}, { status: 404 });
  const xPath = '/api/v1/posts/3001/replies';
  const xUrl = `${xPath}?format=json`;

  async function build(handler: FakeHandler, syndication: FakeHandler = nothing) {
    const [fx, other] = [await upstream(handler), await upstream(syndication)];
    const app = await buildTestApp({
      env: {
        PERCH_PROVIDERS: 'archive,fxtwitter,syndication',
        PERCH_FXTWITTER_URL: fx.url,
        PERCH_SYNDICATION_URL: other.url,
      },
    });
    return { app, fx };
  }

  it('can be paged through in pages of any size', async () => {
    const { app } = await build(serveFxTwitter(routes));
    const all = await readWhole(app, `${xPath}?`, [100]);

    expect(all).toHaveLength(24);
    expect(all).toEqual([...new Set(all)]);
    for (const limit of [1, 5, 8, 23]) {
      expect(await readWhole(app, `${xPath}?`, [limit])).toEqual(all);
    }
    const last = (await app.request(`${xUrl}&limit=100`)).json();
    expect(last.nextCursor).toBeUndefined();
    expect(last.warnings.join(' ')).toContain('X sent no further replies.');
  });

  it('are the same for any handle, and name the author', async () => {
    const { app, fx } = await build(serveFxTwitter(routes));

    const forged = await app.request(`${xUrl}&handle=somebody_else`);
    const asked = fx.requests.length;
    const plain = await app.request(xUrl);

    expect(plain.body).toBe(forged.body);
    expect(plain.body).not.toContain('somebody_else');
    expect(plain.json()).toMatchObject({
      handle: 'mira_holm',
      url: 'https://x.com/mira_holm/status/3001',
    });
    expect([plain.headers['x-cache'], fx.requests.length]).toEqual(['hit', asked]);
  });

  it('are 404 if two sources miss the post, and 503 if one has it', async () => {
    const gone = await build(serveFxTwitter({}));
    const syndicated = await build(serveFxTwitter({}), (_, response) =>
      answerJson(response, syndicationPost('3001')),
    );

    const absent = await gone.app.request(xUrl);
    const present = await syndicated.app.request(xUrl);

    expect([absent.statusCode, absent.json().code]).toEqual([404, 'not_found']);
    expect([present.statusCode, present.json().code]).toEqual([503, 'upstream_unavailable']);
    expect(present.json().detail).toBe(
      'The post can be read, but its replies cannot. Try again later.',
    );
  });

  it('of a post that was deleted are not served from the cache', async () => {
    let isGone = false;
    const live = serveFxTwitter(routes);
    const { app } = await build((request, response) =>
      isGone ? serveFxTwitter({})(request, response) : live(request, response),
    );
    expect((await app.request(xUrl)).statusCode).toBe(200);
    isGone = true;

    const post = await app.request('/mira_holm/status/3001');
    const replies = await app.request(xUrl);

    expect([post.statusCode, replies.statusCode]).toEqual([404, 404]);
  });
});

it('the replies of a platform without a provider are 400', async () => {
  const app = await buildTestApp({ env: { PERCH_PROVIDERS: 'archive' } });

  const reply = await app.request('/api/v1/posts/20/replies');

  expect([reply.statusCode, reply.json().code]).toEqual([400, 'unsupported_platform']);
  expect(reply.json().detail).toContain('The post is on');
});
