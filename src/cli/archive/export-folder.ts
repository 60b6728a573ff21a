import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../core/files/private-files.ts';
import type { AccountReference } from '../../model/reference.ts';
import { CommandError } from '../command.ts';

/** A folder that an account is exported to. Whatever lies in it besides the export stays there. */
export type ExportFolder = ReturnType<typeof openExportFolder>;

const markerName = '.perch-export.json';

/**
 * Opens a folder to export an account to. Throws CommandError for one with files in it, unless its marker
 * file is that of an earlier export of the same account.
 */
export function openExportFolder(root: string, account: AccountReference) {
  claim(root, `${JSON.stringify({ format: 'markdown', ...account })}\n`);
  const counts = { written: 0, same: 0, removed: 0 };
  /** Removes a file of an earlier export, if it is there. */
  const remove = (path: string) => {
    if (!existsSync(join(root, path))) return;
    rmSync(join(root, path));
    counts.removed += 1;
  };
  return {
    /** How many files changed. */
    counts: counts as Readonly<typeof counts>,
    remove,
    /** Writes a file by its path within the folder, unless it has these bytes already. */
    write: (file: string, content: string) => {
      const path = join(root, file);
      if (existsSync(path) && readFileSync(path, 'utf8') === content) {
        counts.same += 1;
        return;
      }
      makeFolder(dirname(path));
      writeFileSync(path, content);
      counts.written += 1;
    },
    /** Removes the notes of a folder that are none of these names. */
    keepOnly: (folder: string, names: ReadonlySet<string>) => {
      const all = listNames(join(root, folder));
      const stale = all.filter((name) => noteName.test(name) && !names.has(name));
      for (const name of stale) remove(`${folder}/${name}`);
    },
    /** Lists the folders within a folder, sorted. */
    folders: (within: string) =>
      listNames(join(root, within)).filter((name) =>
        statSync(join(root, within, name)).isDirectory(),
      ),
  };
}

function claim(root: string, marker: string): void {
  if (existsSync(root) && !statSync(root).isDirectory())
    throw new CommandError('usage', `${root} is no folder.`);
  makeFolder(root);
  const path = join(root, markerName);
  if (existsSync(path)) {
    if (readFileSync(path, 'utf8') === marker) return;
    throw new CommandError('usage', `${root} holds the export of another account.`);
  }
  if (listNames(root).length > 0) {
    throw new CommandError('usage', `${root} is not empty and was not written by an export.`);
  }
  writeFileSync(path, marker);
}

function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

const noteName = /^\d{4}-\d\d-\d\d-[a-z0-9_=-]+\.md$/;

/** Longer ids, which clients can make up, are cut, and told apart by their hash. */
const maxIdLength = 80;

/**
 * Returns the name of a note. Ids can differ in case alone, and have characters in them that not every
 * file system takes: what is no small letter, digit, `-` or `_` becomes `=` and its code.
 */
export function toNoteName(day: string, id: string): string {
  const safe = id.replace(/[^a-z0-9_-]/g, (letter) => `=${letter.charCodeAt(0).toString(16)}`);
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${day}-${safe.length > maxIdLength ? `${safe.slice(0, 60)}=${hash}` : safe}.md`;
}
