import { describe, expect, it } from 'vitest';
import type { SearchQuery } from '../../src/model/queries.ts';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { buildTestApp } from '../support/build-app.ts';
import { createFakeList, type FakeList, fullPages } from '../support/fake-list.ts';
import { callTool } from '../support/mcp.ts';
import { stubPost } from '../support/stub-provider.ts';
import { readWhole } from '../support/walk-list.ts';

const minute = 60_000;
const url = '/api/v1/search?q=fog&format=json';
const liveUrl = `${url}&require_live=true`;

/** Creates a provider that searches X only as the last resort, like the archive. */
function createLastResort(): Provider {
  return {
    name: 'archive',
    platforms: ['x'],
    reads: new Set(['search']),
    covers: (query) => query.kind === 'search' && 'last resort',
    fetch: {
      search: async ({ cursor }: SearchQuery) => ({
        items: cursor === null ? [stubPost('7'), stubPost('6')] : [stubPost('5')],
        cursor: cursor === null ? 'more' : null,
        warnings: [],
        isExact: true,
      }),
    },
    isLocal: true,
  };
}

async function setUp(list: FakeList = createFakeList(45, fullPages)) {
  const app = await buildTestApp({ providers: [createLastResort(), list.provider] });
  const read = async (path: string) => {
    const reply = await app.request(path);
    const { source, degraded, code } = reply.json();
    return { status: reply.statusCode, cache: reply.headers['x-cache'], source, degraded, code };
  };
  return { app, list, read };
}

const unavailable = { status: 503, code: 'upstream_unavailable' };

describe('a search with require_live=true', () => {
  it('is 503 instead of results from the archive', async () => {
    const { app, list, read } = await setUp();
    list.isDown = true;

    expect(await read(url)).toMatchObject({ status: 200, source: 'archive', degraded: true });
    expect(await read(liveUrl)).toMatchObject(unavailable);

    const reply = await app.request(`/search?q=fog&require_live=1`);
    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '30']);
    expect(reply.json().detail).toBe(
      'There are no live results. X cannot be read at the moment. It is down.',
    );
  });

  it('is 503 instead of a stale copy', async () => {
    const { app, list, read } = await setUp();
    await read(url);
    await read(liveUrl);
    list.isDown = true;
    await app.advance(10 * minute);

    expect(await read(url)).toMatchObject({ status: 200, cache: 'stale', degraded: true });
    expect(await read(liveUrl)).toMatchObject(unavailable);
  });

  it('returns a fresh copy, and waits for the source if the copy is stale', async () => {
    const { app, list, read } = await setUp();

    const first = await read(liveUrl);
    const second = await read(liveUrl);
    await app.advance(2 * minute);
    const later = await read(liveUrl);

    const live = { status: 200, source: 'fake', degraded: false };
    expect(first).toMatchObject({ ...live, cache: 'miss' });
    expect(second).toMatchObject({ ...live, cache: 'hit' });
    expect(later).toMatchObject({ ...live, cache: 'miss' });
    expect(list.asked).toBe(2);
  });

  it('does not return cached results from the archive', async () => {
    const { list, read } = await setUp();
    list.isDown = true;
    await read(url);
    list.isDown = false;

    expect(await read(url)).toMatchObject({ cache: 'hit', source: 'archive' });
    expect(await read(liveUrl)).toMatchObject({ status: 200, source: 'fake', degraded: false });
  });

  it.each([
    ['throttles', new ProviderError('throttled', 'Slow down.', { retryAfterSeconds: 77 }), '77'],
    ['sends what cannot be read', new ProviderError('malformed', 'It is garbled.'), '30'],
  ])('is 503 upstream_unavailable if the source %s', async (_, failure, retryAfter) => {
    const list = createFakeList(3, fullPages);
    const search = () => Promise.reject(failure);
    const app = await buildTestApp({
      providers: [
        createLastResort(),
        { ...list.provider, fetch: { ...list.provider.fetch, search } },
      ],
    });

    const reply = await app.request(liveUrl);

    expect([reply.statusCode, reply.json().code]).toEqual([503, 'upstream_unavailable']);
    expect(reply.headers['retry-after']).toBe(retryAfter);
  });

  it('can be paged through to its end, with its own cursors', async () => {
    const { app, list } = await setUp();
    const ids = await readWhole(app, '/api/v1/search?q=fog&require_live=true', [10]);
    expect(ids).toEqual(list.ids);

    list.isDown = true;
    const { nextCursor } = (await app.request(`${url}&limit=1`)).json();
    const mixed = await app.request(`${liveUrl}&limit=1&cursor=${nextCursor}`);
    expect([mixed.statusCode, mixed.json().code]).toEqual([400, 'invalid_cursor']);
  });

  it('links to its next page with the same parameter', async () => {
    const { app } = await setUp();

    const { body } = await app.request('/search?q=fog&limit=10&require_live=yes');

    expect(body).toMatch(/\[Next page\]\(.*[?&]require_live=true&/);
  });

  it('counts as live if the archive is the requested platform', async () => {
    const app = await buildTestApp();

    const reply = await app.request(`${liveUrl.replace('fog', 'heron')}&platform=archive`);

    expect([reply.statusCode, reply.json().source]).toEqual([200, 'archive']);
  });

  it('accepts a boolean', async () => {
    const { app } = await setUp();

    const reply = await app.request(`${url}&require_live=perhaps`);

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'invalid_option']);
    expect(reply.json().detail).toContain('`require_live`');
  });

  it('is an argument of the MCP tool, with the same problem', async () => {
    const { app, list } = await setUp();
    list.isDown = true;
    const call = async (args: object) => {
      const reply = await callTool(app, 'search', { arguments: { q: 'fog', ...args } });
      return reply.json().result;
    };

    expect((await call({})).content[0].text).toContain('not live');
    expect(await call({ require_live: true })).toMatchObject({
      isError: true,
      structuredContent: { code: 'upstream_unavailable', retry_after: 30 },
    });
  });
});
