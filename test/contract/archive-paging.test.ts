import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type ArchiveStore, openArchiveStore } from '../../src/archive/store/store.ts';
import { toIsoSeconds } from '../../src/lib/clock.ts';
import { createSyndication } from '../../src/providers/syndication/index.ts';
import { buildTestApp } from '../support/build-app.ts';
import { fc, runs } from '../support/fast-check.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { stubAccount, stubPost } from '../support/stub-provider.ts';
import { readWhole } from '../support/walk-list.ts';

/** These tests send more requests in a minute than one caller may. */
const unlimited = { PERCH_PUBLIC_ALLOWANCE: '1000000', PERCH_PROVIDERS: 'archive' };

const kinds = ['post', 'post', 'post', 'reply', 'repost', 'protected'] as const;

/** Row of a timeline, and the seconds since the row before it; 0 for the same second. */
const row = fc.record({ kind: fc.constantFrom(...kinds), gap: fc.integer({ min: 0, max: 2 }) });

const stored = 1_790_000_000;
const limits = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 });

type Row = (typeof row extends fc.Arbitrary<infer One> ? One : never) & { readonly at: number };

/** Stores a row. Returns its second and id if readers can see it. */
function putRow(store: ArchiveStore, { kind, at }: Row, id: string) {
  const author = kind === 'repost' ? 'ben' : kind === 'protected' ? 'shy' : 'ada';
  const isAnswer = kind === 'reply';
  const post = stubPost(id, {
    text: 'A heron',
    author: stubAccount(author),
    created_at: toIsoSeconds(at * 1000),
    created_timestamp: at,
    replying_to: isAnswer ? { screen_name: 'ben', status: '7', url: null } : null,
  });
  const parentId = isAnswer ? '7' : null;
  store.putPost({ platform: 'x', handle: author, id, parentId, created: at, stored, post });
  if (author === 'ada') return { id, at };
  const of = { platform: 'x', handle: 'ada', postHandle: author, postId: id } as const;
  store.putRepost({ ...of, created: at, stored });
  return author === 'ben' ? { id, at } : null;
}

/** Fills an archive and opens a server over it. Returns the rows that readers of the timeline can see. */
async function serve(rows: readonly Omit<Row, 'at'>[], followers: number) {
  const folder = temporaryFolder();
  const store = openArchiveStore(join(folder, 'archive.db'), 'http://localhost:8080');
  store.putAccount({ account: stubAccount('ada'), stored });
  store.putAccount({ account: { ...stubAccount('shy'), protected: true }, stored });
  let at = 1_700_000_000;
  const seen = rows.flatMap((one, index) => {
    at += one.gap;
    return putRow(store, { ...one, at }, String(1000 + index)) ?? [];
  });
  for (let index = 0; index < followers; index += 1) {
    store.putFollow({ platform: 'x', follower: `reader${index}`, followed: 'ada', stored });
  }
  store.close();
  return { app: await buildTestApp({ env: { ...unlimited, PERCH_DATA_DIR: folder } }), seen };
}

it('returns every row of an archive list once and in order, in full pages', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 250 }),
      fc.integer({ min: 0, max: 150 }),
      limits,
      async (rows, followers, some) => {
        const { app, seen } = await serve(rows, followers);
        const at = new Map(seen.map((one) => [one.id, one.at]));

        const timeline = await readWhole(app, '/ada?with_replies=true&with_reposts=true', some);
        const found = await readWhole(app, '/search?platform=archive&q=heron%20-zebra', some);
        const readers = await readWhole(app, '/ada/followers?full=true', some);

        const ids = seen.map(({ id }) => id).toSorted();
        expect(timeline.toSorted()).toEqual(ids);
        const seconds = timeline.map((id) => at.get(id) ?? Number.NaN);
        expect(seconds).toEqual(seconds.toSorted((a, b) => b - a));
        // The sample contains this word too.
        expect(found.filter((id) => at.has(id)).toSorted()).toEqual(ids);
        expect(new Set(found).size).toBe(found.length);
        expect(readers).toHaveLength(followers);
        expect(new Set(readers).size).toBe(followers);
        await app.server.close();
      },
    ),
    { numRuns: runs(10) },
  );
}, 120_000);

it('has no lists at syndication, which reads single posts', () => {
  const http = { get: () => Promise.reject(new Error('It is not asked.')), close: async () => {} };
  const { reads, fetch: ask } = createSyndication({ http, apiUrl: 'https://syndication.example' });

  expect([...reads]).toEqual(['post']);
  expect(Object.keys(ask)).toEqual(['post']);
});
