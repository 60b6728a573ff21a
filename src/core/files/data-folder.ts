import { readdirSync, statSync } from 'node:fs';
import { closeToOthers, isCode, isOpenToOthers } from './private-files.ts';

const databases = '(?:perch|archive|sessions|answers)\\.db';
const besideDatabase = '-wal|-shm|-journal|\\.lock(?:-journal)?|\\.address';
/** Files are made under such a name and then moved or linked into place. */
const draft = '\\.[0-9a-f]{12}(?:-journal)?';

const ownName = new RegExp(
  `^(?:${databases}(?:${besideDatabase}|${draft})?|(?:cursor|session)\\.key(?:${draft})?)$`,
);

/**
 * Removes other users' access to a data folder and to Perch's files in it. A folder with other files, such as `/tmp`,
 * keeps its permissions; then the result is a sentence for the operator, else `null`.
 */
export function closeDataFolder(path: string): string | null {
  let names: readonly string[];
  try {
    names = readdirSync(path);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return null; // opening it says what is wrong
    throw error;
  }
  const own = names.filter((name) => ownName.test(name));
  for (const name of own) closeToOthers(`${path}/${name}`);
  const isShared = own.length < names.length;
  if (!isShared) closeToOthers(path);
  const stats = statSync(path);
  if (!isOpenToOthers(stats)) return null;
  const reason = isShared ? 'also holds files that are not Perch’s' : 'belongs to another user';
  const mode = (stats.mode & 0o7777).toString(8);
  return `The data folder ${path} ${reason}, so its permissions stay ${mode}. Set PERCH_DATA_DIR to a folder that is Perch’s alone.`;
}
