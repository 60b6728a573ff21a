import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { scheduledLifecycle } from '../../src/lib/lifecycle.ts';
import { ProviderError, type ProviderErrorKind } from '../../src/normalize/provider-error.ts';
import { buildTestApp, shareTestApps, type TestClient, xOnly } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createFakeList, fullPages } from '../support/fake-list.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { expectSignals, readLinks } from '../support/signals.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const baseUrl = 'http://localhost:8080';
const id = '1900000000000000001';
const url = encodeURIComponent(`${baseUrl}/ada.example/status/${id}`);
const convert = `/api/convert?url=${url}`;
const profile = '/api/browse?resource=profile&handle=ada.example';
const search = '/api/browse?resource=search&q=heron&platform=archive';

function expectAllSignals(reply: LightMyRequestResponse, successor: string | null): void {
  const signals = expectSignals(reply.headers);
  const policy = { uri: `${baseUrl}/docs/versioning`, type: 'text/html' };
  expect(signals.deprecation.getTime()).toBe(scheduledLifecycle.deprecationMs);
  expect(signals.sunset.getTime()).toBe(scheduledLifecycle.sunsetMs);
  expect(signals.links).toContainEqual({ ...policy, rel: 'deprecation' });
  expect(signals.links).toContainEqual({ ...policy, rel: 'sunset' });
  expect(signals.successor).toBe(successor);
}

/** Gives what must be the same at an alias and its successor: all but the address of the request. */
function contentOf(reply: LightMyRequestResponse): unknown {
  const { etag, vary, 'content-type': type, 'retry-after': retryAfter } = reply.headers;
  const isProblem = String(type).startsWith('application/problem+json');
  const body = isProblem ? { ...reply.json(), instance: '' } : reply.body;
  return { status: reply.statusCode, etag, vary, type, retryAfter, body };
}

async function expectSameBody(app: TestClient, alias: string, accept = '*/*'): Promise<number> {
  const old = await app.request(alias, { headers: { accept } });
  const { successor } = expectSignals(old.headers);
  expect(successor).toMatch(/^http:\/\/localhost:8080\/api\/v1\//);
  const next = await app.request(String(successor).slice(baseUrl.length), { headers: { accept } });
  expect(contentOf(next)).toEqual(contentOf(old));
  return old.statusCode;
}

/** Checks the status of an alias, and that its successor sends the same Markdown and the same JSON. */
async function expectSameBodies(alias: string, status: number): Promise<void> {
  const app = sharedApp({ env: xOnly });
  for (const accept of ['*/*', 'application/json']) {
    expect(await expectSameBody(app, alias, accept)).toBe(status);
  }
}

describe('following the successor link', () => {
  clause(
    'read.aliases.convert',
    'read.versioning.link_successor_safe_to_follow',
    'read.route_lifecycle.announced_answers_unchanged',
  ).each([
    ['', 400],
    [`url=${url}`, 200],
    [`url=${url}&format=json`, 200],
    [`url=${url}&format=obsidian&full=yes`, 200],
    [`url=${url}&thread=off&userinfo=all`, 200],
    [`url=${url}&thread=3&replies=recent&context=thread`, 200],
    [`handle=ada.example&id=${id}`, 200],
    [`handle=%40Ada.example&id=${id}&format=JSON&nocache=0`, 200],
    [`%75rl=${url}&form%61t=json`, 200],
    [`url=${url}&utm_source=x&key=perch_k&resource=profile`, 200],
    [`url=${url}&handle=nobody.example&id=1`, 200],
    [`handle=ada.example&id=1900000000000000999`, 404],
    [`url=${url}&url=${url}`, 400],
    [`url=${url}&format=json&format=json`, 400],
    [`url=${url}&thread=1`, 400],
    ['url=', 400],
    ['url=a%20b%2Bc+d%0D%0A', 400],
    ['url=%E0%A4%A', 400],
    ['url=%00%3E%3B%22é', 400],
    ['handle=jack', 400],
    ['url=https://bsky.app/profile/a.bsky.social/post/3k', 400],
  ])('of /api/convert?%s returns the same body', (query, status) =>
    expectSameBodies(`/api/convert?${query}`, status),
  );

  clause('read.aliases.browse_profile_successor', 'read.aliases.browse_resource_values').each([
    ['resource=profile&handle=ada.example', 200],
    ['resource=PROFILE&handle=%40ADA.example&limit=3&full=1', 200],
    ['resource=profile&handle=ada.example&include_posts=no&format=json', 200],
    ['resource=profile&handle=ada.example&with_replies=1&until=2026-05-01&page=2&limit=2', 200],
    ['resource=profile&handle=ada.example&until=2026-05-01T00:00:00%2B02:00', 200],
    ['resource=profile&handle=ada.example&limit=0', 400],
    ['resource=profile&handle=ada.example&cursor=changed', 400],
    ['resource=profile&handle=alice.example.com', 400],
  ])('of /api/browse?%s returns the same profile', (query, status) =>
    expectSameBodies(`/api/browse?${query}`, status),
  );

  clause('read.aliases.browse_followers_successor', 'read.aliases.browse_following_successor').each(
    [
      ['resource=followers&handle=ada.example&limit=4', 200],
      ['resource=following&handle=@ada.example&format=json&key=k', 200],
      ['resource=followers&handle=ada.example&page=1&page=2', 400],
      ['resource=following&handle=nobody.example', 404],
    ],
  )('of /api/browse?%s returns the same accounts', (query, status) =>
    expectSameBodies(`/api/browse?${query}`, status),
  );

  clause('read.aliases.browse_search_successor', 'read.versioning.link_successor_version').each([
    ['resource=search&q=heron&platform=archive', 200],
    ['resource=search&q=%23BirdDiary+filter:images&platform=archive&limit=2', 200],
    ['resource=search&q=har&platform=archive&feed=users&handle=jack', 200],
    ['resource=search', 400],
    ['resource=search&q=a&q=b', 400],
    ['resource=search&q=a&feed=people', 400],
  ])('of /api/browse?%s finds the same posts', (query, status) =>
    expectSameBodies(`/api/browse?${query}`, status),
  );

  clause('read.versioning.link_successor_safe_to_follow')(
    'continues at a cursor of the alias',
    async () => {
      const first = await app.request(`${profile}&limit=2&format=json`);
      const { nextCursor } = first.json();

      const status = await expectSameBody(app, `${profile}&limit=2&cursor=${nextCursor}`);

      expect(status).toBe(200);
    },
  );

  clause('read.versioning.link_successor_safe_to_follow', 'read.auth.query_key_ignored')(
    'does not contain a key from the query',
    async () => {
      const key = `perch_${'k'.repeat(43)}`;

      for (const path of [convert, profile, search]) {
        const names = ['key', 'api_key', 'token', 'access_token', 'Authorization', 'secret'];
        const query = names.map((name) => `&${name}=${key}`).join('');
        const reply = await app.request(`${path}${query}`);
        expect(reply.statusCode).toBe(200);
        expect(JSON.stringify(reply.headers)).not.toContain(key);
        const status = path === convert ? undefined : 'anonymous';
        expect(reply.headers['x-api-key-status']).toBe(status);
      }
    },
  );
});

describe('an invalid request to an alias', () => {
  clause(
    'read.aliases.browse_unresolved_keeps_dates',
    'read.aliases.browse_unresolved_no_successor_link',
  ).each([
    ['', 'invalid_resource', '`resource` is missing'],
    ['?handle=jack', 'invalid_resource', '`resource` is missing'],
    ['?resource=', 'invalid_resource', 'the value ""'],
    ['?resource=post&url=x', 'invalid_resource', 'the value "post"'],
    ['?resource=toString', 'invalid_resource', 'the value "toString"'],
    ['?resource=search&resource=search&q=a', 'invalid_option', '`resource` is given more than'],
    ['?resource', 'invalid_resource', 'the value ""'],
    ['?resource=%20search', 'invalid_resource', 'the value " search"'],
    ['?resource=__proto__', 'invalid_resource', 'the value "__proto__"'],
    ['?resource=profile', 'invalid_handle', '`handle` is missing'],
    ['?resource=followers&handle=', 'invalid_handle', '`handle` has the value ""'],
    ['?resource=following&handle=a%20b', 'invalid_handle', '"a b"'],
    ['?resource=followers&handle=sixteen_letters_', 'invalid_handle', '"sixteen_letters_"'],
    ['?resource=profile&handle=../search', 'invalid_handle', '"../search"'],
    ['?resource=profile&handle=a&handle=a', 'invalid_option', '`handle` is given more than once'],
  ])('answers /api/browse%s with %s, the dates and no successor', async (query, code, words) => {
    const reply = await app.request(`/api/browse${query}`);

    expect(reply.json()).toMatchObject({ status: 400, code });
    expect(reply.json().detail).toContain(words);
    expectAllSignals(reply, null);
  });
});

const successors: Readonly<Record<string, string>> = {
  [convert]: `${baseUrl}/api/v1/posts?url=${url}`,
  [profile]: `${baseUrl}/api/v1/profiles/ada.example`,
  [search]: `${baseUrl}/api/v1/search?q=heron&platform=archive`,
};

describe('the deprecation headers', () => {
  const onErrors = clause(
    'read.route_lifecycle.announced_headers_on_error',
    'read.errors.deprecated_routes_keep_headers',
  );

  clause(
    'read.route_lifecycle.announced_headers_on_success',
    'read.versioning.three_signals_every_response',
  ).each(Object.entries(successors))(
    'are on 200, 304, HEAD and preflights of %s',
    async (path, successor) => {
      const app = await buildTestApp();
      const origin = { origin: 'https://page.test', 'access-control-request-method': 'GET' };

      const found = await app.request(path);
      const hit = await app.request(path);
      const etag = String(found.headers.etag);
      const known = await app.request(path, { headers: { 'if-none-match': etag } });
      const head = await app.request(path, { method: 'HEAD' });
      const preflight = await app.request(path, { method: 'OPTIONS', headers: origin });

      const replies = [found, hit, known, head, preflight];
      expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 200, 304, 200, 204]);
      expect([found, hit].map(({ headers }) => headers['x-cache'])).toEqual(['miss', 'hit']);
      for (const reply of replies) expectAllSignals(reply, successor);
    },
  );

  clause('read.versioning.three_signals_every_response')(
    'are sent together with the link to the oEmbed document',
    async () => {
      const reply = await app.request(convert);

      expect(
        readLinks(reply.headers)
          .map(({ rel }) => rel)
          .toSorted(),
      ).toEqual(['alternate', 'alternate', 'deprecation', 'successor-version', 'sunset']);
    },
  );

  onErrors.each(Object.entries(successors))(
    'are on 400, 405 and 414 of %s',
    async (path, successor) => {
      const app = await buildTestApp();

      const bad = await app.request(`${path}&format=xml`);
      const long = await app.request(`${path}&x=${'a'.repeat(8192)}`);

      expect([bad.statusCode, long.statusCode]).toEqual([400, 414]);
      expectAllSignals(bad, `${successor}${successor.includes('?') ? '&' : '?'}format=xml`);
      expectAllSignals(long, successor);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        const reply = await app.request(path, { method });
        expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
        expectAllSignals(reply, successor);
      }
    },
  );

  onErrors('are on a 404', async () => {
    const post = await app.request(`/api/convert?handle=ada.example&id=1900000000000000999`);
    const account = await app.request('/api/browse?resource=followers&handle=nobody.example');

    expect([post.json().code, account.json().code]).toEqual(['not_found', 'not_found']);
    expectAllSignals(post, `${baseUrl}/api/v1/posts?handle=ada.example&id=1900000000000000999`);
    expectAllSignals(account, `${baseUrl}/api/v1/profiles/nobody.example/followers`);
  });

  onErrors('are on the 401 of an unknown key', async () => {
    const headers = { authorization: `Bearer perch_${'k'.repeat(43)}` };

    const refused = await app.request(profile, { headers });
    const ignored = await app.request(convert, { headers });

    expect([refused.json().code, ignored.statusCode]).toEqual(['invalid_key', 200]);
    expectAllSignals(refused, successors[profile] ?? '');
    expectAllSignals(ignored, successors[convert] ?? '');
  });

  onErrors('are on the 429 of an exhausted allowance', async () => {
    const post = createStubProvider('stub', async ({ post: { id: one } }) =>
      stubFound(stubPost(one)),
    );
    const list = createFakeList(3, fullPages);
    const app = await buildTestApp({
      providers: [post, list.provider],
      env: { PERCH_POST_ALLOWANCE: '1', PERCH_PUBLIC_ALLOWANCE: '1' },
    });
    await app.request('/api/convert?handle=jack&id=20');
    await app.request('/api/browse?resource=search&q=fog');

    const tooMuch = await app.request('/api/convert?handle=jack&id=21');
    const tooOften = await app.request('/api/browse?resource=search&q=rain');

    expect([tooMuch.json().code, tooOften.json().code]).toEqual(['rate_limited', 'rate_limited']);
    expectAllSignals(tooMuch, `${baseUrl}/api/v1/posts?handle=jack&id=21`);
    expectAllSignals(tooOften, `${baseUrl}/api/v1/search?q=rain`);
  });

  onErrors.each([
    ['unavailable', 503],
    ['throttled', 503],
    ['malformed', 502],
    ['missing', 404],
  ] as const satisfies readonly (readonly [ProviderErrorKind, number])[])(
    'are on the reply to a provider’s failure: %s, %i',
    async (kind, status) => {
      const fail = async () => {
        throw new ProviderError(kind, 'A sentence.');
      };
      const post = createStubProvider('stub', fail);
      const profiles = {
        name: 'profiles',
        platforms: ['x'] as const,
        reads: new Set(['profile', 'timeline'] as const),
        covers: () => true,
        fetch: { profile: fail, timeline: fail },
      };
      const app = await buildTestApp({ providers: [post, profiles] });

      const one = await app.request('/api/convert?handle=jack&id=20');
      const other = await app.request('/api/browse?resource=profile&handle=jack');

      expect([one.statusCode, other.statusCode]).toEqual([status, status]);
      expectAllSignals(one, `${baseUrl}/api/v1/posts?handle=jack&id=20`);
      expectAllSignals(other, `${baseUrl}/api/v1/profiles/jack`);
    },
  );

  onErrors('are on a 500', async () => {
    // Breaks the contract of providers, so that the read fails over it.
    const provider = createStubProvider('stub', async () => stubFound(null as never));
    const app = await buildTestApp({ providers: [provider] });

    const reply = await app.request('/api/convert?handle=jack&id=20');

    expect(reply.json().code).toBe('internal_error');
    expectAllSignals(reply, `${baseUrl}/api/v1/posts?handle=jack&id=20`);
  });

  onErrors('are on the 503 of an overloaded or stopping process', async () => {
    const load = { isHigh: true, close: () => undefined };
    const app = await buildTestApp({ load });

    const shed = await app.request(profile);
    app.startDraining();
    const draining = await app.request(convert);

    expect([shed.json().code, draining.json().code]).toEqual(['overloaded', 'shutting_down']);
    expectAllSignals(shed, successors[profile] ?? '');
    expectAllSignals(draining, successors[convert] ?? '');
  });
});

describe('an alias over time', () => {
  const { deprecationMs, sunsetMs } = scheduledLifecycle;
  // Later than the polls of the sample, whose pages say whether they have closed.
  const announcedMs = Date.UTC(2026, 6);

  async function readAt(startMs: number) {
    const app = await buildTestApp({ clock: createManualClock(startMs) });
    const replies = [];
    for (const path of [convert, profile, search, `${convert}&thread=x`, '/api/browse']) {
      const { headers, body, statusCode } = await app.request(path);
      const { deprecation, sunset, link, etag } = headers;
      replies.push({ statusCode, body, deprecation, sunset, link, etag });
    }
    return replies;
  }

  clause(
    'read.versioning.signals_sent_now',
    'read.versioning.deprecated_keep_answering',
    'read.route_lifecycle.deprecated_after_date',
  )('has the same replies and headers before and after its deprecation', async () => {
    const announced = await readAt(announcedMs);

    expect(announced.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 400, 400]);
    for (const reply of announced) expect(reply.deprecation).toBe('@1789430400');
    expect(await readAt(deprecationMs - 1)).toEqual(announced);
    expect(await readAt(deprecationMs)).toEqual(announced);
  });

  clause('read.versioning.unchanged_until_sunset', 'read.route_lifecycle.sunset_may_stop')(
    'has the same replies and headers before and after its sunset',
    async () => {
      const announced = await readAt(announcedMs);

      expect(await readAt(sunsetMs - 1)).toEqual(announced);
      expect(await readAt(sunsetMs + 1e11)).toEqual(announced);
    },
  );
});

describe('HEAD on an alias', () => {
  clause(
    'read.endpoints.deprecated_answer_head',
    'read.endpoints.head_carries_deprecation_headers',
    'read.endpoints.head_without_read',
  ).each([
    ['/api/convert', '/api/v1/posts'],
    ['/api/convert?handle=jack&id=20', '/api/v1/posts?handle=jack&id=20'],
    ['/api/convert?url=nonsense&thread=0', '/api/v1/posts?url=nonsense&thread=0'],
    ['/api/convert?url=a&url=b', '/api/v1/posts?url=a&url=b'],
    ['/api/browse', null],
    ['/api/browse?resource=post', null],
    ['/api/browse?resource=profile', null],
    ['/api/browse?resource=profile&handle=jack', '/api/v1/profiles/jack'],
    ['/api/browse?resource=search&q=fog&feed=no', '/api/v1/search?q=fog&feed=no'],
  ])(
    'is 200 with the headers, without a body and without a read, for %s',
    async (path, successor) => {
      const post = createStubProvider('stub', async () => stubFound(stubPost('20')));
      const list = createFakeList(3, fullPages);
      const app = await buildTestApp({ providers: [post, list.provider] });

      const reply = await app.request(path, { method: 'HEAD' });

      expect([reply.statusCode, reply.body]).toEqual([200, '']);
      expectAllSignals(reply, successor === null ? null : `${baseUrl}${successor}`);
      expect([post.queries.length, list.asked]).toEqual([0, 0]);
    },
  );

  clause('read.endpoints.head_without_read')(
    'spends no allowance and does not use the cache',
    async () => {
      const post = createStubProvider('stub', async () => stubFound(stubPost('20')));
      const list = createFakeList(3, fullPages);
      const app = await buildTestApp({
        providers: [post, list.provider],
        env: { PERCH_POST_ALLOWANCE: '1', PERCH_PUBLIC_ALLOWANCE: '1' },
      });
      const paths = ['/api/convert?handle=jack&id=20', '/api/browse?resource=search&q=fog'];

      for (const path of [...paths, ...paths, ...paths]) {
        const head = await app.request(path, { method: 'HEAD' });
        expect(head.statusCode).toBe(200);
      }
      for (const path of paths) {
        const get = await app.request(path);
        expect([get.statusCode, get.headers['x-cache']]).toEqual([200, 'miss']);
      }
    },
  );
});

it.each(['/api/browse?resource=search&feed=none&q=', '/api/convert?url=', '/api/convert?format='])(
  'a key in a parameter of an alias is not in the Link of a problem: %s',
  async (path) => {
    const app = await buildTestApp();
    const { key } = await app.createKey();

    const reply = await app.request(`${path}${key}`);

    expect(reply.statusCode).toBe(400);
    expect(JSON.stringify(reply.headers)).not.toContain(key);
    expect(readLinks(reply.headers).map(({ rel }) => rel)).not.toContain('successor-version');
  },
);
