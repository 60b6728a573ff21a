import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import {
  earlierPrefix,
  journalSuffixes,
  mediaFolderName,
  restoreFolders,
  type SavedName,
  savedFiles,
} from '../../core/files/data-folder.ts';
import { type FileLock, FileLockedError } from '../../core/files/file-lock.ts';
import { seizeDataFolder, shareDataFolder } from '../../core/files/folder-lock.ts';
import { giveToOwnerOf } from '../../core/files/private-files.ts';

const planName = 'plan.json';

const replacedNames = [...savedFiles, mediaFolderName] as const;
type ReplacedName = SavedName | typeof mediaFolderName;

/** Creates an empty folder for a restore's new files. Deletes that of an interrupted restore. */
export function openIncomplete(folder: string): string {
  const path = `${folder}/${restoreFolders.incomplete}`;
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  giveToOwnerOf(folder, path);
  return path;
}

export function discardIncomplete(folder: string): void {
  rmSync(`${folder}/${restoreFolders.incomplete}`, { recursive: true, force: true });
}

/**
 * Replaces the data files with those in `restore.new`, which must be complete and flushed to disk.
 * The caller must hold the lock. Returns the folder with the previous files; `null` if there were
 * none.
 */
export function replaceFiles(
  folder: string,
  { files, nowMs }: { readonly files: readonly ReplacedName[]; readonly nowMs: number },
): string | null {
  const incomplete = `${folder}/${restoreFolders.incomplete}`;
  const earlier = nameEarlier(folder, nowMs);
  writePlan(incomplete, { earlier, files });
  // The process can be killed between two renames. Until this rename, the old files are complete
  // and in place. After this rename, every command that uses the data folder first finishes the
  // restore.
  renameSync(incomplete, `${folder}/${restoreFolders.complete}`);
  syncFolder(folder);
  finishReplacing(folder);
  return existsSync(`${folder}/${earlier}`) ? `${folder}/${earlier}` : null;
}

interface Plan {
  /** Name of the folder that the replaced files are moved to. */
  readonly earlier: string;
  readonly files: readonly ReplacedName[];
}

function writePlan(incomplete: string, plan: Plan): void {
  const path = `${incomplete}/${planName}`;
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, JSON.stringify(plan));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFolder(incomplete);
}

function readPlan(complete: string): Plan {
  // `writePlan` has written the file, so it contains a `Plan`.
  return JSON.parse(readFileSync(`${complete}/${planName}`, 'utf8')) as Plan;
}

function nameEarlier(folder: string, nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const base = `${earlierPrefix}${time}Z`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!existsSync(`${folder}/${name}`)) return name;
  }
}

function finishReplacing(folder: string): void {
  const complete = `${folder}/${restoreFolders.complete}`;
  if (existsSync(`${complete}/${planName}`)) {
    moveFiles(folder, complete);
    rmSync(`${complete}/${planName}`);
  }
  rmdirSync(complete);
  syncFolder(folder);
}

function moveFiles(folder: string, complete: string): void {
  const plan = readPlan(complete);
  const earlier = `${folder}/${plan.earlier}`;
  const isWaiting = (name: ReplacedName) => existsSync(`${complete}/${name}`);
  const isReplaced = (name: ReplacedName) => plan.files.includes(name) && !isWaiting(name);
  for (const name of replacedNames) if (!isReplaced(name)) moveAway(folder, name, earlier);
  // A new file stays in `complete` until it replaces the old file, so each step can be repeated.
  for (const name of replacedNames.filter(isWaiting)) {
    renameSync(`${complete}/${name}`, `${folder}/${name}`);
  }
  if (existsSync(earlier)) syncFolder(earlier);
  syncFolder(folder);
}

function moveAway(folder: string, name: ReplacedName, earlier: string): void {
  for (const suffix of ['', ...journalSuffixes]) {
    const path = `${folder}/${name}${suffix}`;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) continue;
    if (!existsSync(earlier)) {
      mkdirSync(earlier, { mode: 0o700 });
      giveToOwnerOf(folder, earlier);
    }
    renameSync(path, `${earlier}/${name}${suffix}`);
  }
}

function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Maximum time in milliseconds to wait while another command finishes an interrupted restore. */
const waitMs = 2000;
const retryMs = 25;

/**
 * Locks a data folder. If a restore was interrupted, first finishes it if all its new files were
 * written; otherwise deletes them, unless another process uses the folder.
 * @throws FileLockedError if a restore is running or cannot be finished; Error with `path` for
 *   other failures
 */
export async function enterDataFolder(folder: string, clock: Clock): Promise<FileLock> {
  const endMs = clock.now() + waitMs;
  for (;;) {
    const lock = tryToEnter(folder);
    if (lock !== null) return lock;
    if (clock.now() >= endMs) return enterUnfinished(folder);
    await clock.sleep(retryMs);
  }
}

function tryToEnter(folder: string): FileLock | null {
  try {
    if (wasInterrupted(folder)) recoverAlone(folder);
    const lock = shareDataFolder(folder);
    if (!wasInterrupted(folder)) return lock;
    lock.release();
    return null;
  } catch (error) {
    if (error instanceof FileLockedError) return null;
    throw error;
  }
}

/**
 * Locks a folder with incomplete files of a restore, which stay while another process uses it. No
 * command reads them.
 * @throws FileLockedError if a restore is running, or is completely written and must be finished
 *   first
 */
function enterUnfinished(folder: string): FileLock {
  const lock = shareDataFolder(folder);
  if (!existsSync(`${folder}/${restoreFolders.complete}`)) return lock;
  lock.release();
  throw new FileLockedError(
    `A restore of ${folder} was interrupted, and cannot be finished while another process uses this data directory. Stop that process, then try again.`,
  );
}

function recoverAlone(folder: string): void {
  const lock = seizeDataFolder(folder);
  try {
    recover(folder);
  } finally {
    lock.release();
  }
}

const wasInterrupted = (folder: string): boolean =>
  Object.values(restoreFolders).some((name) => existsSync(`${folder}/${name}`));

/** Finishes an interrupted restore, or deletes its incomplete files. Needs the folder's lock. */
export function recover(folder: string): void {
  discardIncomplete(folder);
  if (existsSync(`${folder}/${restoreFolders.complete}`)) finishReplacing(folder);
}
