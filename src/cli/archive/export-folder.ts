import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { toFileId } from '../../core/files/file-id.ts';
import { makeFolder } from '../../core/files/private-files.ts';
import type { AccountReference } from '../../model/reference.ts';
import { CommandError } from '../command.ts';

/** Folder with the Markdown export of an account. Files of other origin are never changed. */
export type ExportFolder = ReturnType<typeof openExportFolder>;

const markerName = '.perch-export.json';

/** Creates a missing folder. @throws CommandError unless it has only exports of this account */
export function openExportFolder(root: string, account: AccountReference) {
  claimFolder(root, `${JSON.stringify({ format: 'markdown', ...account })}\n`);
  const counts = { written: 0, same: 0, removed: 0 };
  const remove = (path: string) => {
    if (!existsSync(join(root, path))) return;
    rmSync(join(root, path));
    counts.removed += 1;
  };
  return {
    counts: counts as Readonly<typeof counts>,
    remove,
    /** Does nothing if the file already has this content. */
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
    /** Copies an archived file, unless the path already has a file of the same size. */
    copy: (file: string, { from, bytes }: { readonly from: string; readonly bytes: number }) => {
      const path = join(root, file);
      if (statSync(path, { throwIfNoEntry: false })?.size === bytes) {
        counts.same += 1;
        return;
      }
      makeFolder(dirname(path));
      copyFileSync(from, path, constants.COPYFILE_FICLONE);
      chmodSync(path, 0o644);
      counts.written += 1;
    },
    keepOnlyMedia: (folder: string, names: ReadonlySet<string | null>) => {
      const all = listNames(join(root, folder));
      const stale = all.filter((name) => mediaName.test(name) && !names.has(name));
      for (const name of stale) remove(`${folder}/${name}`);
    },
    keepOnly: (folder: string, names: ReadonlySet<string>) => {
      const all = listNames(join(root, folder));
      const stale = all.filter((name) => noteName.test(name) && !names.has(name));
      for (const name of stale) remove(`${folder}/${name}`);
    },
    /** Returns the sorted names of the direct subfolders of `path`. */
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

const mediaName = /^[0-9a-f]{64}\.\w{1,5}$/;

const noteName = /^\d{4}-\d\d-\d\d-[a-z0-9_=-]+\.md$/;

export const toNoteName = (day: string, id: string): string => `${day}-${toFileId(id)}.md`;
