import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CorpusError } from '../../../../src/answers/corpus/corpus.ts';
import type { AnswersOptions } from '../../../../src/answers/open-answers.ts';
import { openConfiguredAnswers, toLogLines } from '../../../../src/server/wiring/answers.ts';
import { testConfig } from '../../../support/build-app.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

it('logs the progress and the completion of an index', async () => {
  const clock = createManualClock();
  const lines: object[] = [];
  const write = (fields: object, message: string) => lines.push({ ...fields, message });
  const { onProgress, onRefreshed } = toLogLines({ info: write, warn: write, error: write }, clock);
  const refresh = async (times: number, read: number) => {
    const progress = { files: 0, read: 0, removed: 0 };
    for (let time = 0; time < times; time += 1) {
      progress.files += 20;
      progress.read += read;
      onProgress?.(progress);
      await clock.advance(500);
    }
    onRefreshed?.({ ...progress, skipped: { format: 3 }, passages: 7, ms: times * 500 });
  };

  await refresh(6, 20);
  await refresh(60, 0);

  expect(lines).toEqual([
    { files: 100, read: 100, message: 'building the index for answers' },
    {
      files: 120,
      read: 120,
      removed: 0,
      skipped: { format: 3 },
      passages: 7,
      ms: 3000,
      message: 'the index for answers is up to date',
    },
  ]);
});

it('logs the error that stopped an index update', () => {
  const lines: object[] = [];
  const write = (fields: object) => lines.push(fields);
  const err = new Error('disk full');

  toLogLines({ info: write, warn: write, error: write }, createManualClock()).onError?.(err);

  expect(lines).toEqual([{ err }]);
});

it('opens the configured corpora, with their index in the data directory', () => {
  const { root } = corpusOf({ 'a.md': 'seal' });
  const folder = temporaryFolder();
  const opened: AnswersOptions[] = [];
  const open = (paths: readonly string[]) =>
    openConfiguredAnswers({
      config: testConfig({ PERCH_CORPUS: paths.join(','), PERCH_DATA_DIR: folder }),
      clock: createManualClock(),
      open: (options) => {
        opened.push(options);
        throw new Error('opened');
      },
    });

  expect(() => open([root])).toThrow('opened');
  expect(() => open([])).toThrow('opened');
  expect(() => open([join(root, 'nowhere')])).toThrow(CorpusError);

  expect(opened.map(({ path }) => path)).toEqual(Array(2).fill(join(folder, 'answers.db')));
  expect(opened.map(({ corpora }) => corpora.map((corpus) => corpus.root))).toEqual([
    [root],
    [process.cwd()],
  ]);
});
