import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/lib/random.ts';
import { createContinuationTokens, createSessionIds } from '../../../src/sessions/ids.ts';
import { fc } from '../../support/fast-check.ts';

const idsAt = (now: () => number) =>
  createSessionIds({ now, sleep: async () => undefined }, systemRandom);

describe('the ids of events and deliveries', () => {
  it('only increase, even when the clock is set back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { minLength: 2 }), (times) => {
        let at = 0;
        const ids = idsAt(() => times[at] ?? 0);

        const made = times.map((_, index) => {
          at = index;
          return ids.event();
        });

        expect(made.toSorted()).toEqual(made);
        expect(new Set(made).size).toBe(made.length);
        for (const id of made) expect(id).toMatch(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/);
      }),
    );
  });
});

describe('the id of a session', () => {
  it('begins with the time and ends with 80 random bits', () => {
    const random = { ...systemRandom, bytes: (count: number) => Buffer.alloc(count, 255) };
    const clock = { now: () => 1_469_918_176_385, sleep: async () => undefined };

    const id = createSessionIds(clock, random).session();

    expect(id).toBe('ses_01ARYZ6S41ZZZZZZZZZZZZZZZZ'); // the time from the ULID specification
  });

  it('is unique', () => {
    const ids = idsAt(() => 0);

    const made = new Set(Array.from({ length: 10_000 }, () => ids.session()));

    expect(made.size).toBe(10_000);
  });
});

describe('a continuation token', () => {
  const tokens = createContinuationTokens(Buffer.alloc(32, 1));
  const others = createContinuationTokens(Buffer.alloc(32, 2));

  it('is valid for one session and one secret only', () => {
    expect(tokens.of('ses_a')).toMatch(/^svct_[\w-]{43}$/);
    expect(tokens.of('ses_a')).toBe(tokens.of('ses_a'));
    expect(tokens.isOf(tokens.of('ses_a'), 'ses_a')).toBe(true);
    expect(tokens.isOf(tokens.of('ses_a'), 'ses_b')).toBe(false);
    expect(tokens.isOf(others.of('ses_a'), 'ses_a')).toBe(false);
  });

  it.each(['', 'svct_', 'x'.repeat(48), 'é'.repeat(24)])('is not %j', (text) => {
    expect(tokens.isOf(text, 'ses_a')).toBe(false);
  });
});
