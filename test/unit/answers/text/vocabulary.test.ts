import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { readVocabulary } from '../../../../src/answers/text/words.ts';

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
