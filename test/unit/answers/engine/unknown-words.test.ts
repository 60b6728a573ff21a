import { expect, it, onTestFinished } from 'vitest';
import { createLexicon } from '../../../../src/answers/engine/lexicon.ts';
import { findUnknownWords } from '../../../../src/answers/engine/unknown-words.ts';
import { openPassageIndex } from '../../../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../../../src/answers/index/refresh.ts';
import { createEverydayWords } from '../../../../src/answers/text/everyday-words.ts';
import { createSynonyms } from '../../../../src/answers/text/synonyms.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';

it.each([
  ['how do I open the anchor', { name: 0, share: 0 }],
  ['Kafka', { name: 0, share: 1 }],
  ['send the anchor to Kafka', { name: 1, share: 1 / 3 }],
  // A misspelling of “harbour”, and a plain word that the tables know.
  ['spinner in the harbuor', { name: 0, share: 0 }],
  ['', { name: 0, share: 0 }],
])('judges the words of %j that nobody wrote', async (question, unknown) => {
  const index = openPassageIndex(':memory:');
  onTestFinished(() => index.close());
  const corpus = corpusOf({ 'a.md': '# Harbour\n\nOpen the anchor, then send a boat.\n' });
  await refreshIndex({ index, corpora: [corpus] });
  const context = {
    lexicon: createLexicon(index),
    synonyms: createSynonyms(),
    everyday: createEverydayWords(),
  };

  expect(findUnknownWords(question, context)).toEqual(unknown);
});
