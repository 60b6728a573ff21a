import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { systemClock } from '../../lib/clock.ts';
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

/** Creates an empty folder for a restore's new files. */
export function openIncomplete(folder: string): string {
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
  return finishRestore(folder, nowMs);
}

/**
 * Finishes an interrupted restore, or deletes its incomplete files. Each step is a rename that can
 * be repeated: the names of the folders tell what is left to do. The caller must hold the lock.
 */
export function finishRestore(folder: string, nowMs: number): string | null {
  discardIncomplete(folder);
  const complete = completeIn(folder);
  if (!existsSync(complete)) return null;
  const [waiting, moving] = [`${complete}/new`, `${complete}/moving`];
  if (existsSync(waiting)) {
    moveAll(listSaved(folder), folder, complete);
    renameSync(waiting, moving);
    syncFolder(complete);
  }
  if (existsSync(moving)) {
    moveAll(readdirSync(moving), moving, folder);
    rmdirSync(moving);
  }
  const isEmpty = readdirSync(complete).length === 0;
  const earlier = `${folder}/${nameEarlier(folder, nowMs)}`;
  if (isEmpty) rmdirSync(complete);
  else renameSync(complete, earlier);
  syncFolder(folder);
  return isEmpty ? null : earlier;
}

function listSaved(folder: string): readonly string[] {
  const names = [...savedFiles, mediaFolderName].flatMap((name) =>
    ['', ...journalSuffixes].map((suffix) => `${name}${suffix}`),
  );
  return readdirSync(folder).filter((name) => names.includes(name));
}

function moveAll(names: readonly string[], from: string, to: string): void {
  for (const name of names) renameSync(`${from}/${name}`, `${to}/${name}`);
  syncFolder(from);
  syncFolder(to);
}

function nameEarlier(folder: string, nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const base = `${earlierPrefix}${time}Z`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!existsSync(`${folder}/${name}`)) return name;
  }
}

const hasLeftovers = (folder: string): boolean =>
  existsSync(incompleteIn(folder)) || existsSync(completeIn(folder));

/**
 * Locks a data folder, and first finishes an interrupted restore. Waits `waitMs` milliseconds while
 * another command finishes it.
 * @throws FileLockedError if a restore is running or cannot be finished; Error with `path` for
 *   other failures
 */
export function enterDataFolder(folder: string, waitMs = 2000): FileLock {
  if (hasLeftovers(folder)) finishUnlessInUse(folder, waitMs);
  const lock = shareDataFolder(folder, waitMs);
  if (!existsSync(completeIn(folder))) return lock;
  lock.release();
  throw new FileLockedError(
    `A restore of ${folder} was interrupted, and cannot be finished while another process uses this data directory. Stop that process, then try again.`,
  );
}

function finishUnlessInUse(folder: string, waitMs: number): void {
  let lock: FileLock;
  try {
    lock = seizeDataFolder(folder, waitMs);
  } catch (error) {
    if (error instanceof FileLockedError) return;
    throw error;
  }
  try {
    finishRestore(folder, systemClock.now());
  } finally {
    lock.release();
  }
}

/** Locks the data folder. Returns `null` after printing the error if a restore blocks it. */
export function enterFolder(
  path: string,
  use: 'shared' | 'created',
  { config, stderr }: CommandContext,
): FileLock | null {
  try {
    if (use === 'created') createIfPossible(path);
    return enterDataFolder(path);
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
