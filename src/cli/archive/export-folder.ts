import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../core/files/private-files.ts';
import type { AccountReference } from '../../model/reference.ts';
import { CommandError } from '../command.ts';

/** Folder that an account is exported to. Files that are not part of the export are left alone. */
export type ExportFolder = ReturnType<typeof openExportFolder>;

const markerName = '.perch-export.json';

/**
 * Opens a folder to export an account to, and creates it if necessary. @throws CommandError if the folder contains
 * files, unless its marker file belongs to an earlier export of the same account
 */
export function openExportFolder(root: string, account: AccountReference) {
  claimFolder(root, `${JSON.stringify({ format: 'markdown', ...account })}\n`);
  const counts = { written: 0, same: 0, removed: 0 };
  /** Deletes a file of an earlier export, if it exists. */
  const remove = (path: string) => {
    if (!existsSync(join(root, path))) return;
    rmSync(join(root, path));
    counts.removed += 1;
  };
  return {
    /** Numbers of written, unchanged and deleted files. */
    counts: counts as Readonly<typeof counts>,
    remove,
    /** Writes a file, given its path within the folder, unless it already has this content. */
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
    /** Deletes the notes in a subfolder whose names are not in `names`. */
    keepOnly: (folder: string, names: ReadonlySet<string>) => {
      const all = listNames(join(root, folder));
      const stale = all.filter((name) => noteName.test(name) && !names.has(name));
      for (const name of stale) remove(`${folder}/${name}`);
    },
    /** Lists the names of the folders within a subfolder, sorted. */
    folders: (path: string) =>
      listNames(join(root, path)).filter((name) => statSync(join(root, path, name)).isDirectory()),
  };
}

function claimFolder(root: string, marker: string): void {
  if (existsSync(root) && !statSync(root).isDirectory())
    throw new CommandError('usage', `${root} is not a folder. Set --output to a folder.`);
  makeFolder(root);
  const path = join(root, markerName);
  if (existsSync(path)) {
    if (readFileSync(path, 'utf8') === marker) return;
    throw new CommandError('usage', `${root} contains the export of another account.`);
  }
  if (listNames(root).length > 0) {
    throw new CommandError('usage', `${root} contains other files. Choose an empty folder.`);
  }
  writeFileSync(path, marker);
}

function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

const noteName = /^\d{4}-\d\d-\d\d-[a-z0-9_=-]+\.md$/;

/** Maximum length of an escaped id in a file name. Longer ids are cut and get a hash, because ids are untrusted. */
const maxIdLength = 80;

/** Returns the file name of a note. In the id, all but `a-z`, digits, `-` and `_` is escaped as `=` and a hex code. */
export function toNoteName(day: string, id: string): string {
  const safe = id.replace(/[^a-z0-9_-]/g, (letter) => `=${letter.charCodeAt(0).toString(16)}`);
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${day}-${safe.length > maxIdLength ? `${safe.slice(0, 60)}=${hash}` : safe}.md`;
}
