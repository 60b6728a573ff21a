import { describe, expect, it } from 'vitest';
import { shapeFacets } from '../../../../src/providers/fxtwitter/article.ts';
import { parsePost } from '../../../../src/providers/fxtwitter/payload.ts';
import { type Fields, fxStatus } from '../../../support/x-payloads.ts';

interface Raw {
  readonly raw: string;
  readonly text?: string;
  readonly range?: readonly [number, number];
  readonly facets: readonly Fields[];
}

function shape({ raw, text = raw, range = [0, [...raw].length], facets }: Raw) {
  const raw_text = { text: raw, display_text_range: range, facets };
  const row = parsePost(fxStatus('1', { text, raw_text }));
  if (row?.type !== 'status') throw new Error('The payload is a post.');
  return shapeFacets(row.text, row.raw_text);
}

/** Returns each facet as its type, its text, and its target. */
function textsOf(from: Raw) {
  const points = [...(from.text ?? from.raw)];
  return shape(from).map(({ type, start, end, url }) => [
    type,
    points.slice(start, end).join(''),
    ...(url === undefined ? [] : [url]),
  ]);
}

/** Returns a facet for the first occurrence of `run` in `raw` after `from`, in code points. */
function over(raw: string, run: string, fields: Fields, from = 0): Fields {
  const start = [...raw.slice(0, raw.indexOf(run, from))].length;
  return { indices: [start, start + [...run].length], ...fields };
}

function tag(raw: string, run: string, type: string): Fields {
  return over(raw, run, { type, original: run.slice(1) });
}

describe('the facets of a served text', () => {
  it('count code points, so that emoji before them do not shift them', () => {
    const raw = '🚀💭 hi @mira_holm #poll $PRCH';
    const facets = [
      tag(raw, '@mira_holm', 'mention'),
      tag(raw, '#poll', 'hashtag'),
      tag(raw, '$PRCH', 'symbol'),
    ];

    expect(textsOf({ raw, facets })).toEqual([
      ['mention', '@mira_holm', 'https://x.com/mira_holm'],
      ['hashtag', '#poll', 'https://x.com/hashtag/poll'],
      ['symbol', '$PRCH', 'https://x.com/search?q=%24PRCH'],
    ]);
  });

  it('accept full-width signs and another case', () => {
    const raw = '＠Mira_Holm ＃鷺 ＄PRCH';
    const facets = [
      over(raw, '＠Mira_Holm', { type: 'mention', original: 'mira_holm' }),
      tag(raw, '＃鷺', 'hashtag'),
      tag(raw, '＄PRCH', 'symbol'),
    ];

    expect(textsOf({ raw, facets }).map(([, run]) => run)).toEqual([
      '＠Mira_Holm',
      '＃鷺',
      '＄PRCH',
    ]);
  });

  it('follow links that grow and entities that shrink', () => {
    const raw = 'a &lt; b &amp; https://t.co/abc #tag';
    const text = 'a < b & https://perch.example/?a=1&b=2 #tag';
    const facets = [
      over(raw, 'https://t.co/abc', {
        type: 'url',
        original: 'https://t.co/abc',
        replacement: 'https://perch.example/?a=1&b=2',
        display: 'perch.example',
      }),
      tag(raw, '#tag', 'hashtag'),
    ];

    expect(textsOf({ raw, text, facets })).toEqual([
      ['link', 'https://perch.example/?a=1&b=2', 'https://perch.example/?a=1&b=2'],
      ['hashtag', '#tag', 'https://x.com/hashtag/tag'],
    ]);
  });

  it('are located at their own occurrence of a repeated word', () => {
    const raw = 'mail me@perch.example, @perch';
    const facets = [over(raw, '@perch', { type: 'mention', original: 'perch' }, 10)];

    expect(shape({ raw, facets })).toMatchObject([{ start: 23, end: 29 }]);
  });

  it('link the leading mentions of a reply', () => {
    const raw = '@tove_ek @otto_lind Hey @tove_ek';
    const facets = [
      tag(raw, '@tove_ek', 'mention'),
      tag(raw, '@otto_lind', 'mention'),
      over(raw, '@tove_ek', { type: 'mention', original: 'tove_ek' }, 9),
    ];

    expect(shape({ raw, range: [20, 32], facets })).toMatchObject([
      { start: 0, end: 8, url: 'https://x.com/tove_ek' },
      { start: 9, end: 19, url: 'https://x.com/otto_lind' },
      { start: 24, end: 32, url: 'https://x.com/tove_ek' },
    ]);
  });

  it('skip leading mentions that are not served, also if they occur again', () => {
    const raw = '@tove_ek Hey @otto_lind, @tove_ek';
    const facets = [
      tag(raw, '@tove_ek', 'mention'),
      tag(raw, '@otto_lind', 'mention'),
      over(raw, '@tove_ek', { type: 'mention', original: 'tove_ek' }, 9),
    ];

    expect(textsOf({ raw, text: 'Hey @otto_lind, @tove_ek', range: [9, 33], facets })).toEqual([
      ['mention', '@otto_lind', 'https://x.com/otto_lind'],
      ['mention', '@tove_ek', 'https://x.com/tove_ek'],
    ]);
  });

  it('are located in a long post with many of them', () => {
    const words = Array.from({ length: 900 }, (_, index) => `🐦&amp;${index}`);
    const raw = `https://t.co/abc ${words.join(' ')}`;
    const link = {
      type: 'url',
      original: 'https://t.co/abc',
      replacement: 'https://perch.example/',
    };
    let at = 17;
    const bold = words.map((word) => {
      const start = at;
      at += [...word].length + 1;
      return { type: 'bold', indices: [start, at - 1] };
    });
    const text = raw.replace('https://t.co/abc', link.replacement).replaceAll('&amp;', '&');

    const found = textsOf({ raw, text, facets: [over(raw, 'https://t.co/abc', link), ...bold] });

    expect(found.slice(1)).toEqual(words.map((word) => ['bold', word.replace('&amp;', '&')]));
  });

  it('are read up to the 1,000th', () => {
    const raw = 'a '.repeat(1100);
    const facets = Array.from({ length: 1100 }, (_, index) => ({
      type: 'bold',
      indices: [2 * index, 2 * index + 1],
    }));

    const found = shape({ raw, facets });

    expect(found).toHaveLength(1000);
    expect(found.at(-1)).toEqual({ type: 'bold', start: 1998, end: 1999 });
  });

  it('are located if the served text has no leading mentions', () => {
    const raw = '@tove_ek Hey @otto_lind';
    const facets = [tag(raw, '@tove_ek', 'mention'), tag(raw, '@otto_lind', 'mention')];

    expect(textsOf({ raw, text: 'Hey @otto_lind', range: [9, 23], facets })).toEqual([
      ['mention', '@otto_lind', 'https://x.com/otto_lind'],
    ]);
  });

  it('are omitted if the text differs from their name', () => {
    const raw = 'about #heron and #stork';
    const facets = [
      { type: 'hashtag', indices: [0, 5], original: 'heron' },
      { type: 'hashtag', indices: [17, 900], original: 'stork' },
      { type: 'hashtag', indices: [9, 2], original: 'heron' },
      { type: 'hashtag', indices: ['a', 'b'], original: 'heron' },
      { type: 'mention', indices: [6, 12] },
      { type: 'url', indices: [6, 12], original: '#heron', replacement: 'javascript:alert(1)' },
      { type: 'unheard-of', indices: [6, 12], original: 'heron' },
    ];

    expect(textsOf({ raw, facets })).toEqual([
      ['hashtag', '#stork', 'https://x.com/hashtag/stork'],
    ]);
  });

  it('of media are ignored, because they have wrong offsets in long posts', () => {
    const raw = 'See http://t.co/odE9qJiOg3 now';
    const facets = [
      over(raw, 'http://t.co/odE9qJiOg3', {
        type: 'url',
        original: 'http://t.co/odE9qJiOg3',
        replacement: 'http://fn.example/accounts',
      }),
      { type: 'media', indices: [5, 28], id: '1', original: 'https://t.co/DFggHwFYkw' },
    ];

    expect(textsOf({ raw, text: 'See http://fn.example/accounts now', facets })).toEqual([
      ['link', 'http://fn.example/accounts', 'http://fn.example/accounts'],
    ]);
  });

  it('include the styles of long posts, also around links', () => {
    const raw = '🐦 bold & https://t.co/abc words, then more';
    const text = '🐦 bold & https://perch.example/long words, then more';
    const facets = [
      over(raw, 'bold & https://t.co/abc words', { type: 'bold' }),
      over(raw, 'https://t.co/abc', {
        type: 'url',
        original: 'https://t.co/abc',
        replacement: 'https://perch.example/long',
      }),
      over(raw, 'words, then', { type: 'italic' }),
      over(raw, 'more', { type: 'strikethrough' }),
      over(raw, 'more', { type: 'underline' }),
    ];

    expect(textsOf({ raw, text, facets })).toEqual([
      ['bold', 'bold & https://perch.example/long words'],
      ['link', 'https://perch.example/long', 'https://perch.example/long'],
      ['italic', 'words'],
      ['italic', ', then'],
      ['strikethrough', 'more'],
    ]);
  });

  it('include a style that ends where a link begins', () => {
    const raw = 'bold#tag';
    const facets = [over(raw, 'bold', { type: 'bold' }), tag(raw, '#tag', 'hashtag')];

    expect(textsOf({ raw, facets }).map(([type, run]) => [type, run])).toEqual([
      ['bold', 'bold'],
      ['hashtag', '#tag'],
    ]);
  });

  it('are found in the text if there is no raw text', () => {
    const text = '🐦 @mira_holm, see #heron at https://x.com/@nobody/#top or a@b.example #1';

    expect(shapeFacets(text, null).map(({ type, start, end }) => [type, start, end])).toEqual([
      ['mention', 2, 12],
      ['hashtag', 18, 24],
    ]);
  });
});
