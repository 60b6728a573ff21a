import { isPublicName } from '../../lib/http/public-host.ts';
import {
  isPostId,
  nobodyOnX,
  type Platform,
  type PostReference,
  parseHandle,
  type SearchPlatform,
} from '../reference.ts';
import type { Feed } from '../results.ts';
import {
  type AccountTab,
  type AddressForm,
  blueskyForms,
  fediverseForms,
  fediverseSearch,
  type SiteForms,
  xForms,
} from './forms.ts';
import { cleanId, matchForm, type PathParameters, splitPath } from './match-form.ts';

/** Resource that the URL of a platform names. An account's handle is normalized. */
export type Address =
  | (PostReference & { readonly kind: 'post' })
  | { readonly kind: 'account'; readonly handle: string; readonly tab?: AccountTab }
  | { readonly kind: 'followers' | 'following'; readonly handle: string }
  | SearchAddress;

interface SearchAddress {
  readonly kind: 'search';
  readonly platform: SearchPlatform;
  readonly text: string;
  readonly feed?: Feed;
}

/** Something that Perch cannot read. `fault` says why, and completes “The URL …”. */
export interface RefusedAddress {
  readonly kind: 'refused';
  readonly fault: string;
}

export interface Site {
  readonly platform: Exclude<Platform, 'activitypub' | 'sample'>;
  readonly forms: SiteForms;
  /** Returns the account in a path; `null` for an invalid one, `undefined` if it has none. */
  toHandle(parameters: PathParameters): string | null | undefined;
  /** Returns the path of the page that a URL names in its query; `null` without such parameters. */
  readonly toNamedPath?: (url: URL) => string | null;
}

/** Returns what a URL names on a site; `null` for an unknown page. */
export function matchSite(site: Site, url: URL): Address | RefusedAddress | null {
  const segments = splitPath(site.toNamedPath?.(url) ?? url.pathname);
  for (const form of site.forms) {
    const parameters = matchForm(form, segments);
    if (parameters === null) continue;
    if ('fault' in form) return { kind: 'refused', fault: form.fault };
    const address =
      form.names === 'search'
        ? toSearch(site, parameters, url.searchParams)
        : toAddress(site, form, parameters);
    if (address !== null) return address;
  }
  return null;
}

function toAddress(site: Site, form: AddressForm, parameters: PathParameters): Address | null {
  const { names, tab, handles } = form;
  if (handles?.test(parameters.handle ?? '') === false) return null;
  const handle = site.toHandle(parameters);
  if (names === 'post') return toPost(site, handle, parameters);
  if (names === 'search' || !handle) return null;
  return { kind: names, handle, ...(tab && { tab }) };
}

function toPost(
  { platform }: Site,
  handle: string | null | undefined,
  { id: written = '' }: PathParameters,
): Address | null {
  const id = cleanId(written);
  if (handle === null || !isPostId(platform, id)) return null;
  // Names of pages, such as `/@wren/collections`, and titles in paths, are no ids.
  const isName = !/[A-Z\d]/.test(id) || isTitle(id);
  if (platform === 'mastodon' && isName) return null;
  return { kind: 'post', platform, handle: handle ?? null, id };
}

/** Returns whether it looks like words of a title, such as `seas-7k2h1z`, and is no UUID. */
const isTitle = (id: string): boolean => id.includes('-') && /[a-z]/i.test(id) && !uuid.test(id);

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const xFeeds: Readonly<Record<string, Feed>> = {
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

function toSearch(
  { platform }: Site,
  { tag }: PathParameters,
  query: URLSearchParams,
): SearchAddress | null {
  if (tag !== undefined && !/^#?[^\s#]+$/u.test(tag)) return null;
  const text = tag === undefined ? (query.get('q') ?? '') : `#${tag.replace(/^#/, '')}`;
  const f = query.get('f') ?? '';
  const feed = Object.hasOwn(xFeeds, f) ? xFeeds[f] : undefined;
  return { kind: 'search', platform, text, ...(feed !== undefined && { feed }) };
}

/** Pattern of first path segments on X that are names of pages, such as `home`, and not handles. */
const xPages =
  /^(?:compose|explore|hashtag|home|i|intent|jobs|login|messages|notifications|privacy|search|settings|share|signup|tos)$/i;

export const xSite: Site = {
  platform: 'x',
  forms: xForms,
  toHandle: ({ handle, id }) => {
    if (handle === undefined) return undefined;
    // The id alone identifies a post, so its URL may contain any handle.
    if (id === undefined && xPages.test(handle)) return null;
    const account = handleOn('x', handle);
    return account === nobodyOnX ? undefined : account;
  },
  // Buttons and frames on websites: https://developer.x.com/en/docs/x-for-websites
  toNamedPath: ({ pathname, searchParams }) => {
    if (!/^\/(?:intent\/|embed\/Tweet\.html$)/.test(pathname)) return null;
    const id = ['tweet_id', 'in_reply_to', 'id']
      .map((name) => searchParams.get(name))
      .find(Boolean);
    const number = searchParams.get('user_id');
    if (id !== undefined) return `/i/status/${id}`;
    return number === null ? `/${searchParams.get('screen_name') ?? ''}` : `/i/user/${number}`;
  },
};

/** Subdomains of X, such as `pro.x.com`, which can have other pages than accounts. */
export const xSubdomain: Site = {
  ...xSite,
  forms: xForms.filter((form) => 'names' in form && form.names === 'post'),
};

export const blueskySite: Site = {
  platform: 'bluesky',
  forms: blueskyForms,
  toHandle: ({ handle }) => (handle === undefined ? null : handleOn('bluesky', handle)),
};

/** Pages of Bluesky on any host, which is never asked. No searches: their path is too common. */
export const blueskyFrontEnds: Site = {
  ...blueskySite,
  forms: blueskyForms.filter(({ path }) => path.includes('{handle}')),
};

function handleOn(platform: Platform, text: string): string | null {
  const account = parseHandle(text);
  return account?.platform === platform ? account.handle : null;
}

/** Returns the placeholder for the handle in a post URL without a user name. */
export const nobodyOn = (server: string): string => `_@${server}`;

/** Creates a fediverse server's site. `isSearched`: whether Perch sends searches to it. */
export function createFediverseSite(host: string, isSearched: boolean): Site {
  return {
    platform: 'mastodon',
    forms: isSearched ? [fediverseSearch, ...fediverseForms] : fediverseForms,
    // Servers send a page in another format if its path ends like a file.
    toNamedPath: ({ pathname }) => pathname.replace(/\.(?:atom|json|rss|xml)\/?$/i, ''),
    // Front ends on other hosts have the name of the server in the path.
    toHandle: ({ user, server = host, id }) => {
      if (!isPublicName(server)) return null;
      return id === undefined ? toAccount(user ?? '', server) : toPostHandle(user, server);
    },
  };
}

function toAccount(user: string, server: string): string | null {
  return handleOn('mastodon', user.includes('@') ? user : `${user}@${server}`);
}

function toPostHandle(user: string | undefined, server: string): string | null {
  const handle = user === undefined ? nobodyOn(server) : toAccount(user, server);
  return handle === null ? null : `${handle.slice(0, handle.indexOf('@'))}@${server}`;
}
