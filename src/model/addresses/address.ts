import { isPublicName } from '../../lib/http/public-host.ts';
import { parseUrl } from '../../lib/http/url.ts';
import { isPostId, type PostReference } from '../reference.ts';
import {
  type Address,
  blueskyFrontEnds,
  blueskySite,
  createFediverseSite,
  matchSite,
  nobodyOn,
  type RefusedAddress,
  type Site,
  xSite,
  xSubdomain,
} from './sites.ts';

export interface Sites {
  readonly xMirrors: readonly string[];
  readonly mastodonSearchHost: string;
}

/**
 * Parsed URL. `unknown`: unknown page of a known site. `foreign`: URL of another site; `onX` is the
 * URL on X with the same path if this path is that of a post, otherwise `null`; `object` is the
 * URL under which the site may publish an object of ActivityPub, or `null`.
 */
export type SiteAddress =
  | Address
  | RefusedAddress
  | { readonly kind: 'unknown' }
  | { readonly kind: 'foreign'; readonly onX: string | null; readonly object: string | null };

/** Parses the URL of a platform. Ignores the scheme, the port and the user name. */
export function parseSiteUrl(written: URL, sites: Sites): SiteAddress {
  const url = withoutHashBang(written);
  const host = url.hostname;
  const known = knownSiteOf(host, sites);
  const found = (known && matchSite(known, url)) ?? matchSite(blueskyFrontEnds, url);
  if (found !== null) return found;
  if (known !== null) return { kind: 'unknown' };
  if (!isPublicName(host)) return toForeign(url);
  const named = handleAsHost(url);
  if (named !== null) return named;
  if (otherSites.test(host)) return toForeign(url);
  const isSearched = host === sites.mastodonSearchHost;
  const onServer = matchSite(createFediverseSite(host, isSearched), url);
  return onServer ?? (isSearched ? { kind: 'unknown' } : toForeign(url));
}

/** Returns whether a URL is a page of Bluesky, whose host does not matter: it is never asked. */
export const isReadOnAnyHost = (url: URL): boolean => matchSite(blueskyFrontEnds, url) !== null;

/** Returns whether a host is a known platform host; `false` for unknown fediverse servers. */
export const isPlatformHost = (host: string, sites: Sites): boolean =>
  knownSiteOf(host, sites) !== null || host === sites.mastodonSearchHost;

const embedHost = 'platform.twitter.com';

function knownSiteOf(hostname: string, { xMirrors }: Sites): Site | null {
  const host = hostname.replace(/^(?:www|m|mobile)\./, '');
  if (host === 'x.com' || host === 'twitter.com' || host === embedHost) return xSite;
  if (host === 'bsky.app') return blueskySite;
  if (/\.(?:x|twitter)\.com$/.test(host)) return xSubdomain;
  // Subdomains of mirrors choose a variant of the page, as in `d.fxtwitter.com`.
  return xMirrors.some((mirror) => `.${hostname}`.endsWith(`.${mirror}`)) ? xSite : null;
}

const otherSites =
  /^t\.co$|(?:^|\.)(?:facebook\.com|github\.com|instagram\.com|linkedin\.com|medium\.com|npmjs\.com|reddit\.com|substack\.com|threads\.(?:com|net)|tiktok\.com|tumblr\.com|youtube\.com)$/;

function handleAsHost({ hostname, pathname }: URL): Address | null {
  const isHandle = /^[a-z0-9-]+\.bsky\.social$/.test(hostname) && pathname === '/';
  return isHandle ? { kind: 'account', handle: hostname } : null;
}

/** Converts URLs such as `https://twitter.com/#!/jack`; returns others unchanged. */
function withoutHashBang(url: URL): URL {
  // Without `!`, a fragment can be part of any page, so only that of a front page is a path.
  const pattern = url.pathname === '/' ? /^#!?(\/.*)$/ : /^#!(\/.*)$/;
  const [, path] = pattern.exec(url.hash) ?? [];
  return (path === undefined ? null : parseUrl(`${url.protocol}//${url.hostname}${path}`)) ?? url;
}

const mirrorName = /nitter|xcancel|(?:fx|vx|fixup|fixv|tw)(?:x|twitter)/;

const maxAdvised = 200;

function toForeign(url: URL): SiteAddress {
  const { hostname, pathname, search } = url;
  const found = matchSite(xSite, url);
  const isLikePost = found?.kind === 'post' && found.id.length >= 15;
  const isLikeX = isLikePost || pathname.endsWith('/rss') || mirrorName.test(hostname);
  const onX = `https://x.com${pathname.replace(/\/rss$/, '')}${search}`;
  const isAdvised = found !== null && isLikeX && onX.length <= maxAdvised;
  if (isAdvised) return { kind: 'foreign', onX, object: null };
  return { kind: 'foreign', onX: null, object: toObjectUrl(url) };
}

function toObjectUrl({ hostname, pathname, search }: URL): string | null {
  // The address of a whole site, such as that of a blog, names no post.
  if (pathname === '/' && search === '') return null;
  const object = `https://${hostname}${pathname}${search}`;
  return !otherSites.test(hostname) && isPostId('activitypub', object) ? object : null;
}

/** Parses a post's https URL; `handle` is `null` if it has no user name. `null` for other URLs. */
export function parseFediversePost(text: string): Pick<PostReference, 'handle' | 'id'> | null {
  const found = matchFediverse(text);
  if (found?.kind !== 'post') return null;
  const { handle, id } = found;
  return { handle: handle?.startsWith(nobodyOn('')) ? null : handle, id };
}

/** Parses an account's https URL on its fediverse server; `null` for all other URLs. */
export function parseFediverseAccount(text: string): string | null {
  const found = matchFediverse(text);
  return found?.kind === 'account' ? found.handle : null;
}

export const isFediverseAccount = (text: string): boolean => parseFediverseAccount(text) !== null;

function matchFediverse(text: string): Address | RefusedAddress | null {
  const url = parseUrl(text);
  if (url === null || url.protocol !== 'https:' || url.host !== url.hostname) return null;
  // `/@user@host` is the copy of an account of another server.
  if (!isPublicName(url.hostname) || /@[^/]*@/.test(url.pathname)) return null;
  return matchSite(createFediverseSite(url.hostname, false), url);
}

const recordPages: Readonly<Record<string, string>> = {
  'app.bsky.feed.post': '/profile/{handle}/post/{id}',
  'app.bsky.actor.profile': '/profile/{handle}',
  'app.bsky.feed.generator': '/profile/{handle}/feed/{id}',
  'app.bsky.graph.list': '/profile/{handle}/lists/{id}',
  'app.bsky.graph.starterpack': '/starter-pack/{handle}/{id}',
};

/** Converts `at://` (https://atproto.com/specs/at-uri-scheme) to a web page; otherwise `null`. */
export function toRecordPage(text: string): string | null {
  const [, handle, collection = 'app.bsky.actor.profile', id = ''] =
    /^at:\/*([^/?#]+)(?:\/([A-Za-z0-9.-]+)(?:\/([^/?#]+))?)?\/*(?:[?#].*)?$/i.exec(text) ?? [];
  if (handle === undefined || !Object.hasOwn(recordPages, collection)) return null;
  const path = recordPages[collection] ?? '';
  return `https://bsky.app${path.replace('{handle}', handle).replace('{id}', id)}`;
}
