import { describe, expect, it } from 'vitest';
import type { CacheEntry, Outcome } from '../../../../src/fetching/cache/response-cache.ts';
import { parseEntry, serializeEntry } from '../../../../src/fetching/cache/shared-responses.ts';
import type { ListItem } from '../../../../src/fetching/lists/fetch-page.ts';
import { Problem } from '../../../../src/lib/problem.ts';
import { stubAccount, stubFound, stubPost } from '../../../support/stub-provider.ts';

const facts = { source: 'stub', isLocal: false, requestedMs: 5 };

function entry(outcome: Outcome): CacheEntry {
  const times = { fetchedAtMs: 1, freshUntilMs: 2, revalidateUntilMs: 3, errorUntilMs: 4 };
  return { subjects: ['post x  1'], outcome, ...times };
}

const [wren, robin] = [stubAccount('wren'), stubAccount('robin')];

/** Items with one author, two authors, without an author, and without authors at all. */
const lists: Readonly<Record<string, readonly ListItem[]>> = {
  'no posts': [],
  'posts of one author': [stubPost('1'), stubPost('2'), stubPost('3')],
  'posts of several authors': [
    stubPost('1', { author: robin }),
    stubPost('2', { author: wren, quote: stubPost('4', { author: robin }) }),
    stubPost('3', { author: robin, reposted_by: wren }),
  ],
  accounts: [wren, robin],
};

/** Parses a serialized entry. The members are compared without the length of the text. */
function copy(original: CacheEntry): CacheEntry {
  const { length: _, ...copied } = parseEntry(serializeEntry(original));
  return copied;
}

describe('a serialized entry', () => {
  it.each(Object.entries(lists))('has the same items: %s', (_name, items) => {
    const page = { items, cursor: null, warnings: [] };
    const found = { account: wren, items, next: null, warnings: [], degraded: false };
    const whole = entry({ found: { ...found, missing: [] }, ...facts });
    const part = entry({ found: { page, degraded: false, ...facts }, ...facts });

    expect(copy(whole)).toEqual(whole);
    expect(copy(part)).toEqual(part);
  });

  it('has the same post', () => {
    const post = entry({ found: stubFound(stubPost('1'), { replies: [stubPost('2')] }), ...facts });

    expect(copy(post)).toEqual(post);
  });

  it('has the same problem', () => {
    const gone = new Problem('not_found', { detail: 'There is no such post.' });

    const { outcome } = copy(entry({ gone }));

    expect('gone' in outcome && outcome.gone).toMatchObject({
      code: 'not_found',
      message: 'There is no such post.',
    });
  });

  it('contains an author of several posts once', () => {
    const items = lists['posts of one author'] ?? [];
    const found = { account: null, items, next: null, warnings: [], degraded: false, missing: [] };

    const text = serializeEntry(entry({ found, ...facts }));

    expect(text.split(`"id":"${wren.id}"`)).toHaveLength(2);
  });
});
