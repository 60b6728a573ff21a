import {
  type AccountTab,
  type AddressedKind,
  permalinkForms,
} from '../../model/addresses/forms.ts';
import { nobodyOnX } from '../../model/reference.ts';
import type { AnyReadId } from '../index.ts';

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
