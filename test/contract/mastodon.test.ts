import { describe, expect, it } from 'vitest';
import { listReply, postReply } from '../../src/model/results.ts';
import type { TestApp } from '../support/build-app.ts';
import { createFakeMastodon, type FakeMastodon } from '../support/fake-mastodon.ts';
import { answerJson } from '../support/fake-upstream.ts';
import { fc, runs } from '../support/fast-check.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';
import { accountRow, homeHost, snowflake, statusRow } from '../support/mastodon-payloads.ts';
import { readWhole } from '../support/walk-list.ts';

const startMs = Date.UTC(2026, 0, 1);
const idAt = (minutes: number) => snowflake(startMs + minutes * 60_000);
const wren = accountRow('wren');
const kelp = accountRow('kelp@kelp.example.net');
const handle = `wren@${homeHost}`;

function smallServer(): FakeMastodon {
  const server = createFakeMastodon();
  const tags = [{ name: 'tides', url: `https://${homeHost}/tags/tides` }];
  for (const account of [wren, kelp]) server.addAccount(account);
  server.addStatus(
    statusRow(idAt(1), wren, { content: '<p>Low <em>tide</em> at :clock: <b>six</b></p>', tags }),
  );
  server.addStatus(
    statusRow(idAt(2), kelp, { in_reply_to_id: idAt(1), in_reply_to_account_id: wren.id }),
  );
  server.follow(kelp, wren);
  return server;
}

async function readJson(app: TestApp, path: string) {
  const reply = await app.request(`${path}${path.includes('?') ? '&' : '?'}format=json`);
  expect([path, reply.statusCode]).toEqual([path, 200]);
  return reply.json();
}

describe('Mastodon over HTTP', () => {
  it.each([
    `/api/v1/posts?url=https://${homeHost}/@wren/${idAt(1)}`,
    `/api/v1/posts?url=https%3A%2F%2F${homeHost}%2Fusers%2Fwren%2Fstatuses%2F${idAt(1)}`,
    `/api/v1/posts?url=https://${homeHost}/web/statuses/${idAt(1)}`,
    `/api/v1/posts?url=http://localhost:8080/${handle}/status/${idAt(1)}`,
    `/api/v1/posts?handle=${handle}&id=${idAt(1)}`,
    `/api/v1/posts?handle=@WREN%40${homeHost.toUpperCase()}&id=${idAt(1)}`,
    `/${handle}/status/${idAt(1)}`,
    `/@${handle}/status/${idAt(1)}`,
    `/wren%40${homeHost}/status/${idAt(1)}`,
    `/%40wren%40${homeHost}/status/${idAt(1)}`,
    `/api/convert?url=https://${homeHost}/@wren/${idAt(1)}`,
  ])('reads a post by %s', async (path) => {
    const { app } = await buildMastodonApp({ [homeHost]: smallServer().handler });

    const reply = postReply.parse(await readJson(app, path));

    expect(reply).toMatchObject({
      url: `https://${homeHost}/@wren/${idAt(1)}`,
      source: 'mastodon',
      warnings: [expect.stringContaining('Posts from other servers')],
      posts: [
        { text: 'Low tide at :clock: six', author: { screen_name: handle }, context: 'post' },
        { author: { screen_name: 'kelp@kelp.example.net' }, context: 'reply' },
      ],
    });
    expect(reply.markdown).toContain('Low _tide_ at :clock: **six**');
  });

  it.each([
    [`/${handle}`, 'profile'],
    [`/@wren%40${homeHost}`, 'profile'],
    [`/api/v1/profiles/${handle}`, 'profile'],
    [`/api/v1/profiles/%40wren%40${homeHost}`, 'profile'],
    [`/${handle}/followers`, 'followers'],
    [`/api/v1/profiles/wren%40${homeHost}/followers`, 'followers'],
    [`/${handle}/following`, 'following'],
    [`/api/browse?resource=followers&handle=${handle}`, 'followers'],
    ['/search?platform=mastodon&q=%23tides', 'search'],
    ['/api/v1/search?platform=mastodon&q=%23tides&since=2025-01-01&until=2027-01-01', 'search'],
    ['/search?platform=mastodon&feed=users&q=wren', 'search'],
    ['/search?q=%23tides', 'search'],
  ])('reads %s', async (path, resource) => {
    const { app } = await buildMastodonApp({ [homeHost]: smallServer().handler });

    const reply = listReply.parse(await readJson(app, path));

    expect(reply).toMatchObject({ resource, source: 'mastodon', degraded: false });
    if (resource !== 'following') {
      expect([...(reply.posts ?? []), ...(reply.users ?? [])]).toHaveLength(1);
    }
  });

  it('returns URLs that lead back to the same posts', async () => {
    const { app } = await buildMastodonApp({ [homeHost]: smallServer().handler });
    const { posts } = postReply.parse(await readJson(app, `/${handle}/status/${idAt(1)}`));

    const [own] = posts;

    if (own?.type !== 'status') throw new Error('The post can be shown.');
    for (const path of [
      `/api/v1/posts?url=${encodeURIComponent(own.url)}`,
      `/${encodeURIComponent(own.author.screen_name)}/status/${own.id}`,
    ]) {
      expect((await readJson(app, path)).posts[0]).toEqual(own);
    }
  });

  it.each([
    ['/search?platform=mastodon&q=tides', 400, 'invalid_query', 'no search for words in posts'],
    [`/${handle}/status/999`, 404, 'not_found', 'no such post'],
    [`/nobody@${homeHost}`, 404, 'not_found', 'no such account'],
    ['/wren@closed.example.org', 503, 'upstream_unavailable', 'without a signature'],
    ['/wren@gone.example.org', 503, 'upstream_unavailable', 'could not be reached'],
    ['/wren@127.0.0.1', 400, 'invalid_handle', '`handle`'],
    ['/wren@printer.local', 400, 'invalid_handle', '`handle`'],
    ['/wren@reef.example', 400, 'invalid_handle', '`handle`'],
  ])('answers %s with %i', async (path, status, code, words) => {
    const { app } = await buildMastodonApp({
      [homeHost]: smallServer().handler,
      'closed.example.org': (_, response) =>
        answerJson(
          response,
          { error: 'This method requires an authenticated user' },
          { status: 401 },
        ),
    });

    const reply = await app.request(path);

    expect([reply.statusCode, reply.json().code]).toEqual([status, code]);
    expect(reply.json().detail).toContain(words);
  });

  it('reports the Retry-After of one server, and reads others in the meantime', async () => {
    const { app, fake } = await buildMastodonApp({
      [homeHost]: smallServer().handler,
      'busy.example.org': (_, response) =>
        answerJson(
          response,
          { error: 'Too many requests' },
          {
            status: 429,
            headers: { 'retry-after': '77' },
          },
        ),
    });

    const first = await app.request('/wren@busy.example.org');
    const asked = fake.requests.length;
    const second = await app.request('/otter@busy.example.org');

    expect(first.json()).toMatchObject({ code: 'upstream_rate_limited', retry_after: 77 });
    expect(first.headers['retry-after']).toBe('77');
    expect(second.json().code).toBe('upstream_rate_limited');
    expect(fake.requests).toHaveLength(asked);
    expect((await app.request(`/${handle}`)).statusCode).toBe(200);
  });

  it('still reads all other servers while one keeps failing', async () => {
    const { app } = await buildMastodonApp({
      [homeHost]: smallServer().handler,
      'broken.example.org': (_, response) => answerJson(response, {}, { status: 500 }),
    });
    for (let at = 0; at < 8; at += 1) {
      expect((await app.request(`/wren${at}@broken.example.org`)).statusCode).toBe(503);
    }

    expect((await app.request(`/${handle}`)).statusCode).toBe(200);
  });
});

/** Row at one position of a timeline: its kind, and the page sizes of the read. */
const kinds = ['post', 'boost', 'reply', 'hidden', 'odd'] as const;

function rowOf(kind: (typeof kinds)[number], at: number) {
  const id = idAt(at);
  switch (kind) {
    case 'post':
      return statusRow(id, wren);
    case 'boost':
      return statusRow(id, wren, { content: '', reblog: statusRow(idAt(-at - 1), kelp) });
    case 'reply':
      return statusRow(id, wren, { in_reply_to_id: '1', in_reply_to_account_id: kelp.id });
    case 'hidden':
      return statusRow(id, wren, { visibility: 'private' });
    case 'odd':
      return statusRow(id, wren, { content: 7, account: { ...wren, acct: 'a b' } });
  }
}

describe('paging through a timeline of Mastodon', () => {
  it('returns every post once and in order, in full pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...kinds), { maxLength: 250 }),
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        async (rows, limits, withReposts) => {
          const server = createFakeMastodon();
          server.addAccount(wren);
          for (const [at, kind] of rows.entries()) server.addStatus(rowOf(kind, at));
          const { app } = await buildMastodonApp({ [homeHost]: server.handler });

          const shown = withReposts ? ['post', 'boost', 'reply'] : ['post', 'reply'];
          const expected = rows
            .flatMap((kind, at) =>
              shown.includes(kind) ? [kind === 'boost' ? idAt(-at - 1) : idAt(at)] : [],
            )
            .toReversed();
          const path = `/${handle}?with_replies=true&with_reposts=${withReposts}`;
          expect(await readWhole(app, path, limits)).toEqual(expected);
          await app.server.close();
        },
      ),
      { numRuns: runs(12) },
    );
  }, 60_000);
});
