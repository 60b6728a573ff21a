import { expect, it, onTestFinished } from 'vitest';
import { openAnswers } from '../../../../src/answers/open-answers.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const files = {
  'docs/operation.md':
    '# Operation\n\nHow to run the server.\n\n## Log files\n\nThe server writes log lines to a file.\n',
  'docs/02-architecture.md':
    '# Architecture\n\n## Log\n\nOnly the module `log` writes log lines of the server to a file.\n',
  'CONTRIBUTING.md':
    '# Contributing\n\n## Log\n\nSet the level of log lines of the server.\n\n## Read a log file of a test\n\nEach test writes a file.\n',
};

it.each([
  ['where are the log lines of the server', 'docs/operation.md'],
  ['which module writes log lines', 'docs/02-architecture.md'],
  ['how do I contribute to the server', 'CONTRIBUTING.md'],
  ['how do I read a log file of a test', 'CONTRIBUTING.md'],
])('cites the page for the readers of the question first: %s', async (question, path) => {
  const answers = openAnswers({
    corpora: [corpusOf(files)],
    path: ':memory:',
    clock: createManualClock(),
  });
  onTestFinished(() => answers.close());
  await answers.refresh();

  const call = { signal: new AbortController().signal, onText: () => {} };
  const { citations } = await answers.engine.answer({ text: question, earlier: [] }, call);

  expect(citations[0]?.path).toBe(path);
});
