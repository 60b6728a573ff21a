import { describe, expect, it } from 'vitest';
import { type ListPosition, startOfList } from '../../src/fetching/lists/fetch-page.ts';
import { maxRecent } from '../../src/fetching/lists/sent-items.ts';
import { createCursorCodec, maxCursor } from '../../src/reads/cursor.ts';
import { buildTestApp, type TestApp } from '../support/build-app.ts';
import { createFakeList, fullPages } from '../support/fake-list.ts';
import { fc, runs } from '../support/fast-check.ts';

const lists = [
  '/api/v1/profiles/wren?limit=3',
  '/api/v1/profiles/wren?limit=3&with_reposts=true',
  '/api/v1/profiles/wren?limit=3&with_replies=true',
  '/api/v1/profiles/wren?limit=3&until=2026-01-01',
  '/api/v1/profiles/finch?limit=3',
  '/api/v1/search?q=fog&limit=3',
  '/api/v1/search?q=Fog&limit=3',
  '/api/v1/search?q=fog&limit=3&feed=top',
  '/api/v1/search?q=fog&limit=3&since=2020-01-01',
] as const;

async function cursorsOf(app: TestApp): Promise<readonly string[]> {
  const replies = await Promise.all(lists.map((url) => app.request(`${url}&format=json`)));
  return replies.map((reply) => String(reply.json().nextCursor));
}

async function setUp(env: Record<string, string> = {}): Promise<TestApp> {
  return buildTestApp({ providers: [createFakeList(100, fullPages).provider], env });
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Modifications of a cursor, each with a different result for every cursor. */
const mutation = fc.oneof(
  fc.tuple(fc.nat(), fc.nat({ max: 62 })).map(([at, by]) => (cursor: string) => {
    const place = at % cursor.length;
    const letter = alphabet[(alphabet.indexOf(cursor[place] ?? '') + 1 + by) % 64];
    return `${cursor.slice(0, place)}${letter}${cursor.slice(place + 1)}`;
  }),
  fc.nat().map((at) => (cursor: string) => cursor.slice(0, at % cursor.length)),
  fc.nat().map((at) => (cursor: string) => cursor.slice((at % (cursor.length - 1)) + 1)),
  fc
    .string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(...alphabet) })
    .map((more) => (cursor: string) => cursor + more),
  fc.string({ minLength: 1, maxLength: 3000 }).map((text) => () => text),
  fc
    .constantFrom('=', '==', '.', ' ', '\n', '\u0000', '%', '+', '/')
    .map((end) => (cursor: string) => cursor + end),
  fc.constant((cursor: string) => cursor.split('').reverse().join('')),
  fc.constant((cursor: string) => cursor.toLowerCase()),
);

describe('cursors', () => {
  it('rejects a thousand changed cursors without an internal error', async () => {
    const app = await setUp();
    const cursors = await cursorsOf(app);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: lists.length - 1 }), mutation, async (index, mutate) => {
        const cursor = cursors[index] ?? '';
        const mutated = mutate(cursor);
        fc.pre(mutated !== cursor);

        const reply = await app.request(`${lists[index]}&cursor=${encodeURIComponent(mutated)}`);

        expect(reply.statusCode).toBe(400);
        expect(reply.json().code).toBe('invalid_cursor');
      }),
      { numRuns: runs(1000) },
    );
  });

  it('rejects a cursor of another list', async () => {
    const app = await setUp();
    const cursors = await cursorsOf(app);
    const pairs = cursors.flatMap((cursor, from) =>
      lists.map((list, to) => ({ cursor, from, list, to })),
    );
    for (const { cursor, from, list, to } of pairs) {
      const reply = await app.request(`${list}&cursor=${cursor}&format=json`);
      const code = reply.json().code ?? 'none';

      expect([from, to, code]).toEqual([from, to, from === to ? 'none' : 'invalid_cursor']);
    }
  });

  it('returns the same page for the same cursor, at both URLs and with another limit', async () => {
    const app = await setUp();
    const [cursor] = await cursorsOf(app);
    const [first, again, permalink, longer] = await Promise.all(
      [
        '/api/v1/profiles/wren?limit=3',
        '/api/v1/profiles/wren?limit=3',
        '/wren?limit=3',
        '/wren?limit=5',
      ].map(async (url) => (await app.request(`${url}&cursor=${cursor}&format=json`)).json()),
    );

    expect(again).toEqual(first);
    expect(permalink).toEqual(first);
    expect(longer.posts.slice(0, 3)).toEqual(first.posts);
  });

  it('rejects cursors of a server with another key', async () => {
    const [one, other] = [await setUp(), await setUp()];
    const [cursor] = await cursorsOf(one);

    const reply = await other.request(`${lists[0]}&cursor=${cursor}`);

    expect(reply.json()).toMatchObject({ status: 400, code: 'invalid_cursor' });
    expect(reply.json().detail.length).toBeLessThan(300);
  });

  it('rejects a cursor of a provider that the server no longer has', async () => {
    const env = { PERCH_CURSOR_KEY: 'k'.repeat(32) };
    const before = await setUp(env);
    const [cursor] = await cursorsOf(before);
    const after = await buildTestApp({
      providers: [{ ...createFakeList(100, fullPages).provider, name: 'another' }],
      env,
    });

    const reply = await after.request(`${lists[0]}&cursor=${cursor}`);

    expect(reply.json()).toMatchObject({ status: 400, code: 'invalid_cursor' });
    expect(reply.json().detail).toContain('"fake"');
  });
});

describe('the codec of cursors', () => {
  const codec = createCursorCodec(Buffer.from('a key of a test'));
  const position: fc.Arbitrary<ListPosition> = fc.record({
    provider: fc.option(fc.string({ maxLength: 20 })),
    cursor: fc.option(fc.string({ maxLength: 900, unit: 'grapheme-ascii' })),
    taken: fc.nat(),
    page: fc.integer({ min: 1, max: 1e9 }),
    fruitless: fc.nat({ max: 20 }),
    recent: fc.array(fc.nat({ max: 2 ** 32 - 1 }), { maxLength: maxRecent }),
  });

  it('restores positions from URL-safe text of at most 2 KB', () => {
    fc.assert(
      fc.property(fc.string(), position, (listKey, at) => {
        const cursor = codec.seal(listKey, at) ?? '';

        expect(cursor).toMatch(/^[\w-]+$/);
        expect(cursor.length).toBeLessThanOrEqual(maxCursor);
        const { recent, ...place } = codec.open(listKey, cursor);
        expect({ ...place, recent: at.recent }).toEqual(at);
        // A long source cursor leaves room for the newest short fingerprints only.
        expect(at.recent.slice(at.recent.length - recent.length)).toEqual(recent);
      }),
    );
  });

  it('keeps all fingerprints next to a source cursor of ordinary length', () => {
    const recent = Array.from({ length: maxRecent }, (_, index) => index * 44_739_242);
    const at = { ...startOfList, provider: 'fxtwitter', cursor: 'D'.repeat(400), recent };

    expect(codec.open('list', codec.seal('list', at) ?? '')).toEqual(at);
  });

  it('does not encode a source cursor that is too long', () => {
    const at = { ...startOfList, cursor: 'D'.repeat(2000) };

    expect(codec.seal('list', at)).toBeNull();
  });
});
