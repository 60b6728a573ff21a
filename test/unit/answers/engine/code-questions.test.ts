import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createExtractiveEngine } from '../../../../src/answers/engine/extractive-engine.ts';
import { openPassageIndex } from '../../../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../../../src/answers/index/refresh.ts';
import { packagePath } from '../../../../src/core/files/package-path.ts';

const root = packagePath('test/support/repositories/doors');
const questions = readFileSync(`${root}/questions.jsonl`, 'utf8')
  .trim()
  .split('\n')
  .map((line): { question: string; first: string } => JSON.parse(line));

it('cites the right file first for each question about a repository, and names the line of a definition', async () => {
  const index = openPassageIndex(':memory:');
  onTestFinished(() => index.close());
  const corpora = [{ name: 'doors', root }];
  await refreshIndex({ index, corpora });
  const engine = createExtractiveEngine(index, corpora);

  const found: string[] = [];
  for (const { question, first } of questions) {
    const call = { signal: new AbortController().signal, onText: () => {} };
    const { text, citations } = await engine.answer({ text: question, earlier: [] }, call);
    const hasPlace = /:\d+$/.test(first) && text.startsWith(`\`${first}\`\n\n\`\`\``);
    found.push(`${question} → ${hasPlace ? first : citations[0]?.path}`);
  }

  expect(found).toEqual(questions.map(({ question, first }) => `${question} → ${first}`));
});
