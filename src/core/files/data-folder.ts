import { readdirSync, statSync } from 'node:fs';
import { isAccessibleByOthers, isCode, restrictToOwner } from './private-files.ts';

const databases = '(?:perch|archive|sessions|answers)\\.db';
const besideDatabase = '-wal|-shm|-journal|\\.lock(?:-journal)?|\\.address';
/** Pattern of the suffix of temporary files, which are later moved or linked to their final names. */
const draft = '\\.[0-9a-f]{12}(?:-journal)?';

const ownName = new RegExp(
  `^(?:${databases}(?:${besideDatabase}|${draft})?|(?:cursor|session)\\.key(?:${draft})?)$`,
);

/** Returns the names of Perch's files in a data folder. @throws Error if the folder cannot be read */
export const listOwnFiles = (path: string): readonly string[] =>
  readdirSync(path).filter((name) => ownName.test(name));

/**
 * Removes other users' access to a data folder and to Perch's files in the folder. A folder that also contains other
 * files, such as `/tmp`, keeps its permissions. @returns a warning for the operator if other users can still access the
 * folder, otherwise `null`
 */
export function restrictDataFolder(path: string): string | null {
  let names: readonly string[];
  try {
    names = readdirSync(path);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return null; // opening the files in it reports the error
    throw error;
  }
  const own = names.filter((name) => ownName.test(name));
  for (const name of own) restrictToOwner(`${path}/${name}`);
  const isShared = own.length < names.length;
  if (!isShared) restrictToOwner(path);
  const stats = statSync(path);
  if (!isAccessibleByOthers(stats)) return null;
  const reason = isShared ? 'also contains files of other programs' : 'belongs to another user';
  const mode = (stats.mode & 0o7777).toString(8);
  return `The data directory ${path} ${reason}, so its permissions stay ${mode}. Set PERCH_DATA_DIR to a directory that only Perch uses.`;
}
