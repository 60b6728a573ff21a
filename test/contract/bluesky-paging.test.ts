import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { createFakeBluesky, type FakeBluesky } from '../support/fake-bluesky.ts';
import { type FakeHandler, startFakeUpstream } from '../support/fake-upstream.ts';
import { fc, runs } from '../support/fast-check.ts';
import { readWhole } from '../support/walk-list.ts';

/** Allowance for a test that reads more pages per minute than one caller may. */
const unlimited = { PERCH_PUBLIC_ALLOWANCE: '1000000', PERCH_POOL_ALLOWANCE: '1000000' };

const handle = 'mira.test';

/** Kinds of rows in a timeline; `private` is a post by another account that is not public. */
const rowKind = fc.constantFrom('post', 'post', 'post', 'repost', 'private', 'reply', 'deleted');

type RowKind = 'post' | 'repost' | 'private' | 'reply' | 'deleted';

/** Fills a timeline, and returns the ids that a complete read must return. */
function fill(fake: FakeBluesky, kinds: readonly RowKind[]): readonly string[] {
  fake.addAccount(handle);
  fake.addAccount('shy.test', { isPrivate: true });
  const shown = kinds.map((kind, index) => addRow(fake, kind, `3k${index}`));
  return shown.filter((id) => id !== null).reverse();
}

/** Adds a row, and returns its id if readers can see it. */
function addRow(fake: FakeBluesky, kind: RowKind, rkey: string): string | null {
  switch (kind) {
    case 'post':
      return fake.addPost(handle, { rkey }).rkey;
    case 'reply':
      return fake.addPost(handle, { rkey, parent: fake.addPost('tove.test') }).rkey;
    case 'repost':
      fake.repost(handle, fake.addPost('tove.test', { rkey }));
      return rkey;
    case 'private':
      fake.repost(handle, fake.addPost('shy.test', { rkey }));
      return null;
    case 'deleted':
      fake.addPost(handle, { rkey }).isDeleted = true;
      return null;
  }
}

/** Answers as the fake does, with the number of rows that the table has for each request. */
function withSizes(fake: FakeBluesky, sizes: readonly number[]): FakeHandler {
  let asked = 0;
  return (request, response) => {
    fake.habits.maxRows = sizes[asked % sizes.length] ?? 100;
    asked += 1;
    fake.handler(request, response);
  };
}

/** Reads a list to its end, and returns the ids of its items. */
async function walk(handler: FakeHandler, path: string, limits: readonly number[]) {
  const host = await startFakeUpstream(handler);
  const app = await buildTestApp({ env: { ...unlimited, PERCH_BLUESKY_URL: host.url } });
  const ids = await readWhole(app, path, limits);
  await app.server.close();
  await host.close();
  return ids;
}

const limits = fc.array(fc.integer({ min: 5, max: 100 }), { minLength: 1, maxLength: 5 });
const sizes = fc.array(fc.integer({ min: 3, max: 100 }), { minLength: 1, maxLength: 7 });

describe('paging through a list of Bluesky', () => {
  it('returns every post of a timeline once and in order, in full pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowKind, { maxLength: 250 }),
        limits,
        sizes,
        async (kinds, someLimits, someSizes) => {
          const fake = createFakeBluesky();
          const ids = fill(fake, kinds);
          const path = `/api/v1/profiles/${handle}?with_replies=true&with_reposts=true`;

          expect(await walk(withSizes(fake, someSizes), path, someLimits)).toEqual(ids);
        },
      ),
      { numRuns: runs(15) },
    );
  }, 120_000);

  it('returns every post of a search once and in order, in full pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 120 }),
        limits,
        sizes,
        async (gaps, someLimits, someSizes) => {
          const fake = createFakeBluesky();
          let ms = Date.UTC(2026, 2, 4);
          const posts = gaps.map((gap, index) => {
            // At most a page of posts has the same time.
            ms += index % 3 === 0 ? 1000 : gap * 1000;
            return fake.addPost(handle, { rkey: `3k${index}`, text: 'A heron', ms });
          });
          const path = '/api/v1/search?q=heron&platform=bluesky';
          const more = someSizes.map((size) => size + 5);
          const ids = await walk(withSizes(fake, more), path, someLimits);

          const ordered = posts.toSorted((a, b) => b.ms - a.ms).map(({ rkey }) => rkey);
          expect(ids).toEqual(ordered);
        },
      ),
      { numRuns: runs(15) },
    );
  }, 120_000);

  it('returns every follower once and in order', async () => {
    const fake = createFakeBluesky();
    fake.addAccount(handle);
    const names = Array.from({ length: 130 }, (_, index) => `reader${index}.test`);
    for (const name of names) {
      fake.addAccount(name);
      fake.follow(name, handle);
    }

    const found = await walk(withSizes(fake, [7, 30]), `/${handle}/followers?full=true`, [20, 33]);

    expect(found.toSorted()).toEqual(names.toSorted());
  });
});
