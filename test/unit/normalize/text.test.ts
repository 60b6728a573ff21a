import { describe, expect, it } from 'vitest';
import {
  codePointOffsets,
  cutText,
  decodeEntities,
  decodeWithOffsets,
  shorten,
} from '../../../src/normalize/text.ts';
import { fc } from '../../support/fast-check.ts';

it('decodeEntities decodes each of the five entities once, and nothing else', () => {
  expect(decodeEntities('&lt;a&gt; &amp;&quot;&#39; &amp;lt; &nbsp; &')).toBe(
    `<a> &"' &lt; &nbsp; &`,
  );
});

it('decodeWithOffsets maps each code point, also after surrogate pairs and entities', () => {
  const { text, length, toIndex } = decodeWithOffsets('🐦&lt;&amp;b');

  expect({ text, length }).toEqual({ text: '🐦<&b', length: 11 });
  expect([0, 1, 4, 5, 9, 10, 11, 99].map(toIndex)).toEqual([0, 2, 2, 3, 3, 4, 5, 5]);
});

it('codePointOffsets maps every index, also within a surrogate pair', () => {
  const toOffset = codePointOffsets('a🐦b');

  expect([0, 1, 2, 3, 4, 9].map(toOffset)).toEqual([0, 1, 1, 2, 3, 3]);
});

const family = '👩‍👩‍👧‍👦';

describe('cutText', () => {
  it.each([
    ['a text that is short enough', 'heron', 5, 'heron'],
    ['between two letters', 'heron', 3, 'her'],
    ['before a pair that it would split', 'ab🐦', 3, 'ab'],
    ['before a letter with its mark', 'ae\u0301', 2, 'a'],
    ['before a flag', 'a🇩🇪', 3, 'a'],
    ['before a sequence', `ab${family}`, 8, 'ab'],
    ['within a character that is longer than the search', `e${'\u0301'.repeat(400)}`, 200, 200],
    ['before a pair at the end of a very long character', '\u{e0061}'.repeat(300), 201, 200],
  ])('cuts %s', (_, text, max, expected) => {
    const cut = cutText(text, max);

    expect(typeof expected === 'number' ? cut.length : cut).toBe(expected);
  });

  it('returns a well-formed prefix, and removes few characters', () => {
    const texts = fc.string({ unit: 'grapheme', minLength: 40, maxLength: 80 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 30, max: 60 }), (text, max) => {
        const cut = cutText(text, max);

        expect(text.startsWith(cut)).toBe(true);
        expect(cut).not.toMatch(/\p{Surrogate}/u);
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(cut.length).toBeGreaterThan(Math.min(max, text.length) - 30);
      }),
    );
  });
});

it('shorten ends a cut text in an ellipsis within the maximum', () => {
  expect([shorten('heron', 5), shorten('heron', 4)]).toEqual(['heron', 'her…']);
});
