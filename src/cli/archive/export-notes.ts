import type { ArchiveStore } from '../../archive/store/store.ts';
import type { AccountReference } from '../../model/reference.ts';
import { type CommandContext, type ExitCode, exitCodes } from '../command.ts';
import { withStopSignal } from '../stop-signal.ts';
import { ExportFolderError, openExportFolder } from './export-folder.ts';
import { exportMarkdown } from './export-markdown.ts';
import { toCount } from './import-progress.ts';

/** An account whose archive becomes a folder of notes. */
export interface FolderExport {
  readonly store: ArchiveStore;
  /** It is held. */
  readonly account: AccountReference;
  /** The value of `--output`. */
  readonly output: string;
  readonly context: CommandContext;
}

/** Writes an account's archive as a folder of Markdown, and says what was written. */
export async function exportToFolder({
  store,
  account,
  output,
  context,
}: FolderExport): Promise<ExitCode> {
  const { stdout, stderr } = context;
  const held = store.findAccount(account);
  if (held === undefined || held.isProtected) {
    stderr.write(
      `perch: the archive shows nobody the posts of ${account.handle} on ${account.platform}, so there are no notes of them; --format ndjson has them, as a backup\n`,
    );
    return exitCodes.notFound;
  }
  const owner = { platform: account.platform, handle: held.handle };
  try {
    const folder = openExportFolder(output, owner);
    const options = { store, owner, account: held.account(), folder };
    const { years, isWhole } = await withStopSignal((signal) =>
      exportMarkdown({ ...options, signal }),
    );
    const [threads, posts, reposts] = (['threads', 'posts', 'reposts'] as const).map((of) =>
      toCount(years.reduce((sum, year) => sum + year[of], 0)),
    );
    const { written, same, removed } = folder.counts;
    stdout.write(
      `${owner.handle} on ${owner.platform}: ${threads} threads of ${posts} posts, and ${reposts} reposts, in ${output}\n${toCount(written)} files written, ${toCount(same)} unchanged, ${toCount(removed)} removed\n`,
    );
    if (isWhole) return exitCodes.ok;
    stderr.write('perch: stopped; the same command goes on\n');
    return exitCodes.upstream;
  } catch (error) {
    if (!(error instanceof ExportFolderError)) throw error;
    stderr.write(`perch: ${error.message}\n`);
    return exitCodes.usage;
  }
}
