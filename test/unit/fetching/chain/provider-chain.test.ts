import { describe, expect, it } from 'vitest';
import {
  createProviderBreakers,
  createProviderChain,
} from '../../../../src/fetching/chain/provider-chain.ts';
import type { PostQuery, SearchQuery } from '../../../../src/model/queries.ts';
import { ProviderError, type ProviderErrorKind } from '../../../../src/normalize/provider-error.ts';
import type { Coverage, Provider } from '../../../../src/providers/provider.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { createStubProvider, stubFound, stubPost } from '../../../support/stub-provider.ts';

const query: PostQuery = {
  kind: 'post',
  post: { platform: 'x', handle: null, id: '20' },
  thread: true,
  replies: 'top',
};
const signal = new AbortController().signal;

function searchQuery(text: string): SearchQuery {
  const moments = { sinceSeconds: null, untilSeconds: null };
  return {
    kind: 'search',
    platform: 'x',
    text,
    feed: 'latest',
    cursor: null,
    count: 20,
    ...moments,
  };
}

interface Searcher {
  readonly coverage: Coverage;
  readonly fails?: boolean;
  readonly rejects?: boolean;
  readonly throttles?: boolean;
}

function chainOfSearches(...searchers: readonly Searcher[]) {
  const clock = createManualClock();
  const links = searchers.map(({ coverage, fails, rejects, throttles }, index) => {
    const stub = createStubProvider(`provider${index}`, async () => stubFound(stubPost('20')));
    const search: Provider['fetch']['search'] = async () => {
      if (fails === true) throw new ProviderError('unavailable', 'It is down.');
      if (throttles === true) throw new ProviderError('throttled', 'It limits the rate.');
      if (rejects === true) throw new ProviderError('rejected', 'It refuses this text.');
      return { items: [], cursor: null, warnings: [] };
    };
    const provider = { ...stub, covers: () => coverage, fetch: { ...stub.fetch, search } };
    const options = {
      clock,
      failures: 5,
      openMs: 1000,
      maxOpenMs: 1000,
      onChange: () => undefined,
    };
    return { provider, breakers: createProviderBreakers(provider, () => options) };
  });
  return createProviderChain(links, { onFailure: () => undefined });
}

/** `silent`: ambiguous, and does not count as a witness. */
type Outcome = ProviderErrorKind | 'found' | 'silent';

function chainOf(...outcomes: readonly Outcome[]) {
  const clock = createManualClock();
  const providers = outcomes.map((outcome, index) =>
    createStubProvider(`provider${index}`, async () => {
      if (outcome === 'found') return stubFound(stubPost('20'));
      const [kind, isEvidence] =
        outcome === 'silent' ? ['ambiguous' as const, false] : [outcome, true];
      throw new ProviderError(kind, `It is ${kind}.`, { retryAfterSeconds: 12, isEvidence });
    }),
  );
  const links = providers.map((provider) => ({
    provider,
    breakers: createProviderBreakers(provider, () => ({
      clock,
      failures: 5,
      openMs: 1,
      maxOpenMs: 1,
      onChange: () => undefined,
    })),
  }));
  return { providers, chain: createProviderChain(links, { onFailure: () => undefined }) };
}

describe('the provider chain', () => {
  it.each<[readonly Outcome[], string, number]>([
    [['missing', 'found'], 'not_found', 1],
    [['ambiguous', 'ambiguous'], 'not_found', 2],
    [['ambiguous', 'missing'], 'not_found', 2],
    [['unavailable', 'missing'], 'not_found', 2],
    [['ambiguous'], 'upstream_unavailable', 1],
    [['ambiguous', 'unavailable'], 'upstream_unavailable', 2],
    [['ambiguous', 'throttled'], 'upstream_unavailable', 2],
    [['ambiguous', 'malformed'], 'upstream_unavailable', 2],
    [['unavailable', 'ambiguous'], 'upstream_unavailable', 2],
    [['unavailable', 'unavailable'], 'upstream_unavailable', 2],
    [['throttled', 'ambiguous'], 'upstream_rate_limited', 2],
    [['malformed', 'ambiguous'], 'upstream_error', 2],
    [['malformed', 'unavailable'], 'upstream_error', 2],
    [[], 'unsupported_platform', 0],
  ])('answers %j with %s after %i requests', async (outcomes, code, requests) => {
    const { chain, providers } = chainOf(...outcomes);

    await expect(chain.fetch('post', query, { signal })).rejects.toMatchObject({ code });

    expect(providers.filter(({ queries }) => queries.length === 1)).toHaveLength(requests);
  });

  it.each<Outcome>(['ambiguous', 'throttled', 'unavailable', 'malformed'])(
    'asks the next provider when the first is %s',
    async (outcome) => {
      const { chain } = chainOf(outcome, 'found');

      await expect(chain.fetch('post', query, { signal })).resolves.toMatchObject({
        source: 'provider1',
      });
    },
  );

  it('returns the wait that the provider asks for', async () => {
    const { chain } = chainOf('throttled');

    await expect(chain.fetch('post', query, { signal })).rejects.toMatchObject({
      code: 'upstream_rate_limited',
      retryAfterSeconds: 12,
    });
  });

  it('returns a wait of 30 s for an outage', async () => {
    const { chain } = chainOf('unavailable');

    await expect(chain.fetch('post', query, { signal })).rejects.toMatchObject({
      retryAfterSeconds: 30,
    });
  });

  it('does not count a partial source as a witness of absence', async () => {
    const { chain } = chainOf('silent', 'ambiguous');

    await expect(chain.fetch('post', query, { signal })).rejects.toMatchObject({
      code: 'upstream_unavailable',
    });
  });

  it('asks the last resort only after a live provider has failed, and reports it', async () => {
    const search = searchQuery('fog');
    const failing = chainOfSearches({ coverage: true, fails: true }, { coverage: 'last resort' });
    const working = chainOfSearches({ coverage: 'last resort' }, { coverage: true });
    const alone = chainOfSearches({ coverage: 'last resort' });

    await expect(failing.fetch('search', search, { signal })).resolves.toMatchObject({
      source: 'provider1',
      degraded: true,
    });
    await expect(working.fetch('search', search, { signal })).resolves.toMatchObject({
      source: 'provider1',
      degraded: false,
    });
    await expect(alone.fetch('search', search, { signal })).rejects.toMatchObject({
      code: 'unsupported_platform',
    });
  });

  it('asks only the named provider, and rejects an unknown one', async () => {
    const chain = chainOfSearches({ coverage: true }, { coverage: true });

    const answer = chain.fetch('search', searchQuery('fog'), { signal, provider: 'provider1' });
    const gone = chain.fetch('search', searchQuery('fog'), { signal, provider: 'provider7' });

    await expect(answer).resolves.toMatchObject({ source: 'provider1' });
    await expect(gone).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  it("returns a rejected search text as the caller's fault, without asking another provider", async () => {
    const chain = chainOfSearches({ coverage: true, rejects: true }, { coverage: 'last resort' });

    await expect(chain.fetch('search', searchQuery('('), { signal })).rejects.toMatchObject({
      code: 'invalid_query',
    });
  });

  it('has separate circuit breakers for searches and posts, and shows the open one', async () => {
    const chain = chainOfSearches({ coverage: true, fails: true });
    for (let i = 0; i < 5; i += 1) {
      await expect(chain.fetch('search', searchQuery('fog'), { signal })).rejects.toMatchObject({
        code: 'upstream_unavailable',
      });
    }

    expect(chain.states()).toMatchObject([{ breaker: 'open', broken: { search: 'open' } }]);
    await expect(chain.fetch('post', query, { signal })).resolves.toMatchObject({
      source: 'provider0',
    });
  });

  it('pauses all queries of a provider that limits the rate of one', async () => {
    const chain = chainOfSearches({ coverage: true, throttles: true });

    await expect(chain.fetch('search', searchQuery('fog'), { signal })).rejects.toMatchObject({
      code: 'upstream_rate_limited',
    });
    await expect(chain.fetch('post', query, { signal })).rejects.toMatchObject({
      code: 'upstream_rate_limited',
    });
  });

  it('asks the next provider after a defect in one', async () => {
    const defect = createStubProvider('defect', async () => {
      throw new TypeError('internals');
    });
    const { chain: whole } = chainOf('found');
    const breakers = createProviderBreakers(defect, () => ({
      clock: createManualClock(),
      failures: 5,
      openMs: 1,
      maxOpenMs: 1,
      onChange: () => undefined,
    }));
    const chain = createProviderChain([{ provider: defect, breakers }], {
      onFailure: () => undefined,
    });

    const failure = await chain.fetch('post', query, { signal }).catch((error: Error) => error);

    expect(failure).toMatchObject({ code: 'upstream_error' });
    expect(String(failure)).not.toContain('internals');
    await expect(whole.fetch('post', query, { signal })).resolves.toBeDefined();
  });
});
