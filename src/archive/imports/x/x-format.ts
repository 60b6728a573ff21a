import * as z from 'zod';
import { toIsoSeconds } from '../../../lib/clock.ts';
import { type Account, toAccount, toWebsite } from '../../../model/account.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { lenient, textOrNull, tokenOrNull } from '../../../normalize/lenient.ts';
import { webUrlOrNull } from '../../../normalize/text.ts';
import { readTimeMs } from '../../../normalize/times.ts';
import { enlargeAvatar, xHandle } from '../../../normalize/x.ts';
import { toIdHandle } from '../../store/connections.ts';
import type { ExportFormat, ExportItem, ExportSource } from '../export-source.ts';
import { createExportSource, type ExportFile, type ExportFiles } from '../export-source.ts';
import { type ReasonOf, readLeftOut, unknownFile } from '../left-out.ts';
import { readRecords, readRows } from '../records.ts';
import {
  type ExportParts,
  findParts,
  listPaths,
  mediaNameOf,
  readAccount,
  readScript,
} from './account.ts';
import { noNotes, readEditedIds, readNotes, readPosts } from './posts.ts';
import { connectionPayload, manifestPayload, readId, readXTimeMs, userPayload } from './wire.ts';

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
      yield* readLeftOut(files, createReasonOf(parts.folder, listPaths(parts)));
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

/*
 * Exports of X from 2012 to 2018: a script for each month, such as `data/js/tweets/2015_01.js`, and the account in
 * `data/js/user_details.js`. The file `tweets.csv` contains the same posts.
 */

interface MonthlyParts {
  /** Folder of the scripts, with a trailing `/`: `data/js/`. */
  readonly folder: string;
  /** Scripts with posts, oldest first. */
  readonly months: readonly ExportFile[];
  readonly details: ExportFile | undefined;
  readonly payload: ExportFile | undefined;
}

const month = /^((?:.*\/)?js\/)tweets\/\d{4}_\d\d\.js$/s;

function findMonths(files: readonly ExportFile[]): MonthlyParts | null {
  const [folder] = files.flatMap(({ name }) => month.exec(name)?.[1] ?? []);
  if (folder === undefined) return null;
  const find = (name: string) => files.find((file) => file.name === `${folder}${name}`);
  const details = find('user_details.js');
  const months = files
    .filter(({ name }) => month.exec(name)?.[1] === folder)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { folder, months, details, payload: find('payload_details.js') };
}

async function openMonths(files: ExportFiles, parts: MonthlyParts): Promise<ExportSource> {
  const payload = await readScript(payloadDetails, parts.payload, files.read);
  const madeMs = readXTimeMs(payload?.created_at);
  return createExportSource(files, parts.months, (read) => ({
    title: 'X export',
    ...(madeMs !== null && { exported: Math.floor(madeMs / 1000) }),
    groups: async function* () {
      const account = await readMonthlyAccount(parts, payload?.tweets ?? null, files.read);
      yield [{ kind: 'account', account }];
      const without = { notes: noNotes, edited: new Set<string>() };
      yield* readPosts(parts.months, { read, account, ...without, hasOriginals: true });
      yield* readLeftOut(files, createMonthlyReasonOf(parts));
    },
  }));
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
  read: ExportFiles['read'],
): Promise<Account> {
  const known = await readScript(userDetails, details, read);
  const author = await readAuthor(months, read);
  const screen_name = known?.screen_name ?? author?.screen_name;
  if (screen_name === undefined) {
    throw new Error(
      `${folder}user_details.js does not contain an account. The export may be incomplete. Unpack it again.`,
    );
  }
  const joinedMs = readXTimeMs(known?.created_at);
  return toAccount({
    id: known?.id ?? author?.id_str ?? author?.id ?? screen_name,
    screen_name,
    name: known?.full_name ?? author?.name ?? screen_name,
    url: profileUrl('x', screen_name, ''),
    description: known?.bio ?? null,
    location: known?.location ?? null,
    website: toWebsite(webUrlOrNull(known?.expanded_url ?? known?.url ?? null)),
    avatar_url: enlargeAvatar(webUrlOrNull(author?.profile_image_url_https ?? null)),
    statuses,
    joined: joinedMs === null ? null : toIsoSeconds(joinedMs),
    protected: author?.protected ?? false,
    platform: 'x',
  });
}

async function readAuthor(months: readonly ExportFile[], read: ExportFiles['read']) {
  const schema = z.object({ user: userPayload });
  for await (const { user } of readRows(months.toReversed(), { schema, read })) return user;
  return null;
}

/*
 * Files of X exports that Perch does not import. The names are those of `data/README.txt` and of `dataTypes` in
 * `data/manifest.js`, from several years.
 */

const notPosts = 'Perch imports only posts, the profile and connections';

const reasons: readonly (readonly [name: RegExp, reason: string])[] = [
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

const viewer = /(?:^|\/)(?:assets\/|Your archive\.html$|README\.txt$|index\.html$)/;

const createReasonOf =
  (folder: string, imported: ReadonlySet<string>): ReasonOf =>
  (path) => {
    if (imported.has(path) || mediaNameOf(path) !== null || viewer.test(path)) return null;
    if (!path.startsWith(folder)) return unknownFile;
    const name = path.slice(folder.length).replace(/(?:[-_]part\d{1,9})?\.js$|\/.*$/s, '');
    return reasons.find(([pattern]) => pattern.test(name))?.[1] ?? unknownFile;
  };

const monthlyViewer = /^(?:index\.html|README\.txt|(?:css|img|js|lib)\/.*)$/s;

function createMonthlyReasonOf({ folder, ...parts }: MonthlyParts): ReasonOf {
  const imported = new Set(
    [parts.details, parts.payload, ...parts.months].map((file) => file?.name),
  );
  const root = folder.replace(/(?:data\/)?js\/$/, '');
  return (path) => {
    if (imported.has(path) || path === `${folder}tweet_index.js`) return null;
    const name = path.startsWith(root) ? path.slice(root.length) : path;
    if (monthlyViewer.test(name)) return null;
    return name.endsWith('.csv') ? 'the same posts are in other files' : unknownFile;
  };
}

/** Returns the reasons for an export from 2012 to 2018 of which only `tweets.csv` is left. */
export const createCsvReasonOf = (imported: string): ReasonOf => {
  const root = imported.slice(0, imported.lastIndexOf('/') + 1);
  return (path) => {
    const name = path.startsWith(root) ? path.slice(root.length) : path;
    return path === imported || monthlyViewer.test(name) ? null : unknownFile;
  };
};
