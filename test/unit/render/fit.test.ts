import { describe, expect, it } from 'vitest';
import type { Status } from '../../../src/model/post.ts';
import type { ListResult, PostResult } from '../../../src/model/results.ts';
import { shorten as shortenText } from '../../../src/normalize/text.ts';
import { cutPost, fitResult } from '../../../src/render/fit.ts';
import { fc } from '../../support/fast-check.ts';
import { connectionsResult, profileResult } from '../../support/render-browse.ts';
import {
  account,
  ada,
  article,
  facet,
  furtherMembers,
  result,
  status,
} from '../../support/render-posts.ts';

/** Fits a result whose text is its JSON. Also returns the total length of all texts that were written. */
function shorten<Of extends PostResult | ListResult>(whole: Of) {
  let [times, written] = [0, 0];
  const write = (one: Of): string => {
    const text = JSON.stringify('items' in one ? one.items : one.posts);
    times += 1;
    written += text.length;
    return text;
  };
  return { ...fitResult(whole, write), times, written };
}

const listOf = (sizes: readonly number[], maxChars: number): ListResult =>
  profileResult(
    sizes.map((size, id) => status(id, ada, 'x'.repeat(size))),
    {
      bound: {
        maxChars,
        nextAfter: (count) => ({ cursor: String(count), url: `https://perch.example/${count}` }),
      },
    },
  );

describe('a page of a list that is too long', () => {
  it('keeps as many items as fit, with few renderings', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 2, maxLength: 100 }),
        fc.integer({ min: 2000, max: 100_000 }),
        (sizes, maxChars) => {
          const whole = listOf(sizes, maxChars);
          const { result: fitted, text, shown, times } = shorten(whole);
          const count = (fitted.items as { posts: readonly Status[] }).posts.length;

          expect(times).toBeLessThan(40);
          if (shown === null) {
            expect(fitted).toBe(whole);
            return;
          }
          expect(count).toBe(shown);
          expect(fitted.next?.cursor).toBe(String(count));
          expect(text.length <= maxChars || count === 1).toBe(true);
          const posts = (whole.items as { posts: readonly Status[] }).posts.slice(0, count + 1);
          if (text.length <= maxChars && count > 1) {
            expect(JSON.stringify({ posts }).length).toBeGreaterThan(maxChars);
          }
        },
      ),
    );
  });

  it('renders little more for ten times as many items', () => {
    const costs = [100, 1000].map((length) => {
      const { written } = shorten(listOf(Array(length).fill(400), length * 500));
      return written / length;
    });

    expect(costs[1]).toBeLessThan(2 * (costs[0] ?? 0));
  });

  it('cuts the biography of an account that is too long by itself', () => {
    const long = account('Ada', 'ada.example', { description: 'word '.repeat(2000) });
    const nextAfter = () => null;
    const whole = connectionsResult('followers', [long], { bound: { maxChars: 2000, nextAfter } });

    const { text, result: fitted } = shorten(whole);

    expect(text.length).toBeLessThanOrEqual(2000);
    expect(text.length).toBeGreaterThan(1800);
    expect(fitted.warnings).toEqual([
      'The first account is longer than `max_chars=2000`, and its texts were cut.',
    ]);
  });
});

describe('a post that is too long by itself', () => {
  it('is cut in all its texts, and stays valid', () => {
    const long = 'wörd 🪶 '.repeat(500);
    const text = `${long} https://diary.example`;
    const post = status(1, ada, text, {
      ...furtherMembers(long, 'https://diary.example'),
      facets: [facet(text, 'wörd', 'bold'), facet(text, 'https://diary.example', 'link')],
      content_warning: long,
      community_note: long,
      quote: status(2, ada, long),
      article: article(long, {
        blocks: Array.from({ length: 50 }, () => ({ type: 'paragraph', text: long, styles: [] })),
      }),
    });

    const cut = cutPost(post, 101) as Status;

    expect(cut.text).toBe(shortenText(text, 101));
    expect(cut.facets).toEqual(post.facets.slice(0, 1));
    expect(cut.article?.blocks).toHaveLength(1);
    expect(JSON.stringify({ ...cut, ...furtherMembers('', '') }).length).toBeLessThan(3500);
  });

  it('keeps the requested post of a thread', () => {
    const posts = [
      { ...status(1, ada, 'a'.repeat(900)), context: 'parent' as const },
      { ...status(2, ada, 'b'.repeat(9000)), context: 'post' as const },
      { ...status(3, ada, 'c'.repeat(900)), context: 'thread' as const },
    ];
    const repliesUrl = 'https://perch.example/api/v1/posts/2/replies';

    const { result: fitted } = shorten(result(posts, { bound: { maxChars: 2500, repliesUrl } }));

    expect(fitted.posts.map(({ id }) => id)).toEqual(['2']);
    expect(fitted.warnings).toHaveLength(1);
    expect(fitted.warnings[0]).toMatch(
      /were cut\. .*1 of the 3 posts; 2 posts of the thread were left/,
    );
  });
});
