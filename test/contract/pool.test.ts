import { get } from 'node:http';
import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import {
  type FakeFxTwitter,
  fullPageHabits,
  startFakeFxTwitter,
} from '../support/fake-fxtwitter.ts';
import { answerRedirect, resetConnection } from '../support/fake-upstream.ts';
import { fc, runs } from '../support/fast-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type ClientRequest, readRateLimit, requestFrom } from '../support/rate-limit.ts';

const windowMs = 60_000;

/** Starts Perch in front of a fake FxTwitter, with an allowance that never limits before the pool. */
async function setUp(
  pool: number,
  env: Readonly<Record<string, string>> = {},
  clock = createManualClock(),
) {
  const fake = await startFakeFxTwitter();
  fake.addAccount('wren');
  fake.addTimeline('wren', { length: 60 }, { ...fullPageHabits, pageSize: () => 5 });
  fake.addAccount('robin');
  fake.addTimeline('robin', { length: 10 });
  fake.addConnections('wren', { kind: 'followers', length: 30 });
  const lines: string[] = [];
  const app = await buildTestApp({
    clock,
    onLog: (line) => lines.push(line),
    env: {
      PERCH_PROVIDERS: 'fxtwitter',
      PERCH_FXTWITTER_URL: fake.url,
      PERCH_POOL_ALLOWANCE: String(pool),
      PERCH_PUBLIC_ALLOWANCE: '1000',
      ...env,
    },
  });
  const key = await app.createKey({ allowance: 1000 });
  let asked = 0;
  /** Sends a new search, which makes one upstream request. */
  const search = (asking: ClientRequest = {}) => {
    asked += 1;
    return requestFrom(app, `/search?q=new${asked}`, asking);
  };
  const spend = async (count: number, asking: ClientRequest = {}) => {
    for (let times = 0; times < count; times += 1) {
      expect((await search(asking)).statusCode).toBe(200);
    }
  };
  return { app, fake, clock, key, lines, search, spend };
}

type Reply = Awaited<ReturnType<typeof requestFrom>>;

const statusesOf = (replies: readonly Reply[]) => replies.map(({ statusCode }) => statusCode);
const retryAfter = ({ statusCode, headers }: Reply) => [statusCode, headers['retry-after']];
const leftOf = (reply: Reply) => readRateLimit(reply).remaining;

describe('the pool of upstream requests', () => {
  clause('read.limits.key_larger_share')('reserves one fifth for callers with a key', async () => {
    const { fake, key, search, spend } = await setUp(10);
    await spend(8);

    const anonymous = await search({ from: '192.0.2.7' });
    await spend(2, key);
    const keyed = await search(key);

    expect(anonymous.json()).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(keyed.json()).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(fake.requests).toHaveLength(10);
  });

  clause('read.errors.rate_limit', 'read.limits.exhausted_429_retry_after')(
    'reports the exact wait of the caller',
    async () => {
      const { clock, key, search, spend } = await setUp(5);
      await spend(1, key);
      await clock.advance(10_000);
      await spend(1);
      await clock.advance(500);
      await spend(3);
      await clock.advance(1000);

      // Both parts are used up. The window of all ends first, that of callers without a key later.
      expect(retryAfter(await search(key))).toEqual([429, '49']);
      expect(retryAfter(await search())).toEqual([429, '59']);
      await clock.advance(48_000);
      expect(retryAfter(await search(key))).toEqual([429, '1']);
      await clock.advance(1000);
      await spend(5, key);
      expect(retryAfter(await search(key))).toEqual([429, '60']);
      await clock.advance(59_000);
      expect(retryAfter(await search())).toEqual([429, '1']);
      await clock.advance(1000);
      await spend(1);
    },
  );

  it('refunds the caller’s unit on a refusal, and reports the caller’s own allowance', async () => {
    const { key, search, spend } = await setUp(5);
    await spend(4);
    await spend(1, key);

    const [anonymous, keyed] = [await search(), await search(key)];

    expect(readRateLimit(anonymous)).toMatchObject({ policy: 'public', remaining: 996 });
    expect(readRateLimit(keyed)).toMatchObject({ policy: 'key', remaining: 999 });
  });

  it('refuses a read that could only be answered in part', async () => {
    const { app, clock, fake, key, spend } = await setUp(5);
    await spend(3);

    // A profile and its posts are two requests, of which the pool has one for such callers.
    const profile = await requestFrom(app, '/robin');
    const requests = fake.requests.length;
    await clock.advance(windowMs);
    await spend(4, key);
    const keyed = await requestFrom(app, '/robin', key);

    expect(retryAfter(profile)).toEqual([429, '60']);
    expect(leftOf(profile)).toBe(997);
    expect(requests).toBeLessThanOrEqual(4);
    expect(retryAfter(keyed)).toEqual([429, '60']);
    expect(leftOf(keyed)).toBe(996);
    expect(fake.requests.length - requests).toBeLessThanOrEqual(5);
    await clock.advance(windowMs);
    expect((await requestFrom(app, '/robin')).statusCode).toBe(200);
  });

  it('refuses a read when it is used up between two upstream pages', async () => {
    const { clock, app, fake, key } = await setUp(10);
    const url = '/wren?limit=40';

    const refused = await requestFrom(app, url);
    const requests = fake.requests.length;
    await clock.advance(windowMs);
    const keyed = await requestFrom(app, url, key);

    expect(retryAfter(refused)).toEqual([429, '60']);
    expect(leftOf(refused)).toBe(1000);
    expect(requests).toBe(8);
    // The profile is kept from the read that was refused.
    expect([keyed.statusCode, fake.requests.length]).toEqual([200, 8 + 8]);
  });

  it('refuses a read when it is used up before a retry of a doubtful page', async () => {
    const { app, fake } = await setUp(5);
    fake.addAccount('finch');
    fake.addTimeline('finch', { length: 60 }, { ...fullPageHabits, shortTimes: () => 9 });

    const refused = await requestFrom(app, '/finch');

    expect(retryAfter(refused)).toEqual([429, '60']);
    expect([leftOf(refused), fake.requests.length]).toEqual([1000, 4]);
  });

  it('counts the control read for a missing account', async () => {
    const { app, fake, search } = await setUp(5);

    const gone = await requestFrom(app, '/nobody?include_posts=false');
    const counted = fake.requests.length;

    expect(gone.statusCode).toBe(404);
    expect(counted).toBeGreaterThan(1);
    for (let left = 4 - counted; left > 0; left -= 1) {
      expect((await search()).statusCode).toBe(200);
    }
    expect((await search()).statusCode).toBe(429);
    expect(fake.requests).toHaveLength(4);
  });

  it('answers 429 instead of 503 if the control read is not possible', async () => {
    const { app, spend } = await setUp(5);
    await spend(3);

    const gone = await requestFrom(app, '/nobody?include_posts=false');

    expect(retryAfter(gone)).toEqual([429, '60']);
  });

  it('does not count its refusals as failures of the provider', async () => {
    const { clock, app, fake, lines, search, spend } = await setUp(5);
    await spend(4);

    for (let times = 0; times < 12; times += 1) {
      expect((await search()).statusCode).toBe(429);
      expect((await requestFrom(app, '/wren')).statusCode).toBe(429);
    }

    const { providers } = (await app.request('/health/ready')).json();
    expect(providers).toMatchObject([{ name: 'fxtwitter', breaker: 'closed', broken: {} }]);
    expect(fake.requests).toHaveLength(4);
    expect(lines.filter((line) => /did not answer|breaker|defect/.test(line))).toEqual([]);
    await clock.advance(windowMs);
    expect((await requestFrom(app, '/robin')).statusCode).toBe(200);
  });

  it('does not prevent a provider from recovering', async () => {
    const { clock, fake, key, search, spend } = await setUp(30, {
      PERCH_BREAKER_FAILURES: '2',
    });
    const endInterruption = fake.interrupt(
      () => true,
      (_request, response) => response.writeHead(500).end(),
    );
    expect(statusesOf([await search(), await search()])).toEqual([503, 503]);
    endInterruption();
    await clock.advance(5000);
    await spend(1, key);
    await clock.advance(windowMs);
    await spend(24);

    const refused = await search();
    const keyed = await search(key);

    expect(statusesOf([refused, keyed])).toEqual([429, 200]);
  });

  clause('read.limits.conversion_unaffected_by_keys')('is not used by posts', async () => {
    const { app, fake, search } = await setUp(5);
    const posts = fake.addTimeline('robin', { length: 10 }).rows;
    for (const { id } of posts) {
      expect(
        (await requestFrom(app, `/robin/status/${id}?thread=off&replies=off`)).statusCode,
      ).toBe(200);
    }

    const searches = [await search(), await search(), await search(), await search()];
    const over = await search();
    const post = await requestFrom(app, `/robin/status/${posts[0]?.id}?thread=off&nocache=true`);

    expect(statusesOf(searches)).toEqual([200, 200, 200, 200]);
    expect(statusesOf([over, post])).toEqual([429, 200]);
  });

  it('does not limit replies from the cache', async () => {
    const { app, search, spend } = await setUp(5);
    await requestFrom(app, '/search?q=kept');
    await spend(3);

    const [kept, other] = [await requestFrom(app, '/search?q=kept'), await search()];

    expect([kept.statusCode, kept.headers['x-cache']]).toEqual([200, 'hit']);
    expect(other.statusCode).toBe(429);
  });
});

describe('upstream requests', () => {
  const neverOpen = { PERCH_BREAKER_FAILURES: '1000' };

  it('are counted individually on a retry after a reset', async () => {
    const still = createManualClock();
    // Nobody moves the clock on while the client waits before it tries once more.
    const clock = { ...still, sleep: async () => undefined };
    const { fake, search } = await setUp(5, neverOpen, clock);
    fake.interrupt(() => true, resetConnection);

    const replies = [await search(), await search(), await search()];

    expect(statusesOf(replies)).toEqual([503, 503, 429]);
    expect(fake.requests).toHaveLength(4);
  });

  it('are counted individually on a redirect', async () => {
    const { fake, search } = await setUp(5, neverOpen);
    fake.interrupt(
      (url) => !url.includes('&moved=1'),
      (request, response) => answerRedirect(response, `${request.url}&moved=1`),
    );

    const replies = [await search(), await search(), await search()];

    expect(statusesOf(replies)).toEqual([200, 200, 429]);
    expect(fake.requests).toHaveLength(4);
  });

  it('are counted when they are sent, also after a wait for the rate limit', async () => {
    const { app, clock, fake, key, search } = await setUp(5, { PERCH_FXTWITTER_PER_MINUTE: '6' });
    const searchFive = () => [1, 2, 3, 4, 5].map(() => search(key));
    const { rows } = fake.addTimeline('robin', { length: 6 });
    for (const { id } of rows) await requestFrom(app, `/robin/status/${id}?thread=off&replies=off`);
    await clock.advance(55_000);
    const first = searchFive();
    await expect.poll(() => app.inFlight).toBe(5);
    await clock.advance(5000); // the turns of the posts are free again
    expect(statusesOf(await Promise.all(first))).toEqual([200, 200, 200, 200, 200]);

    await clock.advance(55_000);
    const second = searchFive();
    // The sixth turn is free, but not the pool; the others wait for the turns of the first five.
    await Promise.race(second);
    const { length } = fake.requests;
    await clock.advance(5000);

    expect(length).toBe(6 + 5);
    expect(statusesOf(await Promise.all(second)).toSorted()).toEqual([200, 200, 200, 200, 429]);
  });
});

describe('callers who share a fetch but not their part of the pool', () => {
  clause('read.limits.key_larger_share')(
    'are answered from their own part: the caller with a key joins at the beginning',
    async () => {
      const { app, key, spend } = await setUp(10);
      await spend(8);

      const replies = await Promise.all([
        requestFrom(app, '/robin'),
        requestFrom(app, '/robin', key),
        requestFrom(app, '/robin', key),
      ]);

      expect(statusesOf(replies)).toEqual([429, 200, 200]);
    },
  );

  it('are answered from their own part: the caller with a key joins in the middle', async () => {
    const { app, clock, fake, key, spend } = await setUp(30);
    await spend(21);
    const release = fake.hold();
    const anonymous = requestFrom(app, '/wren?limit=20');
    await expect.poll(() => fake.requests.length).toBe(23);

    const keyed = requestFrom(app, '/wren?limit=20', key);
    await clock.advance(0);
    release();

    // The profile is kept, so the keyed caller needs four pages more.
    expect(statusesOf(await Promise.all([anonymous, keyed]))).toEqual([429, 200]);
    expect(fake.requests).toHaveLength(24 + 4);
  });

  it('get their own wait, regardless of who started the fetch', async () => {
    const { app, clock, key, spend } = await setUp(5);
    await spend(1, key);
    await clock.advance(50_000);
    await spend(4);

    const replies = await Promise.all([
      requestFrom(app, '/search?q=same', key),
      requestFrom(app, '/search?q=same'),
      requestFrom(app, '/search?q=same', key),
    ]);

    expect(replies.map(retryAfter)).toEqual([
      [429, '10'],
      [429, '60'],
      [429, '10'],
    ]);
  });

  it('are all answered if a caller with a key started the fetch', async () => {
    const { app, fake, key, spend } = await setUp(10);
    await spend(8);

    const replies = await Promise.all([
      requestFrom(app, '/robin', key),
      requestFrom(app, '/robin'),
    ]);

    expect(statusesOf(replies)).toEqual([200, 200]);
    expect(fake.requests).toHaveLength(10);
  });
});

describe('background revalidation', () => {
  it('uses the part of callers without a key, and fails silently', async () => {
    const { clock, app, fake, key, lines, search, spend } = await setUp(10);
    await requestFrom(app, '/search?q=kept', key);
    await clock.advance(windowMs);
    await spend(8);
    const requests = fake.requests.length;

    const stale = await requestFrom(app, '/search?q=kept', key);
    await clock.advance(0);
    const again = await requestFrom(app, '/search?q=kept', key);

    expect([stale.headers['x-cache'], again.headers['x-cache']]).toEqual(['stale', 'stale']);
    expect([leftOf(stale), fake.requests.length]).toEqual([1000, requests]);
    expect(lines.filter((line) => /defect|did not answer/.test(line))).toEqual([]);
    expect(statusesOf([await search(key), await search(key), await search(key)])).toEqual([
      200, 200, 429,
    ]);
  });

  it('reduces the part of callers without a key', async () => {
    const { clock, app, fake, key, search, spend } = await setUp(5);
    await requestFrom(app, '/search?q=kept', key);
    await clock.advance(windowMs);
    await requestFrom(app, '/search?q=kept', key);
    await expect.poll(() => fake.requests.length).toBe(2);

    await spend(3);

    expect(statusesOf([await search(), await search(key)])).toEqual([429, 200]);
  });
});

const one = fc.record({
  path: fc.oneof(
    fc.constant('/search?q=fog'),
    fc.constantFrom('/robin?', '/wren?limit=15', '/nobody?'),
  ),
  isKeyed: fc.boolean(),
  pauseMs: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, 0, 1, 999, 4000) },
    { weight: 1, arbitrary: fc.constantFrom(20_000, windowMs - 1, windowMs) },
  ),
});

type Step = typeof one extends fc.Arbitrary<infer Value> ? Value : never;

const lastOne = '/last';

/** Waits until all cancelled requests of a read have arrived: they were sent before this one. */
async function awaitArrivals({ url }: FakeFxTwitter): Promise<void> {
  for (let times = 0; times < 2; times += 1) {
    await new Promise<void>((resolve, reject) => {
      const request = get(`${url}${lastOne}`, { agent: false }, (response) => {
        response.resume().on('end', resolve);
      });
      request.on('error', reject);
    });
  }
}

/** Records which requests arrive at a fake upstream, when, and the reply that caused them. */
class Arrivals {
  readonly #rig: Awaited<ReturnType<typeof setUp>>;
  readonly #received: { readonly atMs: number; readonly isKeyed: boolean }[] = [];

  constructor(rig: Awaited<ReturnType<typeof setUp>>) {
    this.#rig = rig;
  }

  /** Records the requests since the last call as caused by one reply. */
  async note({ isKeyed }: Pick<Step, 'isKeyed'>, { statusCode }: Reply): Promise<void> {
    const { fake, clock } = this.#rig;
    if (statusCode !== 200) await awaitArrivals(fake);
    const arrived = fake.requests.filter(({ url }) => url !== lastOne).length;
    while (this.#received.length < arrived) this.#received.push({ atMs: clock.now(), isKeyed });
  }

  /** Maximum number of requests in any period as long as a window. */
  most(isCounted: (isKeyed: boolean) => boolean): number {
    const counted = this.#received.filter(({ isKeyed }) => isCounted(isKeyed));
    const times = counted.map(({ atMs }) => atMs);
    const within = (from: number) => times.filter((at) => at >= from && at < from + windowMs);
    return Math.max(0, ...times.map((from) => within(from).length));
  }
}

clause('read.limits.key_larger_share', 'read.errors.rate_limit')(
  'the upstream never gets more than twice the pool in the time of a window, and no caller waits longer than needed',
  async () => {
    const property = fc.asyncProperty(
      fc.array(one, { minLength: 50, maxLength: 50 }),
      async (steps) => {
        const rig = await setUp(10);
        const arrivals = new Arrivals(rig);
        for (const step of steps) {
          const asking = step.isKeyed ? rig.key : {};
          await rig.clock.advance(step.pauseMs);
          const reply = await requestFrom(rig.app, `${step.path}&nocache=1`, asking);
          await arrivals.note(step, reply);
          expect([200, 404, 429]).toContain(reply.statusCode);
          if (reply.statusCode !== 429) continue;
          // Not all that the read would take may be there again, but one request is.
          await rig.clock.advance(Number(reply.headers['retry-after']) * 1000);
          const search = await rig.search(asking);
          await arrivals.note(step, search);
          expect(search.statusCode).toBe(200);
        }
        expect(arrivals.most(() => true)).toBeLessThanOrEqual(2 * 10);
        expect(arrivals.most((isKeyed) => !isKeyed)).toBeLessThanOrEqual(2 * 8);
      },
    );

    await fc.assert(property, { numRuns: runs(5), endOnFailure: true });
  },
  20_000,
);
