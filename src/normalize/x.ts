import * as z from 'zod';
import { type Account, toAccount } from '../model/account.ts';
import { postUrl, profileUrl } from '../model/addresses/urls.ts';
import type { Media } from '../model/media.ts';
import type { Status } from '../model/post.ts';
import { toUnavailability, type Unavailability, type UnavailableReason } from './unavailable.ts';

export const xId = z.string().regex(/^\d{1,20}$/);

/** Handle in upstream responses, which may be longer than handles in requests. */
export const xHandle = z.string().regex(/^\w{1,20}$/);

export const xPostUrl = (handle: string | null, id: string): string =>
  postUrl({ platform: 'x', handle, id }, '');

/** Returns a reference to a reply's parent, by its author and id; `null` if both are `null`. */
export function toReplyingTo(handle: string | null, id: string | null): Status['replying_to'] {
  if (handle === null && id === null) return null;
  return { screen_name: handle, status: id, url: id === null ? null : xPostUrl(handle, id) };
}

interface Variant {
  readonly content_type: string | null;
  readonly bitrate: number | null;
}

/** Returns the MP4 file with the highest bit rate; the first variant if there is none. */
export function bestVariantOf<V extends Variant>(variants: readonly V[]): V | undefined {
  const files = variants.filter(({ content_type }) => content_type === 'video/mp4');
  return files.toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0))[0] ?? variants[0];
}

interface XMedia extends Pick<Media, 'url' | 'width' | 'height' | 'alt'> {
  readonly type: string | null;
  readonly video: {
    readonly duration_millis: number | null;
    readonly variants: NonNullable<Media['variants']>;
  } | null;
}

/** Converts a picture, or a video whose `url` is that of its preview picture. */
export function shapeXMedia({ type, url, video, ...shown }: XMedia): Media {
  if (video === null) return { type: 'photo', url, ...shown };
  const { variants, duration_millis } = video;
  const isGif = type === 'animated_gif';
  return {
    type: isGif ? 'gif' : 'video',
    url: bestVariantOf(variants)?.url ?? url,
    ...shown,
    thumbnail_url: url,
    // GIFs loop, so their duration is 0, absent or that of one loop.
    duration: isGif ? null : (duration_millis ?? 0) / 1000 || null,
    variants: [...variants],
  };
}

interface XAccount extends Partial<Omit<Account, 'id' | 'name'>> {
  readonly screen_name: string;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
}

/** Creates an account. Its id and its name default to its handle. */
export function toXAccount({ id, name, ...known }: XAccount): Account {
  const { screen_name } = known;
  const url = profileUrl('x', screen_name, '');
  return toAccount({
    id: id ?? screen_name,
    ...known,
    name: name ?? screen_name,
    url,
    platform: 'x',
  });
}

export const enlargeAvatar = (url: string | null): string | null =>
  url === null ? null : url.replace(/_(?:normal|200x200)(?=\.\w+$)/, '_400x400');

/** Unix milliseconds from which X counts the time in the ids of posts. */
export const snowflakeEpochMs = 1_288_834_974_657;

/** Upper bound of sequential ids (until November 2010). Later ids are snowflakes with a time. */
export const lastCountedId = 30_000_000_000n;

export const bitsBelowTime = 22n;

/** Returns the Unix milliseconds of a snowflake id; `null` for an older, sequential id. */
export const timeOfXId = (id: bigint): number | null =>
  id > lastCountedId ? Number(id >> bitsBelowTime) + snowflakeEpochMs : null;

const notices: readonly (readonly [RegExp, UnavailableReason])[] = [
  [/age-restricted|adult content/i, 'age_restricted'],
  [/\bwithheld\b/i, 'withheld'],
  [/deleted by|no longer exists/i, 'deleted'],
  [/suspended/i, 'suspended'],
  [/limits who can view/i, 'protected'],
];

/** Countries in a notice such as `withheld in Germany based on local law(s)`. */
const place =
  /\b[Ww]ithheld in (?!response\b)((?:the )?\p{Lu}[\p{L} ,'’-]{1,80}?)(?= in response| based on|[.;]|$)/u;

/** Returns why a post is unavailable; `null` if X's notice states no known reason. */
export function readNotice(text: string): Unavailability | null {
  const [, reason] = notices.find(([pattern]) => pattern.test(text)) ?? [];
  if (reason === undefined) return null;
  const [, country] = reason === 'withheld' ? (place.exec(text) ?? []) : [];
  return country === undefined
    ? toUnavailability(reason)
    : toUnavailability(reason, `X withholds this post in ${country}, because of a legal demand.`);
}
