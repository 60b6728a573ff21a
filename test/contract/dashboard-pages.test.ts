import { describe, expect, it, onTestFinished } from 'vitest';
import type { Answer, AnswerEngine } from '../../src/answers/answer.ts';
import { noCounts } from '../../src/archive/store/import-rows.ts';
import { openArchiveStore } from '../../src/archive/store/store.ts';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from '../support/build-app.ts';
import { corpusOf } from '../support/corpus-folder.ts';
import { type Operator, signIn } from '../support/dashboard.ts';
import { fillArchive } from '../support/imported-archive.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

const post = '/api/v1/posts?handle=jack&id=20&thread=off&replies=off';

/** Settings whose values must never appear on a page. */
const secrets = {
  PERCH_CURSOR_KEY: 'hidden-cursor-key-of-32-characters-or-more',
  PERCH_MODEL_URL: 'http://127.0.0.1:9/hidden-path/v1',
  PERCH_MODEL_KEY: 'hidden-model-key',
  PERCH_MODEL: 'harbour:7b',
};

const hostile = '"><img src=x onerror=alert(1)>&lt;';

async function open(options: TestAppOptions = {}) {
  const app = await buildTestApp(options);
  return { app, operator: await signIn(app) };
}

async function read(operator: Operator, url: string): Promise<string> {
  const reply = await operator.open(url);
  expect(reply.statusCode).toBe(200);
  expect(reply.headers['cache-control']).toBe('no-store');
  expect(reply.body).not.toMatch(/\sstyle=|<script>|\son\w+=["']/);
  return reply.body;
}

const toText = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&nbsp;', ' ')
    .replaceAll(/\s+/g, ' ');

function tileOf(html: string, name: string): string {
  const [, rest = ''] = new RegExp(`<dt>${name}</dt>(.*?)</div>`).exec(html) ?? [];
  return toText(rest).trim();
}

/** Returns the sum of the counts in the tooltips of each chart, for each series, by the title of the chart. */
function sumsOf(html: string): Readonly<Record<string, readonly number[]>> {
  const charts = [...html.matchAll(/<figure.*?<strong>(.*?)<\/strong>(.*?)<\/figure>/gs)];
  const sums = charts.map(([, title = '', chart = '']) => {
    const counts = [...chart.matchAll(/<title>\d\d:\d\d UTC: (.*?)<\/title>/g)].map(
      ([, text = '']) => text.split(', ').map((part) => Number.parseInt(part, 10)),
    );
    return [title, counts.reduce((a, b) => a.map((count, at) => count + (b[at] ?? 0)))] as const;
  });
  return Object.fromEntries(sums);
}

/** Provider of X whose requests fail while `failure` is set. */
function createFailingProvider() {
  const state: { failure: ProviderError | null } = { failure: null };
  const provider: Provider = {
    ...createStubProvider('fxtwitter', async () => {
      if (state.failure !== null) throw state.failure;
      return stubFound(stubPost('20'));
    }),
    platforms: ['x'],
  };
  return { state, provider };
}

function createEngine(): AnswerEngine {
  return {
    modelId: 'perch/test',
    isReady: true,
    answer: async ({ text }): Promise<Answer> => ({
      text: 'No.',
      citations: [],
      abstained: !text.includes('answered'),
      finishReason: 'stop',
    }),
  };
}

const ask = (app: TestApp, question: string) =>
  app.request(`/docs/ask?q=${encodeURIComponent(question)}`, { headers: { accept: 'text/html' } });

describe('the overview of the dashboard', () => {
  it('draws the requests and errors of the last hour and day', async () => {
    const { app, operator } = await open();

    for (let at = 0; at < 3; at += 1) await app.request('/health/live');
    await app.request('/no/route');
    await app.request('/api/v1/posts');
    await app.advance(20 * 60_000);
    await app.request('/no/route/either');
    const html = await read(operator, '/admin');

    // Signing in takes two requests, and the page itself is one.
    expect(tileOf(html, 'Requests, last hour')).toMatch(/^9 /);
    expect(tileOf(html, 'Error responses, last hour')).toBe(
      '3 0 with a 5xx status, 3 with a 4xx status',
    );
    // Which of the two minutes a request is counted in depends on a real timer, so only the sums are certain.
    expect(sumsOf(html)).toEqual({
      'Requests per minute': [9],
      'Error responses per minute': [0, 3],
      'Requests per 15 minutes': [9],
      'Error responses per 15 minutes': [0, 3],
    });
    expect(html).toMatch(/<title>00:00 UTC: \d requests<\/title>/);
    const alternative = 'Requests per minute. 9 requests in the last hour, at most';
    expect(html).toContain(`aria-label="${alternative}`);
    const [table = ''] = /<details id="table-hour">.*?<\/details>/s.exec(html) ?? [];
    expect(toText(table)).toMatch(/From \(UTC\) Requests 4xx 5xx Cached (?:\d\d:\d\d \d \d 0 )+/);
  });

  it('says so in words if nothing has happened', async () => {
    const { operator } = await open({ env: { PERCH_PROVIDERS: 'archive' } });

    const text = toText(await read(operator, '/admin'));

    expect(text).toContain('No error responses in the last hour.');
    expect(text).toMatch(
      /archive Not used [^.]*\bNo queries in the last hour\. No failure since the start\./,
    );
    expect(text).toContain('Sessions are turned off');
    expect(text).not.toContain('NaN');
  });

  it('shows why a provider fails, how often, when, and when Perch tries again', async () => {
    const { state, provider } = createFailingProvider();
    const env = { PERCH_BREAKER_FAILURES: '2', PERCH_BREAKER_SECONDS: '30' };
    const { app, operator } = await open({ env, providers: [provider] });

    await app.request(post);
    state.failure = new ProviderError('unavailable', 'The source did not answer in time.');
    await app.request(post.replace('=20', '=21'));
    await app.advance(60_000);
    await app.request(post.replace('=20', '=22'));
    await app.advance(10_000);
    const html = await read(operator, '/admin');

    const text = toText(html);
    expect(text).toContain('Perch pauses requests to fxtwitter.');
    expect(text).toContain('fxtwitter Paused X');
    expect(text).toContain('No requests for posts: they failed repeatedly. Next test in 20 s.');
    expect(text).toContain('3 queries in the last hour, 2 failed (67%).');
    expect(text).toContain(
      'Last failure (posts): The source did not answer in time. 2026-11-21 00:01 UTC (10 s ago)',
    );
    expect(tileOf(html, 'Error responses, last hour')).toContain('2 with a 5xx status');

    state.failure = null;
    await app.advance(30_000);
    await app.request(post.replace('=20', '=23'));
    const later = toText(await read(operator, '/admin'));

    expect(later).toContain('fxtwitter Working X');
    expect(later).toContain('4 queries in the last hour, 2 failed (50%).');
    expect(later).not.toContain('Perch pauses requests');

    await app.advance(61 * 60_000); // the session ends after half an hour without a request
    const empty = toText(await read(await signIn(app), '/admin'));

    expect(empty).toContain(
      'fxtwitter Not used X No queries in the last hour. Last failure (posts):',
    );
  });

  it('does not call a provider working if all its queries failed', async () => {
    const { state, provider } = createFailingProvider();
    const { app, operator } = await open({ providers: [provider] });

    state.failure = new ProviderError('unavailable', 'The source did not answer in time.');
    await app.request(post);
    const text = toText(await read(operator, '/admin'));

    expect(text).toContain('fxtwitter Failing X 1 query in the last hour, 1 failed (100%).');
  });

  it('does not call a provider working if all its queries failed', async () => {
    const { state, provider } = createFailingProvider();
    const { app, operator } = await open({ providers: [provider] });

    state.failure = new ProviderError('unavailable', 'The source did not answer in time.');
    await app.request(post);
    const text = toText(await read(operator, '/admin'));

    expect(text).toContain('fxtwitter Failing X');
    expect(text).toContain('1 query in the last hour, 1 failed (100%).');
  });

  it('shows a rate limit of an upstream as a pause', async () => {
    const { state, provider } = createFailingProvider();
    const { app, operator } = await open({ providers: [provider] });

    const options = { retryAfterSeconds: 90 };
    state.failure = new ProviderError('throttled', 'The source limits the rate.', options);
    await app.request(post);
    const text = toText(await read(operator, '/admin'));

    expect(text).toContain(
      'No requests for posts: the upstream limits the rate of requests for 1 min 30 s more.',
    );
  });

  it('shows the share of the cache, the pool, memory, and the load', async () => {
    const { provider } = createFailingProvider();
    const load = { isHigh: false, delay: { nowMs: 1.25, highestMs: 340 }, close: () => undefined };
    const env = { PERCH_POOL_ALLOWANCE: '200' };
    const { app, operator } = await open({ env, providers: [provider], load });

    for (let at = 0; at < 4; at += 1) await app.request(post);
    const html = await read(operator, '/admin');

    expect(tileOf(html, 'Answered from the cache, last hour')).toBe('75% 3 of 4 reads');
    expect(tileOf(html, 'Cache')).toMatch(/^[\d.]+ KiB of 64 MiB, 1 entry$/);
    expect(tileOf(html, 'Upstream pool, last 60 seconds')).toBe('200 left 0 of 200 requests used');
    expect(tileOf(html, 'Memory')).toMatch(/^[\d.]+ [MG]iB [\d.]+ [MG]iB of JavaScript objects$/);
    expect(tileOf(html, 'Event-loop delay')).toBe('1.3 ms at most 340 ms in the last minute');
  });

  it('counts the upstream requests of profiles in the pool', async () => {
    const env = { PERCH_POOL_ALLOWANCE: '200', PERCH_PROVIDERS: 'fxtwitter' };
    const { app, operator } = await open({ env });

    await app.request('/api/v1/profiles/jack'); // fails, because tests have no network
    const html = await read(operator, '/admin');

    expect(tileOf(html, 'Upstream pool, last 60 seconds')).toMatch(/^19\d left \d+ of 200/);
    expect(toText(html)).toContain('The source could not be reached.');
  });

  it('says that the server is overloaded, and that the delay is not measured', async () => {
    const { operator } = await open({ load: { isHigh: true, close: () => undefined } });

    const html = await read(operator, '/admin');

    expect(toText(html)).toContain('The server is overloaded, and refuses reads.');
    expect(tileOf(html, 'Event-loop delay')).toMatch(/^Not measured/);
  });

  it('shows the sessions and their queue', async () => {
    const env = { PERCH_SESSIONS: 'on', PERCH_SESSION_TURNS_AT_ONCE: '3' };
    const { app, operator } = await open({ env, engine: createEngine() });

    await app.request('/svc/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: '{"message":"Is this answered?"}',
    });
    const html = await read(operator, '/admin');

    expect(tileOf(html, 'Active sessions')).toBe('1 0 open streams');
    expect(tileOf(html, 'Questions being answered')).toContain('at most 3 at the same time');
    expect(tileOf(html, 'Questions in the queue')).toContain('at most 4,096 waiting and running');
  });

  it('offers the same figures to its script, as JSON', async () => {
    const { app, operator } = await open();

    await app.request('/no/route');
    const reply = await app.request('/admin/overview', { headers: operator.headers });

    expect(reply.statusCode).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(Object.keys(reply.json())).toEqual(['html']);
    expect(tileOf(reply.json().html, 'Error responses, last hour')).toContain('1 with a 4xx');
    expect((await app.request('/admin/overview')).statusCode).toBe(401);
  });
});

describe('the archive page of the dashboard', () => {
  it('lists accounts, posts, sizes and the last imports', async () => {
    const folder = temporaryFolder();
    fillArchive(folder, ['x', 'mastodon']);
    const store = openArchiveStore(`${folder}/archive.db`, '');
    onTestFinished(() => store.close());
    const name = `${hostile}.zip`;
    const { number } = store.beginImport(
      { fingerprint: 'one', title: 'X export', name, exported: 1_790_000_000 },
      1_790_000_000,
    );
    const { operator } = await open({ env: { PERCH_DATA_DIR: folder } });

    const running = await read(operator, '/admin/archive');
    const counts = { ...noCounts, accounts: 1, posts: 3, faults: 2 };
    const progress = { before: 0, items: 5, counts, isDone: true, now: 1_790_000_060 };
    store.advanceImport(number, progress);
    const html = await read(operator, '/admin/archive');

    expect(tileOf(html, 'Imported accounts')).toBe('2');
    expect(tileOf(html, 'Posts of these accounts')).toBe('6 0 reposts');
    expect(tileOf(html, 'Size on disk')).toMatch(/^\d+ KiB/);
    expect(tileOf(html, 'Last import')).toContain('2026-09-21');
    const text = toText(html);
    expect(text).toContain('@heron_x on X 3 posts · 0 reposts');
    expect(text).toContain('X export · 5 records read · 3 posts stored · 2 unreadable records');
    expect(toText(running)).toContain('Not finished');
    expect(text).not.toContain('Not finished');
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;img src=x');
  });

  it('says so in words if the archive is empty, or not on disk', async () => {
    const inMemory = await open();
    const empty = await open({ env: { PERCH_DATA_DIR: temporaryFolder() } });

    expect(toText(await read(inMemory.operator, '/admin/archive'))).toContain(
      'Perch stores nothing on disk',
    );
    const text = toText(await read(empty.operator, '/admin/archive'));
    expect(text).toContain('No account is imported yet.');
    expect(text).toContain('There was no import yet.');
  });
});

describe('the answers page of the dashboard', () => {
  const sessions = { PERCH_SESSIONS: 'on' };

  it('counts questions, and keeps no declined questions by default', async () => {
    const { app, operator } = await open({ env: sessions, engine: createEngine() });

    await ask(app, 'Is this answered?');
    await ask(app, 'Where is the private heron?');
    const html = await read(operator, '/admin/answers');

    expect(tileOf(html, 'Answered questions')).toMatch(/^1 /);
    expect(tileOf(html, 'Declined questions')).toBe('1 50% of 2 questions');
    expect(html).not.toContain('heron');
    expect(toText(html)).toContain('Perch does not keep declined questions.');
  });

  it('shows the last declined questions of pages and sessions if the operator keeps them', async () => {
    const env = { ...sessions, PERCH_KEEP_DECLINED_QUESTIONS: '2' };
    const { app, operator } = await open({ env, engine: createEngine() });

    await ask(app, 'the first one');
    await ask(app, `the second ${hostile}`);
    const reply = await app.request('/svc/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: '{"message":"the third one"}',
    });
    expect(reply.statusCode).toBe(202);
    await expect
      .poll(async () => toText(await read(operator, '/admin/answers')))
      .toContain('the third one');
    const html = await read(operator, '/admin/answers');

    expect(html).not.toContain('<img');
    expect(html).toContain('the second &quot;&gt;&lt;img');
    // A question in another direction, or with directional characters, does not reorder the text around it.
    expect(html).toContain('<bdi>the third one</bdi>');
    expect(html).not.toContain('the first one');
    expect(toText(html)).toContain('Perch keeps the last 2 declined questions in memory');
    expect(toText((await ask(app, 'and now?')).body)).toContain(
      'The operator of this server can see questions',
    );
  });

  it('tells nobody who asks that the operator reads along if questions are not kept', async () => {
    const { app } = await open({ env: sessions, engine: createEngine() });

    expect((await ask(app, 'and now?')).body).not.toContain('The operator of this server can see');
  });

  it('shows the documents, the index and the language model', async () => {
    const { root } = corpusOf({ 'a.md': 'Herons fish.', 'photo.png': 'x' });
    const env = { ...sessions, ...secrets, PERCH_CORPUS: `docs/paging.md,docs/search.md,${root}` };
    const app = await buildTestApp({ env });
    const operator = await signIn(app);

    const before = toText(await read(operator, '/admin/answers'));
    await app.server.listen({ port: 0, host: '127.0.0.1' });
    await app.advance(1000); // the first update of the index
    await expect
      .poll(async () => tileOf(await read(operator, '/admin/answers'), 'Index'), {
        timeout: 20_000,
      })
      .toMatch(/^Ready/);
    const html = await read(operator, '/admin/answers');

    expect(before).toContain('The first update has not started yet.');
    expect(tileOf(html, 'Files')).toMatch(/^3 \d+ passages, 1 of another format$/);
    expect(html).toContain('<code>docs/paging.md</code>');
    expect(html).toContain('<code>harbour:7b</code>');
  });

  it('says that questions are turned off', async () => {
    const { operator } = await open();

    expect(toText(await read(operator, '/admin/answers'))).toContain('Questions are turned off');
  });
});

describe('the configuration page of the dashboard', () => {
  it('shows every setting with its source and its default, and masks secrets', async () => {
    const env = { ...secrets, PERCH_SAMPLE: 'no', PERCH_CACHE_ENTRIES: '77' };
    const { operator } = await open({ env });

    const html = await read(operator, '/admin/configuration');

    const text = toText(html);
    expect(text).toContain('PERCH_CACHE_ENTRIES 77 Set by: environment. Default: 5000');
    expect(text).toContain('PERCH_SAMPLE false Set by: environment. Default: true');
    expect(text).toContain('PERCH_CURSOR_KEY ******** Set by: environment');
    expect(text).toContain('PERCH_REDIS_URL Not set Default');
    expect(text).toContain('PERCH_CONTACT_URL http://localhost:8080/docs/keys#get-a-key Default');
    expect(text).toContain('There are no faults and no warnings.');
  });

  it('shows the warnings of the start, also on the overview', async () => {
    const { operator } = await open({ startWarnings: [`PERCH_<b>SAMPEL</b> is set, ${hostile}`] });

    const html = await read(operator, '/admin/configuration');

    expect(html).toContain('Warning</span> PERCH_&lt;b&gt;SAMPEL&lt;/b&gt; is set');
    expect(html).not.toContain('<img');
    expect(toText(await read(operator, '/admin'))).toContain(
      'There is 1 notice about the configuration .',
    );
  });
});

it('never shows a secret on any page of the dashboard', async () => {
  const env = { ...secrets, PERCH_SESSIONS: 'on', PERCH_ADMIN_TOKEN: `hidden-${'a'.repeat(40)}` };
  const app = await buildTestApp({ env, engine: createEngine() });
  const operator = await signIn(app, env.PERCH_ADMIN_TOKEN);

  for (const path of ['', '/overview', '/keys', '/archive', '/answers', '/configuration']) {
    const { statusCode, body } = await operator.open(`/admin${path}`);
    expect([path, statusCode, body.includes('hidden-')]).toEqual([path, 200, false]);
  }
});
