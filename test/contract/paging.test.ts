import { describe, expect, it } from 'vitest';
import { type ListReply, listReply } from '../../src/model/results.ts';
import { buildTestApp, type TestApp } from '../support/build-app.ts';
import { createFakeList, type FakeList, fullPages, type ListHabits } from '../support/fake-list.ts';
import { fc, runs } from '../support/fast-check.ts';

/** These tests send more requests in a minute than one caller may. */
const unlimited = { PERCH_PUBLIC_ALLOWANCE: '1000000' };

/**
 * Converts a table of numbers to habits of the fake upstream, so that the same index has the same habit. No table
 * consists of doubtful pages only, which would exceed the requests of one read.
 */
function habitsOf(table: readonly number[]): ListHabits {
  const take = (index: number, salt: number) => table[(index * 7 + salt * 13) % table.length] ?? 0;
  return {
    pageSize: (index) => (index % 5 === 2 ? 1 + (take(index, 1) % 3) : 10 + (take(index, 1) % 60)),
    repeats: (index) => {
      const count = index === 0 ? 0 : take(index, 2) % 4;
      return Array.from({ length: count }, (_, i) => take(index + i, 3) % index);
    },
    emptyBefore: (index) => (take(index, 4) % 5 === 0 ? take(index, 5) % 2 : 0),
    shortTimes: (index) => (take(index, 6) % 3 === 0 ? take(index, 7) % 4 : 0),
    isRepost: (index) => take(index, 8) % 4 === 0,
  };
}

async function read(app: TestApp, path: string): Promise<ListReply> {
  const reply = await app.request(`${path}&format=json`);
  expect(reply.statusCode, reply.body).toBe(200);
  return listReply.parse(reply.json());
}

interface Step {
  readonly limit: number;
  /** Whether five minutes pass before the next page, so that cached parts expire. */
  readonly isLate: boolean;
  /** Position of the item that is deleted before the next page, as a share of the list. */
  readonly removal: number | null;
}

interface WalkedPage {
  readonly ids: readonly (string | null)[];
  readonly limit: number;
  readonly reply: ListReply;
}

/** Reads a whole list, with a different limit for each page. */
async function walkAll(app: TestApp, list: FakeList, steps: readonly Step[]) {
  const pages: WalkedPage[] = [];
  const removed = new Set<string>();
  let cursor = '';
  do {
    const step = steps[pages.length % steps.length] ?? never();
    const path = `/api/v1/profiles/wren?with_reposts=true&limit=${step.limit}`;
    const reply = await read(app, `${path}${cursor}`);
    pages.push({ ids: (reply.posts ?? []).map(({ id }) => id), limit: step.limit, reply });
    cursor = `&cursor=${reply.nextCursor}`;
    removeItem(list, step, removed);
    if (step.isLate) await app.advance(400_000);
  } while (pages.at(-1)?.reply.nextCursor !== undefined && pages.length < 3000);
  return { pages, removed };
}

function removeItem(list: FakeList, { removal }: Step, removed: Set<string>): void {
  const id = removal === null ? undefined : list.ids[Math.floor(removal * list.ids.length)];
  if (id === undefined) return;
  removed.add(id);
  list.remove(id);
}

function never(): never {
  throw new Error('A walk has at least one step.');
}

const step: fc.Arbitrary<Step> = fc.record({
  limit: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 20, max: 100 }) },
    fc.integer({ min: 1, max: 20 }),
  ),
  isLate: fc.boolean(),
  removal: fc.option(fc.double({ min: 0, max: 0.999, noNaN: true }), { freq: 3 }),
});

it.each([
  { name: 'short lists', length: fc.integer({ min: 0, max: 60 }), numRuns: runs(60) },
  { name: 'long lists', length: fc.integer({ min: 0, max: 2000 }), numRuns: runs(12) },
])(
  'the pages of a list contain every item once and in order, and are full: $name',
  async ({ length, numRuns }) => {
    await fc.assert(
      fc.asyncProperty(
        length,
        fc.array(fc.nat({ max: 10_000 }), { minLength: 1, maxLength: 40 }),
        fc.array(step, { minLength: 1, maxLength: 8 }),
        async (count, table, steps) => {
          const list = createFakeList(count, habitsOf(table));
          const app = await buildTestApp({ providers: [list.provider], env: unlimited });

          const { pages, removed } = await walkAll(app, list, steps);

          const given = pages.flatMap(({ ids }) => ids);
          // Items that were deleted meanwhile may have been returned before.
          const seen = new Set(given);
          expect(given).toEqual(list.ids.filter((id) => !removed.has(id) || seen.has(id)));
          for (const { ids, limit, reply } of pages.slice(0, -1)) {
            expect([ids.length, reply.limit]).toEqual([limit, limit]);
          }
          expect(pages.map(({ reply }) => reply.page)).toEqual(pages.map((_, index) => index + 1));
          await app.server.close();
        },
      ),
      { numRuns },
    );
  },
  120_000,
);

describe('pages', () => {
  it('are the same by number as by cursors', async () => {
    const list = createFakeList(230, habitsOf([3, 17, 44, 5, 60, 22]));
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });
    const { pages } = await walkAll(app, list, [{ limit: 30, isLate: false, removal: null }]);

    for (const page of [1, 2, 5, 8, 9, 10]) {
      const path = `/api/v1/profiles/wren?with_reposts=true&limit=30&page=${page}`;
      const { posts = [], nextCursor, ...rest } = await read(app, path);

      expect(posts.map(({ id }) => id)).toEqual(pages[page - 1]?.ids ?? []);
      expect(rest).toMatchObject({ page, limit: 30 });
      expect(nextCursor === undefined).toBe(page >= 8);
    }
  });

  it('are filled up to a hundred items from source pages of one', async () => {
    const list = createFakeList(230, { ...fullPages, pageSize: () => 1 });
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });

    const reply = await read(app, '/api/v1/profiles/wren?limit=100');

    expect(reply.posts?.map(({ id }) => id)).toEqual(list.ids.slice(0, 100));
    expect(list.asked).toBeLessThan(200);
  });

  it('use cached upstream pages with unused items while they are fresh', async () => {
    const list = createFakeList(40, { ...fullPages, pageSize: () => 40 });
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });
    const first = await read(app, '/api/v1/profiles/wren?limit=15');

    const second = await read(app, `/api/v1/profiles/wren?limit=15&cursor=${first.nextCursor}`);
    const askedSoon = list.asked;
    await app.advance(400_000);
    await read(app, `/api/v1/profiles/wren?limit=15&cursor=${second.nextCursor}`);

    expect([askedSoon, list.asked]).toEqual([1, 2]);
  });

  it('exclude items that are added on top in the meantime', async () => {
    const list = createFakeList(45, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });
    const first = await read(app, '/api/v1/profiles/wren?limit=15');
    list.arrive(5);
    await app.advance(400_000);

    const second = await read(app, `/api/v1/profiles/wren?limit=15&cursor=${first.nextCursor}`);

    const ids = [...(first.posts ?? []), ...(second.posts ?? [])].map(({ id }) => id);
    expect(ids).toEqual(list.ids.slice(5, 35));
  });

  it('continue in another process with the same key', async () => {
    const habits = {
      ...fullPages,
      repeats: (index: number) => (index < 8 ? [] : [index - 1, index - 8]),
    };
    const list = createFakeList(300, habits);
    const env = { PERCH_CURSOR_KEY: 'a key that two processes share, of 32' };
    const apps = [
      await buildTestApp({ providers: [list.provider], env }),
      await buildTestApp({ providers: [list.provider], env }),
    ];
    const given: (string | null)[] = [];
    let cursor = '';
    for (let page = 0; cursor !== '&cursor=undefined'; page += 1) {
      const app = apps[page % 2] ?? never();
      const reply = await read(app, `/api/v1/profiles/wren?limit=17${cursor}`);
      given.push(...(reply.posts ?? []).map(({ id }) => id));
      cursor = `&cursor=${reply.nextCursor}`;
    }

    expect(given).toEqual(list.ids);
  });

  it('report an upstream page that stays short after retries', async () => {
    const list = createFakeList(60, {
      ...fullPages,
      shortTimes: (index) => (index === 20 ? 99 : 0),
    });
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });

    const reply = await read(app, '/api/v1/profiles/wren?limit=30');

    expect(reply.warnings).toHaveLength(1);
    expect(reply.warnings[0]).toContain('fewer posts or accounts than expected');
    expect(reply.nextCursor).toBeDefined();
  });

  it('skip empty upstream pages, report them, and end if there are too many', async () => {
    const list = createFakeList(60, {
      ...fullPages,
      emptyBefore: (index) => (index === 20 ? 1e9 : 0),
    });
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });
    const path = '/api/v1/profiles/wren?limit=30';

    let reply = await read(app, path);
    expect(reply.posts).toHaveLength(20);
    expect(reply.warnings.join(' ')).toContain('empty or repeated pages');
    let pages = 1;
    while (reply.nextCursor !== undefined && pages < 60) {
      reply = await read(app, `${path}&cursor=${reply.nextCursor}`);
      pages += 1;
    }

    expect(pages).toBe(21);
    expect(reply.posts).toEqual([]);
    expect(reply.warnings.join(' ')).toContain('The list ends here and may be incomplete');
  });

  it('clamp limit with a warning, and reject an invalid limit or page', async () => {
    const list = createFakeList(300, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });

    const clamped = await read(app, `/api/v1/profiles/wren?limit=${'9'.repeat(40)}`);
    expect([clamped.limit, clamped.posts?.length]).toEqual([100, 100]);
    for (const query of [
      'limit=0',
      'limit=-1',
      'limit=ten',
      'limit=',
      'page=0',
      'page=11',
      'page=1.5',
      'page=2&page=3',
    ]) {
      const reply = await app.request(`/api/v1/profiles/wren?${query}`);
      expect([query, reply.statusCode, reply.json().code]).toEqual([query, 400, 'invalid_option']);
    }
    const both = await app.request(`/api/v1/profiles/wren?page=2&cursor=${clamped.nextCursor}`);
    expect(both.json()).toMatchObject({ status: 400, code: 'invalid_option' });
    expect(both.json().detail).toContain('`page`');
  });
});
