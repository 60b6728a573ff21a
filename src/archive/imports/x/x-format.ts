import * as z from 'zod';
import { toIsoSeconds } from '../../../lib/clock.ts';
import { type Account, toWebsite } from '../../../model/account.ts';
import { lenient, textOrNull, tokenOrNull } from '../../../normalize/lenient.ts';
import { webUrlOrNull } from '../../../normalize/text.ts';
import { readTimeMs, toIsoTime } from '../../../normalize/times.ts';
import { enlargeAvatar, toXAccount, xHandle } from '../../../normalize/x.ts';
import { toIdHandle } from '../../store/connections.ts';
import {
  createExportSource,
  type ExportFile,
  type ExportFiles,
  type ExportFormat,
  type ExportSource,
  folderOf,
  type MediaReference,
  readObject,
} from '../export-source.ts';
import { type LeftOutRules, readLeftOut } from '../left-out.ts';
import { convertRecords, readFirst, readRecords, readRows } from '../records.ts';
import { fileNameOf } from './normalize.ts';
import { readEditedIds, readNotes, readPosts } from './posts.ts';
import {
  accountPayload,
  connectionPayload,
  type ManifestPayload,
  manifestPayload,
  profilePayload,
  protectionPayload,
  readId,
  readXTimeMs,
  userPayload,
} from './wire.ts';

/** Import format of X exports, also from 2012 to 2018: zip file, folder or its `data` folder. */
export const xFormat: ExportFormat = {
  name: 'x',
  takesHandle: false,
  open: async (files) => {
    const parts = findParts(files.files);
    if (parts !== null) return openSource(files, parts);
    const months = findMonths(files.files);
    return months === null ? null : openMonths(files, months);
  },
};

async function openSource(files: ExportFiles, parts: ExportParts): Promise<ExportSource> {
  const manifest = await readObject(parts.manifest[0], manifestPayload);
  const exportedMs = readTimeMs(manifest?.archiveInfo?.generationDate ?? '');
  return createExportSource(files, (count) => {
    const posts = [...parts.tweets, ...parts.communityTweets];
    const countedPosts = posts.map(count);
    const [followers, following] = [parts.followers.map(count), parts.following.map(count)];
    return {
      title: 'X export',
      mediaNameOf,
      exportedMs,
      groups: async function* () {
        const { account, media } = await readAccount(parts, manifest);
        const notes = await readNotes(parts.notes);
        yield [{ kind: 'account', account, media }];
        const edited = await readEditedIds(posts);
        yield* readPosts(countedPosts, { account, notes, edited, hasOriginals: false });
        const own = account.screen_name.toLowerCase();
        yield* readFollows(followers, (id) => ({ follower: id, followed: own }));
        yield* readFollows(following, (id) => ({ follower: own, followed: id }));
        yield* readLeftOut(files, { folder: parts.folder, imported: parts.all, rules });
      },
    };
  });
}

async function* readFollows(
  files: readonly ExportFile[],
  toPair: (idHandle: string) => { readonly follower: string; readonly followed: string },
) {
  for await (const records of readRecords(files, { schema: connectionPayload })) {
    yield convertRecords(records, ({ accountId }) => ({
      kind: 'follow',
      ...toPair(toIdHandle(accountId)),
    }));
  }
}

/*
 * Exports of X from 2012 to 2018: a script for each month, such as `data/js/tweets/2015_01.js`, and the account in
 * `data/js/user_details.js`. The file `tweets.csv` contains the same posts.
 */

type MonthlyParts = NonNullable<ReturnType<typeof findMonths>>;

const month = /^((?:.*\/)?js\/)tweets\/\d{4}_\d\d\.js$/s;

function findMonths(files: readonly ExportFile[]) {
  const [folder] = files.flatMap(({ name }) => month.exec(name)?.[1] ?? []);
  if (folder === undefined) return null;
  const find = (name: string) => files.find((file) => file.name === `${folder}${name}`);
  const months = files
    .filter(({ name }) => month.exec(name)?.[1] === folder)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const [details, payload] = ['user_details.js', 'payload_details.js'].map(find);
  return { folder, months, details, payload };
}

async function openMonths(files: ExportFiles, parts: MonthlyParts): Promise<ExportSource> {
  const { details, months, folder } = parts;
  const payload = await readObject(parts.payload, payloadDetails);
  const exportedMs = readXTimeMs(payload?.created_at);
  return createExportSource(files, (count) => {
    const countedMonths = months.map(count);
    return {
      title: 'X export',
      exportedMs,
      groups: async function* () {
        const account = await readMonthlyAccount(parts, payload?.tweets ?? null);
        yield [{ kind: 'account', account }];
        const without = { notes: await readNotes([]), edited: new Set<string>() };
        yield* readPosts(countedMonths, { account, ...without, hasOriginals: true });
        const root = folder.replace(/(?:data\/)?js\/$/, '');
        const imported = [details, parts.payload, ...months];
        yield* readLeftOut(files, { folder: root, imported, rules: monthlyRules });
      },
    };
  });
}

const payloadDetails = z.object({
  created_at: tokenOrNull,
  tweets: z.int().nullable().catch(null),
});

const userDetails = z.object({
  id: z.unknown().optional().transform(readId),
  screen_name: lenient(xHandle),
  full_name: textOrNull,
  bio: textOrNull,
  location: textOrNull,
  url: tokenOrNull,
  expanded_url: tokenOrNull,
  created_at: tokenOrNull,
});

async function readMonthlyAccount(
  { folder, details, months }: MonthlyParts,
  statuses: number | null,
): Promise<Account> {
  const known = await readObject(details, userDetails);
  const schema = z.object({ user: userPayload });
  const author = (await readFirst(months.toReversed(), { schema }))?.user;
  const screen_name = known?.screen_name ?? author?.screen_name;
  if (screen_name === undefined) {
    throw new Error(
      `${folder}user_details.js does not contain an account. The export may be incomplete. Unpack it again.`,
    );
  }
  const joinedMs = readXTimeMs(known?.created_at);
  return toXAccount({
    id: known?.id ?? author?.id_str ?? author?.id,
    screen_name,
    name: known?.full_name ?? author?.name,
    description: known?.bio ?? null,
    location: known?.location ?? null,
    website: toWebsite(webUrlOrNull(known?.expanded_url ?? known?.url ?? null)),
    avatar_url: enlargeAvatar(webUrlOrNull(author?.profile_image_url_https ?? null)),
    statuses,
    joined: joinedMs === null ? null : toIsoSeconds(joinedMs),
    protected: author?.protected ?? false,
  });
}

/*
 * Files of X exports that Perch does not import. The names are those of `data/README.txt` and of `dataTypes` in
 * `data/manifest.js`, from several years.
 */

const notPosts = 'Perch imports only posts, the profile and connections';

export const mediaPath = /(?:^|\/)(tweets?|community_tweet|profile)_media\/([^/]{1,500})$/;

const rules: LeftOutRules['rules'] = [
  [mediaPath, null],
  [/(?:^|\/)(?:assets\/|Your archive\.html$|README\.txt$|index\.html$)/, null],
  [/^(?:direct[-_]message|message-event|audio-video-calls-in-dm|xchat)/, 'private messages'],
  [/^grok[-_]/, 'conversations with Grok are private'],
  [/^likes?$/, 'likes are private'],
  [/^bookmark/, 'bookmarks are private'],
  [/^(?:block|mute|smartblock)/, 'blocks and mutes are private'],
  [/^deleted[-_]/, 'the author deleted these posts'],
  [/^twitter[-_]circle/, 'posts and members of a Circle are not public'],
  [/^(?:ads?-|personalization$|user-link-clicks$|branch-links$)/, 'advertising data is private'],
  [
    /^(?:account-|ageinfo$|app$|birthdate|connected-application$|contact$|device-token$|email-address|facebook-connection$|ip-audit$|key-registry$|ni-devices$|phone-number$|sso$|verified|reply-prompt$|tweetdeck$)/,
    'settings, addresses and devices of the account are private',
  ],
  [/^screen-name-change$/, 'earlier handles of the account are private'],
  [/^saved-search$/, 'saved searches are private'],
  [/^tweet-?headers$/, 'the posts themselves are in other files'],
  [/^lists-/, 'Perch does not import lists'],
  [/^moment/, 'X has removed moments'],
  [/^(?:twitter[-_])?article/, 'Perch does not import articles from an export'],
  [/^community-note/, 'X publishes community notes under another name'],
  [/^(?:periscope|spaces|profile-broadcast)/, 'Perch does not import broadcasts'],
  [/^(?:catalog|commerce|product|shop|twitter-shop|professional)/, notPosts],
];

const viewer = /^(?:index\.html|README\.txt|(?:css|img|js|lib)\/.*)$/s;

/** Rules for an export from 2012 to 2018 of which only `tweets.csv` is left. */
export const csvRules: LeftOutRules['rules'] = [[viewer, null]];

const monthlyRules: LeftOutRules['rules'] = [
  ...csvRules,
  [/^(?:data\/)?js\/tweet_index$/, null],
  [/\.csv$/, 'the same posts are in other files'],
];

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

const stemOf = (name: string): string => name.replace(/\.[A-Za-z0-9]{1,5}$/, '');
