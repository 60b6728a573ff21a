import { get as send } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clause } from '../support/clause.ts';
import { type FakeFxTwitter, startFakeFxTwitter } from '../support/fake-fxtwitter.ts';
import {
  answerHtml,
  answerJson,
  answerText,
  type FakeHandler,
  hang,
} from '../support/fake-upstream.ts';
import { fillArchive } from '../support/imported-archive.ts';
import { exchange, listen, upstream } from '../support/listen.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { fxNoList, fxNoUser } from '../support/x-payloads.ts';

/** Limits for short outages, in the proportions of the defaults. */
const short = {
  PERCH_CONNECT_TIMEOUT_MS: '300',
  PERCH_ATTEMPT_TIMEOUT_MS: '1000',
  PERCH_READ_TIMEOUT_MS: '1500',
};

/** Answers are stale at once, and are served only if no upstream answers. */
const staleAtOnce = { PERCH_CACHE_TTL_SECONDS: '0', PERCH_STALE_WHILE_REVALIDATE_SECONDS: '0' };

/** Creates a data folder whose archive contains an X account. */
function withImports() {
  const folder = temporaryFolder();
  fillArchive(folder, ['x']);
  return { PERCH_DATA_DIR: folder };
}

/** Members of a body or problem document that the tests read. */
interface Body {
  readonly code: string;
  readonly source: string;
  readonly page: number;
  readonly posts: readonly { readonly id: string }[];
  readonly users: readonly { readonly id: string }[];
  readonly profile: { readonly screen_name: string };
  readonly warnings: readonly string[];
  readonly degraded: boolean;
  readonly nextCursor?: string;
  readonly providers: readonly { readonly name: string; readonly broken?: unknown }[];
}

async function readJson(reply: Response): Promise<Body> {
  return (await reply.json()) as Body;
}

/** Starts Perch with a fake FxTwitter that has `wren`, and a second source that returns nothing. */
async function setUp(env: Readonly<Record<string, string>> = {}) {
  const fake = await startFakeFxTwitter();
  const silent = await upstream(hang);
  fake.addAccount('wren');
  const timeline = fake.addTimeline('wren', { length: 30 });
  fake.addConnections('wren', { kind: 'followers', length: 30 });
  fake.addSearch('heron', 30);
  const { app, url, port } = await listen({
    ...short,
    PERCH_FXTWITTER_URL: fake.url,
    PERCH_SYNDICATION_URL: silent.url,
    ...env,
  });
  const get = (path: string) => fetch(`${url}${path}`, { headers: { accept: 'application/json' } });
  return { app, fake, get, url, port, timeline };
}

const says =
  (status: number, body: unknown): FakeHandler =>
  (_request, response) =>
    answerJson(response, body, { status });
const crash: FakeHandler = (_request, response) => answerHtml(response, { status: 500 });
const slowDown: FakeHandler = (_request, response) =>
  answerText(
    response,
    { type: 'text/plain', text: 'slow down' },
    { status: 429, headers: { 'retry-after': '17' } },
  );

const isProfile = (handle: string) => (url: string) => url === `/2/profile/${handle}`;
const isUnder = (path: string) => (url: string) => url.startsWith(path);
const isAny = () => true;

/** Makes X unreachable for FxTwitter, which then answers everything with a 404. */
function cutOffX(fake: FakeFxTwitter): () => void {
  return fake.interrupt(isAny, (request, response) => {
    const isList = /\/(?:statuses|followers|following|search)/.test(request.url ?? '');
    answerJson(response, isList ? fxNoList : fxNoUser, { status: 404 });
  });
}

/** All lists of an account, on both surfaces. */
const listsOf = (handle: string) => [
  `/api/v1/profiles/${handle}`,
  `/api/v1/profiles/${handle}/followers`,
  `/api/v1/profiles/${handle}/following`,
  `/${handle}`,
  `/${handle}/followers`,
  `/${handle}/following`,
];

async function expectProblem(reply: Response, status: number, code: string): Promise<void> {
  const problem = await readJson(reply);
  expect([reply.url, reply.status, problem.code]).toEqual([reply.url, status, code]);
  expect(reply.headers.get('content-type')).toContain('application/problem+json');
  expect(JSON.stringify(problem)).not.toMatch(/User not found|Secret page|slow down|127\.0\.0\.1/);
}

describe('an account that is not found', () => {
  clause('read.errors.upstream_as_problem').each(listsOf('nobody'))(
    'does not exist if another account can be read: %s',
    async (path) => {
      const { get } = await setUp();

      await expectProblem(await get(path), 404, 'not_found');
    },
  );

  clause('read.errors.upstream_down').each(listsOf('nobody'))(
    'may exist if no account can be read: %s',
    async (path) => {
      const { fake, get } = await setUp();
      cutOffX(fake);

      const reply = await get(path);

      expect(reply.headers.get('retry-after')).toBe('30');
      await expectProblem(reply, 503, 'upstream_unavailable');
    },
  );

  clause('read.errors.upstream_as_problem').each(
    ['suspended', 'protected'].flatMap((how) => listsOf('hidden').map((path) => ({ how, path }))),
  )('is not public when it is $how: $path', async ({ how, path }) => {
    const { fake, get } = await setUp();
    fake.addAccount('hidden', { protected: how === 'protected' });
    fake.interrupt(isUnder('/2/profile/hidden/'), says(404, fxNoList));
    if (how === 'suspended') {
      const body = { code: 404, message: 'User is suspended', reason: 'suspended' };
      fake.interrupt(isProfile('hidden'), says(404, body));
    }

    await expectProblem(await get(path), 404, 'not_found');
  });

  clause('read.errors.upstream_as_problem').each(['/hidden/followers', '/hidden/following'])(
    'is not public if it is protected and its list is empty: %s',
    async (path) => {
      const { fake, get } = await setUp();
      fake.addAccount('hidden', { protected: true });

      await expectProblem(await get(path), 404, 'not_found');
    },
  );

  clause('read.errors.upstream_down')('exists if only its followers cannot be listed', async () => {
    const { fake, get } = await setUp();
    fake.interrupt(isUnder('/2/profile/wren/followers'), says(404, fxNoList));

    const [followers, profile] = [await get('/wren/followers'), await get('/wren')];

    expect([followers.headers.get('retry-after'), profile.status]).toEqual(['30', 200]);
    await expectProblem(followers, 503, 'upstream_unavailable');
  });
});

describe('a search', () => {
  const faults = [
    { name: 'X cannot be searched', fault: says(404, fxNoList) },
    { name: 'the source asks for fewer requests', fault: slowDown },
    { name: 'the source fails', fault: crash },
  ];
  const paths = [
    '/search?q=heron',
    '/api/v1/search?q=heron&feed=top',
    '/search?q=heron&feed=users',
  ];

  clause('read.v1.search').each(
    faults.flatMap((fault) => paths.map((path) => ({ ...fault, path }))),
  )('is answered by the archive when $name: $path', async ({ fault, path }) => {
    const { fake, get } = await setUp(withImports());
    fake.interrupt(isAny, fault);

    const reply = await get(path);
    const body = await readJson(reply);

    expect([reply.status, body.source, body.degraded]).toEqual([200, 'archive', true]);
    expect(reply.headers.get('x-search-degraded')).toBe('true');
    expect(reply.headers.get('x-source')).toBe('archive');
  });

  clause('read.v1.search')(
    'that the archive started stays with the archive to the end',
    async () => {
      const { fake, get } = await setUp(withImports());
      const restore = fake.interrupt(isUnder('/2/search'), says(404, fxNoList));
      const pages = [await readJson(await get('/search?q=the&limit=1'))];
      restore();

      for (let next = pages[0]?.nextCursor; next !== undefined; next = pages.at(-1)?.nextCursor) {
        pages.push(await readJson(await get(`/search?q=the&limit=1&cursor=${next}`)));
      }

      const ids = pages.flatMap(({ posts }) => posts.map(({ id }) => id));
      expect(pages.length).toBeGreaterThan(2);
      expect(new Set(ids).size).toBe(ids.length);
      for (const page of pages) expect([page.source, page.degraded]).toEqual(['archive', true]);
    },
  );

  clause('read.errors.upstream_down', 'read.errors.upstream_as_problem')(
    'fails without an archive',
    async () => {
      const { fake, get } = await setUp({ PERCH_PROVIDERS: 'fxtwitter' });
      fake.interrupt(isAny, says(404, fxNoList));

      const reply = await get('/search?q=heron');

      expect(reply.headers.get('retry-after')).toBe('30');
      await expectProblem(reply, 503, 'upstream_unavailable');
    },
  );

  clause('read.errors.upstream_as_problem').each(paths)(
    'is rejected if the source rejects its text: %s',
    async (path) => {
      const { fake, get } = await setUp();
      fake.interrupt(isAny, says(400, { code: 400, message: 'Secret page of the upstream' }));

      await expectProblem(await get(path), 400, 'invalid_query');
    },
  );

  clause('read.errors.upstream_down')(
    'that fails repeatedly leaves posts and profiles readable',
    async () => {
      const { fake, get, timeline } = await setUp({ PERCH_PROVIDERS: 'fxtwitter' });
      fake.interrupt(isUnder('/2/search'), says(404, fxNoList));

      for (let n = 0; n < 8; n += 1) {
        await expectProblem(await get(`/search?q=heron${n}`), 503, 'upstream_unavailable');
      }
      const searches = fake.requests.filter(({ url }) => url.startsWith('/2/search'));
      const post = await get(`/wren/status/${timeline.rows[0]?.id}?thread=off&replies=off`);
      const [profile, followers, ready] = [
        await get('/wren'),
        await get('/wren/followers'),
        await get('/health/ready'),
      ];

      expect(searches).toHaveLength(5);
      expect([post.status, profile.status, followers.status, ready.status]).toEqual(
        Array(4).fill(200),
      );
      expect((await readJson(profile)).posts).toHaveLength(20);
      expect((await readJson(ready)).providers).toContainEqual(
        expect.objectContaining({ name: 'fxtwitter', broken: { search: 'open' } }),
      );
    },
  );
});

clause('read.limits.upstream_outage_retry_after').each(listsOf('wren'))(
  'a source that asks for fewer requests receives no requests for the requested time: %s',
  async (path) => {
    const { fake, get } = await setUp();
    const restore = fake.interrupt(isAny, slowDown);

    const reply = await get(path);
    restore();
    const asked = fake.requests.length;
    const later = await get('/x');

    expect(reply.headers.get('retry-after')).toBe('17');
    await expectProblem(reply, 503, 'upstream_rate_limited');
    await expectProblem(later, 503, 'upstream_rate_limited');
    expect(fake.requests).toHaveLength(asked);
  },
);

describe('a profile whose posts cannot be read', () => {
  clause('read.errors.upstream_down').each([
    { name: 'fails', fault: crash },
    { name: 'has no list', fault: says(404, fxNoList) },
    { name: 'sends another shape', fault: says(200, { code: 200, rows: [] }) },
    { name: 'never answers', fault: hang },
  ])('is returned without them, and they follow later: the source $name', async ({ fault }) => {
    const { fake, get, timeline } = await setUp();
    const restore = fake.interrupt(isUnder('/2/profile/wren/statuses'), fault);

    const reply = await get('/wren?limit=20');
    const body = await readJson(reply);
    restore();
    const later = await readJson(await get(`/wren?limit=20&cursor=${body.nextCursor}`));

    expect([reply.status, body.profile.screen_name, body.posts]).toEqual([200, 'wren', []]);
    expect(body.warnings.join(' ')).toMatch(/posts could not be read/);
    expect(later.posts.map(({ id }) => id)).toEqual(timeline.rows.slice(0, 20).map(({ id }) => id));
    expect([later.page, later.warnings]).toEqual([1, []]);
  });
});

describe('an outage', () => {
  clause('read.errors.upstream_down').each([
    '/wren',
    '/wren/followers',
    '/api/v1/profiles/wren?include_posts=false',
    '/search?q=heron',
  ])('is bridged by the stale answer, with a warning: %s', async (path) => {
    const { fake, get } = await setUp(staleAtOnce);
    const before = await readJson(await get(path));
    fake.interrupt(isAny, crash);

    const reply = await get(path);
    const body = await readJson(reply);

    expect([reply.status, reply.headers.get('x-cache'), body.source]).toEqual([
      200,
      'stale',
      'fxtwitter',
    ]);
    expect(body.warnings.join(' ')).toMatch(/^Stale: this copy was fetched at /);
    expect([body.posts, body.users, body.profile]).toEqual([
      before.posts,
      before.users,
      before.profile,
    ]);
    const isSearch = path.startsWith('/search');
    expect(body.degraded).toBe(isSearch);
    expect(reply.headers.get('x-search-degraded')).toBe(isSearch ? 'true' : null);
  });

  clause('read.errors.upstream_as_problem')(
    'does not bring back an account that was deleted before',
    async () => {
      const { fake, get, timeline } = await setUp();
      const kept = [
        '/wren',
        '/wren?limit=7',
        '/wren?with_reposts=true',
        '/wren/followers',
        `/wren/status/${timeline.rows[3]?.id}?thread=off&replies=off`,
      ];
      for (const path of kept) expect((await get(path)).status).toBe(200);
      expect((await get('/wren')).headers.get('x-cache')).toBe('hit');
      fake.removeAccount('wren');

      const gone = await get('/wren?limit=7&nocache=true');
      fake.interrupt(isAny, crash);
      const replies = await Promise.all(kept.map((path) => get(path)));

      expect(gone.status).toBe(404);
      expect(replies.map(({ status }) => status)).toEqual([503, 404, 503, 503, 503]);
    },
  );
});

describe('callers', () => {
  clause('read.what.surfaces_same_bodies').each([
    ['/wren?limit=7', '/api/v1/profiles/Wren?limit=7'],
    ['/@wren/followers', '/api/v1/profiles/wren/followers'],
    ['/search?q=heron', '/api/v1/search?q=heron'],
  ])('share the upstream requests of identical reads: %s', async (...paths) => {
    const alone = await setUp();
    await alone.get(paths[0]);
    const { app, fake, get } = await setUp();
    const release = fake.hold();

    const asking = Array.from({ length: 10 }, (_, index) => get(paths[index % 2] ?? ''));
    await expect.poll(() => app.inFlight).toBe(10);
    release();
    const bodies = await Promise.all((await Promise.all(asking)).map((reply) => reply.text()));

    expect(new Set(bodies).size).toBe(1);
    expect(urlsOf(fake)).toEqual(urlsOf(alone.fake));
  });

  it.each(['/wren', '/wren/followers', '/search?q=heron'])(
    'end their upstream requests when they leave: %s',
    async (path) => {
      const { app, fake, url } = await setUp();
      const open = new Set<unknown>();
      fake.interrupt(isAny, (request, response) => {
        open.add(request);
        response.on('close', () => open.delete(request));
      });

      const leave = askAndLeave(`${url}${path}`);
      await expect.poll(() => open.size).toBeGreaterThan(0);
      leave();

      await expect.poll(() => [open.size, app.inFlight]).toEqual([0, 0]);
    },
  );

  it('do not affect others when they leave', async () => {
    const { app, fake, get, url } = await setUp();
    const release = fake.hold();

    const leave = askAndLeave(`${url}/wren`);
    const staying = get('/wren');
    await expect.poll(() => app.inFlight).toBe(2);
    leave();
    await expect.poll(() => app.inFlight).toBe(1);
    release();

    expect((await readJson(await staying)).posts).toHaveLength(20);
    expect(urlsOf(fake)).toHaveLength(2);
  });
});

function askAndLeave(url: string): () => void {
  const request = send(url, { agent: false }).on('error', () => {});
  return () => void request.destroy();
}

function urlsOf(fake: FakeFxTwitter): readonly string[] {
  return fake.requests.map(({ url }) => url).toSorted();
}

describe('an invalid handle', () => {
  const hostile = [
    '..%2f',
    '%e2%84%aax',
    '..%2f..%2fadmin',
    '%2e%2e%2fx',
    'x%2f..%2fwren',
    'wren%2fstatuses',
    'wren%3fcount=1',
    'wren%23',
    'wren%00',
    '%00',
    '%0d%0aHost:%20evil.example',
    'wren%0d%0a',
    'id:12',
    'id%3a12',
    'ID:12',
    '%40%40wren',
    'wren;x=1',
    'wren\\',
    'a'.repeat(16),
    'a'.repeat(5000),
    '%ef%bd%97%ef%bd%92%ef%bd%85%ef%bd%8e',
    'wr%c3%a9n',
    '%f0%9f%a6%a9',
    'wren%e2%80%ae',
    '%c5%bfx',
    '%ff%fe',
    '%',
    '%zz',
    'wren%20',
    '%2525',
    '..',
    '.',
    '-wren',
    '%2a',
  ];

  clause('read.errors.problem_documents').each(hostile)(
    'never reaches the upstream: %j',
    async (handle) => {
      const { fake, port } = await setUp();

      const replies = await Promise.all(
        [...listsOf(handle), `/${handle}/status/20`].map((path) => exchange(port, [toHead(path)])),
      );

      for (const reply of replies) {
        expect(reply).toMatch(/^HTTP\/1\.1 4/);
        expect(reply.toLowerCase()).toContain('content-type: application/problem+json');
      }
      expect(fake.requests).toEqual([]);
    },
  );
});

function toHead(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
}
