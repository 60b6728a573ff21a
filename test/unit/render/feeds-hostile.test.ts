import { describe, expect, it } from 'vitest';
import type { Post } from '../../../src/model/post.ts';
import { feedFormats } from '../../../src/model/results.ts';
import { listEntryPosts } from '../../../src/render/feeds/entry.ts';
import { fc, runs } from '../../support/fast-check.ts';
import { checkFeed, type ReadItem, readWithParsers } from '../../support/feeds.ts';
import { hostileAccount, hostilePost, hostileWords } from '../../support/hostile-posts.ts';
import { profileResult, searchResult } from '../../support/render-browse.ts';
import { renderFeed } from '../../support/render-feed.ts';
import { result } from '../../support/render-posts.ts';

/** Some parsers trim texts and join white space. */
const simplify = (items: readonly ReadItem[]) =>
  items.map(({ title, html, ...item }) => ({
    ...item,
    title: title?.replace(/\s+/g, ' ').trim(),
    html: html?.replace(/\s+/g, ' ').trim(),
  }));

/** Hostile posts that are the same in every run. */
const samples: readonly Post[] = fc.sample(hostilePost, { numRuns: 300, seed: 83 });

describe('a feed of hostile posts', () => {
  it.each(feedFormats)('is valid and complete as %s', (format) => {
    const expected = listEntryPosts(samples);
    expect(expected.length).toBeGreaterThan(200);

    const items = checkFeed(format, renderFeed(searchResult('fog', samples), format));

    expect(items).toHaveLength(expected.length);
  });

  it('has the same items in all formats', () => {
    const page = searchResult('fog', samples);

    const [atom, rss, json] = feedFormats.map((format) =>
      simplify(checkFeed(format, renderFeed(page, format))),
    );

    expect(rss).toEqual(atom);
    expect(json?.map(({ id, url, title }) => ({ id, url, title }))).toEqual(
      atom?.map(({ id, url, title }) => ({ id, url, title })),
    );
  });

  it.each(feedFormats)('is read by published parsers as %s with equal items', async (format) => {
    const body = renderFeed(searchResult('fog', samples), format);
    const items = simplify(checkFeed(format, body));

    const parsed = await readWithParsers(format, body);

    for (const [name, found] of Object.entries(parsed)) {
      // For an entry without a URL, some parsers return the URL of another link.
      const comparable = simplify(found).map((item, at) =>
        items[at]?.url === undefined ? { ...item, url: undefined } : item,
      );
      expect([name, comparable]).toEqual([name, items]);
    }
  });

  it('is valid with a hostile account, title and warnings', () => {
    fc.assert(
      fc.property(
        fc.array(hostilePost, { maxLength: 2 }),
        hostileAccount,
        hostileWords,
        fc.constantFrom(...feedFormats),
        (posts, profile, words, format) => {
          const told = { warnings: [words] };
          checkFeed(format, renderFeed(profileResult(posts, told, profile), format));
          checkFeed(format, renderFeed(searchResult(words, posts, told), format));
          checkFeed(format, renderFeed({ ...result([]), ...told, url: words, posts }, format));
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
