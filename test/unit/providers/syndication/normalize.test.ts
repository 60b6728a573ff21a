import { describe, expect, it } from 'vitest';
import { tokenOf } from '../../../../src/providers/syndication/index.ts';
import { cleanText } from '../../../../src/providers/syndication/normalize.ts';
import { parsePost } from '../../../../src/providers/syndication/wire.ts';
import { expectFacetsFit } from '../../../suites/provider-suite.ts';
import { type Fields, syndicationPost } from '../../../support/x-payloads.ts';

function clean(fields: Fields, quotedId: string | null = null) {
  const row = parsePost(syndicationPost('2001', fields));
  if (row === null) throw new Error('The payload is readable.');
  const { text, facets } = cleanText(row, quotedId);
  expectFacetsFit(text, facets);
  const points = [...text];
  const marks = facets.map(({ type, start, end, url }) => [
    type,
    points.slice(start, end).join(''),
    url,
  ]);
  return { text, marks };
}

function at(raw: string, run: string): readonly [number, number] {
  const start = [...raw.slice(0, raw.indexOf(run))].length;
  return [start, start + [...run].length];
}

describe('the text of syndication', () => {
  it('has expanded links and decoded entities, with exact facets', () => {
    const text = '🐦 &lt;3 @mira_holm: https://t.co/abc &amp; #heron $PRCH https://t.co/pic';
    const entities = {
      hashtags: [{ indices: at(text, '#heron'), text: 'heron' }],
      symbols: [{ indices: at(text, '$PRCH'), text: 'PRCH' }],
      user_mentions: [{ indices: at(text, '@mira_holm'), screen_name: 'Mira_Holm' }],
      urls: [
        {
          indices: at(text, 'https://t.co/abc'),
          url: 'https://t.co/abc',
          expanded_url: 'https://perch.example/?a=1&b=2',
        },
      ],
      media: [{ indices: at(text, 'https://t.co/pic'), url: 'https://t.co/pic' }],
    };

    expect(clean({ text, entities })).toEqual({
      text: '🐦 <3 @mira_holm: https://perch.example/?a=1&b=2 & #heron $PRCH',
      marks: [
        ['mention', '@mira_holm', 'https://x.com/Mira_Holm'],
        ['link', 'https://perch.example/?a=1&b=2', 'https://perch.example/?a=1&b=2'],
        ['hashtag', '#heron', 'https://x.com/hashtag/heron'],
        ['symbol', '$PRCH', 'https://x.com/search?q=%24PRCH'],
      ],
    });
  });

  it('keeps and links the leading mentions of a reply', () => {
    const text = '@tove_ek @otto_lind Hey @tove_ek';
    const user_mentions = [
      { indices: [0, 8], screen_name: 'tove_ek' },
      { indices: [9, 19], screen_name: 'otto_lind' },
      { indices: [24, 32], screen_name: 'tove_ek' },
    ];

    expect(clean({ text, display_text_range: [20, 32], entities: { user_mentions } })).toEqual({
      text,
      marks: [
        ['mention', '@tove_ek', 'https://x.com/tove_ek'],
        ['mention', '@otto_lind', 'https://x.com/otto_lind'],
        ['mention', '@tove_ek', 'https://x.com/tove_ek'],
      ],
    });
  });

  const quoting = 'Look https://t.co/quo';
  const quoteLink = {
    indices: at(quoting, 'https://t.co/quo'),
    url: 'https://t.co/quo',
    expanded_url: 'https://twitter.com/tove_ek/status/1500?s=20',
  };

  it('has no link to the quoted post if that is shown', () => {
    const fields = { text: quoting, entities: { urls: [quoteLink] } };

    expect(clean(fields, '1500')).toEqual({ text: 'Look', marks: [] });
    expect(clean(fields, null).text).toBe('Look https://twitter.com/tove_ek/status/1500?s=20');
    expect(clean(fields, '150').text).toContain('/status/1500');
  });

  it('uses the offsets of the media if the entities lack them', () => {
    const text = 'A heron by @mira_holm https://t.co/pic';
    const mediaDetails = [
      {
        type: 'photo',
        media_url_https: 'https://pbs.example/1.jpg',
        indices: at(text, 'https://t.co/pic'),
        url: 'https://t.co/pic',
      },
    ];

    expect(clean({ text, entities: undefined, mediaDetails })).toEqual({
      text: 'A heron by @mira_holm',
      marks: [['mention', '@mira_holm', 'https://x.com/mira_holm']],
    });
  });

  it('ignores entities with wrong offsets', () => {
    const text = 'A heron';
    const entities = {
      hashtags: [
        { indices: [0, 1], text: 'heron' },
        { indices: [2, 900], text: 'storks' },
        { indices: [5, 2], text: '' },
      ],
      urls: [{ indices: [2, 2], url: '', expanded_url: 'https://perch.example/' }],
    };

    expect(clean({ text, entities })).toEqual({ text, marks: [] });
  });
});

describe('the token', () => {
  it.each([
    ['20', '6dq1a2xwd93'],
    ['1841206275088290279', '4gobiuxs3yx'],
    ['1649191520250245121', '3zx362dq7v'],
  ])('of %s is %s', (id, token) => {
    expect(tokenOf(id)).toBe(token);
  });
});
