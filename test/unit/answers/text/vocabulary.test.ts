import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';

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
};

it.each(Object.entries(files))(
  '%s.txt has one entry per line, without duplicates',
  (name, schema) => {
    const content = readFileSync(`resources/words/${name}.txt`, 'utf8').trimEnd().split('\n');

    expect(schema.parse(content)).toEqual([...new Set(content)]);
  },
);
