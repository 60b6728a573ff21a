import type { ExportFile } from '../files/export-files.ts';

/** What is read of X's export. Messages, likes, advertisements and all else are never opened. */
const patterns = {
  manifest: /^manifest\.js$/,
  account: /^account\.js$/,
  profile: /^profile\.js$/,
  protection: /^protected-history\.js$/,
  notes: /^note-tweet(?:-part(\d+))?\.js$/,
  tweets: /^tweets?(?:-part(\d+))?\.js$/,
  followers: /^follower(?:-part(\d+))?\.js$/,
  following: /^following(?:-part(\d+))?\.js$/,
} as const;

/** The files of X's export that are read, each kind in the order of its parts. */
export type ExportParts = Readonly<Record<keyof typeof patterns, readonly ExportFile[]>>;

/** Finds the files of X's export, wherever its `data` folder lies; null where they are not there. */
export function findExportParts(files: readonly ExportFile[]): ExportParts | null {
  const accounts = files.filter(({ name }) => patterns.account.test(baseOf(name)));
  const folders = accounts.map(({ name }) => folderOf(name));
  const parts = folders.map((folder) =>
    toParts(files.filter(({ name }) => folderOf(name) === folder)),
  );
  return parts.find(({ tweets, profile }) => tweets.length + profile.length > 0) ?? null;
}

function toParts(files: readonly ExportFile[]): ExportParts {
  const filesOf = (pattern: RegExp) =>
    files
      .flatMap((file) => {
        const match = pattern.exec(baseOf(file.name));
        return match === null ? [] : [{ file, part: Number(match[1] ?? 0) }];
      })
      .toSorted((a, b) => a.part - b.part)
      .map(({ file }) => file);
  return {
    manifest: filesOf(patterns.manifest),
    account: filesOf(patterns.account),
    profile: filesOf(patterns.profile),
    protection: filesOf(patterns.protection),
    notes: filesOf(patterns.notes),
    tweets: filesOf(patterns.tweets),
    followers: filesOf(patterns.followers),
    following: filesOf(patterns.following),
  };
}

function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}
