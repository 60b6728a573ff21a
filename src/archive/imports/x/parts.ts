import type { ExportFile } from '../files/export-files.ts';

const patterns = {
  manifest: /^manifest\.js$/,
  account: /^account\.js$/,
  profile: /^profile\.js$/,
  protection: /^protected-history\.js$/,
  notes: /^note-tweet(?:-part(\d+))?\.js$/,
  tweets: /^tweets?(?:-part(\d+))?\.js$/,
  communityTweets: /^community-tweets?(?:-part(\d+))?\.js$/,
  followers: /^follower(?:-part(\d+))?\.js$/,
  following: /^following(?:-part(\d+))?\.js$/,
} as const;

/** Files to import, by kind of file, each kind in the order of the part numbers. */
export interface ExportParts
  extends Readonly<Record<keyof typeof patterns, readonly ExportFile[]>> {
  /** Folder of the files, with a trailing `/` unless it is empty. */
  readonly folder: string;
}

const folderOf = ({ name }: ExportFile) => name.slice(0, name.lastIndexOf('/') + 1);
const baseOf = ({ name }: ExportFile) => name.slice(name.lastIndexOf('/') + 1);
const partOf = (file: ExportFile, pattern: RegExp) => Number(pattern.exec(baseOf(file))?.[1] ?? 0);

/** Finds the files of an X export in any folder. */
export function findParts(files: readonly ExportFile[]): ExportParts | null {
  const accounts = files.filter((file) => patterns.account.test(baseOf(file)));
  const parts = accounts.map((file) => toParts(files, folderOf(file)));
  return parts.find(({ tweets, profile }) => tweets.length + profile.length > 0) ?? null;
}

function toParts(files: readonly ExportFile[], folder: string): ExportParts {
  const own = files.filter((file) => folderOf(file) === folder);
  const found = Object.entries(patterns).map(([kind, pattern]) => [
    kind,
    own
      .filter((file) => pattern.test(baseOf(file)))
      .toSorted((a, b) => partOf(a, pattern) - partOf(b, pattern)),
  ]);
  return { ...Object.fromEntries(found), folder } as ExportParts; // has the keys of `patterns`
}

export const listPaths = ({ folder: _folder, ...parts }: ExportParts): ReadonlySet<string> =>
  new Set(Object.values(parts).flatMap((files) => files.map(({ name }) => name)));
