import * as z from 'zod';
import { toIsoSeconds } from '../../../lib/clock.ts';
import { type Account, toWebsite } from '../../../model/account.ts';
import { lenient, textOrNull, tokenOrNull } from '../../../normalize/lenient.ts';
import { webUrlOrNull } from '../../../normalize/text.ts';
import { readTimeMs } from '../../../normalize/times.ts';
import { enlargeAvatar, toXAccount, xHandle } from '../../../normalize/x.ts';
import { toIdHandle } from '../../store/connections.ts';
import {
  createExportSource,
  type ExportFile,
  type ExportFiles,
  type ExportFormat,
  type ExportSource,
  readObject,
} from '../export-source.ts';
import { type LeftOutRules, readLeftOut } from '../left-out.ts';
import { convertRecords, readFirst, readRecords } from '../records.ts';
import { type ExportParts, findParts, mediaNameOf, mediaPath, readAccount } from './account.ts';
import { readEditedIds, readNotes, readPosts } from './posts.ts';
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
