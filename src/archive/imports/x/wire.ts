import * as z from 'zod';
import { lenient, listOf, parserOf, refuse, text, token, url } from '../../../normalize/lenient.ts';
import { maximums } from '../../../normalize/maximums.ts';
import { readTimeMs, refuseTime } from '../../../normalize/times.ts';
import { timeOfXId, xHandle, xId } from '../../../normalize/x.ts';

/*
 * Files of X exports, as their `data/README.txt` and `data/manifest.js` describe them. Every file
 * is a script: `window.YTD.tweets.part0 = [ … ]`, the manifest `window.__THAR_CONFIG = { … }`. Most
 * numbers are strings, depending on the year of the export. Exports before 2020 have `tweet.js`,
 * without the wrapping `tweet` member.
 */

const anything = z.unknown().optional();

function readDigits(value: unknown): number | null {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return typeof value === 'number' && value >= 0 ? value : null;
}

const readWords = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

function readTerm(value: unknown): string | null {
  const read = readWords(value);
  return read !== null && read.length <= maximums.token ? read : null;
}

/** Reads an id. Before 2019, ids can be numbers too, which JSON parsers round if they are large. */
export const readId = (value: unknown): string | null => {
  if (Number.isSafeInteger(value)) return readDigitId(String(value));
  return readDigitId(value);
};

const createReader = (pattern: RegExp) => (value: unknown) =>
  typeof value === 'string' && pattern.test(value) ? value : null;
const readDigitId = createReader(/^\d{1,20}$/);
const readHandle = createReader(/^\w{1,20}$/);
const digits = anything.transform(readDigits);
const words = anything.transform(readWords);

const indices = z
  .tuple([digits, digits])
  .transform(([start, end]) => [start ?? -1, end ?? -1] as const)
  .catch([-1, -1]);

const link = z.object({ url, expanded_url: words, indices });
const size = lenient(z.object({ w: digits, h: digits }));

/** Largest size. Exports before 2019 have a list of sizes. */
const largest = lenient(
  z.union([
    z.object({ large: size, medium: size }).transform(({ large, medium }) => large ?? medium),
    listOf(size, maximums.variants).transform((sizes) => {
      const known = sizes.filter((one) => one !== null);
      return known.toSorted((a, b) => (b.w ?? 0) - (a.w ?? 0))[0] ?? null;
    }),
  ]),
);

const media = z.object({
  url: words,
  type: words,
  media_url_https: words,
  media_url: words,
  indices,
  sizes: largest,
  ext_alt_text: words,
  video_info: lenient(
    z.object({
      duration_millis: digits,
      variants: listOf(z.object({ url, content_type: words, bitrate: digits }), maximums.variants),
    }),
  ),
});

export type MediaPayload = z.output<typeof media>;

const tags = listOf(z.object({ text: token, indices }), maximums.facets);

const entities = z.object({
  urls: listOf(link, maximums.facets),
  user_mentions: listOf(
    z.object({ screen_name: xHandle, name: words, id_str: anything.transform(readId), indices }),
    maximums.facets,
  ),
  hashtags: tags,
  symbols: tags,
  media: listOf(media, maximums.media),
});

export type EntitiesPayload = z.output<typeof entities>;

export const noEntities = entities.parse({});

function readEntities(value: unknown): EntitiesPayload | null {
  if (typeof value !== 'object' || value === null) return null;
  const isEmpty = Object.values(value).every((list) => Array.isArray(list) && list.length === 0);
  return isEmpty ? noEntities : (entities.safeParse(value).data ?? null);
}

/** Author in exports before 2019. */
export const userPayload = z.object({
  id_str: anything.transform(readId),
  id: anything.transform(readId),
  screen_name: xHandle,
  name: words,
  protected: anything.transform((value) => value === true),
  profile_image_url_https: words,
});

type UserPayload = z.output<typeof userPayload>;

export type TweetPayload = ReturnType<typeof readTweet>;

const readExtended = parserOf(z.object({ media: listOf(media, maximums.media) }));

/** Post in `tweets.js`. Members are parsed one by one: an object schema takes twice the time. */
export const tweetPayload: z.ZodType<TweetPayload> = z.unknown().transform((value, context) => {
  const row = unwrapTweet(value);
  if (row === null) return refuse(context, 'It does not have the expected structure.');
  const [id_str, full_text] = [idOf(row), textOf(row)];
  if (id_str === null) return refuse(context, 'Its field id_str is missing or cannot be read.');
  if (typeof full_text !== 'string')
    return refuse(context, 'Its field full_text is missing or cannot be read.');
  const createdMs = readCreatedMs(row.created_at, id_str);
  if (createdMs === null) return refuseTime(context);
  const reposted = readReposted(row, { id_str, full_text, createdMs });
  if (reposted === undefined)
    return refuse(context, 'It is a repost, and the author of the original post is unknown.');
  return readTweet(row, { id_str, full_text, createdMs }, reposted);
});

type TweetKey = Readonly<{ id_str: string; full_text: string; createdMs: number }>;

const readTweet = (
  row: Members,
  { id_str, full_text, createdMs }: TweetKey,
  reposted: RepostedPayload | null,
) => ({
  id_str,
  full_text,
  /** Links, mentions, tags and media; `null` if they are unreadable. */
  entities: readEntities(row.entities),
  extended_media:
    row.extended_entities === undefined ? [] : (readExtended(row.extended_entities)?.media ?? []),
  in_reply_to_status_id_str: readId(row.in_reply_to_status_id_str),
  in_reply_to_screen_name: readHandle(row.in_reply_to_screen_name),
  favorite_count: readDigits(row.favorite_count),
  retweet_count: readDigits(row.retweet_count),
  lang: readTerm(row.lang),
  source: readWords(row.source),
  possibly_sensitive: row.possibly_sensitive === true,
  truncated: row.truncated === true,
  community_id: readId(row.community_id_str) ?? readId(row.community_id),
  ...readEdit(row.edit_info, id_str),
  reposted,
  createdMs,
});

/** Parses a time, also in the form `2015-01-24 02:02:37 +0000` of exports before 2019. */
export function readXTimeMs(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \+0000$/.exec(value) ?? [];
  return readTimeMs(day === undefined ? value : `${day}T${time}Z`);
}

const readCreatedMs = (time: unknown, id: string): number | null =>
  readXTimeMs(time) ?? timeOfXId(BigInt(id));

/** Original of a repost. Only exports before 2019 contain it. */
export interface RepostedPayload {
  readonly row: TweetPayload;
  readonly user: UserPayload;
}

/** Start of the text of a repost. Captures the handle of the original author. */
export const repostStart = /^RT @(\w{1,20})(?::? |:?$)/;

function readReposted(row: Members, repost: TweetKey): RepostedPayload | null | undefined {
  const { retweeted_status: value } = row;
  const statedId = readId(row.retweeted_status_id_str) ?? readId(row.retweeted_status_id);
  if (!isObject(value) && statedId === null) return null;
  const original = unwrapTweet(value) ?? {};
  const [start = '', handle] = repostStart.exec(repost.full_text) ?? [];
  const user = readAuthor(original.user ?? memberOf(value, 'user'), handle);
  const id_str = idOf(original) ?? statedId ?? repost.id_str;
  const { data } = tweetPayload.safeParse({
    ...original,
    id_str,
    full_text: readWords(textOf(original)) ?? repost.full_text.slice(start.length),
    created_at: toOriginalTime(original.created_at, id_str, repost.createdMs),
    // An original is never a repost, so the recursion ends.
    ...noOriginal,
  });
  return user === undefined || data === undefined ? undefined : { row: data, user };
}

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

const toOriginalTime = (time: unknown, id: string, repostedMs: number): unknown =>
  readCreatedMs(time, id) === null ? new Date(repostedMs).toISOString() : time;

const noOriginal = {
  tweet: undefined,
  retweeted_status: undefined,
  retweeted_status_id: undefined,
  retweeted_status_id_str: undefined,
};

const readAuthor = (value: unknown, handle: string | undefined): UserPayload | undefined =>
  userPayload.safeParse(value).data ??
  userPayload.safeParse({ ...Object(value), screen_name: handle }).data;

export const maxVersions = 50; // X allows five edits of a post

function readEdit(info: unknown, id: string) {
  const list = memberOf(controlOf(info), 'editTweetIds');
  const ids: readonly unknown[] = Array.isArray(list) ? list.slice(0, maxVersions) : [];
  const listed = ids.includes(id) ? readId(ids[0]) : null;
  /** Id of the first version of an edited post; otherwise the id of the post. */
  const firstId = readId(memberOf(memberOf(info, 'edit'), 'initialTweetId')) ?? listed ?? id;
  // Whether the post states that it has several versions. The first one does not always.
  return { firstId, isEdited: firstId !== id || (listed !== null && ids.length > 1) };
}

const controlOf = (info: unknown): unknown =>
  memberOf(memberOf(info, 'edit'), 'editControlInitial') ?? memberOf(info, 'initial') ?? info;

type Members = Readonly<Record<string, unknown>>;

function unwrapTweet(value: unknown): Members | null {
  const row = memberOf(value, 'tweet') ?? value;
  return isObject(row) ? row : null;
}

// Exports before 2019 have other names.
const idOf = (row: Members): string | null => readId(row.id_str ?? row.id);
const textOf = (row: Members): unknown => row.full_text ?? row.text;

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Entry of `note-tweet.js`: full text of a long post, without the id of the post. */
export const notePayload = z.object({
  noteTweet: z.object({
    createdAt: token,
    core: z.object({
      text,
      urls: listOf(z.object({ shortUrl: url, expandedUrl: url }), maximums.facets),
    }),
  }),
});

export type NotePayload = z.output<typeof notePayload>['noteTweet'];

export const accountPayload = z.object({
  account: z.object({
    accountId: xId,
    username: xHandle,
    accountDisplayName: words,
    createdAt: words,
  }),
});

export const profilePayload = z.object({
  profile: z.object({
    description: lenient(z.object({ bio: words, website: words, location: words })),
    avatarMediaUrl: words,
    headerMediaUrl: words,
  }),
});

/** Entry of `protected-history.js`: when the account became protected or public. */
export const protectionPayload = z.object({
  protectedHistory: z.object({ protectedAt: token, action: token }),
});

/** Follower in `follower.js`, or followed account in `following.js`. */
export const connectionPayload = z.union([
  z.object({ follower: z.object({ accountId: xId }) }).transform((row) => row.follower),
  z.object({ following: z.object({ accountId: xId }) }).transform((row) => row.following),
]);

const manifestList = lenient(
  z.object({ files: listOf(z.object({ count: digits }), maximums.blocks) }),
);

export const manifestPayload = z.object({
  archiveInfo: lenient(z.object({ generationDate: words })),
  dataTypes: lenient(z.object({ tweets: manifestList, tweet: manifestList })),
});

export type ManifestPayload = z.output<typeof manifestPayload>;
