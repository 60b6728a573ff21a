import type * as z from 'zod';
import { type Account, toAccount, toWebsite } from '../../../model/account.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { webUrlOrNull } from '../../../normalize/text.ts';
import { readTimeMs, toIsoTime } from '../../../normalize/times.ts';
import { enlargeAvatar } from '../../../normalize/x.ts';
import type { MediaReference } from '../export-source.ts';
import { type ExportFile, type ExportFiles, readWhole } from '../export-source.ts';
import { readRecords, readRows } from '../records.ts';
import { fileNameOf } from './normalize.ts';
import {
  accountPayload,
  connectionPayload,
  type ManifestPayload,
  profilePayload,
  protectionPayload,
} from './wire.ts';

const maxBytes = 4 * 2 ** 20; // maximum size of a script with one object, such as a manifest of about 100 KB

/** Returns the object of a script; `null` if the script is missing or unreadable. */
export async function readScript<Value>(
  schema: z.ZodType<Value>,
  file: ExportFile | undefined,
  read: ExportFiles['read'],
): Promise<Value | null> {
  if (file === undefined || file.bytes > maxBytes) return null;
  const text = (await readWhole(read(file))).toString('utf8');
  try {
    const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
    return schema.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null; // not JSON
  }
}

/** Reads the account with counts of followers and posts. @throws Error if it is unreadable */
export async function readAccount(
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
    website: toWebsite(webUrlOrNull(website)),
    avatar_url: enlargeAvatar(webUrlOrNull(profile?.avatarMediaUrl ?? null)),
    banner_url: webUrlOrNull(profile?.headerMediaUrl ?? null),
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

/*
 * X exports contain the files of a post as `tweets_media/{id of the post}-{file name in the URL}`, and the pictures of the
 * profile as `profile_media/{id of the account}-{file name in the URL}`, with an extension that the URL can lack.
 */

/** Returns the name of a media file in posts and profiles; `null` for other files. */
export function mediaNameOf(path: string): string | null {
  const [, folder, name] = mediaPath.exec(path) ?? [];
  if (folder === undefined || name === undefined) return null;
  return folder === 'profile' ? `profile ${stemOf(name)}` : name;
}

const mediaPath = /(?:^|\/)(tweets?|community_tweet|profile)_media\/([^/]{1,500})$/;

function referToPictures(
  { id, avatar_url, banner_url }: Account,
  profile:
    | { readonly avatarMediaUrl: string | null; readonly headerMediaUrl: string | null }
    | undefined,
): readonly MediaReference[] {
  const pairs = [
    [avatar_url, profile?.avatarMediaUrl],
    [banner_url, profile?.headerMediaUrl],
  ] as const;
  return pairs.flatMap(([url, exported]) => {
    if (url === null || typeof exported !== 'string') return [];
    return [{ url, name: `profile ${id}-${stemOf(fileNameOf(exported))}` }];
  });
}

const stemOf = (name: string): string => name.replace(/\.[A-Za-z0-9]{1,5}$/, '');
