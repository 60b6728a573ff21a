import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Corpus } from '../../src/answers/corpus/corpus.ts';

import { walkCorpus } from '../../src/answers/corpus/corpus.ts';
import { createExtractiveEngine } from '../../src/answers/engine/extractive-engine.ts';
import { openPassageIndex, type PassageIndex } from '../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../src/answers/index/refresh.ts';
import { decodeText, readFileText } from '../../src/answers/readers/reader-table.ts';
import { type Baseline, openBaseline, type PlainSection } from './baseline.ts';
import { fetchCorpus } from './corpora.ts';
import type { LabelledQuestion } from './questions.ts';
import type { JudgedAnswer } from './scoring.ts';

/** Folder for the downloaded npm and Debian packages whose documents the benchmark indexes. */
export const scratchFolder =
  process.env.PERCH_BENCH_SCRATCH ?? join(tmpdir(), 'perch-bench-answers');

/** Documents of a package, indexed for the answer engine (`ask`) and for plain BM25 search (`baseline`). */
export interface Rig {
  readonly corpus: string;
  readonly folder: string;
  readonly index: PassageIndex;
  readonly baseline: Baseline;
  ask(question: string): Promise<JudgedAnswer>;
  close(): void;
}

/** Downloads and indexes the documents that a question is about. */
export async function openRig({ corpus, root }: LabelledQuestion): Promise<Rig> {
  const folder = fetchCorpus(corpus, scratchFolder);
  const docs: Corpus = { name: 'docs', root: join(folder, root) };
  const { index, ask } = await openIndexed(docs);
  const baseline = openBaseline(await readSections(docs, root));
  return {
    corpus,
    folder,
    index,
    baseline,
    ask: async (question) => {
      const answer = await ask(question);
      const citations = answer.citations.map((one) => ({ ...one, file: `${root}/${one.file}` }));
      return { ...answer, citations };
    },
    close: () => {
      index.close();
      baseline.close();
    },
  };
}

/** Indexes a corpus in memory. Callers must close the index. */
export async function openIndexed(corpus: Corpus): Promise<Pick<Rig, 'index' | 'ask'>> {
  const index = openPassageIndex(':memory:');
  await refreshIndex({ index, corpora: [corpus] });
  const engine = createExtractiveEngine(index, [corpus]);
  const ask = async (text: string): Promise<JudgedAnswer> => {
    const start = performance.now();
    const { citations, ...answer } = await engine.answer(
      { text, earlier: [] },
      { signal: new AbortController().signal, onText: () => {} },
    );
    const ms = performance.now() - start;
    return {
      ...answer,
      citations: citations.map(({ path, ...of }) => ({ file: path, ...of })),
      ms,
    };
  };
  return { index, ask };
}

async function readSections(docs: Corpus, root: string): Promise<readonly PlainSection[]> {
  const sections: PlainSection[] = [];
  for await (const { path, absolute } of walkCorpus(docs)) {
    const text = decodeText(await readFile(absolute));
    const read = text === undefined ? undefined : readFileText(path, text);
    for (const { heading, line, blocks } of read?.sections ?? []) {
      const whole = blocks.map((block) => block.text).join('\n');
      sections.push({ file: `${root}/${path}`, heading, line, text: whole });
    }
  }
  return sections;
}
