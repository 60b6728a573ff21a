import { describe, expect, it } from 'vitest';
import { createResponseCache } from '../../../src/fetching/cache/response-cache.ts';
import {
  createProviderBreakers,
  createProviderChain,
} from '../../../src/fetching/chain/provider-chain.ts';
import { createFetcher } from '../../../src/fetching/fetch.ts';
import { createSentItemsMemory } from '../../../src/fetching/lists/sent-items.ts';
import type { Plan } from '../../../src/fetching/plan.ts';
import { ProviderError } from '../../../src/normalize/provider-error.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openQuotas } from '../../support/quotas.ts';
import {
  createStubProvider,
  type StubAnswer,
  stubFound,
  stubPost,
} from '../../support/stub-provider.ts';

function planOf(id = '20', more: Partial<Plan> = {}): Plan {
  return {
    query: {
      kind: 'post',
      post: { platform: 'x', handle: null, id },
      thread: true,
      replies: 'top',
    },
    key: `post x ${id} full`,
    subject: `post x ${id}`,
    freshness: 'post',
    useCache: true,
    ...more,
  };
}

function setUp(answer: StubAnswer, maxUpstreamReads = 100) {
  const clock = createManualClock();
  const provider = createStubProvider('stub', answer);
  const breakers = createProviderBreakers(provider, () => ({
    clock,
    failures: 1000,
    openMs: 1,
    maxOpenMs: 1,
    onChange: () => undefined,
  }));
  const cache = createResponseCache({ maxEntries: 100, maxBytes: 1_000_000 });
  const defects: unknown[] = [];
  const fetcher = createFetcher({
    onDefect: (error) => defects.push(error),
    chain: createProviderChain([{ provider, breakers }], { onFailure: () => undefined }),
    cache,
    memory: createSentItemsMemory(),
    clock,
    ttlSeconds: 3600,
    staleWhileRevalidateSeconds: 300,
    staleIfErrorSeconds: 86_400,
    notFoundSeconds: 30,
    readTimeoutMs: 9000,
    quotas: openQuotas({
      upstreamReads: { perAddress: maxUpstreamReads, total: maxUpstreamReads },
    }),
  });
  return { clock, provider, fetcher, cache, defects };
}

/** Answer that tests can change and delay. */
function switchable() {
  const state = { down: false, gone: false, text: 'first' };
  const answer: StubAnswer = async ({ post }) => {
    if (state.down) throw new ProviderError('unavailable', 'It is down.');
    if (state.gone) throw new ProviderError('missing', 'It was deleted.');
    return stubFound(stubPost(post.id, { text: state.text }));
  };
  return { state, answer };
}

describe('fetching', () => {
  it('fetches a post once while it is fresh for an hour', async () => {
    const { fetcher, provider, clock } = setUp(switchable().answer);

    const first = await fetcher.fetch(planOf());
    await clock.advance(3_599_999);
    const second = await fetcher.fetch(planOf());

    expect([first.cache, second.cache]).toEqual(['miss', 'hit']);
    expect(second.fetchedAtMs).toBe(first.fetchedAtMs);
    expect(provider.queries).toHaveLength(1);
  });

  it('serves a stale post for 300 s while it revalidates', async () => {
    const { state, answer } = switchable();
    const { fetcher, provider, clock } = setUp(answer);
    await fetcher.fetch(planOf());
    state.text = 'second';

    await clock.advance(3_600_000);
    const stale = await fetcher.fetch(planOf());
    await fetcher.drain();
    const renewed = await fetcher.fetch(planOf());

    expect(stale).toMatchObject({ cache: 'stale', found: { post: { text: 'first' } } });
    expect(renewed).toMatchObject({ cache: 'hit', found: { post: { text: 'second' } } });
    expect(provider.queries).toHaveLength(2);
  });

  it('reports defects in the background, but not outages', async () => {
    let found: StubAnswer = async ({ post }) => stubFound(stubPost(post.id));
    const { fetcher, clock, defects } = setUp((...query) => found(...query));
    await fetcher.fetch(planOf());
    await clock.advance(3_600_000);

    found = () => Promise.reject(new ProviderError('unavailable', 'It is down.'));
    await fetcher.fetch(planOf());
    await fetcher.drain();
    expect(defects).toEqual([]);
    found = async () => undefined as never; // breaks the contract of providers
    await fetcher.fetch(planOf());
    await fetcher.drain();

    expect(defects).toEqual([expect.any(TypeError)]);
  });

  it('serves a stale post for a day if no upstream answers', async () => {
    const { state, answer } = switchable();
    const { fetcher, clock } = setUp(answer);
    await fetcher.fetch(planOf());
    state.down = true;

    await clock.advance(3_600_000 + 86_400_000 - 1);
    await expect(fetcher.fetch(planOf())).resolves.toMatchObject({ cache: 'stale' });
    await clock.advance(1);

    await expect(fetcher.fetch(planOf())).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('drops all stale copies of a deleted post', async () => {
    const { state, answer } = switchable();
    const { fetcher, clock, cache } = setUp(answer);
    const other = planOf('20', { key: 'post x 20 alone' });
    await fetcher.fetch(planOf());
    await fetcher.fetch(other);
    state.gone = true;

    await clock.advance(4_000_000);
    await expect(fetcher.fetch(planOf())).rejects.toMatchObject({ code: 'not_found' });
    state.gone = false;
    state.down = true;

    expect(cache.get(other.key)).toBeUndefined();
    await expect(fetcher.fetch(other)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('caches “not found” for 30 s and does not cache “unavailable”', async () => {
    const { state, answer } = switchable();
    const { fetcher, provider, clock } = setUp(answer);
    state.gone = true;
    await expect(fetcher.fetch(planOf())).rejects.toMatchObject({ code: 'not_found' });
    await clock.advance(29_999);
    await expect(fetcher.fetch(planOf())).rejects.toMatchObject({ code: 'not_found' });
    expect(provider.queries).toHaveLength(1);

    await clock.advance(1);
    state.gone = false;
    state.down = true;
    await expect(fetcher.fetch(planOf())).rejects.toMatchObject({ code: 'upstream_unavailable' });
    await expect(fetcher.fetch(planOf())).rejects.toMatchObject({ code: 'upstream_unavailable' });

    expect(provider.queries).toHaveLength(3);
  });

  it('caches a partial answer for a short time', async () => {
    const { fetcher, provider, clock } = setUp(async ({ post }) =>
      stubFound(stubPost(post.id), { missing: ['thread'] }),
    );

    await fetcher.fetch(planOf());
    await clock.advance(60_000);
    await expect(fetcher.fetch(planOf())).resolves.toMatchObject({ cache: 'miss' });

    expect(provider.queries).toHaveLength(2);
  });

  it('serves a partial answer for a day if no upstream answers', async () => {
    let isDown = false;
    const { fetcher, clock } = setUp(async ({ post }) => {
      if (isDown) throw new ProviderError('unavailable', 'It is down.');
      return stubFound(stubPost(post.id), { missing: ['replies'] });
    });
    await fetcher.fetch(planOf());
    isDown = true;

    await clock.advance(60_000 + 86_400_000 - 1);
    await expect(fetcher.fetch(planOf())).resolves.toMatchObject({ cache: 'stale' });
    await clock.advance(1);

    await expect(fetcher.fetch(planOf())).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('keeps a complete fresh answer when an uncached read is partial', async () => {
    let missing: readonly 'thread'[] = [];
    const { fetcher } = setUp(async ({ post }) => stubFound(stubPost(post.id), { missing }));
    const whole = await fetcher.fetch(planOf());
    missing = ['thread'];

    const partial = await fetcher.fetch(planOf('20', { useCache: false }));

    expect(partial.found.missing).toEqual(['thread']);
    await expect(fetcher.fetch(planOf())).resolves.toMatchObject({ found: whole.found });
  });

  it('sends one upstream query for 100 concurrent reads', async () => {
    const { fetcher, provider } = setUp(switchable().answer);

    const answers = await Promise.all(Array.from({ length: 100 }, () => fetcher.fetch(planOf())));

    expect(provider.queries).toHaveLength(1);
    expect(new Set(answers.map(({ found }) => found)).size).toBe(1);
  });

  it('skips the cached answer without useCache, and replaces it', async () => {
    const { state, answer } = switchable();
    const { fetcher } = setUp(answer);
    await fetcher.fetch(planOf());
    state.text = 'second';

    const past = await fetcher.fetch(planOf('20', { useCache: false }));
    const next = await fetcher.fetch(planOf());

    expect(past).toMatchObject({ cache: 'bypass', found: { post: { text: 'second' } } });
    expect(next).toMatchObject({ cache: 'hit', found: { post: { text: 'second' } } });
  });

  it('aborts the upstream query when the last caller leaves', async () => {
    let upstreamSignal: AbortSignal | undefined;
    const { fetcher } = setUp((_query, { signal }) => {
      upstreamSignal = signal;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new ProviderError('unavailable', 'Left.')));
      });
    });
    const [one, two] = [new AbortController(), new AbortController()];
    const first = fetcher.fetch(planOf(), one).catch(() => 'left');
    const second = fetcher.fetch(planOf(), two).catch(() => 'left');

    one.abort();
    await expect(first).resolves.toBe('left');
    expect(upstreamSignal?.aborted).toBe(false);
    two.abort();
    await expect(second).resolves.toBe('left');

    expect(upstreamSignal?.aborted).toBe(true);
  });

  it('rejects reads over the limit as overloaded, and joins reads in flight', async () => {
    const waiting: (() => void)[] = [];
    const { fetcher } = setUp(
      ({ post }) =>
        new Promise((resolve) => waiting.push(() => resolve(stubFound(stubPost(post.id))))),
      2,
    );
    const under = ['1', '2', '2'].map((id) => fetcher.fetch(planOf(id)));

    await expect(fetcher.fetch(planOf('3'))).rejects.toMatchObject({ code: 'overloaded' });
    for (const answer of waiting) answer();

    await expect(Promise.all(under)).resolves.toHaveLength(3);
  });
});

describe('the response cache', () => {
  it('never exceeds its limits of bytes and answers', async () => {
    const { fetcher, cache } = setUp(async ({ post }) =>
      stubFound(stubPost(post.id, { text: 'x'.repeat(20_000) })),
    );

    for (let id = 1; id <= 200; id += 1) {
      const answer = await fetcher.fetch(planOf(String(id)));
      answer.renderings.admit(20_000);
      expect(cache.bytes).toBeLessThanOrEqual(1_000_000);
      expect(cache.size).toBeLessThanOrEqual(100);
    }

    expect(cache.size).toBeGreaterThan(5);
  });
});
