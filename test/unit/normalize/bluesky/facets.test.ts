import { describe, expect, it } from 'vitest';
import type { BlueskyFacet } from '../../../../src/normalize/bluesky/wire.ts';
import { shapeFacets } from '../../../../src/normalize/bluesky/wire.ts';
import { expectFacetsFit } from '../../../suites/provider-suite.ts';
import { bskyDid } from '../../../support/bluesky-payloads.ts';
import { fc } from '../../../support/fast-check.ts';

const link = { $type: 'app.bsky.richtext.facet#link', uri: 'https://nowhere.example/' };

type Feature = Partial<BlueskyFacet['features'][number]>;

function facet(byteStart: number, byteEnd: number, ...features: Feature[]): BlueskyFacet {
  const whole = features.map((each) => ({ $type: '', uri: null, did: null, tag: null, ...each }));
  return { index: { byteStart, byteEnd }, features: whole };
}

function runsOf(text: string, facets: readonly BlueskyFacet[]) {
  const points = [...text];
  return shapeFacets(text, facets).map(({ type, start, end, url }) => [
    type,
    points.slice(start, end).join(''),
    url,
  ]);
}

describe('the facets of Bluesky', () => {
  it('count bytes of UTF-8, and are returned in code points', () => {
    const text = 'Ä🐦 heron';

    expect(shapeFacets(text, [facet(7, 12, link)])).toEqual([
      { type: 'link', start: 3, end: 8, url: 'https://nowhere.example/' },
    ]);
  });

  it('link to pages, to accounts by DID and to tags', () => {
    const did = bskyDid('mira.test');
    const facets = [
      facet(0, 5, { $type: 'app.bsky.richtext.facet#mention', did }),
      facet(6, 12, { $type: 'app.bsky.richtext.facet#tag', tag: 'héron' }),
      facet(13, 16, link),
    ];

    expect(runsOf('@mira #heron …', facets)).toEqual([
      ['mention', '@mira', `https://bsky.app/profile/${did}`],
      ['hashtag', '#heron', 'https://bsky.app/hashtag/h%C3%A9ron'],
      ['link', '…', 'https://nowhere.example/'],
    ]);
  });

  it.each([
    ['another scheme', { ...link, uri: 'javascript:alert(1)' }],
    ['no address', { ...link, uri: null }],
    ['no account', { $type: 'app.bsky.richtext.facet#mention' }],
    ['an empty tag', { $type: 'app.bsky.richtext.facet#tag', tag: '#' }],
    ['half a character as tag', { $type: 'app.bsky.richtext.facet#tag', tag: '\ud83d' }],
    ['an unknown feature', { $type: 'app.bsky.richtext.facet#shimmer', uri: 'https://a.example/' }],
  ] satisfies readonly (readonly [string, Feature])[])('are omitted with %s', (_title, feature) => {
    expect(shapeFacets('heron', [facet(0, 5, feature)])).toEqual([]);
  });

  it('use the first known feature', () => {
    const unknown = { $type: 'com.example.shimmer' };

    expect(runsOf('heron', [facet(0, 5, unknown, link)])).toEqual([['link', 'heron', link.uri]]);
  });

  it.each([
    ['inside a character', 'Äh', 1, 3],
    ['past the end', 'heron', 3, 6],
    ['before the beginning', 'heron', -1, 3],
    ['the wrong way round', 'heron', 3, 1],
    ['empty', 'heron', 2, 2],
  ])('are omitted if they are %s', (_title, text, start, end) => {
    expect(shapeFacets(text, [facet(start, end, link)])).toEqual([]);
  });

  it('are sorted, and the later of two that overlap is omitted', () => {
    const facets = [facet(6, 11, link), facet(0, 5, link), facet(3, 8, link)];

    expect(runsOf('heron heron', facets).map(([, run]) => run)).toEqual(['heron', 'heron']);
  });

  it('fit the text for arbitrary offsets', () => {
    const offset = fc.integer({ min: -3, max: 60 });
    const someFacet = fc
      .tuple(
        offset,
        offset,
        fc.constantFrom(link, { $type: 'app.bsky.richtext.facet#tag', tag: 'a' }),
      )
      .map(([start, end, feature]) => facet(start, end, feature));
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 15 }),
        fc.array(someFacet, { maxLength: 8 }),
        (text, facets) => {
          const shaped = shapeFacets(text, facets);

          expectFacetsFit(text, shaped);
          const bytes = Buffer.from(text);
          const runs = facets.map(({ index }) =>
            bytes.subarray(Math.max(index.byteStart, 0), Math.max(index.byteEnd, 0)).toString(),
          );
          for (const { start, end } of shaped) {
            expect(runs).toContain([...text].slice(start, end).join(''));
          }
        },
      ),
    );
  });
});
