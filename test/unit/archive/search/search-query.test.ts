import { describe, expect, it } from 'vitest';
import { parseSearchText } from '../../../../src/archive/search/search-query.ts';
import { toNameWord } from '../../../../src/archive/search/words.ts';

const text = (...words: string[]) => ({ column: 'text', words });
const from = (handle: string) => ({ column: 'author', words: [toNameWord(handle)] });
const tag = (name: string) => ({ column: 'tags', words: [toNameWord(name)] });
const mark = (name: string) => ({ column: 'marks', words: [name] });

describe('parseSearchText', () => {
  it.each([
    ['two words', [text('two'), text('words')]],
    ['"a phrase" word', [text('a', 'phrase'), text('word')]],
    ['“a phrase”', [text('a', 'phrase')]],
    ['"never closed', [text('never', 'closed')]],
    ['from:Ada.Example', [from('ada.example')]],
    ['FROM:@jack', [from('jack')]],
    ['from:"jack"', [from('jack')]],
    ['#BirdDiary', [tag('birddiary')]],
    ['＃タグ!', [tag('タグ')]],
    ['#1', [text('1')]],
    ['filter:media', [mark('media')]],
    ['filter:images filter:videos', [mark('photo'), mark('video')]],
    [
      '12:30 https://a.example/b foo:bar',
      [text('12', '30'), text('https', 'a', 'example', 'b'), text('foo', 'bar')],
    ],
    ['constructor: __proto__:1', [text('constructor'), text('proto', '1')]],
    ['cats AND dogs & more', [text('cats'), text('dogs'), text('more')]],
    ['東京', [text('東', '京')]],
    ['it’s', [text('it', 's')]],
  ])('parses %s', (given, include) => {
    expect(parseSearchText(given)).toEqual({
      include,
      exclude: [],
      sinceSeconds: null,
      untilSeconds: null,
      warnings: [],
    });
  });

  it('parses exclusions', () => {
    const parsed = parseSearchText('yes -no -"not this" -from:jack -#tag -filter:media');

    expect(parsed.include).toEqual([text('yes')]);
    expect(parsed.exclude).toEqual([
      text('no'),
      text('not', 'this'),
      from('jack'),
      tag('tag'),
      mark('media'),
    ]);
    expect(parsed.warnings).toEqual([]);
  });

  it('parses days and Unix seconds, and uses the narrowest range', () => {
    const parsed = parseSearchText(
      'since:2026-01-01 since:1767225601 until:2026-02-01 until:2026-03-01',
    );

    expect(parsed).toMatchObject({ sinceSeconds: 1_767_225_601, untilSeconds: 1_769_904_000 });
    expect(parsed.warnings).toEqual([]);
  });

  it.each([
    'lang:de',
    'to:jack',
    '-min_faves:3',
    'filter:links',
    '-filter:replies',
    'near:"New York"',
    'OR',
    '-since:2026-01-01',
  ])('warns about the unknown operator %s', (operator) => {
    const parsed = parseSearchText(`word ${operator}`);

    expect(parsed).toMatchObject({ include: [text('word')], exclude: [] });
    expect(parsed.warnings).toEqual([
      `The archive does not support the operator \`${operator}\`, so it was ignored.`,
    ]);
  });

  it.each([
    'since:yesterday',
    'since:2026-02-31',
    'since:2026-13-01',
    'until:',
    'until:2026',
    'from:',
    'from:a!b',
  ])('warns about the unreadable value %s', (operator) => {
    const parsed = parseSearchText(`word ${operator}`);

    expect(parsed).toMatchObject({
      include: [text('word')],
      sinceSeconds: null,
      untilSeconds: null,
    });
    expect(parsed.warnings).toEqual([
      `The archive cannot read \`${operator}\`, so it was ignored.`,
    ]);
  });

  it('warns about parentheses and parses their content', () => {
    const parsed = parseSearchText('(from:jack OR from:jill) -(word)');

    expect(parsed.include).toEqual([from('jack'), from('jill')]);
    expect(parsed.exclude).toEqual([text('word')]);
    expect(parsed.warnings).toEqual([
      'The archive does not support parentheses, so they were ignored.',
      'The archive does not support the operator `OR`, so it was ignored.',
    ]);
  });

  it('warns once, and quotes input safely', () => {
    const parsed = parseSearchText(`${'lang:de '.repeat(5)}lang:\`\0\ud800${'x'.repeat(200)}`);

    expect(parsed.warnings).toHaveLength(2);
    expect(parsed.warnings[1]).toMatch(/^[^`]+`lang:\ufffd{3}x{72}…`[^`]+$/);
  });

  it('parses repeated terms once', () => {
    expect(parseSearchText('word -no word -no').include).toEqual([text('word')]);
  });

  it.each([
    ['terms', Array.from({ length: 33 }, (_, index) => `word${index}`).join(' ')],
    ['words', `"${'word '.repeat(65)}"`],
    ['characters without spaces', '東'.repeat(65)],
    ['characters', `word${' '.repeat(4096)}word`],
  ])('warns about too many %s and parses the first ones', (_name, given) => {
    const { include, warnings } = parseSearchText(given);

    expect(include.length).toBeGreaterThan(0);
    expect(include.length).toBeLessThanOrEqual(32);
    expect(include.flatMap(({ words }) => words).length).toBeLessThanOrEqual(64);
    expect(warnings).toEqual([expect.stringMatching(/^The search is too long/)]);
  });
});
