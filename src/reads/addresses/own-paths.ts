import { encodeComponent, joinParameters, parseQuery } from '../../lib/http/url.ts';
import {
  type AccountTab,
  type AddressedKind,
  permalinkForms,
} from '../../model/addresses/forms.ts';
import {
  cleanId,
  matchForm,
  type PathParameters,
  splitPath,
} from '../../model/addresses/match-form.ts';
import { nobodyOnX } from '../../model/reference.ts';
import type { AnyReadId } from '../index.ts';
import type { AddressedRead } from './address.ts';

export interface PathPattern {
  /** Path with `{parameters}`: also `n` (media number), `number` (digits), `tag`. `*`: any rest. */
  readonly path: string;
  /** Request parameters that the path sets to a fixed value. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Pattern that the handle in `path` must match. If missing, `path` accepts any handle. */
  readonly handles?: RegExp;
}

export interface OwnPath extends PathPattern {
  readonly id: string;
  readonly read: AnyReadId;
  /** `v1`: path of the versioned API. `permalink`: path as on a social platform. */
  readonly surface: 'v1' | 'permalink';
  readonly also?: readonly PathPattern[];
}

export const readOfKind = {
  post: 'getPost',
  account: 'getProfile',
  followers: 'listFollowers',
  following: 'listFollowing',
  search: 'searchPosts',
} as const satisfies Readonly<Record<AddressedKind, AnyReadId>>;

export const parametersOfTab: Readonly<Record<AccountTab, Readonly<Record<string, string>>>> = {
  replies: { with_replies: 'true' },
  media: { only_media: 'true', with_replies: 'true' },
};

/** Paths on this server with the form of a path on a platform. */
export const permalinkPatterns = permalinkForms.map(({ names, tab, ...form }) => {
  const isWithoutHandle = names === 'post' && !form.path.includes('{handle}');
  const fixed = tab === undefined ? {} : parametersOfTab[tab];
  return { names, ...form, fixed: isWithoutHandle ? { handle: nobodyOnX } : fixed };
});

function v1(read: AnyReadId, path: string): OwnPath {
  return { id: read, read, path: `/api/v1${path}`, surface: 'v1' };
}

function permalink(id: string, read: AnyReadId, path: string): OwnPath {
  return { id, read, path, surface: 'permalink' };
}

function permalinksOf(kind: AddressedKind, id: string): OwnPath {
  const forms = permalinkPatterns.filter(({ names }) => names === kind);
  const path = (forms[0]?.path ?? '').replace(/\/\*$/, '');
  const also = forms.filter((form) => form.path !== path);
  return { ...permalink(id, readOfKind[kind], path), ...(also.length > 0 && { also }) };
}

/** Paths of all read operations on this server. The route table is built from these paths. */
export const ownPaths: readonly OwnPath[] = [
  v1('getPost', '/posts'),
  v1('listReplies', '/posts/{id}/replies'),
  v1('getProfile', '/profiles/{handle}'),
  v1('listFollowers', '/profiles/{handle}/followers'),
  v1('listFollowing', '/profiles/{handle}/following'),
  v1('searchPosts', '/search'),
  v1('getOEmbed', '/oembed'),
  v1('importProfilePosts', '/profiles/{handle}/posts'),
  permalinksOf('post', 'getPostByPermalink'),
  permalink('getPostPhotoByPermalink', 'getPost', '/{handle}/status/{id}/photo/{n}'),
  permalink('getPostVideoByPermalink', 'getPost', '/{handle}/status/{id}/video/{n}'),
  permalinksOf('account', 'getProfileByHandle'),
  permalinksOf('followers', 'listFollowersByHandle'),
  permalinksOf('following', 'listFollowingByHandle'),
  permalinksOf('search', 'searchByPath'),
  permalink('getOEmbedByPath', 'getOEmbed', '/oembed'),
  permalink('importProfilePostsByHandle', 'importProfilePosts', '/{handle}/posts'),
];

/** Paths sorted by number of parameters, so that `/search` is tried before `/{handle}`. */
const candidates = ownPaths
  .flatMap((row) => [row, ...(row.also ?? [])].map((pattern) => ({ row, pattern })))
  .toSorted((a, b) => a.pattern.path.split('{').length - b.pattern.path.split('{').length);

/** Returns the read operation; `null` for unknown paths, oEmbed and history imports. */
export function matchOwnPath(path: string, search: string): AddressedRead | null {
  const segments = splitPath(path);
  for (const { row, pattern } of candidates) {
    const parameters = matchForm(pattern, segments);
    if (parameters === null || !accepts(row, pattern, parameters)) continue;
    const { read } = row;
    if (read === 'getOEmbed' || read === 'importProfilePosts') return null;
    const query = parseQuery(search);
    return { read, given: joinParameters(query, toReadParameters(pattern, parameters)) };
  }
  return null;
}

/** Converts parameters in a path to request parameters. Adds the pattern's fixed parameters. */
export function toReadParameters(
  { fixed = {} }: PathPattern,
  { n: _photo, '*': _further, number, id: written = number, tag, ...parameters }: PathParameters,
): PathParameters {
  const id = written === undefined ? {} : { id: cleanId(written) };
  const search = tag === undefined ? {} : { q: `#${tag.replace(/^#/, '')}` };
  return { ...parameters, ...id, ...search, ...fixed };
}

/** Returns whether a route accepts the handle in a path; `true` for a path without one. */
export function accepts(
  { surface }: Pick<OwnPath, 'surface'>,
  { handles }: PathPattern,
  { handle }: PathParameters,
): boolean {
  if (handle === undefined) return true;
  if (handles?.test(handle) === false) return false;
  return surface !== 'permalink' || isPermalinkHandle(handle);
}

/** Returns the path and query of a read. `permalink` falls back to the API's path (`v1`). */
export function toOwnPath({ read, given }: AddressedRead, surface: OwnPath['surface']): string {
  const { handle, url } = given;
  if (typeof url === 'string' && surface === 'permalink') return `/${encodeComponent(url)}`;
  const isShort = typeof handle === 'string' && isPermalinkHandle(handle);
  const rows = ownPaths.filter((one) => one.read === read);
  const fits = ({ path }: OwnPath) => !path.includes('{handle}') || isShort;
  const row =
    rows.find((one) => one.surface === surface && fits(one)) ??
    rows.find((one) => one.surface === 'v1');
  if (row === undefined) throw new Error(`The read ${read} has no path.`);
  const inPath = new Set([...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  // Paths allow `@` and `:`, and handles are easier to read with them.
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeComponent(String(given[name])).replaceAll('%40', '@').replaceAll('%3A', ':'),
  );
  const others = Object.entries(given).filter(([name]) => !inPath.has(name));
  const query = others.flatMap(([name, values = []]) =>
    [values].flat().map((value) => `${encodeComponent(name)}=${encodeComponent(value)}`),
  );
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** Reserved first path segments, which belong to the server and cannot be handles. */
const reservedName = /^(?:\.well-known|admin|api|docs|health|mcp|metrics|oembed|search|svc)$/;

const fileEnding =
  /\.(?:atom|avif|css|gif|html?|ico|jpe?g|js|json|map|pdf|php|png|rss|svg|txt|webmanifest|webp|woff2?|xml)$/i;

/** Returns whether a first path segment, in lower case, belongs to the server's own paths. */
export const isReservedName = (segment: string): boolean => reservedName.test(segment);

/** Returns whether the first segment of a path such as `/jack/status/20` can be a handle. */
export function isPermalinkHandle(segment: string): boolean {
  const name = segment.replace(/^@/, '').toLowerCase();
  return name !== '' && !isReservedName(name) && !fileEnding.test(name);
}
