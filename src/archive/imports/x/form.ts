import { readTimeMs } from '../../../platforms/times.ts';
import { toIdHandle } from '../../store/connections.ts';
import type { ExportForm, ExportItem, ExportSource } from '../export-source.ts';
import {
  createSource,
  type ExportFile,
  type ExportFiles,
  readWhole,
} from '../files/export-files.ts';
import { openExportFiles } from '../files/open-files.ts';
import { readRecords } from '../records.ts';
import { type ExportParts, readAccount } from './account.ts';
import { readNotes } from './notes.ts';
import {
  connectionPayload,
  type ManifestPayload,
  manifestPayload,
  tweetPayload,
} from './payload.ts';
import { shapePost, shapeRepost } from './shape.ts';

/** X's “download your data” export: the zip file, the folder that it unpacks to, or its `data`. */
export const xForm: ExportForm = {
  name: 'x',
  takesHandle: false,
  open: async (path) => {
    const files = await openExportFiles(path);
    if (files === null) return null;
    const parts = findParts(files.files);
    if (parts !== null) return openSource(files, parts);
    await files.close();
    return null;
  },
};

/** What is read of X's export. Messages, likes, advertisements and all else are never opened. */
const patterns: Readonly<Record<keyof ExportParts, RegExp>> = {
  manifest: /^manifest\.js$/,
  account: /^account\.js$/,
  profile: /^profile\.js$/,
  protection: /^protected-history\.js$/,
  notes: /^note-tweet(?:-part(\d+))?\.js$/,
  tweets: /^tweets?(?:-part(\d+))?\.js$/,
  followers: /^follower(?:-part(\d+))?\.js$/,
  following: /^following(?:-part(\d+))?\.js$/,
};

/** Finds the files of X's export, wherever its `data` folder lies; null if they are not there. */
function findParts(files: readonly ExportFile[]): ExportParts | null {
  const folderOf = ({ name }: ExportFile) => name.slice(0, name.lastIndexOf('/') + 1);
  const baseOf = ({ name }: ExportFile) => name.slice(name.lastIndexOf('/') + 1);
  const partOf = (file: ExportFile, pattern: RegExp) =>
    Number(pattern.exec(baseOf(file))?.[1] ?? 0);
  const toParts = (folder: string): ExportParts => {
    const own = files.filter((file) => folderOf(file) === folder);
    const found = Object.entries(patterns).map(([kind, pattern]) => [
      kind,
      own
        .filter((file) => pattern.test(baseOf(file)))
        .toSorted((a, b) => partOf(a, pattern) - partOf(b, pattern)),
    ]);
    return Object.fromEntries(found); // it has the keys of `patterns`
  };
  const accounts = files.filter((file) => patterns.account.test(baseOf(file)));
  const parts = accounts.map((file) => toParts(folderOf(file)));
  return parts.find(({ tweets, profile }) => tweets.length + profile.length > 0) ?? null;
}

async function openSource(files: ExportFiles, parts: ExportParts): Promise<ExportSource> {
  const manifest = await readManifest(parts.manifest, files);
  const madeMs = readTimeMs(manifest?.archiveInfo?.generationDate ?? '');
  const counted = [...parts.tweets, ...parts.followers, ...parts.following];
  return createSource(files, counted, (read) => ({
    title: 'X export',
    ...(madeMs !== null && { exported: Math.floor(madeMs / 1000) }),
    groups: async function* () {
      const account = await readAccount(parts, manifest, files.read);
      const textOf = await readNotes(parts.notes, files.read);
      yield [{ kind: 'account', account }];
      for await (const records of readRecords(parts.tweets, { schema: tweetPayload, read })) {
        yield records.flatMap((record): readonly ExportItem[] => {
          if (record.kind === 'skipped') return [record];
          const { row } = record;
          return shapeRepost(row, account) ?? [shapePost(row, account, textOf(row))];
        });
      }
      const own = account.screen_name.toLowerCase();
      yield* readFollows(parts.followers, read, (id) => ({ follower: id, followed: own }));
      yield* readFollows(parts.following, read, (id) => ({ follower: own, followed: id }));
    },
  }));
}

async function* readFollows(
  files: readonly ExportFile[],
  read: ExportFiles['read'],
  toPair: (idHandle: string) => { readonly follower: string; readonly followed: string },
) {
  for await (const records of readRecords(files, { schema: connectionPayload, read })) {
    yield records.map((record): ExportItem => {
      if (record.kind === 'skipped') return record;
      return { kind: 'follow', ...toPair(toIdHandle(record.row.accountId)) };
    });
  }
}

/** The most bytes of a manifest; one is some 100 KB. */
const maxBytes = 4 * 2 ** 20;

/** Reads what the export tells of itself; null without a manifest that can be read. */
async function readManifest(
  [file]: readonly ExportFile[],
  files: ExportFiles,
): Promise<ManifestPayload | null> {
  if (file === undefined || file.bytes > maxBytes) return null;
  const text = (await readWhole(files.read(file))).toString('utf8');
  try {
    const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
    return manifestPayload.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null; // nothing in it is needed
  }
}
