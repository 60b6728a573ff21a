import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import { buildTestApp, shareTestApps } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createStubProvider, stubAccount, stubFound, stubPost } from '../support/stub-provider.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const first = '1900000000000000001';
const byParams = `/api/v1/posts?handle=ada.example&id=${first}`;
const byPermalink = `/ada.example/status/${first}`;

describe('a post read', () => {
  clause('read.what.markdown_by_default')('returns Markdown by default', async () => {
    const reply = await app.request(byPermalink);

    expect(reply.statusCode).toBe(200);
    expect(reply.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(reply.body).toMatch(/^# Thread by Ada /);
  });

  const choices = [
    '',
    'format=json',
    'format=obsidian',
    'full=true',
    'thread=off',
    'replies=off&userinfo=all',
  ];

  /** Checks that addresses answer with the bytes that v1 sends for the handle and the id. */
  async function expectSameBytes(addresses: readonly string[], choice: string): Promise<void> {
    const read = async (url: string) => {
      const query = url.includes('?') ? '&' : '?';
      const { statusCode, body, headers } = await app.request(`${url}${query}${choice}`);
      return { statusCode, body, etag: headers.etag };
    };

    const expected = await read(byParams);

    expect(expected.statusCode).toBe(200);
    for (const address of addresses) expect(await read(address)).toEqual(expected);
  }

  clause(
    'read.v1.posts_by_url',
    'read.resources.post_from_url',
    'read.what.versioned_surface',
  ).each(choices)('has the same body by URL and by handle and id, with “%s”', (choice) => {
    const own = encodeURIComponent(`http://localhost:8080${byPermalink}`);
    return expectSameBytes([`/api/v1/posts?url=${own}`], choice);
  });

  clause(
    'read.permalink.status_same_body',
    'read.permalink.status_converts_post',
    'read.what.permalink_surface_unversioned',
  ).each(choices)('has the same body at permalinks and under v1, with “%s”', (choice) =>
    expectSameBytes([byPermalink, `${byPermalink}/photo/1`, `${byPermalink}/video/2`], choice),
  );

  clause('read.v1.posts_by_handle_and_id', 'read.resources.post_from_handle_and_id')(
    'accepts handle and id',
    async () => {
      const reply = await app.request(`${byParams}&format=json`);

      expect([reply.statusCode, reply.json().url]).toEqual([
        200,
        `http://localhost:8080${byPermalink}`,
      ]);
      expect(reply.json().posts[0]).toMatchObject({ id: first, context: 'post' });
    },
  );

  async function expectFormat(query: string, accept: string | undefined, format: string) {
    const reply = await app.request(byParams + query, {
      headers: accept === undefined ? {} : { accept },
    });

    expect(reply.headers['content-type']).toContain(`/${format};`);
    expect(reply.headers.vary).toBe('Accept, Accept-Encoding');
  }

  clause('read.v1.json_when_format_json', 'read.what.json_by_format_parameter').each([
    ['&format=json', 'text/markdown'],
    ['&format=JSON', undefined],
  ])('returns JSON for “%s” with Accept “%s”', (query, accept) =>
    expectFormat(query, accept, 'json'),
  );

  clause('read.v1.json_when_accept_json', 'read.what.json_by_accept_header').each([
    'application/json',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'application/json, text/plain, */*',
    'text/markdown;q=0.5, application/json;q=0.8',
    'application/*',
  ])('returns JSON for Accept “%s”', (accept) => expectFormat('', accept, 'json'));

  clause('read.v1.otherwise_markdown').each([
    ['', undefined],
    ['', '*/*'],
    ['', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    ['', 'image/png'],
    ['', ''],
    ['', 'garbage;;;,='],
    ['', 'application/json;q=0.5, */*;q=0.8'],
    ['', 'application/json;q=0.5, text/markdown;q=0.8'],
    ['', 'text/markdown, application/json'],
    ['', 'application/json;q=0'],
    ['', 'application/json;q=0, application/*'],
    ['&format=markdown', 'application/json'],
  ])('returns Markdown for “%s” with Accept “%s”', (query, accept) =>
    expectFormat(query, accept, 'markdown'),
  );

  clause(
    'read.auth.permalink_post_ignores_key',
    'read.permalink.status_ignores_authorization',
    'read.limits.conversion_unaffected_by_keys',
  )('ignores Authorization', async () => {
    const plain = await app.request(byPermalink);

    for (const authorization of ['Bearer perch_wrong', 'Bearer', 'Basic YTpi', 'nonsense']) {
      const reply = await app.request(byPermalink, { headers: { authorization } });
      expect(reply.body).toBe(plain.body);
      expect(reply.headers['x-api-key-status']).toBeUndefined();
      expect(reply.headers['cache-control']).toBe(plain.headers['cache-control']);
    }
  });

  clause('read.endpoints.no_request_body')('ignores a body', async () => {
    const reply = await app.request(byPermalink, {
      headers: { 'content-type': 'application/json' },
      payload: '{ not json',
    });

    expect(reply.statusCode).toBe(200);
  });

  clause('read.v1.posts_either_url_or_handle_id')(
    'prefers `url` to `handle` and `id`',
    async () => {
      const url = encodeURIComponent(`http://localhost:8080${byPermalink}`);

      const reply = await app.request(`/api/v1/posts?url=${url}&handle=nobody&id=1&format=json`);

      expect(reply.json().url).toBe(`http://localhost:8080${byPermalink}`);
    },
  );
});

describe('an Obsidian note', () => {
  it('has a file name, and for programs that read only ASCII one with its id', async () => {
    const { headers } = await app.request(`${byParams}&format=obsidian`);

    expect(headers['content-disposition']).toBe(
      [
        'attachment',
        'filename="Thread by Ada Fenwick (@ada.example) The heron at gate 3 arrives six minutes before I open it 1900000000000000001.md"',
        "filename*=UTF-8''Thread%20by%20Ada%20Fenwick%20%28%40ada.example%29%20The%20heron%20at%20gate%203%20arrives%20six%20minutes%20before%20I%20open%20it.md",
      ].join('; '),
    );
  });

  it('is the only format with a file name', async () => {
    const { headers } = await app.request(`${byParams}&format=obsidian`);

    const unchanged = await app.request(`${byParams}&format=obsidian`, {
      headers: { 'if-none-match': String(headers.etag) },
    });
    const page = await app.request(byParams);

    expect(unchanged.statusCode).toBe(304);
    expect(unchanged.headers).not.toHaveProperty('content-disposition');
    expect(page.headers).not.toHaveProperty('content-disposition');
  });
});

describe('the JSON body of a post read', () => {
  clause('read.what.markdown_by_default')('has the documented members', async () => {
    const body = (await app.request(`${byParams}&format=json`)).json();

    expect(body).toMatchObject({
      format: 'json',
      url: `http://localhost:8080${byPermalink}`,
      compact: true,
      warnings: [],
      source: 'archive',
      fetched_at: '2026-11-21T00:00:00Z',
      postCount: body.posts.length,
    });
    expect(body.markdown).toBe((await app.request(byParams)).body);
    const contexts = body.posts.map((post: { context: string }) => post.context);
    expect(contexts.slice(0, 5)).toEqual(['post', 'thread', 'thread', 'thread', 'thread']);
    expect(new Set(contexts.slice(5))).toEqual(new Set(['reply']));
  });
});

const posts = (reply: { json(): { posts: { id: string; context: string }[] } }) =>
  reply.json().posts.map(({ id, context }) => `${context} ${id}`);

const wren = stubAccount('wren');
const finch = stubAccount('finch');
const replyTo = (id: string) => ({
  replying_to: { screen_name: 'wren', status: id, url: `https://x.com/wren/status/${id}` },
});
const wholeFind = stubFound(stubPost('50', { author: wren, ...replyTo('40') }), {
  ancestors: [
    stubPost('10', { author: wren }),
    stubPost('20', { author: finch, ...replyTo('10') }),
    stubPost('30', { author: wren, ...replyTo('20') }),
    stubPost('40', { author: wren, ...replyTo('30') }),
  ],
  continuation: [stubPost('60', { author: wren, ...replyTo('50') })],
  replies: [
    stubPost('71', { author: finch, ...replyTo('50') }),
    stubPost('72', { author: wren, ...replyTo('71') }),
    stubPost('73', { author: finch, ...replyTo('72') }),
    stubPost('74', { author: finch, ...replyTo('60') }),
  ],
});

describe('the view of a post read', () => {
  const full = ['parent 10', 'parent 20', 'parent 30', 'parent 40', 'post 50', 'thread 60'];

  clause('read.v1.posts_either_url_or_handle_id').each([
    ['', [...full, 'reply 71', 'reply 72', 'reply 74'], { thread: true, replies: 'top' }],
    [
      '&thread=full&replies=recent',
      [...full, 'reply 71', 'reply 72', 'reply 74'],
      { replies: 'recent' },
    ],
    [
      '&thread=conversation',
      [...full, 'reply 71', 'reply 72', 'reply 73', 'reply 74'],
      { replies: 'top' },
    ],
    ['&replies=off', full, { thread: true, replies: 'off' }],
    ['&thread=off', ['post 50'], { thread: false, replies: 'off' }],
    [
      '&context=thread',
      ['parent 30', 'parent 40', 'post 50', 'thread 60'],
      { thread: true, replies: 'off' },
    ],
    ['&thread=3&replies=off', ['parent 40', 'post 50', 'thread 60'], { thread: true }],
    ['&thread=2&replies=off', ['post 50', 'thread 60'], {}],
    ['&thread=100&replies=off', full, {}],
  ])(
    'shows the posts that “%s” selects, and requests no others',
    async (options, expected, query) => {
      const provider = createStubProvider('stub', async ({ thread, replies }) => ({
        ...wholeFind,
        ancestors: thread ? wholeFind.ancestors : [],
        continuation: thread ? wholeFind.continuation : [],
        replies: replies === 'off' ? [] : wholeFind.replies,
      }));
      const app = await buildTestApp({ providers: [provider] });

      const reply = await app.request(`/api/v1/posts?handle=wren&id=50&format=json${options}`);

      expect(posts(reply)).toEqual(expected);
      expect(provider.queries[0]).toMatchObject(query);
    },
  );

  clause('read.what.converts_posts')('warns about the posts that a count leaves out', async () => {
    const app = await buildTestApp({
      providers: [createStubProvider('stub', async () => wholeFind)],
    });

    const reply = await app.request('/api/v1/posts?handle=wren&id=50&format=json&thread=2');

    expect(reply.json().warnings).toEqual(['The thread has 6 posts; thread=2 shows 2 of them.']);
  });
});

describe('caching of post reads', () => {
  clause('read.what.surfaces_same_bodies')('shows the cache state only in X-Cache', async () => {
    const app = await buildTestApp();

    const replies = [await app.request(byPermalink), await app.request(byPermalink)];
    const bypass = await app.request(`${byPermalink}?nocache=true`);

    expect(replies.map(({ headers }) => headers['x-cache'])).toEqual(['miss', 'hit']);
    expect(bypass.headers['x-cache']).toBe('bypass');
    expect(new Set([...replies, bypass].map(({ body }) => body)).size).toBe(1);
    expect(replies[1]?.headers).toMatchObject({
      'cache-control': 'public, max-age=60, stale-while-revalidate=300',
      'x-source': 'archive',
      'x-result-count': '14',
    });
  });

  clause('read.what.surfaces_same_bodies')(
    'keeps the entity tag of posts in the archive',
    async () => {
      const app = await buildTestApp();
      const first = await app.request(`${byParams}&format=json`);

      await app.advance(3_600_000);
      const later = await app.request(`${byParams}&format=json`);

      expect(later.headers['x-cache']).toBe('miss');
      expect(later.headers.etag).toBe(first.headers.etag);
    },
  );

  clause('read.limits.upstream_outage_retry_after')(
    'serves a stale copy with a warning in an outage',
    async () => {
      let down = false;
      const provider = createStubProvider('stub', async () => {
        if (down) throw new ProviderError('unavailable', 'It is down.');
        return stubFound(stubPost('20'));
      });
      const app = await buildTestApp({ providers: [provider] });
      const fresh = await app.request('/wren/status/20?format=json');
      down = true;

      await app.advance(4_000_000);
      const stale = await app.request('/wren/status/20?format=json');
      const never = await app.request('/jack/status/21?format=json');

      expect(stale.headers['x-cache']).toBe('stale');
      expect(stale.json().warnings).toEqual([
        expect.stringMatching(/^Stale: .*2026-11-21T00:00:00Z/),
      ]);
      expect(stale.json().markdown).toContain('Stale:');
      expect(stale.headers.etag).not.toBe(fresh.headers.etag);
      expect(never.statusCode).toBe(503);
      expect(never.headers['retry-after']).toBe('30');
    },
  );
});

describe('an unavailable post', () => {
  clause('read.errors.problem_documents')(
    'is 404 with the reason, also from the archive',
    async () => {
      const reply = await app.request('/faro.example/status/1738633989243862754');

      expect(reply.json()).toMatchObject({
        code: 'not_found',
        detail: expect.stringMatching(/deleted/),
      });
    },
  );

  clause('read.what.converts_posts')('keeps its place in a thread', async () => {
    const url = '/api/v1/posts?handle=faro.example&id=1738742806268192954&format=json&replies=off';

    const { posts: shown } = (await app.request(url)).json();

    expect(shown.map(({ type }: { type: string }) => type)).toEqual([
      'status',
      'status',
      'tombstone',
      'status',
    ]);
  });
});
