import { readdirSync, statSync } from 'node:fs';
import { isAccessibleByOthers, isCode, restrictToOwner } from './private-files.ts';

/** Names of the databases in a data folder whose content Perch cannot create again. */
export const savedDatabases = ['archive.db', 'perch.db', 'sessions.db'] as const;
/** Names of the text files with secrets in a data folder. */
export const savedSecrets = ['cursor.key', 'session.key', 'actor.key'] as const;
/** Names of the databases and secrets that a backup copies from a data folder. */
export const savedFiles = [...savedDatabases, ...savedSecrets] as const;

/** Name of the folder with the archive's pictures, videos and sounds. Backups contain it. */
export const mediaFolderName = 'media' as const;

export type SavedName = (typeof savedFiles)[number];

/** Suffixes of the files that SQLite creates next to a database to record changes. */
export const journalSuffixes = ['-wal', '-shm', '-journal'] as const;
/** Name of the file that every process locks while it uses a data folder. */
export const lockName = 'data.lock';
/** Names of a restore's folder: `incomplete` until all files are written, then `complete`. */
export const restoreFolders = { incomplete: 'restore.new', complete: 'restore.ready' } as const;
export const pictureFolder = 'media-cache';
/** Prefix of the name of the folder into which `perch restore` moves the previous files. */
export const earlierPrefix = 'before-restore-';

const alternatives = (names: readonly string[]) =>
  `(?:${names.map((name) => name.replaceAll('.', '\\.')).join('|')})`;
const databases = alternatives([...savedDatabases, 'answers.db']);
const besideDatabase = `${journalSuffixes.join('|')}|\\.lock(?:-journal)?|\\.address`;
const draft = '\\.[0-9a-f]{12}(?:-journal)?';

const ownName = new RegExp(
  `^(?:${[
    `${databases}(?:${besideDatabase}|${draft})?`,
    `${alternatives(savedSecrets)}(?:${draft})?`,
    `${alternatives([lockName])}(?:-journal)?`,
    alternatives([...Object.values(restoreFolders), mediaFolderName, pictureFolder]),
    `${earlierPrefix}[0-9TZ-]{1,24}`,
  ].join('|')})$`,
);

export const isOwnName = (name: string): boolean => ownName.test(name);

/** Returns Perch's files in a data folder. Throws Error if the folder cannot be read. */
export const listOwnFiles = (path: string): readonly string[] =>
  readdirSync(path).filter(isOwnName);

/** As `listOwnFiles`, but returns an empty list if the folder is not readable, or is `:memory:`. */
export function listOwnFilesIfReadable(path: string): readonly string[] {
  try {
    return path === ':memory:' ? [] : listOwnFiles(path);
  } catch (error) {
    // Opening the files, and the check of the data folder by `perch doctor`, report these errors.
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
}

/** Removes others' access, except to a folder with other files. Returns a warning or `null`. */
export function restrictDataFolder(path: string): string | null {
  let names: readonly string[];
  try {
    names = readdirSync(path);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return null; // opening the files in it reports the error
    throw error;
  }
  const own = names.filter(isOwnName);
  for (const name of own) restrictToOwner(`${path}/${name}`);
  const isShared = own.length < names.length;
  if (!isShared) restrictToOwner(path);
  const stats = statSync(path);
  if (!isAccessibleByOthers(stats)) return null;
  const reason = isShared ? 'also contains files of other programs' : 'belongs to another user';
  const mode = (stats.mode & 0o7777).toString(8);
  return `The data directory ${path} ${reason}, so its permissions stay ${mode}. Set PERCH_DATA_DIR to a directory that only Perch uses.`;
}
