import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { readVocabulary, toStem, toWords } from '../../../../src/answers/text/words.ts';

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

const word = '[a-z0-9]+';
const words = `${word}(?: ${word})*`;
const lines = (pattern: string) => z.array(z.string().regex(new RegExp(`^${pattern}$`)));
const files = {
  synonyms: lines(`${words.replaceAll(' ', '[ -]')}`),
  'everyday-words': lines(`${words} \\| ${words}`),
  phrases: lines(`${words} \\| ${words}`),
  'stop-words': lines(word),
  'weak-words': lines(word),
  'ordering-words': lines(word),
  'courtesy-words': lines(word),
  'outside-phrases': lines(words),
  'developer-phrases': lines(words),
};

it.each(Object.entries(files))(
  '%s.txt has one entry per line, without duplicates',
  (name, schema) => {
    const content = readFileSync(`resources/words/${name}.txt`, 'utf8').trimEnd().split('\n');

    expect(schema.parse(content)).toEqual([...new Set(content)]);
  },
);

it.each([
  ['Who  founded the project?', true],
  ['when will it support WebSockets', true],
  ['who can read the log', false],
  ['when is the cache cleared', false],
])('finds that %j is outside of documentation: %s', (question, isOutside) => {
  expect(readVocabulary().isOutside(question)).toBe(isOutside);
});
