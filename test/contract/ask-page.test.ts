import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AnswerEngine, answerReply, type Citation } from '../../src/answers/answer.ts';
import { ownCorpus } from '../../src/answers/corpus/corpus.ts';
import { openAnswers } from '../../src/answers/open-answers.ts';
import { exampleQuestions } from '../../src/routes/pages/ask/ask-plugin.ts';
import { askPath, maxQueryLength } from '../../src/routes/pages/layout.ts';
import { buildTestApp, shareTestApp, type TestApp, type TestClient } from '../support/build-app.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { parsePage } from '../support/render-html.ts';
import { mayFetch } from '../support/robots.ts';
import { answerTo, createManualEngine, createScriptedEngine } from '../support/scripted-engine.ts';

const app = shareTestApp({ env: { PERCH_SESSIONS: 'off' } });
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const program = { accept: 'text/markdown' };
const json = { accept: 'application/json' };

/** Returns whether a link, such as `https://perch.test/read/docs/keys#get-a-key`, leads to a heading of a page. */
async function leadsToHeading(app: TestClient, link: string): Promise<boolean> {
  const [path = '', fragment = ''] = link
    .replace(/^(?:https:\/\/perch\.test)?\/read/, '')
    .split('#');
  const page = await app.request(path, { headers: browser });
  const ids = parsePage(page.body).elements.map(({ attributes }) => attributes.id);
  return page.statusCode === 200 && ['', ...ids].includes(decodeURI(fragment));
}

const linksIn = (markdown: string) =>
  [...markdown.matchAll(/\]\(([^)]*)\)/g)].map(([, target = '']) => target);

const linksOf = (body: string) => {
  const answer = body.slice(body.indexOf('class="answer"'), body.indexOf('id="status"'));
  return [...answer.matchAll(/href="(\/[^"]*)"/g)].map(([, href = '']) => href);
};

const isLineOf = (path: string, line: number) =>
  readFileSync(join(ownCorpus().root, path), 'utf8').split('\n')[line - 1] !== undefined;

/** Generous, because the machine of the tests may be busy. */
const idle = { isHigh: false, close: () => undefined };

/** Builds an app with sessions whose engine gives the same answer to every question. */
function buildWith(
  engine: AnswerEngine,
  env: Readonly<Record<string, string>> = {},
): Promise<TestApp> {
  const lean = { PERCH_PROVIDERS: 'archive', PERCH_SAMPLE: 'false', PERCH_SESSIONS: 'on' };
  return buildTestApp({ engine, env: { ...lean, ...env }, load: idle });
}

const saying = (text: string, given: Parameters<typeof answerTo>[1] = {}) =>
  createScriptedEngine(async (question) => answerTo(question.text, { text, ...given }));

const askOf = (app: TestClient, q: string, headers: Record<string, string> = browser) =>
  app.request(`${askPath}?q=${encodeURIComponent(q)}`, { headers });

it('a server without sessions has no page for questions, and no link to it', async () => {
  const page = await app.request(askPath);
  const others = [
    await app.request('/docs', { headers: browser }),
    await app.request('/docs/find?q=keys', { headers: browser }),
    await app.request('/', { headers: browser }),
    await app.request('/llms.txt'),
    await app.request('/robots.txt'),
  ];
  const { paths } = (await app.request('/openapi.json')).json();

  expect(page.json()).toMatchObject({ status: 404, code: 'route_not_found' });
  expect(others.map(({ body }) => body.includes(askPath))).not.toContain(true);
  expect(Object.keys(paths)).not.toContain(askPath);
});

describe('the page for questions about the documentation', () => {
  it('has a form, and is linked in the header of every page', async () => {
    const app = await buildWith(createScriptedEngine());

    const reply = await app.request(askPath, { headers: browser });

    expect(reply.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, max-age=60, stale-while-revalidate=300',
      vary: 'Accept, Accept-Encoding',
    });
    const { elements, errors } = parsePage(reply.body);
    expect(errors).toEqual([]);
    const form = elements.find(({ attributes }) => attributes.id === 'ask');
    expect(form?.attributes).toMatchObject({ action: askPath, 'data-sessions': '/svc/v1' });
    expect(elements.find(({ attributes }) => attributes.class === 'to-ask')?.attributes).toEqual({
      class: 'to-ask',
      href: askPath,
      'aria-current': 'page',
    });
    for (const path of ['/', '/docs', '/docs/keys']) {
      const { body } = await app.request(path, { headers: browser });
      expect(body).toContain(`<a class="to-ask" href="${askPath}">Ask</a>`);
    }
  });

  it('is linked by the search, with the search text', async () => {
    const app = await buildWith(createScriptedEngine());

    const { body } = await app.request('/docs/find?q=how%20%3Clong%3E', { headers: browser });

    expect(body).toContain('<a href="/docs/ask?q=how%20%3Clong%3E" rel="nofollow">Ask instead</a>');
  });

  it('is described to programs, and its answers are closed to crawlers', async () => {
    const app = await buildWith(createScriptedEngine());

    const llms = await app.request('/llms.txt');
    const { body: robots } = await app.request('/robots.txt');
    const { paths } = (await app.request('/openapi.json')).json();

    expect(llms.body).toMatch(/^- \[Ask\]\(http:\/\/localhost:8080\/docs\/ask\): /m);
    expect(mayFetch(robots, '/docs/ask')).toBe(true);
    expect(mayFetch(robots, '/docs/ask?q=a')).toBe(false);
    expect(paths[askPath].get.operationId).toBe('askDocs');
  });

  it('answers without JavaScript, and must not be cached', async () => {
    const engine = saying('Keys are **free**.\n\nSources:\n\n- `docs/keys.md#get-a-key:40`\n');
    const app = await buildWith(engine);

    const reply = await askOf(app, '  What do keys\ncost? ');

    expect(engine.asked).toEqual([{ text: 'What do keys cost?', earlier: [] }]);
    expect(reply.statusCode).toBe(200);
    expect(reply.headers['cache-control']).toBe('no-store');
    const { elements, errors } = parsePage(reply.body);
    expect(errors).toEqual([]);
    expect(reply.body).toContain('<meta name="robots" content="noindex">');
    expect(elements.find(({ tag }) => tag === 'h2')?.text).toBe('What do keys cost?');
    expect(elements.find(({ tag }) => tag === 'strong')?.text).toBe('free');
    expect(
      elements.find(({ text, tag }) => tag === 'a' && text === 'docs/keys.md#get-a-key:40')
        ?.attributes,
    ).toEqual({ href: '/docs/keys#get-a-key' });
    expect(reply.headers['content-security-policy']).toContain("script-src 'self'");
  });

  it('redacts a key in the question', async () => {
    const app = await buildWith(saying('Keep it to yourself.'));
    const key = 'perch_0123456789abcdefghijABCDEFGHIJ0123';

    const { body } = await askOf(app, `What is ${key}?`);

    expect(body).toContain('What is perch_…');
    expect(body).not.toContain(key);
  });

  it('returns Markdown if Accept prefers it', async () => {
    const app = await buildWith(saying('Keys are free.\n'));

    const reply = await askOf(app, 'What do keys cost?', program);

    expect(reply.body).toBe('Keys are free.\n');
    expect(reply.headers).toMatchObject({
      'content-type': 'text/markdown; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Accept',
    });
  });

  it.each([
    ['without a header', {}],
    ['with the header of curl', { accept: '*/*' }],
    ['for plain text', { accept: 'text/plain' }],
  ])('returns Markdown %s', async (_, headers) => {
    const app = await buildWith(saying('Keys are free.\n'));

    const reply = await app.request(`${askPath}?q=cost`, { headers });

    expect(reply.body).toBe('Keys are free.\n');
    expect(reply.headers['content-type']).toBe('text/markdown; charset=utf-8');
  });

  it('returns JSON if Accept prefers it, with the members of an answer in a session', async () => {
    const app = await buildWith(saying('Keys are free.\n'));

    const reply = await askOf(app, 'What do keys cost?', json);
    const blank = await askOf(app, ' ', json);

    expect(answerReply.strict().parse(reply.json())).toEqual({
      message: 'Keys are free.\n',
      finishReason: 'stop',
      citations: answerTo('').citations,
      abstained: false,
    });
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Accept',
    });
    expect(blank.json()).toMatchObject({ status: 400, code: 'missing_query' });
  });

  it('is the form without a question, unless Accept names another format', async () => {
    const app = await buildWith(createScriptedEngine());

    const bare = await app.request(askPath);
    const markdown = await app.request(askPath, { headers: program });

    expect(bare.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(markdown.json()).toMatchObject({ status: 400, code: 'missing_query' });
  });

  it('links answers only to pages and to the web', async () => {
    const text = [
      'See [keys](https://perch.test/read/docs/keys#get-a-key), [relative](posts.md), `docs/nope.md#x:3`,',
      '[no page](https://perch.test/read//x.example/), [the record](decisions/0001-tools-and-packages.md), [web](https://example.org/a),',
      '[bad](javascript:alert(1)), [data](data:text/html,x), [admin](/api/admin/keys), ![x](https://example.org/x.png)',
      'and openapi/perch.json#get-post:12 or README.md#perch:1.',
    ].join('\n');
    const app = await buildWith(saying(text), { PERCH_BASE_URL: 'https://perch.test/read' });

    const { body } = await askOf(app, 'links?');

    const answer = body.slice(body.indexOf('class="answer"'), body.indexOf('id="status"'));
    expect([...answer.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
      '/read/docs/keys#get-a-key',
      'https://perch.test/read//x.example/',
      'https://example.org/a',
      '/read/openapi.json',
    ]);
    expect(answer).not.toContain('<img');
    expect(body).toContain('data-sessions="/read/svc/v1"');
  });

  it('links every source and quoted link to a heading on a page', { timeout: 60_000 }, async () => {
    const baseUrl = 'https://perch.test/read';
    const corpus = { ...ownCorpus(), baseUrl };
    const clock = createManualClock();
    const answers = openAnswers({ corpora: [corpus], path: ':memory:', clock });
    onTestFinished(() => answers.close());
    await answers.refresh();
    const app = await buildWith(answers.engine, { PERCH_BASE_URL: baseUrl });

    const cited: Citation[] = [];
    const links: string[] = [];
    for (const question of [...exampleQuestions, 'What is a session?', 'price of crude oil?']) {
      const reply = answerReply.parse((await askOf(app, question, json)).json());
      const { body } = await askOf(app, question);
      cited.push(...reply.citations);
      links.push(...reply.citations.map(({ url }) => url ?? 'no URL'));
      links.push(...linksIn(reply.message), ...linksOf(body));
    }

    const ours = [...new Set(links)].filter((link) => !/^https:(?!\/\/perch\.test\/)/.test(link));
    const lost = [];
    for (const link of ours) if (!(await leadsToHeading(app, link))) lost.push(link);
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter(({ path, line }) => !isLineOf(path, line))).toEqual([]);
    expect(ours.length).toBeGreaterThan(20);
    expect(lost).toEqual([]);
  });

  it('names files of an operator’s corpus without links', async () => {
    const engine = saying('See `docs/keys.md#get-a-key:40`.');
    const app = await buildWith(engine, { PERCH_CORPUS: 'docs', PERCH_SESSION_PREFIX: 'ask' });

    const { body } = await askOf(app, 'keys?');

    const answer = body.slice(body.indexOf('class="answer"'), body.indexOf('id="status"'));
    expect(answer).toContain('<code>docs/keys.md#get-a-key:40</code>');
    expect(answer).not.toContain('href');
    expect(body).toContain('data-sessions="/ask/v1"');
    expect(body).toContain('data-pages=""');
  });

  it('says that the documentation has no answer', async () => {
    const app = await buildWith(saying('It does not say.\n', { abstained: true, citations: [] }));

    const { body } = await askOf(app, 'price of oil');

    expect(body).toContain('<article class="turn abstained"');
  });
});

describe('a question without an answer', () => {
  it.each(['', '%20', '%0a%09'])('is required if `q` is blank: %j', async (q) => {
    const engine = createScriptedEngine();
    const app = await buildWith(engine);

    const page = await app.request(`${askPath}?q=${q}`, { headers: browser });
    const problem = await app.request(`${askPath}?q=${q}`, { headers: program });

    expect([page.statusCode, engine.asked]).toEqual([200, []]);
    expect(page.body).toContain('Type a question first.');
    expect(problem.json()).toMatchObject({ status: 400, code: 'missing_query' });
  });

  it.each([
    ['too long', `q=${'x'.repeat(maxQueryLength + 1)}`, 'invalid_query', '513 characters'],
    ['given twice', 'q=a&q=b', 'invalid_option', 'more than once'],
  ])('is rejected if it is %s', async (_, query, code, words) => {
    const engine = createScriptedEngine();
    const app = await buildWith(engine);

    const page = await app.request(`${askPath}?${query}`, { headers: browser });
    const problem = await app.request(`${askPath}?${query}`, { headers: program });

    expect(engine.asked).toEqual([]);
    expectProblemPage(page, words);
    expect(problem.json()).toMatchObject({ status: 400, code });
    expect(problem.json().detail).toContain(words);
  });

  it('gets an explanation while the index is built', async () => {
    const engine = createScriptedEngine();
    engine.isReady = false;
    const app = await buildWith(engine);

    const problem = await askOf(app, 'one', program);

    expectProblemPage(await askOf(app, 'one'), 'building its search index');
    expect(problem.json()).toMatchObject({ status: 503, code: 'not_ready' });
  });

  it('gets an explanation under high load', async () => {
    const engine = createScriptedEngine();
    const app = await buildTestApp({
      engine,
      env: { PERCH_SESSIONS: 'on', PERCH_PROVIDERS: 'archive', PERCH_SAMPLE: 'false' },
      load: { isHigh: true, close: () => undefined },
    });

    const problem = await askOf(app, 'one', program);

    expectProblemPage(await askOf(app, 'one'), 'The server is overloaded');
    expect(problem.json()).toMatchObject({ status: 503, code: 'overloaded' });
    expect(engine.asked).toEqual([]);
  });

  it('gets an explanation if the client asks too often, as for sessions', async () => {
    const app = await buildWith(createScriptedEngine(), { PERCH_SESSION_START_BURST: '1' });

    await askOf(app, 'one');
    const problem = await askOf(app, 'two', program);

    expect(problem.json()).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(problem.headers['retry-after']).toBeDefined();
  });

  it('gets an explanation after the timeout, and its engine stops', async () => {
    const engine = createManualEngine();
    const app = await buildWith(engine);
    const asked = askOf(app, 'one');
    const held = await engine.next();
    expect(app.inFlight).toBe(1);

    await app.advance(15_000);

    expectProblemPage(await asked, 'could not be answered in 15 seconds');
    expect(held.signal.aborted).toBe(true);
    expect(app.inFlight).toBe(0);
  });

  it('is rejected if too many questions of its address wait', async () => {
    const engine = createManualEngine();
    const app = await buildWith(engine, {
      PERCH_SESSION_TURNS_PER_ADDRESS: '16',
      PERCH_SESSION_TURNS_AT_ONCE: '16',
    });
    const asked = Array.from({ length: 16 }, (_, number) => askOf(app, `question ${number}`));
    const held = await Promise.all(asked.map(() => engine.next()));

    const problem = await askOf(app, 'one more', program);
    for (const turn of held) turn.answer();

    expect(problem.json()).toMatchObject({ status: 503, code: 'overloaded' });
    expect((await Promise.all(asked)).every(({ body }) => body.includes('The answer to'))).toBe(
      true,
    );
  });

  it('gets an explanation without the error if the engine fails', async () => {
    const engine = createScriptedEngine(async () => {
      throw new Error('a secret path');
    });
    const app = await buildWith(engine);

    const page = await askOf(app, 'one');

    expectProblemPage(page, 'An unexpected error occurred');
    expect(page.body).not.toContain('secret');
  });

  function expectProblemPage(reply: Awaited<ReturnType<typeof askOf>>, words: string): void {
    expect(reply.statusCode).toBe(200);
    expect(reply.headers['cache-control']).toBe('no-store');
    const { elements, errors } = parsePage(reply.body);
    expect(errors).toEqual([]);
    const problem = elements.find(({ attributes }) => attributes.class === 'problem');
    expect(problem?.text).toContain(words);
  }
});
