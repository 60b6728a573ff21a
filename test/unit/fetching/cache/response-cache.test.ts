import { describe, expect, it } from 'vitest';
import {
  type CacheEntry,
  createResponseCache,
} from '../../../../src/fetching/cache/response-cache.ts';
import { stubFound, stubPost } from '../../../support/stub-provider.ts';

function entry(id: string): CacheEntry {
  return {
    subjects: [`post x  ${id}`],
    outcome: { found: stubFound(stubPost(id)), source: 'stub', isLocal: false, requestedMs: 0 },
    fetchedAtMs: 0,
    freshUntilMs: 1,
    revalidateUntilMs: 1,
    errorUntilMs: 1,
  };
}

describe('the response cache', () => {
  it('counts renderings in its size and respects the limit', () => {
    const cache = createResponseCache({ maxEntries: 1000, maxBytes: 1_000_000 });

    for (let i = 0; i < 100; i += 1) {
      cache.set(`key ${i}`, entry(String(i))).admit(50_000);
    }

    expect(cache.bytes).toBeGreaterThan(500_000);
    expect(cache.bytes).toBeLessThanOrEqual(1_000_000);
    expect(cache.size).toBeLessThan(20);
  });

  it('drops an answer that outgrows the cache', () => {
    const cache = createResponseCache({ maxEntries: 10, maxBytes: 100_000 });

    cache.set('key', entry('1')).admit(200_000);
    cache.dropSubject('post x  1', 0);

    expect([cache.get('key'), cache.size, cache.bytes]).toEqual([undefined, 0, 0]);
  });

  it('refuses answers requested before one of their subjects was deleted', () => {
    const cache = createResponseCache({ maxEntries: 10, maxBytes: 100_000 });
    const requestedAt = (requestedMs: number) => ({
      found: stubFound(stubPost('1')),
      source: 'stub',
      isLocal: false,
      requestedMs,
    });

    cache.dropSubject('post x  1', 5000);
    cache.set('before', { ...entry('1'), outcome: requestedAt(4000) });
    cache.set('after', { ...entry('1'), outcome: requestedAt(6000) });

    expect([cache.get('before'), cache.get('after') === undefined]).toEqual([undefined, false]);
  });
});
