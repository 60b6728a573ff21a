import { join } from 'node:path';
import { corporaAt, ownCorpus } from './answers/corpus/corpus.ts';
import { type Answers, type AnswersOptions, openAnswers } from './answers/open-answers.ts';
import type { Config } from './config.ts';

/** What answers are opened with besides the configuration. */
export interface ConfiguredAnswersOptions
  extends Pick<AnswersOptions, 'clock' | 'onProgress' | 'onTrouble'> {
  readonly config: Pick<Config, 'PERCH_CORPUS' | 'PERCH_DATA_DIR'>;
}

/**
 * Opens answers from the configured corpora, by default the docs of Perch; the index is in the data
 * directory. Nothing is read until `refresh` or `keepCurrent`.
 *
 * @throws CorpusError for a corpus that is not there; Error when the index cannot be opened.
 */
export function openConfiguredAnswers({ config, ...rest }: ConfiguredAnswersOptions): Answers {
  const { PERCH_CORPUS: paths, PERCH_DATA_DIR: folder } = config;
  const corpora = paths.length === 0 ? [ownCorpus()] : corporaAt(paths);
  const path = folder === ':memory:' ? folder : join(folder, 'answers.db');
  return openAnswers({ ...rest, corpora, path });
}
