import { expect, it } from 'vitest';
import { toStem, toWords } from '../../../../src/answers/text/words.ts';

const plains = (text: string) => toWords(text).words.map(({ plain }) => plain);

it.each([
  ['bodyLimit', ['body', 'limit'], ['bodylimit']],
  ['HTTPServer', ['http', 'server'], ['httpserver']],
  ['X-Powered-By', ['x', 'powered', 'by'], ['xpoweredby']],
  ['MAX_RETRIES', ['max', 'retries'], ['maxretries']],
  ['reply.sendFile()', ['reply', 'send', 'file'], ['replysendfile', 'sendfile']],
  ["It's Ångström’s", ['it', 'angstrom'], []],
  ['say "hi" -- *now*', ['say', 'hi', 'now'], []],
  ['日本語 テスト', ['日本語', 'テスト'], []],
])('splits %j', (text, words, names) => {
  expect(plains(text)).toEqual(words);
  expect(toWords(text).names).toEqual(names);
});

it.each([
  ['retries', 'retry'],
  ['tried', 'try'],
  ['configuration', 'configure'],
  ['kept', 'keeping'],
  ['caching', 'cache'],
])('returns the same stem for %s and %s', (a, b) => {
  expect(toStem(a)).toBe(toStem(b));
});

it.each([
  ['https', 'http'],
  ['news', 'new'],
])('returns different stems for %s and %s', (a, b) => {
  expect(toStem(a)).not.toBe(toStem(b));
});

it('skips words that are too long', () => {
  expect(plains(`a ${'x'.repeat(41)} b`)).toEqual(['a', 'b']);
});
