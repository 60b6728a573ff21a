import { nobodyOnX } from '../../model/reference.ts';
import type { AnyReadId, ReadId } from '../index.ts';

export interface PathPattern {
  /**
   * Path with parameter names in braces: names of request parameters, `n` (media number), `tag`
   * (hashtag) or `user` (Mastodon user name).
   */
  readonly path: string;
  /** Request parameters that the path sets to a fixed value. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Pattern that the handle in `path` must match. If missing, `path` accepts any handle. */
  readonly handles?: RegExp;
}

export type SitePath = PathPattern & { readonly read: ReadId };

export interface OwnPath extends PathPattern {
  readonly id: string;
  readonly read: AnyReadId;
  /** `v1`: path of the versioned API. `permalink`: path as on a social platform, such as `/{handle}/status/{id}`. */
  readonly surface: 'v1' | 'permalink';
  /** Other paths of the same route. */
  readonly also?: readonly PathPattern[];
}

const withReplies = { with_replies: 'true' } as const;
const onlyMedia = { only_media: 'true', with_replies: 'true' } as const;

/** Pattern of handles that are domain names or DIDs, as on Bluesky and in the sample posts. */
const domainHandles = /[.:]/;

/** Pattern of Mastodon handles in the form that Mastodon's web app uses: `@user@host`. */
const mastodonHandles = /^@[^@]+@[^@]+$/;

function v1(read: AnyReadId, path: string): OwnPath {
  return { id: read, read, path: `/api/v1${path}`, surface: 'v1' };
}

function permalink(id: string, read: AnyReadId, path: string, also?: OwnPath['also']): OwnPath {
  return { id, read, path, surface: 'permalink', ...(also && { also }) };
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
  permalink('getPostByPermalink', 'getPost', '/{handle}/status/{id}', [
    { path: '/i/web/status/{id}', fixed: { handle: nobodyOnX } },
    { path: '/profile/{handle}/post/{id}' },
    { path: '/{handle}/{id}', handles: mastodonHandles },
  ]),
  permalink('getPostPhotoByPermalink', 'getPost', '/{handle}/status/{id}/photo/{n}'),
  permalink('getPostVideoByPermalink', 'getPost', '/{handle}/status/{id}/video/{n}'),
  permalink('getProfileByHandle', 'getProfile', '/{handle}', [
    { path: '/profile/{handle}', handles: domainHandles },
    { path: '/{handle}/with_replies', fixed: withReplies },
    { path: '/{handle}/media', fixed: onlyMedia },
  ]),
  permalink('listFollowersByHandle', 'listFollowers', '/{handle}/followers', [
    { path: '/profile/{handle}/followers' },
  ]),
  permalink('listFollowingByHandle', 'listFollowing', '/{handle}/following', [
    { path: '/profile/{handle}/follows' },
  ]),
  permalink('searchByPath', 'searchPosts', '/search', [{ path: '/hashtag/{tag}' }]),
  permalink('getOEmbedByPath', 'getOEmbed', '/oembed'),
  permalink('importProfilePostsByHandle', 'importProfilePosts', '/{handle}/posts'),
];

const x = { platform: 'x' } as const;
const bluesky = { platform: 'bluesky' } as const;
const mastodon = { platform: 'mastodon' } as const;

export const xPaths: readonly SitePath[] = [
  { path: '/search', read: 'searchPosts', fixed: x },
  { path: '/hashtag/{tag}', read: 'searchPosts', fixed: x },
  ...xPostPaths('/i/web/status', { handle: nobodyOnX }),
  ...xPostPaths('/{handle}/status'),
  ...xPostPaths('/{handle}/statuses'),
  { path: '/{handle}', read: 'getProfile' },
  { path: '/{handle}/with_replies', read: 'getProfile', fixed: withReplies },
  { path: '/{handle}/media', read: 'getProfile', fixed: onlyMedia },
  { path: '/{handle}/followers', read: 'listFollowers' },
  { path: '/{handle}/following', read: 'listFollowing' },
];

function xPostPaths(path: string, fixed: PathPattern['fixed'] = {}): readonly SitePath[] {
  const paths = ['', '/photo/{n}', '/video/{n}'].map((tail) => `${path}/{id}${tail}`);
  return paths.map((one) => ({ path: one, read: 'getPost', fixed }));
}

export const blueskyPaths: readonly SitePath[] = [
  { path: '/search', read: 'searchPosts', fixed: bluesky },
  { path: '/hashtag/{tag}', read: 'searchPosts', fixed: bluesky },
  { path: '/profile/{handle}', read: 'getProfile' },
  { path: '/profile/{handle}/post/{id}', read: 'getPost' },
  { path: '/profile/{handle}/followers', read: 'listFollowers' },
  { path: '/profile/{handle}/follows', read: 'listFollowing' },
];

const mastodonAccountPaths: readonly SitePath[] = ['', '/web', '/deck'].flatMap((app) => [
  { path: `${app}/@{user}`, read: 'getProfile' },
  { path: `${app}/@{user}/with_replies`, read: 'getProfile', fixed: withReplies },
  { path: `${app}/@{user}/media`, read: 'getProfile', fixed: onlyMedia },
  { path: `${app}/@{user}/featured`, read: 'getProfile' },
  { path: `${app}/@{user}/followers`, read: 'listFollowers' },
  { path: `${app}/@{user}/following`, read: 'listFollowing' },
  { path: `${app}/@{user}/{id}`, read: 'getPost' },
]);

/** Placeholder for the user name of Mastodon URLs that contain a post id but no user name. */
const nobodyOnMastodon = '_';

export const mastodonPaths: readonly SitePath[] = [
  ...mastodonAccountPaths,
  { path: '/users/{user}', read: 'getProfile' },
  { path: '/users/{user}/followers', read: 'listFollowers' },
  { path: '/users/{user}/following', read: 'listFollowing' },
  { path: '/users/{user}/statuses/{id}', read: 'getPost' },
  { path: '/users/{user}/statuses/{id}/activity', read: 'getPost' },
  { path: '/web/statuses/{id}', read: 'getPost', fixed: { user: nobodyOnMastodon } },
  { path: '/deck/statuses/{id}', read: 'getPost', fixed: { user: nobodyOnMastodon } },
  { path: '/tags/{tag}', read: 'searchPosts', fixed: mastodon },
];

/**
 * Path of Mastodon's search page. Perch parses the path only in URLs of the host
 * `mastodonSearchHost`, because websites other than Mastodon have the same path.
 */
export const mastodonSearchPath: SitePath = {
  path: '/search',
  read: 'searchPosts',
  fixed: mastodon,
};
