import { existsSync } from 'node:fs';
import { type ArchiveStore, openArchiveStore } from '../../archive/store/store.ts';
import { errorCodeOf, UnusableFileError } from '../../core/files/sqlite.ts';
import { type CommandContext, type ExitCode, exitCodes, UsageError } from '../command.ts';

/**
 * Opens the archive of the data directory, runs `use` and closes it again; gives the exit code. What is
 * wrong with the file is told on standard error.
 *
 * @param whenMissing Whether a file that is not there is made, or stands for an empty archive.
 */
export async function withArchiveStore(
  { config, stderr }: CommandContext,
  whenMissing: 'make' | 'empty',
  use: (store: ArchiveStore) => Promise<ExitCode>,
): Promise<ExitCode> {
  const folder = config.PERCH_DATA_DIR;
  if (folder === ':memory:') {
    throw new UsageError(
      'PERCH_DATA_DIR is :memory:, so the archive would be lost at once; name a folder',
    );
  }
  const path = `${folder}/archive.db`;
  let store: ArchiveStore | null = null;
  try {
    const isEmpty = whenMissing === 'empty' && !existsSync(path);
    store = openArchiveStore(isEmpty ? ':memory:' : path, config.PERCH_BASE_URL);
    return await use(store);
  } catch (error) {
    const reason = tellStoreFault(error);
    if (reason === null) throw error;
    stderr.write(`perch: ${reason}\nThe archive is ${path}.\n`);
    return exitCodes.upstream;
  } finally {
    store?.close();
  }
}

const reasons: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^SQLITE_FULL|^ENOSPC/, 'the disk is full. What was written is kept; make room and try again'],
  [/^SQLITE_BUSY/, 'another process keeps the archive locked. Nothing is lost; try again'],
  [
    /^SQLITE_(?:READONLY|CANTOPEN|PERM)|^EACCES|^EROFS/,
    'there is no permission to write the archive',
  ],
  [/^EEXIST|^ENOTDIR/, 'PERCH_DATA_DIR names a file, or leads through one; it has to be a folder'],
  [/^SQLITE_(?:CORRUPT|NOTADB)/, 'the archive is damaged, or no archive of Perch'],
];

/** Says what is wrong with the archive's file; null where the error is about something else. */
function tellStoreFault(error: unknown): string | null {
  if (error instanceof UnusableFileError) return error.message;
  const code = errorCodeOf(error) ?? '';
  const [, known] = reasons.find(([pattern]) => pattern.test(code)) ?? [];
  if (known !== undefined) return known;
  return code.startsWith('SQLITE_') && error instanceof Error ? error.message : null;
}
