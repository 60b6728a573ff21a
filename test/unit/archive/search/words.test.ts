import { describe, expect, it } from 'vitest';
import { toIndexText, toNameWord, toWords } from '../../../../src/archive/search/words.ts';
import { fc } from '../../../support/fast-check.ts';

describe('toWords', () => {
  it.each([
    ['One, two: three!', ['One', 'two', 'three']],
    ['Naïve café', ['Naive', 'cafe']],
    ['cafe\u0301', ['cafe']],
    ['ｆｕｌｌ width ①', ['full', 'width', '1']],
    ['東京タワー', ['東', '京', 'タ', 'ワ', 'ー']],
    ['がぎ', ['が', 'ぎ']],
    ['ตลาดน้ำ', ['ต', 'ล', 'า', 'ด', 'น้ํ', 'า']],
    ['글자를 씁니다', ['글', '자', '를', '씁', '니', '다']],
    ['كِتَابٌ ـكتاب', ['كتاب', 'كتاب']],
    ['שָׁלוֹם', ['שלום']],
    ['नमस्ते दुनिया', ['नमस्ते', 'दुनिया']],
    ['a🐦b 👩🏽‍🔬', ['a', '🐦', 'b', '👩', '🔬']],
    ['"*^(){}:-+\0\ud800', []],
    ['\ua670 \u0488\u20dd', []],
    ['ж\ua670ук 1\u20e3', ['жук', '1']],
  ])('splits %j', (text, words) => {
    expect(toWords(text)).toEqual(words);
  });

  it('splits ASCII text like other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(toWords(`${text} é`)).toEqual([...toWords(text), 'e']);
      }),
    );
  });

  it('returns nothing that FTS5 could parse as syntax', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const one of toWords(text)) expect(one).not.toMatch(/[\s"\0\p{Me}]/u);
      }),
    );
  });
});

describe('toIndexText', () => {
  const odd = [
    'e\u0301',
    '\u0301',
    'が',
    '東京',
    '🐦',
    '🏽',
    '\u20e3',
    'שָׁ',
    '\u0640',
    '\u00b4',
    'ﬁ',
    '각',
    '\u0007',
  ];
  const piece = fc.oneof(
    fc.constantFrom(...odd),
    fc.constantFrom(' ', '\n', '\u00a0', '.', '-'),
    fc.string({ unit: 'grapheme' }),
  );

  it('has the same words after the tokenizer', () => {
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        expect(splitAsIndex(toIndexText(text))).toEqual(splitAsIndex(toWords(text).join(' ')));
      }),
    );
  });

  it('does not change ASCII', () => {
    expect(toIndexText('Hello,  there: naïve café!')).toBe('Hello,  there: naive cafe');
  });
});

/** Splits a text like the tokenizer of the index. */
function splitAsIndex(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}\p{M}\p{So}\p{Co}]+/gu) ?? [];
}

describe('toNameWord', () => {
  it("ignores case and is never a part of another name's word", () => {
    expect(toNameWord('Ada.Example')).toBe(toNameWord('ada.example'));
    expect(toNameWord('ada.example')).toMatch(/^[0-9a-f]+$/);
    expect(toNameWord('ada.example')).not.toBe(toNameWord('grand.ada.example'));
  });
});
