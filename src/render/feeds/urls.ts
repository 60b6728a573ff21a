import { parseUrl } from '../../lib/http/url.ts';
import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';
import type { Format } from '../../model/results.ts';
import { toWebUrl } from '../html/pictures.ts';
import { toLine } from '../markdown/characters.ts';

export const toFormatUrl = (url: string, format: Format): string =>
  `${url}${url.includes('?') ? '&' : '?'}format=${format}`;

/** Returns an http(s) URL valid by RFC 3986, stricter than browsers; `null` for other URLs. */
export function toStrictUrl(url: string | null): string | null {
  const web = toWebUrl(url);
  if (web === null) return null;
  const [base = '', ...fragments] = web.split('#');
  const end = fragments.length === 0 ? '' : `#${encode(fragments.join('#'), invalidInPath)}`;
  // A parsed URL always has a slash after the host.
  const path = base.indexOf('/', 'https://'.length);
  return `${encode(base.slice(0, path), invalidInHost)}${encode(base.slice(path), invalidInPath)}${end}`;
}

const invalidInPath = /[^\w.~:/?@!$&'()*+,;=%-]/g;
const invalidInHost = /[^\w.~:/@!$&'()*+,;=%[\]-]/g;

/** Percent-encodes matches of `invalid`. `text` must be part of a parsed URL (only ASCII). */
const encode = (text: string, invalid: RegExp): string =>
  text
    .replace(invalid, (character) => `%${Buffer.from(character).toString('hex').toUpperCase()}`)
    .replace(/%(?![\da-f]{2})/gi, '%25');

/**
 * Creates a tag URI (RFC 4151). Its authority is the platform's host, so that ids are equal on all
 * servers (docs/decisions/0083). The text `perch` distinguishes it from those of other programs.
 */
function toTag(authority: string, parts: readonly string[], query = ''): string {
  const path = parts.map((part) => encodeURIComponent(toLine(part))).join('/');
  return `tag:${authority},2026:perch/${path}${query === '' ? '' : `?${query}`}`;
}

/** Returns a feed's tag URI: path and parameters of its URL under `/api/v1`. */
export function toFeedId(authority: string, url: string): string {
  const { pathname, search } = new URL(url);
  const path = pathname.slice(pathname.lastIndexOf('/api/v1/') + '/api/v1/'.length).split('/');
  return toTag(authority, ['feeds', ...path.map(decodeURIComponent)], search.slice(1));
}

const hosts = { x: 'x.com', bluesky: 'bsky.app', sample: 'perch.example' } as const;

/** Returns the authority of an account's tag URIs; on the fediverse, the account's server. */
export function authorityOf(platform: Platform, handle: string): string {
  if (platform !== 'mastodon' && platform !== 'activitypub') return hosts[platform];
  return toHost(handle.slice(handle.lastIndexOf('@') + 1));
}

function toHost(text: string): string {
  const host = text.toLowerCase();
  return /^[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?$/.test(host) ? host : 'mastodon.example';
}

const hostOf = (id: string): string => parseUrl(id)?.hostname ?? '';

/** Account ids by lower-case handle, for Bluesky: handles can change but ids (DIDs) cannot. */
export type KnownOwners = ReadonlyMap<string, string>;

export const findOwners = (posts: readonly Post[]): KnownOwners =>
  new Map(posts.flatMap(({ author }) => (author === null ? [] : [[keyOf(author), author.id]])));

const keyOf = ({ screen_name }: Pick<Account, 'screen_name'>) => screen_name.toLowerCase();

/** Returns the tag URI of a post; that of a repost differs from the original's. */
export function tagPost({ id, platform, author, copied_from, reposted_by }: Status): string {
  const repost = reposted_by === null ? [] : ['repost', reposted_by.id];
  if (platform === 'bluesky') return toTag(hosts.bluesky, [author.id, id, ...repost]);
  // An object's id starts with its host. A copy has an id of the server that sent the copy.
  const server =
    platform === 'activitypub' ? hostOf(id) : (copied_from?.host ?? author.screen_name);
  return toTag(authorityOf(platform, server), [id, ...repost]);
}

/** Returns the tag URI of the post to which `post` replies; `null` if its id is unknown. */
export function tagTarget(post: Status, owners: KnownOwners): string | null {
  const { platform, replying_to: target } = post;
  const id = target?.status ?? null;
  if (target === null || id === null) return null;
  if (platform === 'bluesky') return toTag(hosts.bluesky, [ownerOf(target, owners), id]);
  if (platform === 'activitypub') return toTag(authorityOf(platform, hostOf(id)), [id]);
  if (platform === 'mastodon' && target.screen_name === null) return null;
  return toTag(authorityOf(platform, target.screen_name ?? ''), [id]);
}

/** Returns the author of a replied-to Bluesky post: the DID if known, otherwise the handle. */
function ownerOf({ screen_name, url }: NonNullable<Status['replying_to']>, owners: KnownOwners) {
  const handle = screen_name ?? '';
  const [, did] = /\/profile\/(did:[^/]+)\//.exec(decode(url ?? '')) ?? [];
  return owners.get(handle.toLowerCase()) ?? did ?? handle;
}

const decode = (url: string) => url.replaceAll(/%3a/gi, ':');
