import { expect, it, onTestFinished } from 'vitest';
import { createLexicon, hasUnknownName } from '../../../../src/answers/engine/lexicon.ts';
import { openPassageIndex } from '../../../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../../../src/answers/index/refresh.ts';
import { readVocabulary } from '../../../../src/answers/text/words.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';

it.each([
  ['send the anchor to Kafka', true],
  ['Is there one? Kafka has none, says AWS', true],
  // Known, misspelt, at the start of a sentence, and in lower case.
  ['open the Anchor', false],
  ['a boat in the Harbuor', false],
  ['Kafka', false],
  ['send the anchor to kafka', false],
  ['Can I do that in 2026', false],
  ['', false],
])(
  'checks whether %j has a capitalised name that is not in the index: %j',
  async (question, isUnknown) => {
    const index = openPassageIndex(':memory:');
    onTestFinished(() => index.close());
    const corpus = corpusOf({ 'a.md': '# Harbour\n\nOpen the anchor, then send a boat.\n' });
    await refreshIndex({ index, corpora: [corpus] });

    const context = { lexicon: createLexicon(index), vocabulary: readVocabulary() };
    expect(hasUnknownName(question, context)).toBe(isUnknown);
  },
);
