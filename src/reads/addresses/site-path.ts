import { isPublicName } from '../../core/http/public-host.ts';
import { isPostId, type Platform, parseHandle } from '../../model/reference.ts';
import type { AddressPlace } from './address.ts';
import {
  blueskyForms,
  mastodonForms,
  mastodonSearchForm,
  type SiteForm,
  xForms,
} from './address-forms.ts';
import {
  isMediaNumber,
  matchPath,
  type PathParameters,
  splitPath,
  toReadParameters,
} from './match-path.ts';

interface Site {
  readonly forms: readonly SiteForm[];
  /** False for a public host that may be a Mastodon server. */
  readonly isCertain: boolean;
  /** Returns the parameters as reads take them; null if this site has no such address. */
  toGiven(parameters: PathParameters): PathParameters | null;
}

/** Returns the read of an address of another site; `null` if the site has none, `no such site` if no known site has. */
export function matchSitePath(url: URL, place: AddressPlace) {
  const site = siteOf(url.hostname, place);
  if (site === null) return 'no such site';
  const segments = splitPath(url.pathname);
  for (const form of site.forms) {
    const parameters = matchPath(form, segments);
    if (parameters === null) continue;
    const { n = '1', tag = '#a' } = parameters;
    if (!isMediaNumber(n) || !/^#?[^\s#]+$/u.test(tag)) continue;
    const given = site.toGiven(toReadParameters(form, parameters));
    if (given !== null)
      return { read: form.read, given: { ...searchOf(form, url.searchParams), ...given } };
  }
  return site.isCertain ? null : 'no such site';
}

/** Returns whether a host is a known platform for certain; any other public host may be a Mastodon server. */
export const isPlatformHost = (hostname: string, place: AddressPlace): boolean =>
  siteOf(hostname, place)?.isCertain === true;

function siteOf(hostname: string, { xMirrors, mastodonSearchHost }: AddressPlace): Site | null {
  const host = hostname.replace(/^(?:www|mobile)\./, '');
  if (['x.com', 'twitter.com', ...xMirrors].includes(host)) return xSite;
  if (hostname === 'bsky.app') return blueskySite;
  if (!isPublicName(hostname)) return null;
  return createMastodonSite(hostname, hostname === mastodonSearchHost);
}

/** First path segments on X that are no accounts. */
const xPages =
  /^(?:compose|explore|hashtag|home|i|intent|jobs|login|messages|notifications|privacy|search|settings|share|signup|tos)$/i;

const xSite: Site = {
  forms: xForms,
  isCertain: true,
  // The id alone identifies a post, so that its address may have any handle.
  toGiven: (parameters) =>
    parameters.id === undefined && xPages.test(parameters.handle ?? '')
      ? null
      : toAccountGiven('x', parameters),
};

const blueskySite: Site = {
  forms: blueskyForms,
  isCertain: true,
  toGiven: (parameters) => toAccountGiven('bluesky', parameters),
};

function createMastodonSite(host: string, isSearched: boolean): Site {
  return {
    forms: isSearched ? [mastodonSearchForm, ...mastodonForms] : mastodonForms,
    isCertain: isSearched,
    toGiven: ({ user, ...parameters }) => {
      if (user === undefined) return parameters;
      const account = parseHandle(user.includes('@') ? user : `${user}@${host}`);
      if (account === null) return null;
      // A post is read on this host, also the copy of one by an account of another server.
      const handle =
        parameters.id === undefined ? account.handle : `${account.handle.split('@', 1)[0]}@${host}`;
      return toAccountGiven('mastodon', { ...parameters, handle });
    },
  };
}

/** Returns the parameters with the handle as Perch writes it; null if a part is none of the platform's. */
function toAccountGiven(platform: Platform, parameters: PathParameters): PathParameters | null {
  const { handle, id } = parameters;
  if (handle === undefined) return parameters;
  const account = parseHandle(handle);
  if (account?.platform !== platform) return null;
  if (id !== undefined && !isPostId(platform, id)) return null;
  return { ...parameters, handle: account.handle };
}

/** The feeds of X's search by the value of `f` in its address. */
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

/** Returns the parameters of a search for the query of a search page on another site. */
function searchOf({ read, path }: SiteForm, query: URLSearchParams): PathParameters {
  if (read !== 'searchPosts') return {};
  const text = path === '/search' ? { q: query.get('q') ?? '' } : {};
  const f = query.get('f') ?? '';
  const feed = Object.hasOwn(xFeeds, f) ? xFeeds[f] : undefined;
  return feed === undefined ? text : { ...text, feed };
}
