import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readMarkdown, toPlainHeading } from '../../../src/answers/readers/markdown.ts';
import { toSlug } from '../../../src/lib/text.ts';
import { createMarkdown } from '../../../src/routes/pages/docs/markdown.ts';

it.each([
  ['Keys and limits', 'keys-and-limits'],
  [' What is it? (v2) ', 'what-is-it-v2'],
  ['PERCH_DATA_DIR', 'perch_data_dir'],
  ['Über uns', 'über-uns'],
  ['a  b', 'a--b'],
  ['🚀 Start', '-start'],
])('converts the heading %j to the slug %j', (heading, slug) => {
  expect(toSlug(heading)).toBe(slug);
});

const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));

it.each(pages)('links every reference to docs/%s to a heading of that page', async (name) => {
  const source = readFileSync(`docs/${name}`, 'utf8');
  const { sections } = (await createMarkdown())(source, () => null);

  const cited = readMarkdown(source).sections.map(({ heading }) => toSlug(toPlainHeading(heading)));

  // One for one: no heading is named twice, so a slug alone says which one is meant.
  expect(cited).toEqual(sections.map(({ heading }) => heading.id));
  expect(new Set(cited).size).toBe(cited.length);
});
