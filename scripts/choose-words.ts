import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createRandomSource } from '../bench/linear/random-text.ts';
import { listDocstrings } from './docstrings.ts';

/**
 * Arguments of this script, which prints randomly chosen docstrings and pages for a review of the
 * wording. Usage: `npx tsx scripts/choose-words.ts [--seed TEXT] [--docstrings 100] [--pages 10]`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: 'perch' },
    docstrings: { type: 'string', default: '100' },
    pages: { type: 'string', default: '10' },
  },
});

const random = createRandomSource(values.seed);
const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
for (const { path, line, text, declares } of choose(listDocstrings(), Number(values.docstrings))) {
  console.log(`${path}:${line}\n  ${text}\n  ${declares}\n`);
}
for (const name of choose(pages, Number(values.pages))) {
  console.log(`=== docs/${name}\n\n${readFileSync(`docs/${name}`, 'utf8')}`);
}

/** Returns `count` different items, in random order. */
function choose<Item>(items: readonly Item[], count: number): readonly Item[] {
  const weighted = items.map((item) => ({ item, weight: random.below(2 ** 31) }));
  return weighted
    .sort((a, b) => a.weight - b.weight)
    .slice(0, count)
    .map(({ item }) => item);
}
