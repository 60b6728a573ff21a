import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { type CachedReply, createPerch } from '../../clients/typescript/src/index.ts';
import { listen } from '../support/listen.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';

const sessionsOn = { PERCH_SESSIONS: 'on', PERCH_PROVIDERS: 'archive' };
const url = 'http://localhost:8080/ada.example/status/1900000000000000001';
const address = { handle: 'ada.example', id: '1900000000000000001' };

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

it('calls every read of the server', async () => {
  const server = await listen({ PERCH_PROVIDERS: 'archive' });
  const { posts, profiles, search } = createPerch({ baseUrl: server.url });

  const [byUrl, byId] = [await posts.get(url), await posts.get(address)];
  expect(byUrl.posts[0]).toMatchObject({ type: 'status', id: address.id });
  expect(byId.posts).toEqual(byUrl.posts);
  expect(await posts.embed(url)).toMatchObject({ type: 'rich', version: '1.0' });
  const replies = await collect(posts.replies(address, { limit: 1 }));
  expect(replies.length).toBeGreaterThan(1);

  const profile = await profiles.get('ada.example', { limit: 2 });
  expect(profile.profile?.screen_name).toBe('ada.example');
  const own = await collect(profiles.posts('ada.example', { limit: 2 }));
  expect(own.length).toBeGreaterThan(2);
  expect(new Set(own.map(({ id }) => id)).size).toBe(own.length);
  expect(await collect(profiles.followers('ada.example', { limit: 5 }))).toHaveLength(11);
  expect(await collect(profiles.following('ada.example'))).not.toEqual([]);

  const found = await collect(search.posts('heron', { platform: 'sample', limit: 2 }));
  expect(found.length).toBeGreaterThan(4);
  const accounts = await collect(search.users('ada', { platform: 'sample' }));
  expect(accounts.map(({ screen_name: name }) => name)).toContain('ada.example');
});

it('reads a history and its index', async () => {
  const server = await listen({ PERCH_PROVIDERS: 'archive' });
  const { profiles } = createPerch({ baseUrl: server.url });
  const history = profiles.history('ada.example', { since: '2026-05-01' });

  const posts = await collect(history);
  const entries = await collect(
    profiles.history('ada.example', { since: '2026-05-01', index: true }),
  );

  expect(posts.length).toBeGreaterThan(0);
  expect(history.meta).toMatchObject({ count: posts.length, truncated: false });
  expect(entries.map(({ id }) => id)).toEqual(posts.map(({ id }) => id));
});

it('reports errors of the server', async () => {
  const server = await listen({ PERCH_PROVIDERS: 'archive' });
  const { posts, search } = createPerch({ baseUrl: server.url });

  await expect(posts.get({ handle: 'ada.example', id: '1' })).rejects.toMatchObject({
    code: 'not_found',
    resolution: expect.stringContaining('Do not retry'),
  });
  await expect(
    collect(search.posts('heron', { platform: 'sample', cursor: 'changed' })),
  ).rejects.toMatchObject({ code: 'invalid_cursor', status: 400 });
});

it('reads an unchanged post with an ETag, and waits for the allowance', async () => {
  const server = await listen({
    PERCH_PROVIDERS: 'archive',
    PERCH_PUBLIC_ALLOWANCE: '2',
    PERCH_ALLOWANCE_WINDOW_SECONDS: '1',
  });
  const cache = new Map<string, CachedReply>();
  const statuses: number[] = [];
  const perch = createPerch({
    baseUrl: server.url,
    cache,
    fetch: async (to, init) => {
      const response = await fetch(to, init);
      statuses.push(response.status);
      return response;
    },
  });

  expect(await perch.posts.get(address)).toEqual(await perch.posts.get(address));
  expect(statuses).toEqual([200, 304]);
  for (let read = 0; read < 5; read += 1) {
    await perch.profiles.get('ada.example', { nocache: true });
  }
  expect(statuses.filter((status) => status === 429)).toEqual([]);
});

it('asks a question, a further one, and ends the session', async () => {
  const server = await listen(sessionsOn, { engine: createScriptedEngine() });
  const { sessions } = createPerch({ baseUrl: server.url });

  expect(await sessions.health()).toMatchObject({ status: 'ready' });
  const turn = await sessions.ask('one', { idempotencyKey: 'the-same-key-each-time' });
  const again = await sessions.ask('one', { idempotencyKey: 'the-same-key-each-time' });
  expect(again.session).toEqual(turn.session);
  expect((await turn.answer()).message).toBe('The answer to “one”.');
  const second = await sessions.ask('two', { session: turn.session });
  expect((await second.answer()).citations).toHaveLength(1);
  expect(await sessions.cancel(turn.session.id)).toMatchObject({ ok: true });
  expect(await sessions.reset(turn.session)).toMatchObject({ status: 'reset' });

  const events = await collect(sessions.events(turn.session.id));
  expect(events.map(({ meta }) => meta.index)).toEqual([...events.keys()]);
  expect(events.at(-1)).toMatchObject({ type: 'session.completed', data: { reason: 'reset' } });
  await expect(sessions.ask('three', { session: turn.session })).rejects.toMatchObject({
    code: 'session_not_active',
  });
});

/** Maximum size of the minified client after gzip, in bytes. */
const maxBytes = 10_240;

it('has a size of 10 KB or less after minification and compression', async () => {
  const { outputFiles } = await build({
    entryPoints: ['clients/typescript/src/index.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    write: false,
  });
  const size = gzipSync(outputFiles[0]?.contents ?? '').length;

  expect(size).toBeGreaterThan(1000);
  expect(size).toBeLessThanOrEqual(maxBytes);
});

it('runs without Node.js: it uses no module and no global of Node.js', () => {
  const { lib, types } = JSON.parse(
    readFileSync('clients/typescript/tsconfig.json', 'utf8'),
  ).compilerOptions;

  // `npm run check:types` compiles the client with these types only.
  expect(lib).toContain('DOM');
  expect(types).toEqual([]);
});
