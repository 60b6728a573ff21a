import { toWebsite } from '../../../model/account.ts';
import { webUrlOrNull } from '../../../normalize/text.ts';
import { readTimeMs, toIsoTime } from '../../../normalize/times.ts';
import { enlargeAvatar, toXAccount } from '../../../normalize/x.ts';
import { type ExportFile, folderOf, type MediaReference } from '../export-source.ts';
import { readFirst, readRows } from '../records.ts';
import { fileNameOf } from './normalize.ts';
import {
  accountPayload,
  connectionPayload,
  type ManifestPayload,
  profilePayload,
  protectionPayload,
} from './wire.ts';

/** Reads the account with counts of followers and posts. @throws Error if it is unreadable */
export async function readAccount(parts: ExportParts, manifest: ManifestPayload | null) {
  const known = await readFirst(parts.account, { schema: accountPayload });
  if (known === null)
    throw new Error('account.js does not contain an account. Download the export again.');
  const { accountId, username, accountDisplayName, createdAt } = known.account;
  const shown = await readFirst(parts.profile, { schema: profilePayload });
  const { description, avatarMediaUrl = null, headerMediaUrl = null } = shown?.profile ?? {};
  const { bio = null, location = null, website = null } = description ?? {};
  const account = toXAccount({
    id: accountId,
    screen_name: username,
    name: accountDisplayName,
    description: bio,
    location,
    website: toWebsite(webUrlOrNull(website)),
    avatar_url: enlargeAvatar(webUrlOrNull(avatarMediaUrl)),
    banner_url: webUrlOrNull(headerMediaUrl),
    followers: await countConnections(parts.followers),
    following: await countConnections(parts.following),
    statuses: countPosts(manifest),
    joined: toIsoTime(createdAt),
    protected: await readProtection(parts),
  });
  const refer = (url: string | null, exported: string | null): readonly MediaReference[] => {
    if (url === null || exported === null) return [];
    return [{ url, name: `profile ${accountId}-${stemOf(fileNameOf(exported))}` }];
  };
  const { avatar_url, banner_url } = account;
  const media = [...refer(avatar_url, avatarMediaUrl), ...refer(banner_url, headerMediaUrl)];
  return { account, media };
}

async function countConnections(files: readonly ExportFile[]): Promise<number | null> {
  if (files.length === 0) return null;
  let count = 0;
  for await (const _row of readRows(files, { schema: connectionPayload })) count += 1;
  return count;
}

function countPosts(manifest: ManifestPayload | null): number | null {
  const files = (manifest?.dataTypes?.tweets ?? manifest?.dataTypes?.tweet)?.files ?? [];
  const counts = files.flatMap(({ count }) => (count === null ? [] : [count]));
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

async function readProtection({ protection }: ExportParts): Promise<boolean> {
  let last = { ms: Number.NEGATIVE_INFINITY, isProtected: false }; // exports list only the changes of six months
  for await (const row of readRows(protection, { schema: protectionPayload })) {
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
  /** All files, in any order. */
  readonly all: readonly ExportFile[];
}

const baseOf = ({ name }: ExportFile) => name.slice(name.lastIndexOf('/') + 1);

/** Finds the files of an X export in any folder. */
export function findParts(files: readonly ExportFile[]): ExportParts | null {
  const accounts = files.filter((file) => patterns.account.test(baseOf(file)));
  const parts = accounts.map((file) => toParts(files, folderOf(file.name)));
  return parts.find(({ tweets, profile }) => tweets.length + profile.length > 0) ?? null;
}

function toParts(files: readonly ExportFile[], folder: string): ExportParts {
  const own = files.filter((file) => folderOf(file.name) === folder);
  const found = Object.entries(patterns).map(([kind, pattern]) => {
    const partOf = (file: ExportFile) => Number(pattern.exec(baseOf(file))?.[1] ?? 0);
    const parts = own.filter((file) => pattern.test(baseOf(file)));
    return [kind, parts.toSorted((a, b) => partOf(a) - partOf(b))];
  });
  const all = own.filter((file) => Object.values(patterns).some((p) => p.test(baseOf(file))));
  return { ...Object.fromEntries(found), folder, all } as ExportParts; // has the keys of `patterns`
}

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

export const mediaPath = /(?:^|\/)(tweets?|community_tweet|profile)_media\/([^/]{1,500})$/;

const stemOf = (name: string): string => name.replace(/\.[A-Za-z0-9]{1,5}$/, '');
