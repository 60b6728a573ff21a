import { expect, it, onTestFinished } from 'vitest';
import { findCandidates } from '../../../../src/answers/engine/find.ts';
import { countIn, createPassageStore } from '../../../../src/answers/engine/passage-store.ts';
import { toQuery } from '../../../../src/answers/engine/query.ts';
import { proximityOf } from '../../../../src/answers/engine/score.ts';
import { openPassageIndex } from '../../../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../../../src/answers/index/refresh.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';

async function openStore(files: Readonly<Record<string, string>>) {
  const index = openPassageIndex(':memory:');
  onTestFinished(() => index.close());
  await refreshIndex({ index, corpora: [corpusOf(files)] });
  return { index, store: createPassageStore(index) };
}

const harbour = {
  'a.md': '# Harbour\n\nAn anchor and an anchor.\n\n## Anchor\n\nIt is of iron.\n',
  'b.md': '# Ropes\n\nA rope holds the anchor.\n',
};

const concept = (...terms: readonly (readonly [string, number])[]) => ({
  weight: 1,
  terms: new Map(terms),
});

it('packs the counts of a term in each field into one number', async () => {
  const { store } = await openStore(harbour);
  const [first = 0] = store.anywhere('anchor');

  const use = store.profile(first)?.counts.get('anchor') ?? 0;

  expect([countIn(use, 'body'), countIn(use, 'heading'), countIn(use, 'lead')]).toEqual([2, 0, 1]);
  expect(store.profile(store.span)).toBeUndefined();
});

it('ranks matches above the text first, and counts each concept once for all its terms', async () => {
  const { store } = await openStore(harbour);
  const concepts = [concept(['rope', 0.5], ['anchor', 1])];

  const found = findCandidates({ concepts, names: new Map() }, store, 2);

  const headings = found.map((id) => store.profile(id)?.passage.heading);
  expect(headings[0]).toBe('Anchor');
  expect(found).toHaveLength(2);
});

it('reads one state of the index, whose revision changes with each write', async () => {
  const { index, store } = await openStore({ 'a.md': 'seal' });
  expect(store.anywhere('heron')).toHaveLength(0);
  const before = index.revision();

  await refreshIndex({ index, corpora: [corpusOf({ 'b.md': 'heron' })] });

  expect(index.revision()).not.toBe(before);
  expect(store.anywhere('heron')).toHaveLength(0);
  expect(createPassageStore(index).anywhere('heron')).toHaveLength(1);
});

it.each([
  ['rope anchor', 1],
  [`rope ${'x '.repeat(20)}anchor`, 0.5],
  ['sail', 0],
])('measures how much of the question is close together in %j', (text, share) => {
  const query = toQuery([concept(['rope', 1]), concept(['anchor', 1])]);

  expect(proximityOf(text.split(' '), query)).toBe(share);
});
