import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/post.ts';
import { type ListReply, listReply, type PostReply } from '../../src/model/results.ts';
import {
  buildTestApp,
  shareTestApps,
  type TestApp,
  type TestClient,
} from '../support/build-app.ts';
import { createFakeList, fullPages, type ListHabits } from '../support/fake-list.ts';
import { fc, runs } from '../support/fast-check.ts';
import { facet } from '../support/render-posts.ts';
import { createStubProvider, stubAccount, stubPost } from '../support/stub-provider.ts';

const sharedApp = shareTestApps();

const unlimited = { PERCH_PUBLIC_ALLOWANCE: '1000000' };
const app = sharedApp({ env: unlimited });

/** Number of characters of a reply, and its content. */
async function readJson(app: TestClient, path: string) {
  const { statusCode, body } = await app.request(`${path}&format=json`);
  expect(statusCode, body).toBe(200);
  return { length: body.length, reply: JSON.parse(body) as ListReply & PostReply };
}

const itemsOf = ({ posts, users }: ListReply) => (posts ?? users ?? []).map(({ id }) => String(id));

interface Step {
  readonly options: string;
  /** Whether cached pages expire before the next page. */
  readonly isLate?: boolean;
}

/** Reads all pages of a list. `stepOf` returns the options of the page at an index. */
async function readAll(app: TestApp, path: string, stepOf: (index: number) => Step) {
  const pages: { ids: readonly string[]; length: number; reply: ListReply }[] = [];
  let cursor = '';
  do {
    const { options, isLate } = stepOf(pages.length);
    const { reply, length } = await readJson(app, `${path}${options}${cursor}`);
    pages.push({ ids: itemsOf(listReply.parse(reply)), length, reply });
    cursor = `&cursor=${reply.nextCursor}`;
    if (isLate) await app.advance(400_000);
  } while (pages.at(-1)?.reply.nextCursor !== undefined && pages.length < 1000);
  return pages;
}

const cutWarnings = ({ warnings }: Pick<ListReply, 'warnings'>) =>
  warnings.filter((warning) => warning.includes('max_chars'));

/** Habits of an upstream with pages of different sizes that overlap. */
function habitsOf(table: readonly number[]): ListHabits {
  const take = (index: number, salt: number) => table[(index * 7 + salt * 13) % table.length] ?? 0;
  return {
    ...fullPages,
    pageSize: (index) => 5 + (take(index, 1) % 60),
    repeats: (index) =>
      Array.from({ length: index === 0 ? 0 : take(index, 2) % 4 }, (_, i) => take(i, 3) % index),
    emptyBefore: (index) => (take(index, 4) % 5 === 0 ? 1 : 0),
    isRepost: (index) => take(index, 5) % 4 === 0,
  };
}

const bounds = fc.record({
  limit: fc.integer({ min: 1, max: 100 }),
  maxChars: fc.oneof(
    fc.constant(undefined),
    fc.integer({ min: 2000, max: 12_000 }),
    fc.integer({ min: 2000, max: 200_000 }),
  ),
  isLate: fc.boolean(),
});

type Bounds = typeof bounds extends fc.Arbitrary<infer One> ? One : never;

const toStep = ({ limit, maxChars, isLate }: Bounds): Step => ({
  options: `&limit=${limit}${maxChars === undefined ? '' : `&max_chars=${maxChars}`}`,
  isLate,
});

/** Checks that a page is within its bounds, and that exactly one warning says so if it is shortened. */
function checkPage(
  { ids, length, reply }: Awaited<ReturnType<typeof readAll>>[number],
  { limit, maxChars = Number.POSITIVE_INFINITY }: Bounds,
): void {
  const warnings = cutWarnings(reply);
  const isShortened = warnings.length === 1;
  expect(warnings.length).toBeLessThan(2);
  expect(length <= maxChars || (ids.length <= 1 && isShortened)).toBe(true);
  // A page is shorter than its limit only for a reason that it states.
  expect(ids.length === limit || reply.nextCursor === undefined || isShortened).toBe(true);
}

describe('a list with max_chars', () => {
  it('has every item once and in order if the client follows nextCursor', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 150 }),
        fc.array(fc.nat({ max: 10_000 }), { minLength: 1, maxLength: 20 }),
        fc.array(bounds, { minLength: 1, maxLength: 6 }),
        async (count, table, all) => {
          const list = createFakeList(count, habitsOf(table));
          const app = await buildTestApp({ providers: [list.provider], env: unlimited });
          const at = (index: number) => all[index % all.length] as Bounds;

          const url = '/api/v1/profiles/wren?with_reposts=true';
          const pages = await readAll(app, url, (index) => toStep(at(index)));

          expect(pages.flatMap(({ ids }) => ids)).toEqual(list.ids);
          for (const [index, page] of pages.entries()) checkPage(page, at(index));
          await app.server.close();
        },
      ),
      { numRuns: runs(40) },
    );
  }, 120_000);

  it('is as long as the limit allows', async () => {
    const list = createFakeList(100, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });

    const { reply, length } = await readJson(
      app,
      '/api/v1/profiles/wren?limit=100&max_chars=30000',
    );
    const [post] = reply.posts ?? [];

    expect(length).toBeLessThanOrEqual(30_000);
    expect(length + JSON.stringify(post).length * 1.5).toBeGreaterThan(30_000);
  });

  it.each(['followers?', 'following?'])(
    'continues within a page of the archive: %s',
    async (path) => {
      const url = `/api/v1/profiles/ada.example/${path}`;
      const [whole] = await readAll(await app.open(), `${url}limit=100`, () => ({ options: '' }));

      const pages = await readAll(await app.open(), url, (index) => ({
        options: `limit=${index % 2 ? 3 : 100}&max_chars=3500`,
      }));

      expect(pages.length).toBeGreaterThan(2);
      expect(pages.flatMap(({ ids }) => ids)).toEqual(whole?.ids);
    },
  );

  it.each(['latest', 'top'])('continues within a search of the archive, feed=%s', async (feed) => {
    const url = `/api/v1/search?q=the&platform=archive&feed=${feed}`;
    const whole = await readAll(await app.open(), url, () => ({ options: '&limit=100' }));

    const bounded = (index: number) =>
      index % 3 === 0 ? '&limit=100&max_chars=20000' : `&limit=${index + 2}&max_chars=9000`;
    const pages = await readAll(await app.open(), url, (index) => ({ options: bounded(index) }));

    expect(pages.flatMap(({ ids }) => ids)).toEqual(whole.flatMap(({ ids }) => ids));
  });

  it('continues after a page that was requested by its number', async () => {
    const repeats = (index: number) => (index < 30 ? [] : [index - 1, index - 30]);
    const list = createFakeList(130, { ...fullPages, repeats });
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });

    const url = '/api/v1/profiles/wren?with_reposts=true';
    const pages = await readAll(app, url, (index) => ({
      options: index === 0 ? '&page=3&limit=20&max_chars=8000' : '&limit=20',
    }));

    expect(pages[0]?.ids.length).toBeLessThan(20);
    expect(pages.flatMap(({ ids }) => ids)).toEqual(list.ids.slice(40));
  });

  it('continues in another process that has none of the cached pages', async () => {
    const repeats = (index: number) => (index < 30 ? [] : [index - 1, index - 30]);
    const list = createFakeList(130, { ...fullPages, repeats });
    const env = { ...unlimited, PERCH_CURSOR_KEY: 'a key that two processes share, of 32' };
    const open = () => buildTestApp({ providers: [list.provider], env });
    const apps = [await open(), await open()] as const;
    const ids: string[] = [];
    let cursor = '';

    for (let page = 0; cursor !== '&cursor=undefined' && page < 100; page += 1) {
      const path = `/api/v1/profiles/wren?with_reposts=true&limit=60&max_chars=19000${cursor}`;
      const { reply } = await readJson(apps[page % 2] ?? apps[0], path);
      ids.push(...itemsOf(reply));
      cursor = `&cursor=${reply.nextCursor}`;
    }

    expect(ids).toEqual(list.ids);
  });

  it('has a next page although the source has no more', async () => {
    const list = createFakeList(60, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });

    const { body } = await app.request('/api/v1/profiles/wren?limit=100&max_chars=2000');
    const [, next = ''] = /\[Next page\]\((\S+)\)\n$/.exec(body) ?? [];
    const url = new URL(next);
    url.searchParams.delete('max_chars');
    const rest = await app.request(`${url.pathname}${url.search}`);

    const shown = body.match(/^### /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(1);
    expect(body.length).toBeLessThanOrEqual(2000);
    expect(body).toContain(`leaves room for ${shown} of the 60 posts of this page.`);
    expect(rest.body.match(/^## Posts|^### /gm)).toHaveLength(1 + 60 - shown);
  });

  it('does not request the rest of a page from the source again', async () => {
    const list = createFakeList(60, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });

    const [first] = [await readJson(app, '/api/v1/profiles/wren?limit=60&max_chars=20000')];
    const asked = list.asked;
    const cursor = first?.reply.nextCursor;
    const second = await readJson(app, `/api/v1/profiles/wren?limit=5&cursor=${cursor}`);

    expect(second.reply.posts).toHaveLength(5);
    expect([asked, list.asked]).toEqual([3, 3]);
  });

  it('takes no posts away from readers with other limits', async () => {
    const list = createFakeList(120, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });
    const url = '/api/v1/profiles/wren?with_reposts=true';

    await readAll(app, url, (index) => ({
      options: `&limit=15${index % 3 === 2 ? '&max_chars=6000' : ''}`,
    }));
    const pages = await readAll(app, url, () => ({ options: '&limit=20' }));

    expect(pages.flatMap(({ ids }) => ids)).toEqual(list.ids);
  });

  it('is another view of the same data', async () => {
    const list = createFakeList(60, fullPages);
    const app = await buildTestApp({ providers: [list.provider], env: unlimited });
    const url = '/api/v1/profiles/wren?limit=60';
    const lengths = [];

    for (const bound of ['', '&max_chars=2500', '&max_chars=4000', '&max_chars=2500']) {
      lengths.push((await app.request(`${url}${bound}`)).body.length);
    }

    expect(list.asked).toBe(3);
    expect(lengths[1]).toBeLessThanOrEqual(2500);
    expect(lengths[2]).toBeGreaterThan(2500);
    expect(lengths[2]).toBeLessThanOrEqual(4000);
    expect(lengths[0]).toBeGreaterThan(4000);
    expect(lengths[3]).toBe(lengths[1]);
  });

  it.each(['html', 'atom', 'rss', 'jsonfeed'])(
    'has the items of the Markdown as %s',
    async (format) => {
      const list = createFakeList(60, fullPages);
      const app = await buildTestApp({ providers: [list.provider], env: unlimited });
      const url = '/api/v1/profiles/wren?limit=60&max_chars=3000';
      const counts = [];

      for (const one of ['markdown', format]) {
        counts.push((await app.request(`${url}&format=${one}`)).headers['x-result-count']);
      }

      expect(counts[1]).toBe(counts[0]);
      expect(Number(counts[0])).toBeLessThan(60);
    },
  );

  it.each(['1999', '400001', '0', 'many', '2e4'])(
    'rejects max_chars=%s with the range',
    async (value) => {
      const app = sharedApp();

      const reply = await app.request(`/api/v1/profiles/ada.example?max_chars=${value}`);

      expect(reply.json()).toMatchObject({ status: 400, code: 'invalid_option' });
      expect(reply.json().detail).toContain('`max_chars`');
      expect(reply.json().detail).toContain('2000 to 400000');
    },
  );
});

const emoji = '🪶';

/** Creates a provider of a post with a thread and replies, whose texts have the given number of characters. */
function conversation(sizes: { text?: string; around: number; replies: number }) {
  const author = stubAccount('wren');
  const more = (id: number, told: Partial<Status> = {}) =>
    stubPost(String(id), { author, text: `Number ${id} ${'x'.repeat(150)}`, ...told });
  const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
  const { text = 'The post itself', around, replies } = sizes;
  return createStubProvider('stub', async () => ({
    ancestors: range(100, around).map((id) => more(id)),
    post: more(500, { text }),
    continuation: range(600, around).map((id) => more(id)),
    replies: range(900, replies).map((id) =>
      more(id, {
        author: stubAccount('ilse'),
        replying_to: { screen_name: 'wren', status: '500', url: null },
      }),
    ),
    missing: [],
    warnings: [],
  }));
}

describe('a post with max_chars', () => {
  const url = '/api/v1/posts?url=https://x.com/wren/status/500';

  it('leaves out replies from the end first', async () => {
    const provider = conversation({ around: 2, replies: 20 });
    const app = await buildTestApp({ providers: [provider], env: unlimited });

    const { reply, length } = await readJson(app, `${url}&max_chars=20000`);

    const ids = reply.posts.map(({ id }) => id);
    expect(length).toBeLessThanOrEqual(20_000);
    expect(ids.slice(0, 6)).toEqual(['100', '101', '500', '600', '601', '900']);
    expect(ids.slice(5)).toEqual(ids.slice(5).map((_, i) => String(900 + i)));
    expect(ids.length).toBeLessThan(25);
    expect(reply.postCount).toBe(ids.length);
    expect(reply.warnings).toEqual([
      expect.stringMatching(
        /^`max_chars=20000` leaves room for \d+ of the 25 posts; \d+ replies were left out\. The tool `list_replies` and http:\/\/localhost:8080\/api\/v1\/posts\/500\/replies list all/,
      ),
    ]);
  });

  it('leaves out the far ends of the thread next, and keeps the post', async () => {
    const provider = conversation({ around: 15, replies: 3 });
    const app = await buildTestApp({ providers: [provider], env: unlimited });

    const { body, headers } = await app.request(`${url}&max_chars=3000`);

    const shown = [...body.matchAll(/Number (\d+)/g)].map(([, id]) => Number(id));
    const before = shown.filter((id) => id < 500);
    const after = shown.filter((id) => id > 600 || id === 600);
    expect(body.length).toBeLessThanOrEqual(3000);
    expect(body).toContain('The post itself');
    expect(after).toEqual(after.map((_, i) => 600 + i));
    expect(before).toEqual(before.map((_, i) => 115 - before.length + i));
    expect(after.length - before.length).toBeGreaterThanOrEqual(0);
    expect(after.length - before.length).toBeLessThanOrEqual(1);
    expect(body).toContain('3 replies and ');
    expect(headers['x-result-count']).toBe(String(shown.length + 1));
  });

  it.each(['markdown', 'json', 'obsidian', 'html'])(
    'cuts a text that is too long itself: %s',
    async (format) => {
      const text = emoji.repeat(20_000);
      const provider = conversation({ text, around: 1, replies: 1 });
      const app = await buildTestApp({ providers: [provider], env: unlimited });

      const reply = await app.request(`${url}&max_chars=9001&format=${format}`);

      expect(reply.statusCode).toBe(200);
      expect(reply.headers['x-result-count']).toBe('1');
      expect(reply.body).toContain('is longer than');
      expect(reply.body).toContain(`${emoji}…`);
      expect(reply.body).not.toContain('\ufffd');
      if (format !== 'html') expect(reply.body.length).toBeLessThanOrEqual(9001);
    },
  );

  it('keeps the annotations of the part that is left', async () => {
    const text = `See https://diary.example/1 ${'word '.repeat(3000)} https://diary.example/2`;
    const links = ['https://diary.example/1', 'https://diary.example/2'];
    const facets = links.map((link) => facet(text, link, 'link', link));
    const provider = createStubProvider('stub', async () => ({
      ...{ ancestors: [], continuation: [], replies: [], missing: [], warnings: [] },
      post: stubPost('500', { text, facets }),
    }));
    const app = await buildTestApp({ providers: [provider], env: unlimited });

    const { reply } = await readJson(app, `${url}&max_chars=8000`);

    const [post] = reply.posts as readonly Status[];
    expect(post?.facets).toEqual([facets[0]]);
    expect(post?.text).toMatch(/^See .*…$/);
    expect(reply.warnings).toHaveLength(1);
  });

  it('has everything and no warning if it is short enough', async () => {
    const app = await buildTestApp({ providers: [conversation({ around: 1, replies: 2 })] });

    const [whole, bounded] = [await app.request(url), await app.request(`${url}&max_chars=400000`)];

    expect(bounded.body).toBe(whole.body);
  });
});
