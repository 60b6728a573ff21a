import { describe, expect, it } from 'vitest';
import { createResponseCache } from '../../../src/fetching/cache/response-cache.ts';
import {
  createProviderBreakers,
  createProviderChain,
} from '../../../src/fetching/chain/provider-chain.ts';
import { createFetcher } from '../../../src/fetching/fetch.ts';
import { createSentItemsMemory } from '../../../src/fetching/lists/sent-items.ts';
import type { Plan } from '../../../src/fetching/plan.ts';
import type { Caller, PoolShare } from '../../../src/lib/caller.ts';
import { Problem } from '../../../src/lib/problem.ts';
import type { Status } from '../../../src/model/post.ts';
import type { Page } from '../../../src/model/queries.ts';
import { ProviderError } from '../../../src/normalize/provider-error.ts';
import type { Provider, ProviderContext } from '../../../src/providers/provider.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openQuotas } from '../../support/quotas.ts';
import { stubPost } from '../../support/stub-provider.ts';

type SearchAnswer = (context: ProviderContext) => Promise<Page<Status>>;

const page: Page<Status> = { items: [stubPost('20')], cursor: null, warnings: [] };

/** Plan of a search, which is fresh for a minute, then stale for 300 s while it is revalidated. */
function planOf(text = 'fog', more: Partial<Plan> = {}): Plan {
  const feed = { feed: 'latest', sinceSeconds: null, untilSeconds: null } as const;
  return {
    query: {
      kind: 'browse',
      profile: null,
      list: { kind: 'search', platform: 'x', text, ...feed },
      listKey: `search ${text}`,
      position: null,
      page: 1,
      limit: 20,
    },
    key: `search ${text} 1`,
    subject: `search ${text}`,
    freshness: 'search',
    useCache: true,
    ...more,
  };
}

/** Caller that records charges and refunds. */
function createPayer(share: PoolShare = 'anonymous') {
  const quotas = { spent: 0, givenBack: 0 };
  const caller: Caller = {
    share,
    spend: async () => {
      quotas.spent += 1;
      return {
        refund: () => {
          quotas.givenBack += 1;
        },
      };
    },
  };
  return { quotas, caller };
}

/** Number of units charged and not refunded. */
function costOf({ quotas }: ReturnType<typeof createPayer>): number {
  return quotas.spent - quotas.givenBack;
}

const exhausted = (detail = 'None is left.') =>
  new Problem('rate_limited', { detail, retryAfterSeconds: 7 });

interface Rig {
  /** Behaviour of the provider, which tests change. */
  answer: SearchAnswer;
  /** Behaviour of the pool. */
  onTake: (share: PoolShare) => void;
}

function setUp(answer: SearchAnswer = async () => page) {
  const clock = createManualClock();
  const rig: Rig = { answer, onTake: () => undefined };
  let requests = 0;
  const provider: Provider = {
    name: 'stub',
    platforms: ['x'],
    reads: new Set(['search']),
    covers: () => true,
    fetch: {
      search: async (_query, context) => {
        await context.takeRequest?.();
        requests += 1;
        return rig.answer(context);
      },
    },
  };
  const breakers = createProviderBreakers(provider, () => ({
    clock,
    failures: 1,
    openMs: 1,
    maxOpenMs: 1,
    onChange: () => undefined,
  }));
  const failures: unknown[] = [];
  const defects: unknown[] = [];
  const fetcher = createFetcher({
    chain: createProviderChain([{ provider, breakers }], {
      onFailure: (failure) => failures.push(failure),
    }),
    cache: createResponseCache({ maxEntries: 100, maxBytes: 1_000_000 }),
    memory: createSentItemsMemory(),
    clock,
    ttlSeconds: 3600,
    staleWhileRevalidateSeconds: 300,
    staleIfErrorSeconds: 86_400,
    notFoundSeconds: 30,
    readTimeoutMs: 9000,
    quotas: openQuotas({ upstreamReads: { perAddress: 2, total: 2 } }),
    pool: { take: async (share) => rig.onTake(share) },
    onDefect: (error) => defects.push(error),
  });
  const fetch = (payer: ReturnType<typeof createPayer>, more: Partial<Plan> = {}) =>
    fetcher.fetch(planOf('fog', more), {
      signal: new AbortController().signal,
      caller: payer.caller,
    });
  return { clock, rig, fetcher, fetch, breakers, failures, defects, requests: () => requests };
}

function fails(kind: 'unavailable' | 'malformed' | 'throttled' | 'missing' | 'rejected') {
  return () => Promise.reject(new ProviderError(kind, 'It is so.'));
}

describe('the cost of a read', () => {
  it('is one unit for a miss and nothing for a hit', async () => {
    const { fetch } = setUp();
    const payer = createPayer();

    const first = await fetch(payer);
    const second = await fetch(payer);

    expect([first.cache, second.cache]).toEqual(['miss', 'hit']);
    expect(payer.quotas).toEqual({ spent: 1, givenBack: 0 });
  });

  it('is one unit for each read that skips the cache', async () => {
    const { fetch } = setUp();
    const payer = createPayer();

    await fetch(payer);
    await fetch(payer, { useCache: false });
    await fetch(payer, { useCache: false });

    expect(payer.quotas).toEqual({ spent: 3, givenBack: 0 });
  });

  it('is charged before the upstream request, which is not sent without it', async () => {
    const { fetch, requests } = setUp();
    const broke: Caller = { share: 'anonymous', spend: () => Promise.reject(exhausted()) };

    const refused = fetch({ quotas: { spent: 0, givenBack: 0 }, caller: broke });

    await expect(refused).rejects.toMatchObject({ code: 'rate_limited' });
    expect(requests()).toBe(0);
  });

  it('is nothing for a stale answer during revalidation', async () => {
    const { fetch, fetcher, clock, requests } = setUp();
    const payer = createPayer();
    await fetch(payer);
    await clock.advance(60_000);

    const stale = await fetch(payer);
    await fetcher.drain();

    expect([stale.cache, requests(), costOf(payer)]).toEqual(['stale', 2, 1]);
  });

  it('is nothing for a stale answer while the upstream fails', async () => {
    const { fetch, rig, clock } = setUp();
    const payer = createPayer();
    await fetch(payer);
    await clock.advance(400_000);
    rig.answer = fails('unavailable');

    const stale = await fetch(payer);

    expect(stale.cache).toBe('stale');
    expect(payer.quotas).toEqual({ spent: 2, givenBack: 1 });
  });

  it.each(['unavailable', 'malformed', 'throttled'] as const)(
    'is refunded if the upstream is %s',
    async (kind) => {
      const { fetch } = setUp(fails(kind));
      const payer = createPayer();

      await expect(fetch(payer)).rejects.toMatchObject({
        status: expect.toSatisfy((s) => s >= 500),
      });

      expect(payer.quotas).toEqual({ spent: 1, givenBack: 1 });
    },
  );

  it('is refunded after an overload or a defect', async () => {
    let release = () => {};
    const blocked = new Promise<void>((resolve) => (release = resolve));
    const { fetcher, rig, fetch } = setUp(() => blocked.then(() => page));
    const others = ['a', 'b'].map((text) => fetcher.fetch(planOf(text)));
    const payer = createPayer();

    await expect(fetch(payer)).rejects.toMatchObject({ code: 'overloaded' });
    release();
    await Promise.all(others);
    rig.answer = async () => undefined as never; // breaks the contract of providers
    await expect(fetch(payer)).rejects.toBeInstanceOf(Error);

    expect(payer.quotas).toEqual({ spent: 2, givenBack: 2 });
  });

  it('is one unit for a deleted post, and nothing while that is cached', async () => {
    const { fetch, clock } = setUp(fails('missing'));
    const payer = createPayer();

    await expect(fetch(payer)).rejects.toMatchObject({ code: 'not_found' });
    await clock.advance(29_999);
    await expect(fetch(payer)).rejects.toMatchObject({ code: 'not_found' });
    expect(costOf(payer)).toBe(1);
    await clock.advance(1);
    await expect(fetch(payer)).rejects.toMatchObject({ code: 'not_found' });

    expect(costOf(payer)).toBe(2);
  });

  it('is one unit for each caller of a shared fetch, also if one leaves', async () => {
    let release = () => {};
    const blocked = new Promise<void>((resolve) => (release = resolve));
    const { fetcher, requests } = setUp(() => blocked.then(() => page));
    const payers = Array.from({ length: 5 }, () => createPayer());
    const leaving = new AbortController();
    const reads = payers.map(({ caller }, index) => {
      const { signal } = index === 2 ? leaving : new AbortController();
      return fetcher.fetch(planOf(), { signal, caller }).then(
        () => 'answered',
        () => 'left',
      );
    });
    await expect.poll(requests).toBe(1);

    leaving.abort();
    await expect(reads[2]).resolves.toBe('left');
    release();

    expect(await Promise.all(reads)).toEqual([
      'answered',
      'answered',
      'left',
      'answered',
      'answered',
    ]);
    expect(payers.map(costOf)).toEqual([1, 1, 1, 1, 1]);
    expect(requests()).toBe(1);
  });

  it('is refunded to each caller of a shared fetch that fails', async () => {
    const { fetch, requests } = setUp(fails('unavailable'));
    const payers = Array.from({ length: 4 }, () => createPayer());

    const results = await Promise.allSettled(payers.map((payer) => fetch(payer)));

    expect(results.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(payers.map(({ quotas }) => quotas)).toEqual(Array(4).fill({ spent: 1, givenBack: 1 }));
    expect(requests()).toBe(1);
  });

  it('is nothing without a paying caller', async () => {
    const { fetcher } = setUp();

    await expect(fetcher.fetch(planOf())).resolves.toMatchObject({ cache: 'miss' });
  });
});

describe('the pool', () => {
  it('is charged once per upstream request, to the caller', async () => {
    const { fetch, rig } = setUp();
    const shares: PoolShare[] = [];
    rig.onTake = (share) => shares.push(share);

    await fetch(createPayer('anonymous'), { key: 'one' });
    await fetch(createPayer('keyed'), { key: 'two' });
    await fetch(createPayer('keyed'), { key: 'two' });

    expect(shares).toEqual(['anonymous', 'keyed']);
  });

  it("refunds the caller's unit when it is exhausted, and counts no provider failure", async () => {
    const { fetch, rig, breakers, failures, requests } = setUp();
    const payer = createPayer();
    rig.onTake = () => {
      throw exhausted();
    };

    for (let times = 0; times < 7; times += 1) {
      await expect(fetch(payer)).rejects.toMatchObject({
        code: 'rate_limited',
        retryAfterSeconds: 7,
      });
    }

    expect(payer.quotas).toEqual({ spent: 7, givenBack: 7 });
    expect([requests(), failures, breakers.broken]).toEqual([0, [], {}]);
  });

  it('serves a keyed caller that joined a failed fetch of an anonymous one', async () => {
    const { fetch, rig } = setUp();
    const shares: PoolShare[] = [];
    rig.onTake = (share) => {
      shares.push(share);
      if (share === 'anonymous') throw exhausted();
    };
    const [anonymous, keyed, other] = [createPayer(), createPayer('keyed'), createPayer('keyed')];

    const [refused, ...answered] = await Promise.allSettled([
      fetch(anonymous),
      fetch(keyed),
      fetch(other),
    ]);

    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'rate_limited' } });
    expect(answered.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect([anonymous, keyed, other].map(costOf)).toEqual([0, 1, 1]);
    expect(shares).toEqual(['anonymous', 'keyed']);
  });

  it('uses the anonymous part for revalidation, which fails silently', async () => {
    const { fetch, fetcher, rig, clock, defects } = setUp();
    const keyed = createPayer('keyed');
    await fetch(keyed);
    await clock.advance(60_000);
    const shares: PoolShare[] = [];
    rig.onTake = (share) => {
      shares.push(share);
      throw exhausted();
    };

    const stale = await fetch(keyed);
    await fetcher.drain();

    expect([stale.cache, shares, defects, costOf(keyed)]).toEqual(['stale', ['anonymous'], [], 1]);
  });
});
