import { z } from 'zod';
import { domainName, isPublicName } from '../core/http/public-host.ts';
import { parseUrl } from '../core/http/url.ts';
import { Problem, quoteInput } from '../core/problem.ts';

/** The platforms that references can name. New values may appear in replies. */
export const platform = z.enum(['x', 'bluesky', 'mastodon', 'sample']);
export type Platform = z.output<typeof platform>;

/** What can be searched: a platform, what was imported into the archive, or the made-up sample. */
export const searchPlatforms = ['x', 'bluesky', 'mastodon', 'archive', 'sample'] as const;

/** Names of platforms and of other things that can be searched, for use in sentences. */
export const platformNames: Readonly<Record<Platform | SearchPlatform, string>> = {
  x: 'X',
  bluesky: 'Bluesky',
  mastodon: 'Mastodon',
  sample: 'the sample',
  archive: 'the archive',
};

export type SearchPlatform = (typeof searchPlatforms)[number];

/** An account by handle: without `@`, lower case, `user@host` on Mastodon. */
export interface AccountReference {
  readonly platform: Platform;
  readonly handle: string;
}

/** A post by id. `handle` is null where the URL has none; on Mastodon it names the host. */
export interface PostReference {
  readonly platform: Platform;
  readonly handle: string | null;
  readonly id: string;
}

const handleForms: readonly (readonly [Platform, RegExp])[] = [
  ['x', /^[a-z0-9_]{1,15}$/],
  ['sample', /^[a-z0-9-]{1,63}\.example$/],
  ['bluesky', /^did:plc:[a-z2-7]{24}$/],
  ['bluesky', domainName],
  ['mastodon', /^[a-z0-9_](?:[a-z0-9_.-]{0,62}[a-z0-9_])?@[a-z0-9.-]{4,253}$/],
];

/** Post ids. X: a positive 63-bit number in decimal (at most 19 digits), no leading zero. */
const idForms: Readonly<Record<Platform, RegExp>> = {
  x: /^[1-9][0-9]{0,18}$/,
  bluesky: /^(?!\.{1,2}$)[A-Za-z0-9._:~-]{1,512}$/,
  mastodon: /^[\w-]{1,64}$/,
  sample: /^[1-9][0-9]{0,18}$/,
};

// The greatest signed 64-bit number.
const greatestSnowflake = 9223372036854775807n;

/** Parses a handle, with or without `@`, in any case. Returns `null` if it has no platform's form. */
export function parseHandle(text: string): AccountReference | null {
  // ASCII only: `toLowerCase` makes a `k` of the sign for Kelvin.
  const handle = text.replace(/^@/, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const form = handleForms.find(([, pattern]) => pattern.test(handle));
  if (form === undefined) return null;
  if (form[0] === 'mastodon' && !isPublicName(handle.slice(handle.lastIndexOf('@') + 1)))
    return null;
  return { platform: form[0], handle };
}

export function isPostId(of: Platform, id: string): boolean {
  if (!idForms[of].test(id)) return false;
  return of !== 'x' || BigInt(id) <= greatestSnowflake;
}

/** Returns a unique name of a post. On X and in the sample ids are unique, elsewhere within an account or a host. */
export const identifyPost = ({ platform: of, handle, id }: PostReference): string =>
  `${of} ${of === 'x' || of === 'sample' ? '' : handle} ${id}`;

/** The handle in addresses of posts on X that name no author. No account there can have it. */
export const nobodyOnX = 'i';

/** Returns the post with this id by this account; null if one of them has no platform's form. */
export function toPostReference(handle: string, id: string): PostReference | null {
  const account = parseHandle(handle);
  if (account === null || !isPostId(account.platform, id)) return null;
  const isNobody = account.platform === 'x' && account.handle === nobodyOnX;
  return isNobody ? { platform: 'x', handle: null, id } : { ...account, id };
}

/** @throws Problem `invalid_params` that names the part at fault */
export function parsePostParams(handle: string, id: string): PostReference {
  const post = toPostReference(handle, id);
  if (post !== null) return post;
  const [name, value, fault] =
    parseHandle(handle) === null
      ? ['handle', handle, 'no handle of a known platform']
      : ['id', id, 'no post id on this platform'];
  throw new Problem('invalid_params', {
    detail: `The parameter \`${name}\` has the value ${quoteInput(value)}, which is ${fault}.`,
  });
}

/** The paths of a post on its own Mastodon server: `/@user/1`, `/users/user/statuses/1`, for a boost with `/activity`. */
const originPath =
  /^\/(?:@([^/@]+)\/([^/]+)|users\/([^/@]+)\/statuses\/([^/]+)(?:\/activity)?)\/?$/;

/**
 * Parses the address of a post on a Mastodon server, written with https. Returns null for any other
 * address, and for that of a copy of another server's post.
 */
export function parseMastodonOrigin(text: string): PostReference | null {
  const url = parseUrl(text);
  if (url === null || url.protocol !== 'https:' || url.host !== url.hostname) return null;
  if (!isPublicName(url.hostname)) return null;
  const [, shortUser, shortId, longUser, longId] = originPath.exec(url.pathname) ?? [];
  const post = toPostReference(`${shortUser ?? longUser}@${url.host}`, shortId ?? longId ?? '');
  return post?.platform === 'mastodon' ? post : null;
}

/** The Mastodon server that is asked for what belongs to no other server. */
export const defaultMastodonHost = 'mastodon.social';

/** Returns the address of an account on its own platform; the sample lives at Perch's permalinks. */
export function profileUrl(of: Platform, handle: string, baseUrl: string): string {
  const name = encodeURIComponent(handle).replaceAll('%40', '@').replaceAll('%3A', ':');
  const host = handle.slice(handle.lastIndexOf('@') + 1);
  const urls: Record<Platform, string> = {
    x: `https://x.com/${name}`,
    bluesky: `https://bsky.app/profile/${name}`,
    mastodon: `https://${host}/@${handle.split('@')[0]}`,
    sample: `${baseUrl}/${name}`,
  };
  return urls[of];
}

const postPaths: Readonly<Record<Platform, string>> = {
  x: '/status/',
  bluesky: '/post/',
  mastodon: '/',
  sample: '/status/',
};

/** Returns the address of a post on its own platform; the sample lives at Perch's permalinks. */
export const postUrl = ({ platform: of, handle, id }: PostReference, baseUrl: string): string =>
  `${profileUrl(of, handle ?? nobodyOnX, baseUrl)}${postPaths[of]}${id}`;

export const embedUrl = (url: string, baseUrl: string): string =>
  `${baseUrl}/api/v1/oembed?url=${encodeURIComponent(url)}`;

/** Returns the address of a hashtag's posts; `host` is the server on Mastodon. */
export function hashtagUrl(
  of: Platform,
  tag: string,
  where: { baseUrl: string; host?: string },
): string {
  const name = encodeURIComponent(tag);
  const urls: Record<Platform, string> = {
    x: `https://x.com/hashtag/${name}`,
    bluesky: `https://bsky.app/hashtag/${name}`,
    mastodon: `https://${where.host ?? defaultMastodonHost}/tags/${name}`,
    sample: `${where.baseUrl}/search?q=%23${name}&platform=sample`,
  };
  return urls[of];
}
