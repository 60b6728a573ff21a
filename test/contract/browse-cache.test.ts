import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { buildTestApp } from '../support/build-app.ts';
import { createFakeList, fullPages } from '../support/fake-list.ts';
import { openImportedArchive } from '../support/imported-archive.ts';
import { stubFound, stubPost } from '../support/stub-provider.ts';

const minute = 60_000;

describe('the cache of lists', () => {
  it('is not overwritten by the last resort, even if a read skips the cache', async () => {
    const list = createFakeList(3, fullPages);
    const app = await buildTestApp({ providers: [openImportedArchive('x'), list.provider] });
    const url = '/search?q=heron&format=json';
    await app.request(url);
    list.isDown = true;

    const past = await app.request(`${url}&nocache=true`);
    const kept = await app.request(url);
    await app.advance(2 * minute);
    const stale = await app.request(url);
    await app.advance(1000);
    const still = await app.request(url);

    expect(past.json()).toMatchObject({ source: 'archive', degraded: true });
    expect([kept.headers['x-cache'], kept.json().source]).toEqual(['hit', 'fake']);
    expect([stale.headers['x-cache'], stale.json().source]).toEqual(['stale', 'fake']);
    expect([still.headers['x-cache'], still.json().source]).toEqual(['stale', 'fake']);
  });

  it('has the age of the oldest part of a page, and drops expired parts', async () => {
    const list = createFakeList(60, { ...fullPages, pageSize: () => 60 });
    const app = await buildTestApp({ providers: [list.provider] });
    const url = '/wren?limit=20&format=json';
    const first = (await app.request(url)).json();
    await app.advance(4 * minute);

    const second = (await app.request(`${url}&cursor=${first.nextCursor}`)).json();
    const askedInTime = list.asked;
    await app.advance(2 * minute);
    const third = await app.request(`${url}&cursor=${second.nextCursor}`);
    const askedLater = list.asked;
    const again = await app.request(`${url}&cursor=${first.nextCursor}`);

    expect(second.fetched_at).toBe(first.fetched_at);
    expect([askedInTime, askedLater]).toEqual([1, 2]);
    expect(third.json().fetched_at > first.fetched_at).toBe(true);
    expect(again.headers['x-cache']).toBe('stale');
  });

  it('drops all lists with a deleted post', async () => {
    const list = createFakeList(30, fullPages);
    const id = list.ids[3] ?? '';
    const provider: Provider = {
      ...list.provider,
      reads: new Set(['post', 'profile', 'timeline', 'search']),
      fetch: {
        ...list.provider.fetch,
        post: async ({ post }) => {
          if (post.id === id) throw new ProviderError('missing', 'This post was deleted.');
          return stubFound(stubPost(post.id));
        },
      },
    };
    const app = await buildTestApp({ providers: [provider] });
    const lists = ['/wren?format=json', '/search?q=fog&format=json', '/wren?format=json&limit=5'];
    for (const url of lists) expect((await app.request(url)).body).toContain(`"id":"${id}"`);
    list.remove(id);

    const gone = await app.request(`/wren/status/${id}`);

    expect(gone.statusCode).toBe(404);
    for (const url of lists) {
      const reply = await app.request(url);
      expect([reply.headers['x-cache'], reply.body.includes(`"id":"${id}"`)]).toEqual([
        'miss',
        false,
      ]);
    }
  });

  it('does not store a list if one of its posts was deleted during the read', async () => {
    const list = createFakeList(30, fullPages);
    const id = list.ids[3] ?? '';
    let release = () => {};
    let asked = 0;
    const { search } = list.provider.fetch;
    const provider: Provider = {
      ...list.provider,
      reads: new Set(['post', 'search']),
      fetch: {
        search: async (query, context) => {
          asked += 1;
          const page = await search?.(query, context);
          if (asked === 1) await new Promise<void>((resolve) => (release = resolve));
          return page ?? { items: [], cursor: null, warnings: [] };
        },
        post: async () => {
          throw new ProviderError('missing', 'This post was deleted.');
        },
      },
    };
    const app = await buildTestApp({ providers: [provider] });
    const slow = app.request('/search?q=fog&format=json');
    await expect.poll(() => asked).toBe(1);
    await app.advance(1000);
    expect((await app.request(`/wren/status/${id}`)).statusCode).toBe(404);
    list.remove(id);
    release();
    await slow;

    const reply = await app.request('/search?q=fog&format=json');

    expect([reply.headers['x-cache'], reply.body.includes(`"id":"${id}"`)]).toEqual([
      'miss',
      false,
    ]);
  });

  it('does not join a read that skips the cache with one that uses it', async () => {
    let release = () => {};
    const list = createFakeList(30, fullPages);
    let asked = 0;
    const { timeline } = list.provider.fetch;
    const provider: Provider = {
      ...list.provider,
      fetch: {
        ...list.provider.fetch,
        timeline: async (query, context) => {
          asked += 1;
          if (asked === 1) await new Promise<void>((resolve) => (release = resolve));
          return timeline?.(query, context) ?? { items: [], cursor: null, warnings: [] };
        },
      },
    };
    const app = await buildTestApp({ providers: [provider] });
    const slow = app.request('/wren?format=json');
    await expect.poll(() => asked).toBe(1);

    const anew = await app.request('/wren?format=json&nocache=true');
    release();
    await slow;

    expect([asked, anew.headers['x-cache']]).toEqual([2, 'bypass']);
  });

  it('does not store results of the last resort after their caller has left', async () => {
    let waiting = 0;
    const slow: Provider = {
      ...createFakeList(3, fullPages).provider,
      fetch: {
        search: (_query, { signal }) =>
          new Promise((_resolve, reject) => {
            waiting += 1;
            signal.addEventListener('abort', () => {
              reject(new ProviderError('unavailable', 'Given up.'));
            });
          }),
      },
    };
    const app = await buildTestApp({ providers: [openImportedArchive('x'), slow] });
    const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
    const leaving = new AbortController();
    const left = fetch(`${url}/search?q=heron`, { signal: leaving.signal }).catch(() => 'left');
    await expect.poll(() => waiting).toBe(1);

    leaving.abort();
    expect(await left).toBe('left');
    await expect.poll(() => app.inFlight).toBe(0);
    void app.request('/search?q=heron');

    await expect.poll(() => waiting).toBe(2);
  });

  it('does not wait for the posts of a deleted account', async () => {
    const list = createFakeList(30, fullPages);
    let aborted = false;
    const provider: Provider = {
      ...list.provider,
      fetch: {
        profile: async () => {
          throw new ProviderError('missing', 'This account is suspended.');
        },
        timeline: (_query, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted = true;
              reject(new ProviderError('unavailable', 'Given up.'));
            });
          }),
      },
    };
    const app = await buildTestApp({ providers: [provider] });

    const reply = await app.request('/wren');

    expect([reply.json().code, aborted]).toEqual(['not_found', true]);
  });

  it('returns a full page although no cursor can represent its end', async () => {
    const list = createFakeList(40, fullPages);
    const provider: Provider = {
      ...list.provider,
      fetch: {
        ...list.provider.fetch,
        timeline: async () => ({ items: [stubPost('1')], cursor: 'x'.repeat(3000), warnings: [] }),
      },
    };
    const app = await buildTestApp({ providers: [provider] });

    const reply = await app.request('/wren?limit=1&format=json');

    expect(reply.json().posts).toHaveLength(1);
    expect(reply.json().nextCursor).toBeUndefined();
    expect(reply.json().warnings[0]).toContain('too long to be passed on');
  });
});
