import { readTimeMs } from '../../../platforms/times.ts';
import { toIdHandle } from '../../store/connections.ts';
import type { ExportFormat, ExportItem, ExportSource } from '../export-source.ts';
import { createExportSource, type ExportFile, type ExportFiles } from '../files/export-files.ts';
import { openExportFiles } from '../files/open-files.ts';
import { readLeftOut } from '../left-out.ts';
import { readRecords } from '../records.ts';
import { type ExportParts, findParts, listPaths, readAccount, readScript } from './account.ts';
import { createReasonOf } from './left-out.ts';
import { mediaNameOf } from './media.ts';
import { findMonths, openMonths } from './monthly.ts';
import { readNotes } from './notes.ts';
import { connectionPayload, manifestPayload } from './payload.ts';
import { readEditedIds, readPosts } from './posts.ts';

/** Import format of X exports, also from 2012 to 2018: zip file, folder or its `data` folder. */
export const xFormat: ExportFormat = {
  name: 'x',
  takesHandle: false,
  open: async (path) => {
    const files = await openExportFiles(path);
    if (files === null) return null;
    const parts = findParts(files.files);
    if (parts !== null) return openSource(path, files, parts);
    const months = findMonths(files.files);
    if (months !== null) return openMonths(path, files, months);
    await files.close();
    return null;
  },
};

async function openSource(
  path: string,
  files: ExportFiles,
  parts: ExportParts,
): Promise<ExportSource> {
  const manifest = await readScript(manifestPayload, parts.manifest[0], files.read);
  const madeMs = readTimeMs(manifest?.archiveInfo?.generationDate ?? '');
  const posts = [...parts.tweets, ...parts.communityTweets];
  const countedFiles = [...posts, ...parts.followers, ...parts.following];
  return createExportSource(files, countedFiles, (read) => ({
    title: 'X export',
    mediaNameOf,
    ...(madeMs !== null && { exported: Math.floor(madeMs / 1000) }),
    groups: async function* () {
      const { account, media } = await readAccount(parts, manifest, files.read);
      const notes = await readNotes(parts.notes, files.read);
      yield [{ kind: 'account', account, media }];
      const edited = await readEditedIds(posts, files.read);
      yield* readPosts(posts, { read, account, notes, edited, hasOriginals: false });
      const own = account.screen_name.toLowerCase();
      yield* readFollows(parts.followers, read, (id) => ({ follower: id, followed: own }));
      yield* readFollows(parts.following, read, (id) => ({ follower: own, followed: id }));
      yield* readLeftOut(path, createReasonOf(parts.folder, listPaths(parts)));
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
