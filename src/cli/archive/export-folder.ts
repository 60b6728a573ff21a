import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../core/files/private-files.ts';
import type { AccountReference } from '../../model/reference.ts';

/** The folder cannot be written to; the message is a sentence. */
export class ExportFolderError extends Error {}

/** A folder that an account is exported to. Whatever lies in it besides the export stays there. */
export interface ExportFolder {
  /** Writes a file by its path within the folder, unless it has these bytes already. */
  write(path: string, content: string): void;
  /** Removes the notes of a folder that are none of these names. */
  keepOnly(folder: string, names: ReadonlySet<string>): void;
  /** Removes a file of an earlier export, where there is one. */
  remove(path: string): void;
  /** Lists the folders within a folder, sorted. */
  folders(within: string): readonly string[];
  readonly counts: Readonly<FolderCounts>;
}

/** How many files changed. */
interface FolderCounts {
  written: number;
  same: number;
  removed: number;
}

const markerName = '.perch-export.json';

/**
 * Opens a folder to export an account to. One with files in it must have been written by an earlier
 * export of the same account, as a file in it tells.
 *
 * @throws ExportFolderError where something else is in it
 */
export function openExportFolder(root: string, account: AccountReference): ExportFolder {
  const marker = `${JSON.stringify({ format: 'markdown', ...account })}\n`;
  claim(root, marker);
  const counts: FolderCounts = { written: 0, same: 0, removed: 0 };
  const remove = (path: string) => {
    if (!existsSync(join(root, path))) return;
    rmSync(join(root, path));
    counts.removed += 1;
  };
  return {
    counts,
    remove,
    write: (path, content) => {
      const isSame = writeIfOther(join(root, path), content);
      counts[isSame ? 'same' : 'written'] += 1;
    },
    keepOnly: (folder, names) => {
      const all = listNames(join(root, folder));
      const stale = all.filter((name) => noteName.test(name) && !names.has(name));
      for (const name of stale) remove(`${folder}/${name}`);
    },
    folders: (within) =>
      listNames(join(root, within)).filter((name) =>
        statSync(join(root, within, name)).isDirectory(),
      ),
  };
}

function claim(root: string, marker: string): void {
  if (existsSync(root) && !statSync(root).isDirectory()) {
    throw new ExportFolderError(`${root} is no folder.`);
  }
  makeFolder(root);
  const path = join(root, markerName);
  if (existsSync(path)) {
    if (readFileSync(path, 'utf8') === marker) return;
    throw new ExportFolderError(`${root} holds the export of another account.`);
  }
  if (listNames(root).length > 0) {
    throw new ExportFolderError(`${root} is not empty and was not written by an export.`);
  }
  writeFileSync(path, marker);
}

function writeIfOther(path: string, content: string): boolean {
  if (existsSync(path) && readFileSync(path, 'utf8') === content) return true;
  makeFolder(dirname(path));
  writeFileSync(path, content);
  return false;
}

function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

const noteName = /^\d{4}-\d\d-\d\d-[a-z0-9_=-]+\.md$/;

/** Longer ids, which clients can make up, are cut, and told apart by their hash. */
const maxIdLength = 80;

/**
 * Gives the name of a note. Ids can differ in case alone, and have characters in them that not every
 * file system takes: what is no small letter, digit, `-` or `_` stands as `=` and its code.
 */
export function toNoteName(day: string, id: string): string {
  const safe = id.replace(/[^a-z0-9_-]/g, (letter) => `=${letter.charCodeAt(0).toString(16)}`);
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${day}-${safe.length > maxIdLength ? `${safe.slice(0, 60)}=${hash}` : safe}.md`;
}
