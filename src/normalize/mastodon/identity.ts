import { isPublicName } from '../../lib/http/public-host.ts';
import { parseUrl } from '../../lib/http/url.ts';
import { type Account, type CopiedFrom, toAccount, toWebsite } from '../../model/account.ts';
import { isFediverseAccount, parseFediversePost } from '../../model/addresses/address.ts';
import { profileUrl } from '../../model/addresses/urls.ts';
import { parseHandle } from '../../model/reference.ts';
import { nameLeftOut, omitNull } from '../fields.ts';
import { toRichText } from '../html-text.ts';
import { isCut } from '../lenient.ts';
import { isWebUrl, webUrlOrNull } from '../text.ts';
import type { RichText } from '../text-writer.ts';
import { toIsoTime } from '../times.ts';
import { describeProfile, type ProfileField } from './text.ts';
import type { AccountPayload, MentionPayload, StatusPayload } from './wire.ts';

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

function accountUrl({ url, acct }: Pick<AccountPayload, 'url' | 'acct'>, home: Home): string {
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

/** Converts an account. The profile fields become the last lines of the description. */
export function shapeAccount(row: AccountPayload, home: Home): Account {
  const fields = row.fields.map(({ name, value, verified_at }) => {
    return { name, isVerified: verified_at !== null, value: readHtml(value, home) };
  });
  const handle = toHandle(row.acct, home);
  const account = toAccount({
    ...describeProfile(readHtml(row.note ?? '', home), fields),
    id: row.id,
    screen_name: handle,
    name: row.display_name ?? row.username,
    url: accountUrl(row, home),
    ...omitNull({ copied_from: copiedFrom(row.acct, home) }),
    avatar_url: pictureOf(row.avatar),
    banner_url: pictureOf(row.header),
    website: toWebsite(findLink(fields)),
    followers: countOf(row.followers_count),
    following: countOf(row.following_count),
    statuses: countOf(row.statuses_count),
    joined: toIsoTime(row.created_at),
    platform: 'mastodon',
  });
  const isWhole = row.fields.leftOut === undefined && !isCut(row.note);
  return isWhole ? account : nameLeftOut(account, ['description']);
}

/** Returns warnings: moved, limited by moderators, memorial, or automated. */
export function describeAccountState(row: AccountPayload, home: Home): readonly string[] {
  const moved = row.moved === null ? null : toHandle(row.moved.acct, home);
  return [
    ...(moved === null ? [] : [`This account has moved to @${moved}.`]),
    ...(row.limited === true ? [`The moderators of ${home.host} limit this account.`] : []),
    ...(row.memorial === true ? ['This account is a memorial to its owner.'] : []),
    ...(row.bot === true ? ['This account is marked as automated.'] : []),
  ];
}

interface Field extends ProfileField {
  readonly isVerified: boolean;
}

const readHtml = (html: string, home: Home): RichText =>
  toRichText(html, { nameMention: createNaming([], home) });

function findLink(fields: readonly Field[]): string | null {
  const links = fields.flatMap(({ isVerified, value }) => {
    const link = value.facets.find(({ type }) => type === 'link')?.url;
    return link === undefined ? [] : [{ link, isVerified }];
  });
  return (links.find(({ isVerified }) => isVerified) ?? links[0])?.link ?? null;
}

/** Returns the URL of an avatar or banner; `null` for the placeholder image of a server. */
const pictureOf = (url: string | null): string | null =>
  url?.endsWith('/missing.png') ? null : webUrlOrNull(url);

/** Returns `null` for a negative count, which some servers send if the owner hides it. */
const countOf = (count: number | null): number | null =>
  count === null || count < 0 ? null : count;
