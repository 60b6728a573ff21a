import { type ArchiveStore, openArchiveStore } from '../../archive/store/store.ts';
import { isMissing } from '../../core/files/private-files.ts';
import { errorCodeOf, UnusableFileError } from '../../core/files/sqlite.ts';
import type { AccountReference } from '../../model/reference.ts';
import { type CommandContext, CommandError, type ExitCode } from '../command.ts';
import { findByCode } from '../output/explain.ts';
import { dataFolderOf, withStore } from '../stores/with-store.ts';

/** Opens the archive for `use`; `empty` creates no file. @throws CommandError if it is unusable */
export async function withArchiveStore(
  context: CommandContext,
  whenMissing: 'create' | 'empty',
  use: (store: ArchiveStore) => Promise<ExitCode>,
): Promise<ExitCode> {
  const path = `${dataFolderOf(context, 'the archive')}/archive.db`;
  const open = () => {
    const isEmpty = whenMissing === 'empty' && isMissing(path);
    return openArchiveStore(isEmpty ? ':memory:' : path, context.config.PERCH_BASE_URL);
  };
  const explain = (error: unknown) => {
    const reason = explainStoreError(error);
    return reason === null ? null : `${reason}\nThe archive is ${path}.`;
  };
  return withStore(open, explain, use);
}

export function notArchived({ handle, platform }: AccountReference): CommandError {
  const fault = `The archive does not contain ${handle} on ${platform}. \`perch archive list\` lists its accounts.`;
  return new CommandError('notFound', fault);
}

const reasons: Readonly<Record<string, string>> = {
  'SQLITE_FULL ENOSPC': 'The disk is full. Free some space and run the command again.',
  SQLITE_BUSY: 'Another process has locked the archive. Run the command again.',
  'SQLITE_READONLY SQLITE_CANTOPEN SQLITE_PERM EACCES EROFS':
    'You have no permission to use the archive. Run perch as the user that runs the server.',
  'EEXIST ENOTDIR': 'PERCH_DATA_DIR, or a part of its path, is a file. Set it to a folder.',
  'SQLITE_CORRUPT SQLITE_NOTADB': 'The archive is damaged, or is not an archive of Perch.',
};

function explainStoreError(error: unknown): string | null {
  if (error instanceof UnusableFileError) return error.message;
  const known = findByCode(reasons, error);
  if (known !== undefined) return known;
  const isOfSqlite = errorCodeOf(error)?.startsWith('SQLITE_') === true;
  return isOfSqlite && error instanceof Error ? error.message : null;
}
