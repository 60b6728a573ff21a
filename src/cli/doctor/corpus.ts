import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CorpusError, corporaAt, ownCorpus } from '../../answers/corpus/corpus.ts';
import { walkCorpus } from '../../answers/corpus/walk.ts';
import { fault, ok, type Result, warning } from './finding.ts';
import type { DoctorContext } from './run-checks.ts';

const bounds = {
  /** Maximum number of files to count for each path in `PERCH_CORPUS`. */
  files: 5000,
  /** Maximum time in milliseconds to count the files of all paths in `PERCH_CORPUS`. */
  ms: 2000,
} as const;

export async function checkCorpus({ config, clock }: DoctorContext): Promise<readonly Result[]> {
  const { PERCH_CORPUS: paths } = config;
  if (paths.length === 0) {
    const count = [...walkCorpus(ownCorpus())].length;
    if (count > 0) return [ok('Perch answers questions from its own documentation.')];
    return [
      fault(
        'The documentation of Perch is missing.',
        'Install Perch again, including the folder docs.',
      ),
    ];
  }
  return paths.map((path) => {
    const untilMs = clock.now() + bounds.ms / paths.length;
    return checkPath(path, () => clock.now() > untilMs);
  });
}

function checkPath(path: string, isLate: () => boolean): Result {
  const correct = 'Correct PERCH_CORPUS.';
  try {
    const [corpus] = corporaAt([path]);
    if (corpus === undefined) return fault(`${path} cannot be read.`, correct);
    const absolute = resolve(path);
    const isFolder = statSync(absolute).isDirectory();
    if (!canRead(absolute, isFolder)) {
      const message = `PERCH_CORPUS contains ${path}, which the user that runs Perch cannot read.`;
      return fault(message, `Give this user access, for example with \`chmod -R a+rX ${path}\`.`);
    }
    return describeCounts(path, countFiles(corpus, isLate));
  } catch (error) {
    if (!(error instanceof CorpusError)) throw error;
    return fault(`PERCH_CORPUS contains ${path}. ${error.message}`, correct);
  }
}

function canRead(path: string, isFolder: boolean): boolean {
  try {
    accessSync(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

interface Counts {
  readonly files: number;
  readonly unreadable: number;
  readonly isComplete: boolean;
}

function countFiles(corpus: Parameters<typeof walkCorpus>[0], isLate: () => boolean): Counts {
  let [files, unreadable] = [0, 0];
  const onFolder = (folder: string) => {
    if (!canRead(folder, true)) unreadable += 1;
  };
  for (const { absolute } of walkCorpus(corpus, { onFolder })) {
    files += 1;
    if (!canRead(absolute, false)) unreadable += 1;
    if (files >= bounds.files || isLate()) return { files, unreadable, isComplete: false };
  }
  return { files, unreadable, isComplete: true };
}

function describeCounts(path: string, { files, unreadable, isComplete }: Counts): Result {
  if (unreadable > 0) {
    const message = `${unreadable} files or folders in ${path} cannot be read by the user that runs Perch.`;
    return warning(message, `Give this user access, for example with \`chmod -R a+rX ${path}\`.`);
  }
  if (files === 0) {
    const message = `${path} contains no documents in a format that Perch can read.`;
    return warning(message, 'Add Markdown, HTML or text files, or correct PERCH_CORPUS.');
  }
  return ok(`${path} contains ${isComplete ? files : `at least ${files}`} documents.`);
}
