import {
  createWriteStream,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { systemClock } from '../core/clock.ts';
import { FileLockedError, lockFile } from '../core/files/file-lock.ts';
import { isCode, syncFolder } from '../core/files/private-files.ts';
import { BusyDatabasesError } from '../core/files/snapshot.ts';
import { listMediaCount, type Manifest, toSize } from './backup/manifest.ts';
import { type Copied, copyData, writeBackup } from './backup/write-backup.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  type ExitCode,
  exitCodes,
  UsageError,
  withOptions,
} from './command.ts';
import { explainOpenError } from './output/explain.ts';
import { explainWriteErrors } from './output/output-file.ts';
import { withStopSignal } from './stop-signal.ts';
import { dataFolderOf } from './stores.ts';

export const backupCommand: CommandBody = {
  details: `The backup is a zip file with the archive, the keys, the sessions and the secrets, as they are at one moment.
The server can run at the same time. Anyone who can read the backup can read this data. \`perch restore\` restores it.`,
  exits:
    'Exit code: 0 success, 2 bad usage or FILE exists, 3 data not readable or backup not writable.',
  ...withOptions(
    { force: { type: 'boolean', about: 'Replaces an existing FILE.' } },
    ({ force = false }, [file, ...more]) => {
      if (file === undefined || file === '' || more.length > 0) {
        throw new UsageError('Name one FILE for the backup, or - for standard output.');
      }
      return (context) =>
        withStopSignal((signal) => {
          const options = { context, signal };
          return file === '-'
            ? backUpToOutput(options)
            : backUpToFile(resolve(file), force, options);
        });
    },
  ),
};

interface BackupOptions {
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

async function backUpToOutput(options: BackupOptions): Promise<ExitCode> {
  const { stdout } = options.context;
  if (stdout.isTerminal || stdout.stream === null) {
    throw new UsageError('A backup is a binary file. Redirect standard output to a file.');
  }
  const source = mkdtempSync(join(tmpdir(), 'perch-backup-')); // accessible only to this user
  try {
    const copied = await copy(options, source);
    const { manifest } = copied;
    const { stream } = stdout;
    return await explainWriteErrors('Standard output', async () => {
      const folder = options.context.config.PERCH_DATA_DIR;
      await writeBackup({ ...copied, source, folder, keepOpen: true }, stream, options.signal);
      options.context.stderr.write(
        `perch: Wrote the backup to standard output: ${list(manifest)}\n`,
      );
      noteSharedEngine(options.context, manifest);
      return exitCodes.ok;
    });
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
}

function backUpToFile(path: string, force: boolean, options: BackupOptions): Promise<ExitCode> {
  return explainWriteErrors(path, async () => {
    requireNew(path, force);
    const part = `${path}.part`;
    const lock = openPart(part, path);
    try {
      const copied = await copy(options, part);
      const { manifest } = copied;
      const { stdout, config } = options.context;
      const draft = `${part}/${basename(path)}`;
      const output = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
      await explainStop(options.signal, () =>
        writeBackup(
          { ...copied, source: part, folder: config.PERCH_DATA_DIR },
          output,
          options.signal,
        ),
      );
      const bytes = output.bytesWritten;
      publish(draft, path, force);
      stdout.write(
        `Backed up ${config.PERCH_DATA_DIR} to ${path} (${toSize(bytes)}): ${list(manifest)}\n`,
      );
      noteSharedEngine(options.context, manifest);
      return exitCodes.ok;
    } finally {
      lock.release();
      rmSync(part, { recursive: true, force: true });
    }
  });
}

/** Checks the target. @throws CommandError if it exists without `force`, or is no regular file */
function requireNew(path: string, force: boolean): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile()) {
    const fault = `${path} exists and is not a regular file. Name a file for the backup.`;
    throw new CommandError('usage', fault);
  }
  if (force) return;
  const fault = `${path} already exists. Choose another name, or replace the file with --force.`;
  throw new CommandError('usage', fault);
}

/** Creates and locks an empty folder. @throws CommandError if another backup uses it */
function openPart(part: string, path: string) {
  try {
    mkdirSync(part, { mode: 0o700 });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    lockPart(part, path).release();
    rmSync(part, { recursive: true });
    mkdirSync(part, { mode: 0o700 });
  }
  try {
    return lockPart(part, path);
  } catch (error) {
    if (isCode(error, 'SQLITE_FULL')) rmSync(part, { recursive: true });
    throw error;
  }
}

function lockPart(part: string, path: string) {
  try {
    return lockFile(`${part}/lock`);
  } catch (cause) {
    if (!(cause instanceof FileLockedError)) throw cause;
    const fault = `Another backup to ${path} is running. Wait until it has ended, or choose another name.`;
    throw new CommandError('upstream', fault, { cause });
  }
}

function publish(draft: string, path: string, force: boolean): void {
  try {
    if (force) renameSync(draft, path);
    else linkSync(draft, path);
  } catch (error) {
    if (force || isCode(error, 'EEXIST')) {
      requireNew(path, force);
      throw error;
    }
    // Some file systems, such as exFAT, have no hard links.
    requireNew(path, force);
    renameSync(draft, path);
  }
  syncFolder(dirname(path));
}

/** Copies the data folder to `target`. @throws CommandError with a message for the user */
function copy({ context, signal }: BackupOptions, target: string): Promise<Copied> {
  const { config, stderr } = context;
  const folder = dataFolderOf(context, 'the backup');
  const hasSharedEngine = config.PERCH_REDIS_URL !== undefined;
  const onStep = (text: string) => stderr.showLine(`perch: ${text}`);
  return explainStop(signal, async () => {
    try {
      return await copyData({
        folder,
        target,
        hasSharedEngine,
        clock: systemClock,
        signal,
        onStep,
      });
    } catch (error) {
      if (error instanceof CommandError || signal.aborted) throw error;
      const fault =
        error instanceof BusyDatabasesError
          ? `${error.message} Run the command again when fewer changes are made.`
          : explainOpenError(error, config);
      throw new CommandError('upstream', fault, { cause: error });
    } finally {
      stderr.clearLine();
    }
  });
}

/** Calls `work`. @throws CommandError for the user if it fails because `signal` is aborted */
async function explainStop<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CommandError('upstream', 'The backup was stopped. No file was written.');
  }
}

const list = ({ files, media }: Manifest): string =>
  [...files.map(({ name }) => name), ...listMediaCount(media)].join(', ');

function noteSharedEngine({ stderr }: CommandContext, { shared_engine }: Manifest): void {
  if (!shared_engine) return;
  stderr.write(
    'perch: The keys, the sessions and the secrets are in the shared engine at PERCH_REDIS_URL, so they are not in this backup. Back up the shared engine too; see docs/backup.md.\n',
  );
}
