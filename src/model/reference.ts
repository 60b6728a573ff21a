import { z } from 'zod';
import { Problem, quoteInput } from '../core/problem.ts';
import { domainName, isPublicName } from '../core/public-host.ts';

/** The platforms that references can name. New values may appear in replies. */
export const platform = z.enum(['x', 'bluesky', 'mastodon', 'sample']);

/** A platform. */
export type Platform = z.output<typeof platform>;

/** What can be searched: a platform, what was imported into the archive, or the made-up sample. */
export const searchPlatforms = ['x', 'bluesky', 'mastodon', 'archive', 'sample'] as const;

/** How a platform, and what else can be searched, is called in sentences. */
export const platformNames: Readonly<Record<Platform | SearchPlatform, string>> = {
  x: 'X',
  bluesky: 'Bluesky',
  mastodon: 'Mastodon',
  sample: 'the sample',
  archive: 'the archive',
};

/** What a search asks. */
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
  mastodon: /^[A-Za-z0-9]{1,64}$/,
  sample: /^[1-9][0-9]{0,18}$/,
};

/** The greatest id that X can give: the greatest signed 64-bit number. */
const greatestSnowflake = 9223372036854775807n;

/** Reads a handle, with or without `@`, in any case; null when it has no platform's form. */
export function parseHandle(text: string): AccountReference | null {
  // ASCII only: `toLowerCase` makes a `k` of the sign for Kelvin.
  const handle = text.replace(/^@/, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const form = handleForms.find(([, pattern]) => pattern.test(handle));
  if (form === undefined) return null;
  if (form[0] === 'mastodon' && !isPublicName(handle.slice(handle.lastIndexOf('@') + 1)))
    return null;
  return { platform: form[0], handle };
}

/** Tells whether a post id has the platform's form (decisions section 3). */
export function isPostId(of: Platform, id: string): boolean {
  if (!idForms[of].test(id)) return false;
  return of !== 'x' || BigInt(id) <= greatestSnowflake;
}

/**
 * Gives what tells a post from every other. On X and in the sample an id is enough; elsewhere ids are
 * unique for an account or a host.
 */
export function identifyPost({ platform: of, handle, id }: PostReference): string {
  return `${of} ${of === 'x' || of === 'sample' ? '' : handle} ${id}`;
}

/**
 * Reads the pair of `handle` and `id`.
 *
 * @throws Problem `invalid_params` that names the part at fault.
 */
export function parsePostParams(handle: string, id: string): PostReference {
  const reference = parseHandle(handle);
  if (reference === null) {
    throw new Problem('invalid_params', {
      detail: `The parameter \`handle\` has the value ${quoteInput(handle)}, which is no handle of a known platform.`,
    });
  }
  if (!isPostId(reference.platform, id)) {
    throw new Problem('invalid_params', {
      detail: `The parameter \`id\` has the value ${quoteInput(id)}, which is no post id on this platform.`,
    });
  }
  return { ...reference, id };
}

/**
 * Reads the URL of a post: X, Bluesky, Mastodon, or this server's own permalinks (decisions
 * section 3).
 *
 * @param baseUrl Perch's own address, without a trailing slash.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path`.
 */
export function parsePostUrl(text: string, baseUrl: string): PostReference {
  const url = parseHttpUrl(text, baseUrl);
  if (isUnder(url, baseUrl))
    return parseOwnPath(text, segmentsAfter(url, new URL(baseUrl).pathname));
  const segments = segmentsAfter(url, '/');
  if (xHosts.has(url.hostname)) return orInvalidPath(text, parseXPath(segments));
  if (url.hostname === 'bsky.app') return orInvalidPath(text, parseBlueskyPath(segments));
  const reference = isPublicName(url.hostname) ? parseMastodonPath(url.hostname, segments) : null;
  if (reference !== null) return reference;
  throw new Problem('unsupported_host', {
    detail: `The parameter \`url\` names the host ${quoteInput(url.hostname)}, which Perch does not read.`,
  });
}

const xHosts: ReadonlySet<string> = new Set([
  'x.com',
  'www.x.com',
  'mobile.x.com',
  'twitter.com',
  'www.twitter.com',
  'mobile.twitter.com',
]);

function parseHttpUrl(text: string, baseUrl: string): URL {
  const refuse = (fault: string) =>
    new Problem('invalid_url', {
      detail: `The parameter \`url\` has the value ${quoteInput(text)}, which ${fault}.`,
    });
  // The URL parser drops tabs and line feeds anywhere and turns `\` into `/`: refused, not mended.
  if (/[\p{Cc}\s\\]/u.test(text))
    throw refuse('has spaces, backslashes or control characters in it');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw refuse('is not an absolute URL such as https://x.com/jack/status/20');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse('is neither https nor http');
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    throw refuse('carries user information before the host');
  }
  if (hasPort(text) && url.host !== new URL(baseUrl).host) throw refuse('names a port');
  return url;
}

/** Looks at the text, because the parser hides a port that is the scheme's own. */
function hasPort(text: string): boolean {
  return /^[a-z]+:\/*[^/?#]*:\d*(?:[/?#]|$)/i.test(text.replace(/\[[^\]]*\]/, ''));
}

function isUnder(url: URL, baseUrl: string): boolean {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  // `http:` is treated as `https:`, so a base URL is also known under the other scheme.
  return url.host === base.host && url.pathname.startsWith(`${prefix}/`);
}

/** Splits a path below `prefix` into decoded segments; one trailing slash is dropped. */
function segmentsAfter(url: URL, prefix: string): readonly string[] {
  const path = url.pathname.slice(prefix.replace(/\/$/, '').length + 1).replace(/\/$/, '');
  return path.split('/').map(decodeSegment);
}

/** Decodes one segment; what cannot be decoded stays as it is and then matches no form. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a broken percent-encoding: `%` is in no handle and in no id
  }
}

function orInvalidPath(text: string, reference: PostReference | null): PostReference {
  if (reference !== null) return reference;
  throw new Problem('invalid_path', {
    detail: `The parameter \`url\` has the value ${quoteInput(text)}, which is not the URL of a post.`,
  });
}

function parseOwnPath(text: string, segments: readonly string[]): PostReference {
  const [handle = '', word, id = '', ...rest] = segments;
  const account = word === 'status' && isMediaTail(rest) ? parseHandle(handle) : null;
  const known = account !== null && isPostId(account.platform, id);
  return orInvalidPath(text, known ? { ...account, id } : null);
}

function parseXPath(segments: readonly string[]): PostReference | null {
  const named = segments[0]?.toLowerCase() !== 'i';
  const [word, id = '', ...rest] = segments.slice(!named && segments[1] === 'web' ? 2 : 1);
  if ((word !== 'status' && word !== 'statuses') || !isPostId('x', id) || !isMediaTail(rest))
    return null;
  if (!named) return { platform: 'x', handle: null, id };
  const account = parseHandle(segments[0] ?? '');
  return account?.platform === 'x' ? { ...account, id } : null;
}

function isMediaTail(rest: readonly string[]): boolean {
  if (rest.length === 0) return true;
  return (
    rest.length === 2 && /^(?:photo|video)$/.test(rest[0] ?? '') && /^[1-9]\d?$/.test(rest[1] ?? '')
  );
}

/** First path segments on X that are pages of the site and no accounts. */
const xPages: ReadonlySet<string> = new Set([
  'compose',
  'explore',
  'hashtag',
  'home',
  'i',
  'intent',
  'jobs',
  'login',
  'messages',
  'notifications',
  'privacy',
  'search',
  'settings',
  'share',
  'signup',
  'tos',
]);

/**
 * Reads the URL of an account on its own platform, also with the tab of its replies or media; null
 * where it is that of no account.
 *
 * @param baseUrl Perch's own address, without a trailing slash.
 * @throws Problem `invalid_url`.
 */
export function parseProfileUrl(text: string, baseUrl: string): AccountReference | null {
  const url = parseHttpUrl(text, baseUrl);
  const segments = segmentsAfter(url, '/');
  if (xHosts.has(url.hostname)) return parseXProfile(segments);
  if (url.hostname === 'bsky.app') {
    const [word, handle = '', ...rest] = segments;
    return word === 'profile' && rest.length === 0 ? parseHandleOf('bluesky', handle) : null;
  }
  return isPublicName(url.hostname) ? parseMastodonProfile(url.hostname, segments) : null;
}

function parseXProfile([name = '', tab, ...rest]: readonly string[]): AccountReference | null {
  const isTab = tab === undefined || tab === 'with_replies' || tab === 'media';
  if (!isTab || rest.length > 0 || xPages.has(name.toLowerCase())) return null;
  return parseHandleOf('x', name);
}

function parseMastodonProfile(host: string, segments: readonly string[]): AccountReference | null {
  const [first = '', second = ''] = segments;
  const short = segments.length === 1 && first.startsWith('@');
  const long = segments.length === 2 && first === 'users';
  if (!short && !long) return null;
  const user = short ? first.slice(1) : second;
  return parseHandleOf('mastodon', user.includes('@') ? user : `${user}@${host}`);
}

function parseHandleOf(of: Platform, text: string): AccountReference | null {
  const account = parseHandle(text);
  return account?.platform === of ? account : null;
}

function parseBlueskyPath(segments: readonly string[]): PostReference | null {
  const [profile, handle = '', post, id = '', ...rest] = segments;
  if (profile !== 'profile' || post !== 'post' || rest.length > 0) return null;
  const account = parseHandle(handle);
  return account?.platform === 'bluesky' && isPostId('bluesky', id) ? { ...account, id } : null;
}

/**
 * Reads the forms that the links of Mastodon have: `/@user/1`, `/users/user/statuses/1`, the latter
 * also with `/activity` for a boost, and those of its older and other web apps (`/web/@user/1`,
 * `/web/statuses/1`, `/deck/@user/1`).
 */
function parseMastodonPath(host: string, segments: readonly string[]): PostReference | null {
  const path = withoutWebApp(segments);
  if (path !== segments && path.length === 2 && path[0] === 'statuses') {
    const [, id = ''] = path;
    return isPostId('mastodon', id)
      ? { platform: 'mastodon', handle: `${nobody}@${host}`, id }
      : null;
  }
  return parseMastodonPost(host, path);
}

/** Stands for the author in a reference to a post of Mastodon that names the host alone. */
const nobody = '_';

function withoutWebApp(segments: readonly string[]): readonly string[] {
  const [app = '', ...rest] = segments;
  return app === 'web' || app === 'deck' ? rest : segments;
}

function parseMastodonPost(host: string, path: readonly string[]): PostReference | null {
  const parts = splitPostPath(path);
  if (parts === null || !isPostId('mastodon', parts.id)) return null;
  const { user, id } = parts;
  const account = parseHandle(user.includes('@') ? user : `${user}@${host}`);
  if (account?.platform !== 'mastodon') return null;
  return { platform: 'mastodon', handle: `${user.split('@')[0]?.toLowerCase()}@${host}`, id };
}

interface PostPath {
  readonly user: string;
  readonly id: string;
}

function splitPostPath(path: readonly string[]): PostPath | null {
  const [first = '', second = '', third, id = '', tail] = path;
  if (path.length === 2) return first.startsWith('@') ? { user: first.slice(1), id: second } : null;
  const isLong = path.length === 4 || (path.length === 5 && tail === 'activity');
  return isLong && first === 'users' && third === 'statuses' ? { user: second, id } : null;
}

/**
 * Reads the address of a post on a server of Mastodon, written with https; null where it is none, or
 * one that a server gives to the copy of another server's post.
 */
export function parseMastodonOrigin(text: string): PostReference | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== 'https:' || url.host !== url.hostname) return null;
  if (!isPublicName(url.hostname) || url.pathname.includes('@', 2)) return null;
  return parseMastodonPost(url.hostname, segmentsAfter(url, '/'));
}

/** The server of Mastodon that is asked what belongs to no other. */
export const defaultMastodonHost = 'mastodon.social';

/** Gives the address of an account on its own platform; the sample lives at Perch's permalinks. */
export function profileUrl(of: Platform, handle: string, baseUrl: string): string {
  const name = encodeURIComponent(handle).replaceAll('%40', '@').replaceAll('%3A', ':');
  switch (of) {
    case 'x':
      return `https://x.com/${name}`;
    case 'bluesky':
      return `https://bsky.app/profile/${name}`;
    case 'mastodon':
      return `https://${handle.slice(handle.lastIndexOf('@') + 1)}/@${handle.split('@')[0]}`;
    case 'sample':
      return `${baseUrl}/${name}`;
  }
}

/** Gives the address of a post on its own platform; the sample lives at Perch's permalinks. */
export function postUrl(reference: PostReference, baseUrl: string): string {
  const profile = profileUrl(reference.platform, reference.handle ?? 'i', baseUrl);
  switch (reference.platform) {
    case 'x':
    case 'sample':
      return `${profile}/status/${reference.id}`;
    case 'bluesky':
      return `${profile}/post/${reference.id}`;
    case 'mastodon':
      return `${profile}/${reference.id}`;
  }
}

/** Gives the address of the oEmbed document of the post at `url`. */
export function embedUrl(url: string, baseUrl: string): string {
  return `${baseUrl}/api/v1/oembed?url=${encodeURIComponent(url)}`;
}

/** Gives the address of a hashtag's posts; `host` is the server on Mastodon. */
export function hashtagUrl(
  of: Platform,
  tag: string,
  where: { baseUrl: string; host?: string },
): string {
  const name = encodeURIComponent(tag);
  switch (of) {
    case 'x':
      return `https://x.com/hashtag/${name}`;
    case 'bluesky':
      return `https://bsky.app/hashtag/${name}`;
    case 'mastodon':
      return `https://${where.host ?? defaultMastodonHost}/tags/${name}`;
    case 'sample':
      return `${where.baseUrl}/search?q=%23${name}&platform=sample`;
  }
}
