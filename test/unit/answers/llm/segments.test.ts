import { describe, expect, it } from 'vitest';
import {
  createSegmentSplitter,
  type Extent,
  upToCitation,
} from '../../../../src/answers/llm/prompt.ts';

const splitSegments = createSegmentSplitter(['a/b.md#c-d:3', 'a/b.md:12']);
const numbersIn = (text: string) =>
  splitSegments(text, 0, 'whole').flatMap((one) => (one.kind === 'marker' ? [one.numbers] : []));
const kindsOf = (text: string) => splitSegments(text, 0, 'whole').map(({ kind }) => kind);

describe('citations in a text', () => {
  it.each([
    ['At six [2].', [[2]]],
    ['At six [1][3], they say.', [[1, 3]]],
    ['At six [1], [3] or so.', [[1, 3]]],
    ['At six [1, 3; 4].', [[1, 3, 4]]],
    ['At six [1-3].', [[1, 2, 3]]],
    ['At six [^2].', [[2]]],
    ['At six 【2†source】.', [[2]]],
    ['At six [2]. Green [1].', [[2], [1]]],
    ['At six [3-1].', [[Number.NaN]]],
    ['At six [1-999].', [[Number.NaN]]],
    ['At six (`a/b.md#c-d:3`).', [[1]]],
    ['At six [a/b.md:12], or a/b.md#c-d:3.', [[2], [1]]],
    ['At six `a/b.md#c-d:35` and a/b.md:1.', []],
    ['See `the a/b.md:12 file`.', []],
    ['See [1](https://x.example).', []],
    ['A list [ ] and [x] and [1234] and [a1].', []],
    ['Take `row[1]` or ``a`[2]``.', []],
    ['Code:\n```js\nrow[1]\n```\nAt six [2].', [[2]]],
    ['Code:\n~~~\nrow[1]\n~~~', []],
    ['- item:\n   ```js\n   row[1]\n   ```\n', []],
    ['Code:\n```js\nrow[1]\n', []],
    ['A tick ` alone [2].\n\nAnother ` here [3].', [[2], [3]]],
  ])('are parsed from %j', (text, numbers) => {
    expect(numbersIn(text)).toEqual(numbers);
  });

  it('separate segments that together are the whole text', () => {
    const text = 'Say `x` [1]:\n```js\nrow[2]\n```\nand [3].\n```\nopen [4]';

    expect(kindsOf(text)).toEqual([
      'words',
      'span',
      'words',
      'marker',
      'words',
      'block',
      'words',
      'marker',
      'words',
      'open',
    ]);
    expect(
      splitSegments(text, 0, 'whole')
        .map((one) => one.text)
        .join(''),
    ).toBe(text);
  });

  it('are returned once the following characters cannot extend them', () => {
    const ready = (text: string, extent: Extent = 'part') =>
      upToCitation(splitSegments(text, 0, extent), extent)
        .map((one) => one.text)
        .join('');

    expect(ready('At six [1]')).toBe('');
    expect(ready('At six [1], ')).toBe('');
    expect(ready('At six [1], so')).toBe('At six [1]');
    expect(ready('At six `a/b.md:12`')).toBe('');
    expect(ready('At six `a/b.md:12` so')).toBe('At six `a/b.md:12`');
    expect(ready('At six `row[1] + row')).toBe('');
    expect(ready('At six [1] `row[2] + row')).toBe('At six [1]');
    expect(ready('At six [1]', 'whole')).toBe('At six [1]');
    expect(ready('No citation', 'whole')).toBe('');
  });
});
