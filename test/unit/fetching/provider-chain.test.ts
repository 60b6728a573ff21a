import { describe, expect, it } from 'vitest';
import { createProviderChain } from '../../../src/fetching/provider-chain.ts';
import { createGate } from '../../../src/fetching/provider-gate.ts';
import {
  type PostQuery,
  ProviderError,
  type ProviderErrorKind,
} from '../../../src/providers/provider.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createStubProvider, stubFound, stubPost } from '../../support/stub-provider.ts';

const query: PostQuery = {
  kind: 'post',
  post: { platform: 'x', handle: null, id: '20' },
  thread: true,
  replies: 'top',
};
const signal = new AbortController().signal;

type Outcome = ProviderErrorKind | 'found';

function chainOf(...outcomes: readonly Outcome[]) {
  const clock = createManualClock();
  const providers = outcomes.map((outcome, index) =>
    createStubProvider(`provider${index}`, async () => {
      if (outcome === 'found') return stubFound(stubPost('20'));
      throw new ProviderError(outcome, `It is ${outcome}.`, { retryAfterSeconds: 12 });
    }),
  );
  const links = providers.map((provider) => ({
    provider,
    gate: createGate({ clock, failures: 5, openMs: 1, maxOpenMs: 1, onChange: () => undefined }),
  }));
  return { providers, chain: createProviderChain(links, () => undefined) };
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
  ])('answers %j with %s after asking %i', async (outcomes, code, asked) => {
    const { chain, providers } = chainOf(...outcomes);

    await expect(chain.ask('post', query, signal)).rejects.toMatchObject({ code });

    expect(providers.filter(({ queries }) => queries.length === 1)).toHaveLength(asked);
  });

  it.each<Outcome>(['ambiguous', 'throttled', 'unavailable', 'malformed'])(
    'asks the next provider when the first is %s',
    async (outcome) => {
      const { chain } = chainOf(outcome, 'found');

      await expect(chain.ask('post', query, signal)).resolves.toMatchObject({
        source: 'provider1',
      });
    },
  );

  it('tells the wait that the provider asks for', async () => {
    const { chain } = chainOf('throttled');

    await expect(chain.ask('post', query, signal)).rejects.toMatchObject({
      code: 'upstream_rate_limited',
      retryAfterSeconds: 12,
    });
  });

  it('tells 30 s for an outage', async () => {
    const { chain } = chainOf('unavailable');

    await expect(chain.ask('post', query, signal)).rejects.toMatchObject({ retryAfterSeconds: 30 });
  });

  it('goes on to the next provider over a defect in one', async () => {
    const defect = createStubProvider('defect', async () => {
      throw new TypeError('internals');
    });
    const { chain: whole } = chainOf('found');
    const gate = createGate({
      clock: createManualClock(),
      failures: 5,
      openMs: 1,
      maxOpenMs: 1,
      onChange: () => undefined,
    });
    const chain = createProviderChain([{ provider: defect, gate }], () => undefined);

    const failure = await chain.ask('post', query, signal).catch((error: Error) => error);

    expect(failure).toMatchObject({ code: 'upstream_error' });
    expect(String(failure)).not.toContain('internals');
    await expect(whole.ask('post', query, signal)).resolves.toBeDefined();
  });
});
