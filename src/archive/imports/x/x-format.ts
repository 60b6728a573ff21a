import type { z } from 'zod';
import { toAccount, toWebsite } from '../../../model/account.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import { readTimeMs, toIsoTime } from '../../../platforms/times.ts';
import { enlargeAvatar } from '../../../platforms/x.ts';
import { toIdHandle } from '../../store/connections.ts';
import type { ExportFormat, ExportItem, ExportSource } from '../export-source.ts';
import {
  createExportSource,
  type ExportFile,
  type ExportFiles,
  readWhole,
} from '../files/export-files.ts';
import { openExportFiles } from '../files/open-files.ts';
import { readRecords, readRows } from '../records.ts';
import { mediaNameOf, referToPictures } from './media.ts';
import {
  accountPayload,
  connectionPayload,
  type ManifestPayload,
  manifestPayload,
  profilePayload,
  protectionPayload,
  tweetPayload,
} from './payload.ts';
import { shapePost, shapeRepost } from './shape.ts';
import { readNotes } from './text.ts';

/** Import format of X's “download your data” exports: the zip file, the unpacked folder, or its `data` folder. */
export const xFormat: ExportFormat = {
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

/** Patterns of the names of the files to import. Direct messages, likes, advertisements etc. are never read. */
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

/** Files to import, by kind of file. Files of a kind are in the order of their part numbers. */
type ExportParts = Readonly<Record<keyof typeof patterns, readonly ExportFile[]>>;

/** Finds the files of an X export, in any folder. Returns `null` if there is no X export. */
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
    return Object.fromEntries(found) as ExportParts; // has the keys of `patterns`
  };
  const accounts = files.filter((file) => patterns.account.test(baseOf(file)));
  const parts = accounts.map((file) => toParts(folderOf(file)));
  return parts.find(({ tweets, profile }) => tweets.length + profile.length > 0) ?? null;
}

async function openSource(files: ExportFiles, parts: ExportParts): Promise<ExportSource> {
  const manifest = await readManifest(parts.manifest, files);
  const madeMs = readTimeMs(manifest?.archiveInfo?.generationDate ?? '');
  const countedFiles = [...parts.tweets, ...parts.followers, ...parts.following];
  return createExportSource(files, countedFiles, (read) => ({
    title: 'X export',
    mediaNameOf,
    ...(madeMs !== null && { exported: Math.floor(madeMs / 1000) }),
    groups: async function* () {
      const { account, media } = await readAccount(parts, manifest, files.read);
      const textOf = await readNotes(parts.notes, files.read);
      yield [{ kind: 'account', account, media }];
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

const maxBytes = 4 * 2 ** 20; // maximum size of a manifest, which usually has about 100 KB

/** Reads the manifest of an X export; returns `null` if the manifest is missing or unreadable. */
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
    return null; // the manifest is optional
  }
}

/** Reads the account and its numbers of followers and posts. @throws Error if the account is unreadable */
async function readAccount(
  parts: ExportParts,
  manifest: ManifestPayload | null,
  read: ExportFiles['read'],
) {
  const known = await readFirst(accountPayload, parts.account, read);
  if (known === null)
    throw new Error('account.js does not contain an account. Download the export again.');
  const { accountId, username, accountDisplayName, createdAt } = known.account;
  const profile = (await readFirst(profilePayload, parts.profile, read))?.profile;
  const { bio = null, location = null, website = null } = profile?.description ?? {};
  const account = toAccount({
    id: accountId,
    screen_name: username,
    name: accountDisplayName ?? username,
    url: profileUrl('x', username, ''),
    description: bio,
    location,
    website: toWebsite(toWebUrl(website)),
    avatar_url: enlargeAvatar(toWebUrl(profile?.avatarMediaUrl)),
    banner_url: toWebUrl(profile?.headerMediaUrl),
    followers: await countConnections(parts.followers, read),
    following: await countConnections(parts.following, read),
    statuses: countPosts(manifest),
    joined: toIsoTime(createdAt),
    protected: await readProtection(parts, read),
    platform: 'x',
  });
  return { account, media: referToPictures(account, profile) };
}

async function readFirst<Row>(
  schema: z.ZodType<Row>,
  files: readonly ExportFile[],
  read: ExportFiles['read'],
): Promise<Row | null> {
  for await (const row of readRows(files, { schema, read })) return row;
  return null;
}

async function countConnections(
  files: readonly ExportFile[],
  read: ExportFiles['read'],
): Promise<number | null> {
  if (files.length === 0) return null;
  let count = 0;
  for await (const records of readRecords(files, { schema: connectionPayload, read })) {
    count += records.filter(({ kind }) => kind === 'row').length;
  }
  return count;
}

function countPosts(manifest: ManifestPayload | null): number | null {
  const files = (manifest?.dataTypes?.tweets ?? manifest?.dataTypes?.tweet)?.files ?? [];
  const counts = files.flatMap(({ count }) => (count === null ? [] : [count]));
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

/** Returns whether the newest entry of the protection history made the account protected; `false` without entries. */
async function readProtection(
  { protection }: ExportParts,
  read: ExportFiles['read'],
): Promise<boolean> {
  let last = { ms: Number.NEGATIVE_INFINITY, isProtected: false }; // exports list only the changes of six months
  for await (const row of readRows(protection, { schema: protectionPayload, read })) {
    const { protectedAt, action } = row.protectedHistory;
    const ms = readTimeMs(protectedAt) ?? 0;
    if (ms >= last.ms) last = { ms, isProtected: /^protect/i.test(action) };
  }
  return last.isProtected;
}

const toWebUrl = (text: string | null | undefined): string | null =>
  typeof text === 'string' && isWebUrl(text) ? text : null;
