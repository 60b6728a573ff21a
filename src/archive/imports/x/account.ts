import type { z } from 'zod';
import { toAccount, toWebsite } from '../../../model/account.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import { readTimeMs, toIsoTime } from '../../../platforms/times.ts';
import { enlargeAvatar } from '../../../platforms/x.ts';
import { type ExportFile, type ExportFiles, readWhole } from '../files/export-files.ts';
import { readRecords, readRows } from '../records.ts';
import { referToPictures } from './media.ts';
import type { ExportParts } from './parts.ts';
import {
  accountPayload,
  connectionPayload,
  type ManifestPayload,
  manifestPayload,
  profilePayload,
  protectionPayload,
} from './payload.ts';

const maxBytes = 4 * 2 ** 20; // maximum size of a manifest, which usually has about 100 KB

/** Returns `null` if the manifest is missing or unreadable. */
export async function readManifest(
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
