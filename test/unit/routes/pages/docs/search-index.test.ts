import { describe, expect, it } from 'vitest';
import {
  createSearchIndex,
  maxHits,
  type SearchEntry,
} from '../../../../../src/routes/pages/docs/search-index.ts';

const entry = (page: string, heading: string, text: string): SearchEntry => ({
  page,
  pageTitle: page,
  heading: { level: 2, text: heading, id: heading.toLowerCase() },
  text,
});
const index = await createSearchIndex([
  entry('Caching', 'Freshness', 'An answer stays fresh. A key changes nothing.'),
  entry('Keys', 'Get a key', 'Ask the operator.'),
  entry('Errors', 'invalid_key', '401: a bearer key that is unknown.'),
  entry('Errors', 'rate_limited', 'Read `Retry-After` and wait.'),
]);
const findHeadings = (query: string) => index.find(query).map((hit) => hit.entry.heading.text);

describe('the search', () => {
  it('ranks headings above texts', () => {
    expect(findHeadings('key')[0]).not.toBe('Freshness');
    expect(findHeadings('key')).toHaveLength(3);
  });

  it('ranks a heading that is the query first, also of the API reference', async () => {
    const { find } = await createSearchIndex([
      entry('Posts', 'Get a post, get a post', 'Get a post.'),
      entry('api/v1', 'Get a post', 'GET /api/v1/posts'),
    ]);
    const pagesOf = (query: string) => find(query).map((hit) => hit.entry.page);

    expect(pagesOf('get a POST')).toEqual(['api/v1', 'Posts']);
    expect(pagesOf('get post')).toEqual(['Posts', 'api/v1']);
  });

  it('finds the starts of words, and parts of names', () => {
    expect(findHeadings('opera')).toEqual(['Get a key']);
    expect(findHeadings('invalid')).toEqual(['invalid_key']);
    expect(findHeadings('INVALID_KEY')[0]).toBe('invalid_key');
    expect(findHeadings('retry-after')).toEqual(['rate_limited']);
  });

  it('treats a single letter as a word', () => {
    expect(findHeadings('a').sort()).toEqual(['Freshness', 'Get a key', 'invalid_key']);
  });

  it('ranks sections with more of the words first', () => {
    expect(findHeadings('bearer key')[0]).toBe('invalid_key');
    expect(findHeadings('wait for a heron')).toContain('rate_limited');
  });

  it.each(['', '!!!', 'heron', '(', '\\', '.*', '[h-', 'constructor', '__proto__'])(
    'finds nothing for %j',
    (query) => {
      expect(index.find(query)).toEqual([]);
    },
  );

  it('marks matches in the snippet', () => {
    const [hit] = index.find('bear');

    expect(hit?.snippet).toEqual([
      { text: '401: a ', isMatch: false },
      { text: 'bear', isMatch: true },
      { text: 'er key that is unknown.', isMatch: false },
    ]);
  });

  it('cuts long texts around the first match', async () => {
    const long = await createSearchIndex([
      entry('Long', 'Long', `${'word '.repeat(500)}heron${' word'.repeat(500)}`),
    ]);

    const text =
      long
        .find('heron')[0]
        ?.snippet.map((stretch) => stretch.text)
        .join('') ?? '';

    expect(text).toContain('heron');
    expect(text).toMatch(/^… .* …$/);
    expect(text.length).toBeLessThan(220);
  });

  it('returns at most the maximum number of results', async () => {
    const many = await createSearchIndex(
      Array.from({ length: 50 }, (_, n) => entry(`P${n}`, `H${n}`, 'same')),
    );

    expect(many.find('same')).toHaveLength(maxHits);
  });
});
