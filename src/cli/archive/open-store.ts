import { existsSync } from 'node:fs';
import { type ArchiveStore, openArchiveStore } from '../../archive/store/store.ts';
import { errorCodeOf, UnusableFileError } from '../../core/files/sqlite.ts';
import type { AccountReference } from '../../model/reference.ts';
import { type CommandContext, CommandError, type ExitCode } from '../command.ts';
import { findByCode } from '../output/explain.ts';
import { dataFolderOf, withStore } from '../with-store.ts';

/**
 * Opens the archive of the data directory, runs `use` and closes it again. A missing file is made, or
 * stands for an empty archive. Throws CommandError for a fault of the file.
 */
export async function withArchiveStore(
  context: CommandContext,
  whenMissing: 'make' | 'empty',
  use: (store: ArchiveStore) => Promise<ExitCode>,
): Promise<ExitCode> {
  const path = `${dataFolderOf(context, 'the archive')}/archive.db`;
  const isEmpty = whenMissing === 'empty' && !existsSync(path);
  const open = () => openArchiveStore(isEmpty ? ':memory:' : path, context.config.PERCH_BASE_URL);
  const explain = (error: unknown) => {
    const reason = tellStoreFault(error);
    return reason === null ? null : `${reason}\nThe archive is ${path}.`;
  };
  return withStore(open, explain, use);
}

/** Returns the error for an account that is not in the archive. */
export function notHeld({ handle, platform }: AccountReference): CommandError {
  const fault = `the archive does not hold ${handle} on ${platform}; \`perch archive list\` shows what it holds`;
  return new CommandError('notFound', fault);
}

const reasons: Readonly<Record<string, string>> = {
  'SQLITE_FULL ENOSPC': 'the disk is full. What was written is kept; make room and try again',
  SQLITE_BUSY: 'another process keeps the archive locked. Nothing is lost; try again',
  'SQLITE_READONLY SQLITE_CANTOPEN SQLITE_PERM EACCES EROFS':
    'there is no permission to write the archive',
  'EEXIST ENOTDIR': 'PERCH_DATA_DIR names a file, or leads through one; it has to be a folder',
  'SQLITE_CORRUPT SQLITE_NOTADB': 'the archive is damaged, or no archive of Perch',
};

/** Returns what is wrong with the archive's file; `null` where the error is about something else. */
function tellStoreFault(error: unknown): string | null {
  if (error instanceof UnusableFileError) return error.message;
  const known = findByCode(reasons, error);
  if (known !== undefined) return known;
  const isOfSqlite = errorCodeOf(error)?.startsWith('SQLITE_') === true;
  return isOfSqlite && error instanceof Error ? error.message : null;
}
