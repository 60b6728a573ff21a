import { describe, expect, it } from 'vitest';
import { type ListReply, listReply } from '../../src/model/results.ts';
import { unhurried } from '../support/build-app.ts';
import {
  type FakeFxTwitter,
  type FxHabits,
  type FxList,
  type FxRow,
  type FxRowKind,
  type FxTimelineRow,
  fullPageHabits,
  startFakeFxTwitter,
} from '../support/fake-fxtwitter.ts';
import { answerHtml } from '../support/fake-upstream.ts';
import { fc, runs } from '../support/fast-check.ts';
import { listen } from '../support/listen.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

/** The tests request more pages than the pace allows, and some of them fail on purpose. */
const unpaced = {
  ...unhurried,
  PERCH_FXTWITTER_PER_MINUTE: '100000',
  PERCH_BREAKER_FAILURES: '1000',
  PERCH_PUBLIC_ALLOWANCE: '100000',
  PERCH_POOL_ALLOWANCE: '1000000',
};

const sharedKey = { PERCH_CURSOR_KEY: 'a key that two processes share, of 32' };

/**
 * Converts a table of numbers to habits of the fake upstream, so that the same index has the same habit. No table
 * consists of doubtful pages only, which would exceed the requests of one read. `isNear` keeps repeats within the
 * fingerprints of a cursor, for processes without the memory of the list.
 */
function habitsOf(table: readonly number[], { isNear = false } = {}): FxHabits {
  const take = (index: number, salt: number) => table[(index * 7 + salt * 13) % table.length] ?? 0;
  const reach = (index: number) => (isNear ? Math.min(index, 12) : index);
  return {
    pageSize: (index) => (index % 5 === 2 ? 1 + (take(index, 1) % 3) : 10 + (take(index, 1) % 60)),
    repeats: (index) => {
      const count = index === 0 ? 0 : take(index, 2) % 4;
      return Array.from(
        { length: count },
        (_, i) => index - 1 - (take(index + i, 3) % reach(index)),
      );
    },
    emptyBefore: (index) => (index % 7 === 3 ? take(index, 4) % 2 : 0),
    shortTimes: (index) => (index % 3 === 0 ? take(index, 5) % 4 : 0),
    end: (['null', 'same', 'zero', 'empty'] as const)[take(0, 6) % 4] ?? 'null',
  };
}

const kinds = ['post', 'self_reply', 'reply', 'foreign', 'repost', 'self_repost'] as const;

/** Creates a timeline of which about half are posts by the account. */
function kindsOf(table: readonly number[]): (index: number) => FxRowKind {
  return (index) => kinds[((table[index % table.length] ?? 0) + index * 3) % 8] ?? 'post';
}

/** Parameters of a list, without the page. */
interface Options {
  readonly with_replies: boolean;
  readonly with_reposts: boolean;
}

/** Returns the expected items of a timeline: for each id, the first row of a requested kind. */
function expectedOf(
  { rows }: FxList<FxTimelineRow>,
  { with_replies, with_reposts }: Options,
): readonly string[] {
  const wanted: readonly FxRowKind[] = [
    'post',
    'self_reply',
    ...(with_replies ? (['reply'] as const) : []),
    ...(with_reposts ? (['repost', 'self_repost'] as const) : []),
  ];
  return [...new Set(rows.filter(({ kind }) => wanted.includes(kind)).map(({ id }) => id))];
}

/** Request for one page of a list. */
interface Step {
  readonly limit: number;
  readonly surface: 'v1' | 'permalink';
  readonly nocache: boolean;
  /** Position of the row that is deleted after the page, as a share of the list. */
  readonly removal: number | null;
}

const plainStep: Step = { limit: 20, surface: 'v1', nocache: false, removal: null };

interface Walk {
  /** Addresses of the servers, which take turns for the pages. */
  readonly servers: readonly string[];
  readonly paths: Readonly<Record<Step['surface'], string>>;
  readonly steps: readonly Step[];
  readonly list?: FxList;
}

interface WalkedPage {
  readonly ids: readonly (string | null)[];
  readonly limit: number;
  readonly reply: ListReply;
}

interface Walked {
  readonly pages: readonly WalkedPage[];
  readonly given: readonly (string | null)[];
  readonly removed: ReadonlySet<string>;
}

async function readPage(url: string): Promise<ListReply> {
  const reply = await fetch(url);
  const text = await reply.text();
  expect(reply.status, `${url}\n${text}`).toBe(200);
  return listReply.parse(JSON.parse(text));
}

function urlOf({ servers, paths }: Walk, step: Step, at: { number: number; cursor?: string }) {
  const server = servers[at.number % servers.length];
  const path = paths[step.surface];
  const nocache = step.nocache ? '&nocache=true' : '';
  const cursor = at.cursor === undefined ? '' : `&cursor=${at.cursor}`;
  const mark = path.includes('?') ? '&' : '?';
  return `${server}${path}${mark}format=json&limit=${step.limit}${nocache}${cursor}`;
}

function idsOf({ posts, users }: ListReply): readonly (string | null)[] {
  return (posts ?? users ?? []).map(({ id }) => id);
}

async function walkAll(walk: Walk): Promise<Walked> {
  const pages: WalkedPage[] = [];
  const removed = new Set<string>();
  let cursor: string | undefined;
  do {
    const step = walk.steps[pages.length % walk.steps.length] ?? plainStep;
    const at = { number: pages.length, ...(cursor === undefined ? {} : { cursor }) };
    const reply = await readPage(urlOf(walk, step, at));
    pages.push({ ids: idsOf(reply), limit: step.limit, reply });
    cursor = reply.nextCursor;
    removeRow(walk.list, step, removed);
  } while (cursor !== undefined && pages.length < 3000);
  return { pages, given: pages.flatMap(({ ids }) => ids), removed };
}

function removeRow(list: FxList | undefined, { removal }: Step, removed: Set<string>): void {
  const id = removal === null ? undefined : list?.rows[Math.floor(removal * list.rows.length)]?.id;
  if (id === undefined) return;
  removed.add(id);
  list?.remove(id);
}

/**
 * Expects each item once and in order, in full numbered pages. After a deletion, an upstream page can look truncated,
 * and a page may then be reported as incomplete.
 */
function expectWhole({ pages, given, removed }: Walked, expected: readonly string[]): void {
  // Items that were deleted meanwhile may have been returned before.
  const seen = new Set(given);
  expect(given).toEqual(expected.filter((id) => !removed.has(id) || seen.has(id)));
  const isExcused = ({ reply }: WalkedPage) => removed.size > 0 && reply.warnings.length > 0;
  const full = pages.slice(0, -1).filter((page) => !isExcused(page));
  expect(full.map(({ ids }) => ids.length)).toEqual(full.map(({ limit }) => limit));
  expect(pages.map(({ reply }) => reply.limit)).toEqual(pages.map(({ limit }) => limit));
  expect(pages.map(({ reply }) => reply.page)).toEqual(pages.map((_, index) => index + 1));
}

const table = fc.array(fc.nat({ max: 10_000 }), { minLength: 1, maxLength: 40 });

const step: fc.Arbitrary<Step> = fc.record({
  limit: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 20, max: 100 }) },
    fc.integer({ min: 1, max: 20 }),
  ),
  surface: fc.constantFrom('v1', 'permalink'),
  nocache: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
  removal: fc.option(fc.double({ min: 0, max: 0.999, noNaN: true }), { freq: 3 }),
});
const steps = fc.array(step, { minLength: 1, maxLength: 8 });

/** The test reports the smallest counterexample found in time. */
const inTime = { interruptAfterTimeLimit: 45_000 };

const lengths = [
  { name: 'short lists', length: fc.integer({ min: 0, max: 80 }), numRuns: runs(50) },
  { name: 'long lists', length: fc.integer({ min: 0, max: 2000 }), numRuns: runs(6) },
];

/** Starts a fake FxTwitter and Perch. `next` returns an unused name. */
async function setUp(env: Readonly<Record<string, string>> = {}) {
  const fake = await startFakeFxTwitter();
  const { url } = await listen({ ...unpaced, PERCH_FXTWITTER_URL: fake.url, ...env });
  let names = 0;
  const next = () => {
    names += 1;
    return `Wren_${names}`;
  };
  return { fake, url, next };
}

function profilePaths(handle: string, { with_replies, with_reposts }: Options): Walk['paths'] {
  const options = `with_replies=${with_replies}&with_reposts=${with_reposts}`;
  return {
    v1: `/api/v1/profiles/${handle}?${options}`,
    permalink: `/${handle.toLowerCase()}?${options}`,
  };
}

function connectionPaths(handle: string, kind: 'followers' | 'following'): Walk['paths'] {
  return { v1: `/api/v1/profiles/${handle}/${kind}`, permalink: `/@${handle}/${kind}` };
}

function searchPaths(text: string, feed: string): Walk['paths'] {
  const query = new URLSearchParams({ q: text, feed });
  return { v1: `/api/v1/search?${query}`, permalink: `/search?${query}` };
}

const options = fc.record({ with_replies: fc.boolean(), with_reposts: fc.boolean() });

describe('a list over HTTP', () => {
  it.each(lengths)(
    'returns every post of a timeline once and in order: $name',
    async ({ length, numRuns }) => {
      const { fake, url, next } = await setUp();

      await fc.assert(
        fc.asyncProperty(length, table, steps, options, async (count, numbers, walkSteps, want) => {
          const handle = next();
          fake.addAccount(handle);
          const about = { length: count, kindOf: kindsOf(numbers) };
          const list = fake.addTimeline(handle, about, habitsOf(numbers));
          const paths = profilePaths(handle, want);

          const walked = await walkAll({ servers: [url], paths, steps: walkSteps, list });

          expectWhole(walked, expectedOf(list, want));
        }),
        { numRuns, ...inTime },
      );
    },
  );

  it.each(lengths)(
    'returns every follower and followed account once and in order: $name',
    async ({ length, numRuns }) => {
      const { fake, url, next } = await setUp();
      const kind = fc.constantFrom('followers' as const, 'following' as const);

      await fc.assert(
        fc.asyncProperty(length, table, steps, kind, async (count, numbers, walkSteps, which) => {
          const handle = next();
          fake.addAccount(handle);
          const about = { kind: which, length: count };
          const list = fake.addConnections(handle, about, habitsOf(numbers));
          const paths = connectionPaths(handle, which);

          const walked = await walkAll({ servers: [url], paths, steps: walkSteps, list });

          expectWhole(walked, list.rows.map(idOf));
        }),
        { numRuns, ...inTime },
      );
    },
  );

  it.each(lengths)(
    'returns every match of a search once and in order: $name',
    async ({ length, numRuns }) => {
      const { fake, url, next } = await setUp();
      const feed = fc.constantFrom('latest', 'top', 'photos', 'videos');

      await fc.assert(
        fc.asyncProperty(length, table, steps, feed, async (count, numbers, walkSteps, which) => {
          const text = `${next()} “fog” -rain`;
          const { latest, top, media } = fake.addSearch(text, count, habitsOf(numbers));
          const list = { latest, top, photos: media, videos: media }[which] ?? latest;
          const expected = {
            latest: latest.rows,
            top: latest.rows.toReversed(),
            photos: latest.rows.filter((_, index) => index % 3 === 1),
            videos: latest.rows.filter((_, index) => index % 3 === 2),
          }[which];
          const paths = searchPaths(text, which);

          const walked = await walkAll({ servers: [url], paths, steps: walkSteps, list });

          expectWhole(walked, (expected ?? []).map(idOf));
        }),
        { numRuns, ...inTime },
      );
    },
  );

  it('excludes posts at or after `until`', async () => {
    const { fake, url } = await setUp();
    fake.addAccount('wren');
    const list = fake.addTimeline('wren', { length: 400 }, habitsOf([8, 23, 51, 400, 77]));

    for (const at of [0, 1, 57, 399]) {
      const until = list.rows[at]?.seconds ?? 0;
      const path = `/api/v1/profiles/wren?until=${until}`;
      const paths = { v1: path, permalink: path };
      const walked = await walkAll({ servers: [url], paths, steps: [plainStep] });

      const earlier = list.rows.filter(({ seconds }) => seconds < until);
      expectWhole(walked, earlier.map(idOf));
    }
  });

  it('finds the suggested accounts, which are one page', async () => {
    const { fake, url } = await setUp();
    for (const handle of ['Fog_One', 'fog_two', 'clear_sky']) fake.addAccount(handle);

    const reply = await readPage(`${url}/search?q=fog&feed=users&format=json`);

    expect(reply.users?.map((user) => user.screen_name)).toEqual(['Fog_One', 'fog_two']);
    expect(reply.nextCursor).toBeUndefined();
  });
});

function idOf({ id }: FxRow): string {
  return id;
}

it('a page by number is the same page as by cursors', async () => {
  const { fake, url, next } = await setUp();
  const limit = fc.integer({ min: 1, max: 40 });

  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 200 }),
      table,
      limit,
      options,
      async (count, numbers, ...how) => {
        const [size, want] = how;
        const handle = next();
        fake.addAccount(handle);
        const about = { length: count, kindOf: kindsOf(numbers) };
        fake.addTimeline(handle, about, habitsOf(numbers));
        const paths = profilePaths(handle, want);
        const { pages } = await walkAll({
          servers: [url],
          paths,
          steps: [{ ...plainStep, limit: size }],
        });

        for (const page of [1, 2, 5, 10]) {
          const reply = await readPage(`${url}${paths.v1}&format=json&limit=${size}&page=${page}`);
          expect(idsOf(reply)).toEqual(pages[page - 1]?.ids ?? []);
          expect([reply.page, reply.limit]).toEqual([page, size]);
        }
      },
    ),
    { numRuns: runs(20), ...inTime },
  );
});

const someTable = [3, 17, 44, 5, 60, 22, 9000, 71];

async function addSomeone(fake: FakeFxTwitter) {
  fake.addAccount('wren');
  const about = { length: 400, kindOf: kindsOf(someTable) };
  const list = fake.addTimeline('wren', about, habitsOf(someTable, { isNear: true }));
  const want = { with_replies: true, with_reposts: true };
  return { list, expected: expectedOf(list, want), paths: profilePaths('wren', want) };
}

const odd: readonly Step[] = [
  { ...plainStep, limit: 17 },
  { ...plainStep, limit: 45, surface: 'permalink' },
];

describe('paging continues', () => {
  it('in a second process with the same key', async () => {
    const fake = await startFakeFxTwitter();
    const { expected, paths } = await addSomeone(fake);
    const env = { ...unpaced, ...sharedKey, PERCH_FXTWITTER_URL: fake.url };
    const servers = await Promise.all([startProcess(env), startProcess(env)]);

    const walked = await walkAll({ servers: servers.map(({ url }) => url), paths, steps: odd });

    expectWhole(walked, expected);
  });

  it('after a restart on the same data directory', async () => {
    const fake = await startFakeFxTwitter();
    const { expected, paths } = await addSomeone(fake);
    const env = { ...unpaced, PERCH_DATA_DIR: temporaryFolder(), PERCH_FXTWITTER_URL: fake.url };
    const before = await startProcess(env);
    const walk = { servers: [before.url], paths, steps: odd };
    const first = await readPage(urlOf(walk, plainStep, { number: 0 }));
    before.process.kill('SIGTERM');
    await before.process.ended;
    const { url } = await startProcess(env);

    const given = [...idsOf(first)];
    for (let cursor = first.nextCursor; cursor !== undefined; ) {
      const reply = await readPage(
        urlOf({ ...walk, servers: [url] }, plainStep, { number: 0, cursor }),
      );
      given.push(...idsOf(reply));
      cursor = reply.nextCursor;
    }

    expect(given).toEqual(expected);
  });

  it('where it stopped, after the upstream failed while a page was filled', async () => {
    const { fake, url, next } = await setUp();
    const failing = fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 12 });

    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 300 }), table, failing, steps, async (count, ...rest) => {
        const [numbers, failures, walkSteps] = rest;
        const handle = next();
        fake.addAccount(handle);
        const habits = habitsOf(numbers);
        const list = fake.addTimeline(handle, { length: count }, habits);
        const paths = profilePaths(handle, { with_replies: false, with_reposts: true });
        failAt(fake, `/${handle.toLowerCase()}/statuses`, failures);

        const { given } = await walkThrough({ servers: [url], paths, steps: walkSteps });

        expect(given).toEqual(list.rows.map(idOf));
      }),
      { numRuns: runs(30), ...inTime },
    );
  });
});

async function startProcess(env: Record<string, string>) {
  const process = spawnPerch(['serve'], { PORT: '0', ...env });
  const [url] = await process.printed(/http:\/\/127\.0\.0\.1:\d+/);
  return { process, url };
}

/** Makes requests to a path fail with 500, by their numbers from 0. */
function failAt(fake: FakeFxTwitter, path: string, numbers: readonly number[]): void {
  let asked = 0;
  const isMet = (url: string) => {
    if (!url.includes(path)) return false;
    asked += 1;
    return numbers.includes(asked - 1);
  };
  fake.interrupt(isMet, (_request, response) => answerHtml(response, { status: 500 }));
}

/**
 * Reads a list whose upstream fails at times: a failed page is requested again, and a short page must have a warning.
 */
async function walkThrough(walk: Walk) {
  const given: (string | null)[] = [];
  let cursor: string | undefined;
  for (let number = 0; number < 1000; number += 1) {
    const step = walk.steps[number % walk.steps.length] ?? plainStep;
    const at = { number, ...(cursor === undefined ? {} : { cursor }) };
    const reply = await fetch(urlOf(walk, step, at));
    if (reply.status === 503) continue;
    const body = listReply.parse(await reply.json());
    given.push(...idsOf(body));
    if (body.nextCursor === undefined) break;
    if (idsOf(body).length < step.limit) expect(body.warnings).not.toEqual([]);
    cursor = body.nextCursor;
  }
  return { given };
}

it('the upstream receives one request for each of its pages', async () => {
  const { fake, url } = await setUp();
  fake.addAccount('wren');
  const habits: FxHabits = {
    ...fullPageHabits,
    pageSize: (index) => 20 + (index % 21),
  };
  fake.addTimeline('wren', { length: 700, kindOf: kindsOf(someTable) }, habits);
  fake.addConnections('wren', { kind: 'followers', length: 500 }, habits);
  fake.addSearch('fog', 500, habits);
  const want = { with_replies: true, with_reposts: false };
  const lists = [
    profilePaths('wren', want),
    connectionPaths('wren', 'followers'),
    searchPaths('fog', 'photos'),
  ];

  for (const paths of lists) {
    const before = fake.requests.length;
    await walkAll({ servers: [url], paths, steps: [7, 50, 100, 20].map(toStep) });
    await walkAll({ servers: [url], paths, steps: [7, 50, 100, 20].map(toStep) });

    const pages = fake.requests.slice(before).map(({ url: asked }) => placeOf(asked));
    expect(pages.length).toBeGreaterThan(10);
    expect(pages.toSorted()).toEqual([...new Set(pages)].toSorted());
  }
});

function toStep(limit: number): Step {
  return { ...plainStep, limit };
}

/** Returns the request without `count`. */
function placeOf(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://x.example');
  searchParams.delete('count');
  return `${pathname} ${searchParams}`;
}
