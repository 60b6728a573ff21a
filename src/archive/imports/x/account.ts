import type { z } from 'zod';
import { type Account, toAccount, toWebsite } from '../../../model/account.ts';
import { profileUrl } from '../../../model/reference.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import { readTimeMs, toIsoTime } from '../../../platforms/times.ts';
import { enlargeAvatar } from '../../../platforms/x.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRecords, readRows } from '../records.ts';
import {
  accountPayload,
  connectionPayload,
  type ManifestPayload,
  profilePayload,
  protectionPayload,
} from './payload.ts';

/** The files of X's export that are read, each kind in the order of its parts. */
export type ExportParts = Readonly<
  Record<
    | 'manifest'
    | 'account'
    | 'profile'
    | 'protection'
    | 'notes'
    | 'tweets'
    | 'followers'
    | 'following',
    readonly ExportFile[]
  >
>;

type Read = ExportFiles['read'];

/**
 * Reads whose export it is: followers by their list, posts by the manifest. @throws Error if the account cannot be
 * read
 */
export async function readAccount(
  parts: ExportParts,
  manifest: ManifestPayload | null,
  read: Read,
): Promise<Account> {
  const known = await readFirst(accountPayload, parts.account, read);
  if (known === null)
    throw new Error('account.js tells no account, so whose export it is is unknown.');
  const { accountId, username, accountDisplayName, createdAt } = known.account;
  const profile = (await readFirst(profilePayload, parts.profile, read))?.profile;
  const { bio = null, location = null, website = null } = profile?.description ?? {};
  return toAccount({
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
}

async function readFirst<Row>(
  schema: z.ZodType<Row>,
  files: readonly ExportFile[],
  read: Read,
): Promise<Row | null> {
  for await (const row of readRows(files, { schema, read })) return row;
  return null;
}

async function countConnections(files: readonly ExportFile[], read: Read): Promise<number | null> {
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

/** The last change tells who may see the posts now. The export has those of six months. */
async function readProtection({ protection }: ExportParts, read: Read): Promise<boolean> {
  let last = { ms: Number.NEGATIVE_INFINITY, isProtected: false };
  for await (const row of readRows(protection, { schema: protectionPayload, read })) {
    const { protectedAt, action } = row.protectedHistory;
    const ms = readTimeMs(protectedAt) ?? 0;
    if (ms >= last.ms) last = { ms, isProtected: /^protect/i.test(action) };
  }
  return last.isProtected;
}

function toWebUrl(text: string | null | undefined): string | null {
  return typeof text === 'string' && isWebUrl(text) ? text : null;
}
