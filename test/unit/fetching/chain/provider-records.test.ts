import { describe, expect, it } from 'vitest';
import {
  createProviderBreakers,
  createProviderChain,
} from '../../../../src/fetching/chain/provider-chain.ts';
import { createProviderRecords } from '../../../../src/fetching/chain/provider-records.ts';
import { Problem } from '../../../../src/lib/problem.ts';
import { ProviderError, type ProviderErrorKind } from '../../../../src/normalize/provider-error.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { createStubProvider, stubFound, stubPost } from '../../../support/stub-provider.ts';

function setUp() {
  const clock = createManualClock();
  const records = createProviderRecords(['fxtwitter', 'bluesky'], { clock });
  const ask = async (error?: unknown, signal = new AbortController().signal) => {
    const provider = createStubProvider('fxtwitter', async () => {
      if (error === undefined) return stubFound(stubPost('20'));
      throw error;
    });
    const options = { clock, failures: 5, openMs: 1000, maxOpenMs: 1000 };
    const breakers = createProviderBreakers(provider, () => options);
    const chain = createProviderChain([{ provider, breakers }], {
      records,
      clock,
      onFailure: () => undefined,
    });
    const post = { platform: 'x', handle: null, id: '20' } as const;
    const query = { kind: 'post', post, thread: true, replies: 'top' } as const;
    return chain.fetch('post', query, { signal }).catch((thrown: unknown) => thrown);
  };
  return { clock, records, ask };
}

describe('the record of a provider', () => {
  it('is empty at the start, and missing for an unknown provider', () => {
    const { records } = setUp();

    expect(records.of('bluesky')).toEqual({ answered: 0, failed: 0, lastFailure: null });
    expect(records.of('myspace')).toBeUndefined();
  });

  it.each(['throttled', 'unavailable', 'malformed'] as const)(
    'counts %s as a failure, and remembers its words and its time',
    async (kind) => {
      const { clock, records, ask } = setUp();

      await clock.advance(5000);
      await ask(new ProviderError(kind, 'The source is failing at the moment.'));
      const lastFailure = {
        query: 'post',
        message: 'The source is failing at the moment.',
        atMs: clock.now(),
      };
      await clock.advance(5000);
      await ask();

      expect(records.of('fxtwitter')).toEqual({ answered: 1, failed: 1, lastFailure });
      expect(records.of('bluesky')).toMatchObject({ answered: 0, failed: 0 });
    },
  );

  it.each<ProviderErrorKind>(['missing', 'ambiguous', 'rejected'])(
    'counts %s as an answer',
    async (kind) => {
      const { records, ask } = setUp();

      await ask(new ProviderError(kind, 'There is no such post.'));

      expect(records.of('fxtwitter')).toEqual({ answered: 1, failed: 0, lastFailure: null });
    },
  );

  it('names a defect without quoting its error', async () => {
    const { records, ask } = setUp();

    await ask(new TypeError('secret payload is not iterable'));

    expect(records.of('fxtwitter')?.lastFailure?.message).toMatch(/because of a defect/);
  });

  it('ignores cancelled queries, and queries that Perch refused itself', async () => {
    const { records, ask } = setUp();

    await ask(new ProviderError('unavailable', 'Cancelled.'), AbortSignal.abort());
    await ask(new Problem('rate_limited', { detail: 'Used up.' }));

    expect(records.of('fxtwitter')).toMatchObject({ answered: 0, failed: 0 });
  });
});
