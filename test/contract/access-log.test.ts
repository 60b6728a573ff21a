import { expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';

async function buildLoggedApp(lineKind = 'all', isReady = true) {
  const lines: string[] = [];
  const app = await buildTestApp({
    env: { PERCH_ACCESS_LOG: lineKind, PERCH_SESSIONS: 'on' },
    engine: Object.assign(createScriptedEngine(), { isReady }),
    onLog: (line) => lines.push(line),
  });
  const urls = () =>
    lines.map((line) => JSON.parse(line)).flatMap(({ url }) => (url === undefined ? [] : [url]));
  return { app, lines, urls };
}

it.each([
  ['/docs/ask?q=secret+plans', '/docs/ask?…'],
  ['/docs/ask?%71=secret', '/docs/ask?…'],
  ['/docs/%61sk?q=secret', '/docs/%61sk?…'],
  ['/docs/ask/?q=secret', '/docs/ask/?…'],
  ['/docs/ask?x=1&q=secret&y=2', '/docs/ask?…'],
  [`/docs/ask?q=secret${'x'.repeat(600)}`, '/docs/ask?…'],
  ['/docs/find?q=secret', '/docs/find?…'],
  ['/docs/keys?q=secret', '/docs/keys?…'],
  ['/DOCS/ask?q=secret', '/DOCS/ask?…'],
  ['/svc/v2?q=secret', '/svc/v2?…'],
  ['/api/v1/no/such/route?q=secret', '/api/v1/no/such/route?…'],
])('redacts questions to the documentation: %s', async (url, logged) => {
  const { app, lines, urls } = await buildLoggedApp();

  for (const method of ['GET', 'HEAD', 'POST'] as const) {
    await app.server.inject({ url, method });
    await app.server.inject({ url, method, headers: { accept: 'text/markdown' } });
  }

  expect(new Set(urls())).toEqual(new Set([logged]));
  expect(lines.join('')).not.toContain('secret');
});

it.each([
  '/search?q=heron&platform=x',
  '/docs/ask',
  '/api/v1/posts?url=https://x.com/jack/status/20',
])('logs other requests with their query: %s', async (url) => {
  const { app, urls } = await buildLoggedApp();

  await app.server.inject(url);

  expect(urls()).toEqual([url]);
});

it('does not warn for each health check while the index is built', async () => {
  const quiet = await buildLoggedApp('errors', false);
  const all = await buildLoggedApp('all', false);

  for (const { app } of [quiet, all]) {
    expect((await app.request('/svc/v1/health')).statusCode).toBe(503);
  }

  expect(quiet.urls()).toEqual([]);
  expect(all.urls()).toEqual(['/svc/v1/health']);
  const levels = all.lines.map((line) => JSON.parse(line).level);
  expect(Math.max(...levels)).toBe(30);
});
