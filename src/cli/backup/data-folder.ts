import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { type Clock, systemClock } from '../../lib/clock.ts';
import {
  earlierPrefix,
  journalSuffixes,
  mediaFolderName,
  restoreFolders,
  savedFiles,
} from '../../lib/files/data-folder.ts';
import {
  type FileLock,
  FileLockedError,
  seizeDataFolder,
  shareDataFolder,
} from '../../lib/files/file-lock.ts';
import { giveToOwnerOf, makePrivateFolder, syncFolder } from '../../lib/files/private-files.ts';
import type { CommandContext } from '../command.ts';
import { explainOpenError } from '../output/explain.ts';

const incompleteIn = (folder: string) => `${folder}/${restoreFolders.incomplete}`;
const completeIn = (folder: string) => `${folder}/${restoreFolders.complete}`;

/** Creates an empty folder for a restore's new files. Deletes that of an interrupted restore. */
export function openIncomplete(folder: string): string {
  discardIncomplete(folder);
  const incomplete = incompleteIn(folder);
  for (const path of [incomplete, `${incomplete}/new`]) {
    mkdirSync(path, { mode: 0o700 });
    giveToOwnerOf(folder, path);
  }
  return `${incomplete}/new`;
}

export function discardIncomplete(folder: string): void {
  rmSync(incompleteIn(folder), { recursive: true, force: true });
}

/**
 * Replaces the data files with those of `openIncomplete`, which must be complete and flushed to
 * disk. The caller must hold the lock. Returns the folder with the earlier files; `null` if there
 * were none.
 */
export function replaceFiles(folder: string, nowMs: number): string | null {
  syncFolder(`${incompleteIn(folder)}/new`);
  // The process can be killed between two renames. Until this one, the earlier files are complete
  // and in place. After it, every command that uses the data folder first finishes the restore.
  renameSync(incompleteIn(folder), completeIn(folder));
  syncFolder(folder);
  return finishReplacing(folder, nowMs);
}

/** Each step is a rename that can be repeated: the names of the folders tell what is left to do. */
function finishReplacing(folder: string, nowMs: number): string | null {
  const complete = completeIn(folder);
  const [waiting, moving] = [`${complete}/new`, `${complete}/moving`];
  if (existsSync(waiting)) {
    setAside(folder, complete);
    renameSync(waiting, moving);
    syncFolder(complete);
  }
  if (existsSync(moving)) {
    for (const name of readdirSync(moving)) renameSync(`${moving}/${name}`, `${folder}/${name}`);
    syncFolder(folder);
    rmdirSync(moving);
  }
  const isEmpty = readdirSync(complete).length === 0;
  const earlier = `${folder}/${nameEarlier(folder, nowMs)}`;
  if (isEmpty) rmdirSync(complete);
  else renameSync(complete, earlier);
  syncFolder(folder);
  return isEmpty ? null : earlier;
}

function setAside(folder: string, target: string): void {
  for (const name of [...savedFiles, mediaFolderName]) {
    for (const file of ['', ...journalSuffixes].map((suffix) => `${name}${suffix}`)) {
      if (lstatSync(`${folder}/${file}`, { throwIfNoEntry: false }) === undefined) continue;
      renameSync(`${folder}/${file}`, `${target}/${file}`);
    }
  }
  syncFolder(folder);
}

function nameEarlier(folder: string, nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const base = `${earlierPrefix}${time}Z`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!existsSync(`${folder}/${name}`)) return name;
  }
}

/** Finishes an interrupted restore, or deletes its incomplete files. Needs the folder's lock. */
export function recover(folder: string, nowMs: number): void {
  discardIncomplete(folder);
  if (existsSync(completeIn(folder))) finishReplacing(folder, nowMs);
}

function recoverUnlessInUse(folder: string, nowMs: number): void {
  if (!existsSync(incompleteIn(folder)) && !existsSync(completeIn(folder))) return;
  let lock: FileLock;
  try {
    lock = seizeDataFolder(folder);
  } catch (error) {
    if (error instanceof FileLockedError) return;
    throw error;
  }
  try {
    recover(folder, nowMs);
  } finally {
    lock.release();
  }
}

/** Maximum time in milliseconds to wait while another command finishes an interrupted restore. */
const waitMs = 2000;
const retryMs = 25;

/**
 * Locks a data folder, and first finishes an interrupted restore.
 * @throws FileLockedError if a restore is running or cannot be finished; Error with `path` for
 *   other failures
 */
export async function enterDataFolder(folder: string, clock: Clock): Promise<FileLock> {
  const endMs = clock.now() + waitMs;
  for (;;) {
    const isLate = clock.now() >= endMs;
    recoverUnlessInUse(folder, clock.now());
    try {
      return shareRestored(folder);
    } catch (error) {
      if (isLate || !(error instanceof FileLockedError)) throw error;
    }
    await clock.sleep(retryMs);
  }
}

function shareRestored(folder: string): FileLock {
  const lock = shareDataFolder(folder);
  if (!existsSync(completeIn(folder))) return lock;
  lock.release();
  throw new FileLockedError(
    `A restore of ${folder} was interrupted, and cannot be finished while another process uses this data directory. Stop that process, then try again.`,
  );
}

/** Locks the data folder. Returns `null` after printing the error if a restore blocks it. */
export async function enterFolder(
  path: string,
  use: 'shared' | 'created',
  { config, stderr }: CommandContext,
): Promise<FileLock | null> {
  try {
    if (use === 'created') createIfPossible(path);
    return await enterDataFolder(path, systemClock);
  } catch (error) {
    stderr.write(`perch: ${explainOpenError(error, config)}\n`);
    return null;
  }
}

function createIfPossible(path: string): void {
  try {
    makePrivateFolder(path);
  } catch {
    // The command opens a file in the folder, which fails with the same error.
  }
}
