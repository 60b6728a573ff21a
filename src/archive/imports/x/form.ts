import type { Account } from '../../../model/account.ts';
import { readTimeMs } from '../../../platforms/times.ts';
import { toIdHandle } from '../../store/connections.ts';
import type { ExportForm, ExportItem, ExportSource } from '../export-source.ts';
import {
  createFileCount,
  type ExportFile,
  type ExportFiles,
  type FileCount,
} from '../files/export-files.ts';
import { openExportFiles } from '../files/open-files.ts';
import { readRecords } from '../records.ts';
import { readAccount } from './account.ts';
import { type ExportParts, findExportParts } from './export-parts.ts';
import { type Notes, readNotes } from './notes.ts';
import {
  connectionPayload,
  type ManifestPayload,
  manifestPayload,
  type TweetPayload,
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
    const parts = findExportParts(files.files);
    if (parts !== null) return openSource(files, parts);
    await files.close();
    return null;
  },
};

async function openSource(files: ExportFiles, parts: ExportParts): Promise<ExportSource> {
  const manifest = await readManifest(parts.manifest, files);
  const madeMs = readTimeMs(manifest?.archiveInfo?.generationDate ?? '');
  const count = createFileCount(files);
  const lists = [...parts.tweets, ...parts.followers, ...parts.following];
  return {
    title: 'X export',
    ...(madeMs !== null && { exported: Math.floor(madeMs / 1000) }),
    totalBytes: lists.reduce((sum, { bytes }) => sum + bytes, 0),
    get bytesRead() {
      return count.bytes;
    },
    groups: () => readGroups({ files, parts, manifest, count }),
    close: files.close,
  };
}

interface Opened {
  readonly files: ExportFiles;
  readonly parts: ExportParts;
  readonly manifest: ManifestPayload | null;
  /** Reads what counts as progress. */
  readonly count: FileCount;
}

async function* readGroups(opened: Opened): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const { files, parts, manifest } = opened;
  const read = files.read.bind(files);
  const account = await readAccount({ parts, manifest, read });
  const notes = await readNotes(parts.notes, read);
  yield [{ kind: 'account', account }];
  yield* readPosts(opened, account, notes);
  yield* readFollows(opened, parts.followers, (id) => [id, account.screen_name.toLowerCase()]);
  yield* readFollows(opened, parts.following, (id) => [account.screen_name.toLowerCase(), id]);
}

async function* readPosts({ parts, count }: Opened, account: Account, notes: Notes) {
  const reading = { schema: tweetPayload, read: count.read };
  for await (const records of readRecords(parts.tweets, reading)) {
    yield records.flatMap((record) =>
      record.kind === 'skipped' ? record : shape(record.row, account, notes),
    );
  }
}

function shape(row: TweetPayload, account: Account, notes: Notes): readonly ExportItem[] {
  return shapeRepost(row, account) ?? [shapePost(row, account, notes.textOf(row))];
}

async function* readFollows(
  { count }: Opened,
  files: ExportParts['followers'],
  toPair: (idHandle: string) => readonly [follower: string, followed: string],
) {
  const toFollow = (idHandle: string): ExportItem => {
    const [follower, followed] = toPair(idHandle);
    return { kind: 'follow', follower, followed };
  };
  const reading = { schema: connectionPayload, read: count.read };
  for await (const records of readRecords(files, reading)) {
    yield records.map((record) =>
      record.kind === 'skipped' ? record : toFollow(toIdHandle(record.row.accountId)),
    );
  }
}

/** The most bytes of a manifest; one is some 100 KB. */
const maxBytes = 4 * 2 ** 20;

/** Reads what the export tells of itself; null where there is no manifest or none that can be read. */
async function readManifest(
  [file]: readonly ExportFile[],
  files: ExportFiles,
): Promise<ManifestPayload | null> {
  if (file === undefined || file.bytes > maxBytes) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of files.read(file)) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
    return manifestPayload.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null; // nothing in it is needed
  }
}
