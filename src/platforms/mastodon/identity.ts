import { isPublicName } from '../../core/http/public-host.ts';
import { parseUrl } from '../../core/http/url.ts';
import type { CopiedFrom } from '../../model/account.ts';
import { isFediverseAccount, parseFediversePost } from '../../model/addresses/address.ts';
import { profileUrl } from '../../model/addresses/urls.ts';
import { parseHandle } from '../../model/reference.ts';
import { isWebUrl } from '../text.ts';
import type { AccountPayload, MentionPayload, StatusPayload } from './payload.ts';

/** Mastodon server, whose API and accounts can have different domain names. */
export interface Home {
  /** Host that receives the API requests. */
  readonly host: string;
  /** Domain in the handles of the server's accounts. */
  readonly domain: string;
}

/** Returns the handle `user@domain`. Servers write local accounts without the domain. */
export function toHandle(acct: string, { domain }: Home): string {
  const [user, of = domain] = acct.split('@');
  return `${user}@${toAscii(of)}`;
}

function toAscii(domain: string): string {
  if (!/[^\x21-\x7e]/.test(domain)) return domain;
  return parseUrl(`https://${domain}/`)?.hostname ?? domain;
}

export const isLocal = ({ acct }: Pick<AccountPayload, 'acct'>): boolean => !acct.includes('@');

/** Returns whether the domain of an account's full handle is the server's host or domain. */
export function isFromHome(acct: string, home: Home): boolean {
  const domain = splitHandle(toHandle(acct, home)).domain.toLowerCase();
  return domain === home.domain.toLowerCase() || domain === home.host.toLowerCase();
}

export function splitHandle(handle: string): { readonly user: string; readonly domain: string } {
  const at = handle.lastIndexOf('@');
  return { user: handle.slice(0, at), domain: handle.slice(at + 1) };
}

export interface PostIdentity {
  readonly id: string;
  readonly handle: string;
  readonly url: string;
}

/**
 * Returns a post's identity. A copy of another server's post gets the id and URL of the original if
 * the response contains the original's Mastodon URL; otherwise it keeps its own.
 */
export function identifyStatus(row: StatusPayload, home: Home): PostIdentity {
  const handle = toHandle(row.account.acct, home);
  const hosts = isLocal(row.account) ? [home.host, home.domain] : [splitHandle(handle).domain];
  const urls = [row.url, row.uri].filter((url) => url !== null).filter((url) => isAt(url, hosts));
  const copy = copyUrl(isLocal(row.account) ? row.account.acct : handle, row.id, home);
  if (isLocal(row.account)) return { id: row.id, handle, url: urls[0] ?? copy };
  const origin = urls.map(parseFediversePost).find((each) => each !== null);
  if (origin === undefined) return { id: row.id, handle, url: copy };
  return { id: origin.id, handle, url: urls[0] ?? copy };
}

function isAt(url: string, hosts: readonly string[]): boolean {
  if (!isWebUrl(url)) return false;
  const { hostname } = new URL(url);
  return hosts.some((host) => `.${hostname}`.endsWith(`.${host.toLowerCase()}`));
}

export const copyUrl = (acct: string, id: string, { host }: Pick<Home, 'host'>): string =>
  `https://${host}/@${acct}/${id}`;

/** Returns `home`'s host and the URL of its copy of an account or post; `null` for its own. */
export function copiedFrom(acct: string, home: Home, id?: string): CopiedFrom | null {
  if (isFromHome(acct, home)) return null;
  const account = `https://${home.host}/@${toHandle(acct, home)}`;
  return { host: home.host, url: id === undefined ? account : `${account}/${id}` };
}

/**
 * Returns `url` if it is on the account's server; otherwise a URL made from the handle. The URL of
 * an account of `home` always has a form that Perch reads.
 */
export function accountUrl(
  { url, acct }: Pick<AccountPayload, 'url' | 'acct'>,
  home: Home,
): string {
  const handle = toHandle(acct, home);
  const { domain } = splitHandle(handle);
  const fallback = profileUrl('mastodon', handle, '');
  if (url === null) return fallback;
  if (!isLocal({ acct })) return isAt(url, [domain]) ? url : fallback;
  return isAt(url, [home.host, domain]) && isFediverseAccount(url) ? url : fallback;
}

/** Creates a function that finds a mention's full handle in `mentions`, then in its URL. */
export function createNaming(mentions: readonly MentionPayload[], home: Home) {
  const byUrl = new Map(mentions.toReversed().map((mention) => [mention.url, mention]));
  const byName = groupByName(mentions);
  return (url: string, label: string): string | null => {
    const known = byUrl.get(url) ?? byName.get(label.trim().replace(/^@/, '').toLowerCase());
    return known === undefined || known === null ? handleOfUrl(url) : toHandle(known.acct, home);
  };
}

function groupByName(mentions: readonly MentionPayload[]) {
  const byName = new Map<string, MentionPayload | null>();
  for (const mention of mentions) {
    const names = new Set([mention.username.toLowerCase(), mention.acct.toLowerCase()]);
    for (const name of names) byName.set(name, byName.has(name) ? null : mention);
  }
  return byName;
}

function handleOfUrl(text: string): string | null {
  const url = parseUrl(text);
  if (url === null || !isPublicName(url.hostname)) return null;
  const [, user] = /^\/(?:@|users\/)([\w.-]+)\/?$/.exec(url.pathname) ?? [];
  if (user === undefined) return null;
  const handle = `${user}@${url.hostname}`;
  return parseHandle(handle) === null ? null : handle;
}
