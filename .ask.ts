import { ownCorpus } from '/work/h/int/src/answers/corpus/corpus.ts';
import { createExtractiveEngine } from '/work/h/int/src/answers/engine/extractive-engine.ts';
import { openPassageIndex } from '/work/h/int/src/answers/index/passage-index.ts';
import { refreshIndex } from '/work/h/int/src/answers/index/refresh.ts';
const corpus = ownCorpus();
const index = openPassageIndex(':memory:');
await refreshIndex({ index, corpora: [corpus] });
const engine = createExtractiveEngine(index, [corpus]);
for (const q of process.argv.slice(2)) {
  const a = await engine.answer({ text: q, earlier: [] }, { signal: new AbortController().signal, onText: () => {} });
  console.log('==', q, '\n', a.text.slice(0, 600), '\n', a.citations.map(({path,heading})=>`${path} ${heading}`));
}
index.close();
