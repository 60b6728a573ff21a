import { isPublicName } from '../../core/http/public-host.ts';
import { isPostId, type Platform, parseHandle } from '../../model/reference.ts';
import type { AddressOptions } from './address.ts';
import {
  isMediaNumber,
  matchPath,
  type PathParameters,
  splitPath,
  toReadParameters,
} from './match-path.ts';
import {
  blueskyPaths,
  mastodonPaths,
  mastodonSearchPath,
  type SitePath,
  xPaths,
} from './path-patterns.ts';

interface Site {
  readonly forms: readonly SitePath[];
  /** Whether the host is known to belong to the platform; `false` for a host that may be a Mastodon server. */
  readonly isCertain: boolean;
  /** Converts the parameters in a URL path to request parameters; returns `null` for invalid values. */
  toGiven(parameters: PathParameters): PathParameters | null;
}

/** Returns the read operation for a URL of a platform; `null` for an unknown page; `no such site` for other hosts. */
export function matchSitePath(url: URL, options: AddressOptions) {
  const site = siteOf(url.hostname, options);
  if (site === null) return 'no such site';
  const segments = splitPath(url.pathname);
  for (const pattern of site.forms) {
    const parameters = matchPath(pattern, segments);
    if (parameters === null) continue;
    const { n = '1', tag = '#a' } = parameters;
    if (!isMediaNumber(n) || !/^#?[^\s#]+$/u.test(tag)) continue;
    const given = site.toGiven(toReadParameters(pattern, parameters));
    if (given !== null)
      return { read: pattern.read, given: { ...searchOf(pattern, url.searchParams), ...given } };
  }
  return site.isCertain ? null : 'no such site';
}

/**
 * Returns whether a host is a known host of a platform, such as `x.com`. Returns `false` for all other hosts, even if
 * they may be Mastodon servers.
 */
export const isPlatformHost = (hostname: string, options: AddressOptions): boolean =>
  siteOf(hostname, options)?.isCertain === true;

function siteOf(hostname: string, { xMirrors, mastodonSearchHost }: AddressOptions): Site | null {
  const host = hostname.replace(/^(?:www|mobile)\./, '');
  if (['x.com', 'twitter.com', ...xMirrors].includes(host)) return xSite;
  if (hostname === 'bsky.app') return blueskySite;
  if (!isPublicName(hostname) || otherSites.test(hostname)) return null;
  return createMastodonSite(hostname, hostname === mastodonSearchHost);
}

/** Pattern of the hosts of large sites without the Mastodon API, whose account URLs look like those of Mastodon. */
const otherSites = /(?:^|\.)(?:medium\.com|threads\.(?:com|net)|tiktok\.com|youtube\.com)$/;

/** Pattern of first path segments on X that are names of pages, such as `home`, and not handles. */
const xPages =
  /^(?:compose|explore|hashtag|home|i|intent|jobs|login|messages|notifications|privacy|search|settings|share|signup|tos)$/i;

const xSite: Site = {
  forms: xPaths,
  isCertain: true,
  // The id alone identifies a post, so its URL may contain any handle.
  toGiven: (parameters) =>
    parameters.id === undefined && xPages.test(parameters.handle ?? '')
      ? null
      : toAccountGiven('x', parameters),
};

const blueskySite: Site = {
  forms: blueskyPaths,
  isCertain: true,
  toGiven: (parameters) => toAccountGiven('bluesky', parameters),
};

function createMastodonSite(host: string, isSearched: boolean): Site {
  return {
    forms: isSearched ? [mastodonSearchPath, ...mastodonPaths] : mastodonPaths,
    isCertain: isSearched,
    toGiven: ({ user, ...parameters }) => {
      if (user === undefined) return parameters;
      const account = parseHandle(user.includes('@') ? user : `${user}@${host}`);
      if (account === null) return null;
      // A post is read from this host, even if its author's account is on another server.
      const handle =
        parameters.id === undefined ? account.handle : `${account.handle.split('@', 1)[0]}@${host}`;
      return toAccountGiven('mastodon', { ...parameters, handle });
    },
  };
}

/**
 * Returns the parameters with the handle in its normalized form; `null` if the handle or the id is
 * invalid on the platform.
 */
function toAccountGiven(platform: Platform, parameters: PathParameters): PathParameters | null {
  const { handle, id } = parameters;
  if (handle === undefined) return parameters;
  const account = parseHandle(handle);
  if (account?.platform !== platform) return null;
  if (id !== undefined && !isPostId(platform, id)) return null;
  return { ...parameters, handle: account.handle };
}

/** Kinds of search results on X, keyed by the query parameter `f` of X's search page. */
const xFeeds: Readonly<Record<string, string>> = {
  live: 'latest',
  top: 'top',
  media: 'photos',
  image: 'photos',
  images: 'photos',
  video: 'videos',
  videos: 'videos',
  user: 'users',
  users: 'users',
};

/** Returns the search parameters from the query string of a platform's search page. */
function searchOf({ read, path }: SitePath, query: URLSearchParams): PathParameters {
  if (read !== 'searchPosts') return {};
  const text = path === '/search' ? { q: query.get('q') ?? '' } : {};
  const f = query.get('f') ?? '';
  const feed = Object.hasOwn(xFeeds, f) ? xFeeds[f] : undefined;
  return feed === undefined ? text : { ...text, feed };
}
