import { nobodyOnX } from '../../model/reference.ts';
import type { AnyReadId, ReadId } from '../index.ts';

/** A path that stands for a read. */
export interface PathForm {
  /**
   * The path, with parameters in braces: those of the read, `n` (the number of a photo or video),
   * `tag` (a hashtag), and `user` (a Mastodon account on the host of the address).
   */
  readonly path: string;
  /** Parameters of the read that the path fixes. */
  readonly given?: Readonly<Record<string, string>>;
  /** The form that a handle must have in this path. Default: any. */
  readonly handles?: RegExp;
}

/** A path of another site, and the read that answers for it here. */
export interface SiteForm extends PathForm {
  readonly read: ReadId;
}

/** A path of Perch's own, and the read that answers there. */
export interface OwnForm extends PathForm {
  /** The operation id in the machine description. */
  readonly id: string;
  readonly read: AnyReadId;
  /** `v1`: the versioned machine surface. `permalink`: the paths of the platforms. */
  readonly surface: 'v1' | 'permalink';
  /** Other paths at which the same read answers. */
  readonly also?: readonly PathForm[];
}

const withReplies = { with_replies: 'true' } as const;
const onlyMedia = { only_media: 'true', with_replies: 'true' } as const;

/** Handles of Bluesky and of the sample: domain names and DIDs. */
const domainHandles = /[.:]/;

/** Handles of Mastodon as its web app writes them: `@user@host`. */
const mastodonHandles = /^@[^@]+@[^@]+$/;

/** The paths at which Perch answers reads: the source of the route table. */
export const ownForms: readonly OwnForm[] = [
  { id: 'getPost', path: '/api/v1/posts', read: 'getPost', surface: 'v1' },
  {
    id: 'listReplies',
    path: '/api/v1/posts/{id}/replies',
    read: 'listReplies',
    surface: 'v1',
  },
  { id: 'getProfile', path: '/api/v1/profiles/{handle}', read: 'getProfile', surface: 'v1' },
  {
    id: 'listFollowers',
    path: '/api/v1/profiles/{handle}/followers',
    read: 'listFollowers',
    surface: 'v1',
  },
  {
    id: 'listFollowing',
    path: '/api/v1/profiles/{handle}/following',
    read: 'listFollowing',
    surface: 'v1',
  },
  { id: 'searchPosts', path: '/api/v1/search', read: 'searchPosts', surface: 'v1' },
  { id: 'getOEmbed', path: '/api/v1/oembed', read: 'getOEmbed', surface: 'v1' },
  {
    id: 'importProfilePosts',
    path: '/api/v1/profiles/{handle}/posts',
    read: 'importProfilePosts',
    surface: 'v1',
  },
  {
    id: 'getPostByPermalink',
    path: '/{handle}/status/{id}',
    read: 'getPost',
    surface: 'permalink',
    also: [
      { path: '/i/web/status/{id}', given: { handle: nobodyOnX } },
      { path: '/profile/{handle}/post/{id}' },
      { path: '/{handle}/{id}', handles: mastodonHandles },
    ],
  },
  {
    id: 'getPostPhotoByPermalink',
    path: '/{handle}/status/{id}/photo/{n}',
    read: 'getPost',
    surface: 'permalink',
  },
  {
    id: 'getPostVideoByPermalink',
    path: '/{handle}/status/{id}/video/{n}',
    read: 'getPost',
    surface: 'permalink',
  },
  {
    id: 'getProfileByHandle',
    path: '/{handle}',
    read: 'getProfile',
    surface: 'permalink',
    also: [
      { path: '/profile/{handle}', handles: domainHandles },
      { path: '/{handle}/with_replies', given: withReplies },
      { path: '/{handle}/media', given: onlyMedia },
    ],
  },
  {
    id: 'listFollowersByHandle',
    path: '/{handle}/followers',
    read: 'listFollowers',
    surface: 'permalink',
    also: [{ path: '/profile/{handle}/followers' }],
  },
  {
    id: 'listFollowingByHandle',
    path: '/{handle}/following',
    read: 'listFollowing',
    surface: 'permalink',
    also: [{ path: '/profile/{handle}/follows' }],
  },
  {
    id: 'searchByPath',
    path: '/search',
    read: 'searchPosts',
    surface: 'permalink',
    also: [{ path: '/hashtag/{tag}' }],
  },
  { id: 'getOEmbedByPath', path: '/oembed', read: 'getOEmbed', surface: 'permalink' },
  {
    id: 'importProfilePostsByHandle',
    path: '/{handle}/posts',
    read: 'importProfilePosts',
    surface: 'permalink',
  },
];

const x = { platform: 'x' } as const;
const bluesky = { platform: 'bluesky' } as const;
const mastodon = { platform: 'mastodon' } as const;

/** The paths of X and of its mirrors. */
export const xForms: readonly SiteForm[] = [
  { path: '/search', read: 'searchPosts', given: x },
  { path: '/hashtag/{tag}', read: 'searchPosts', given: x },
  ...xPostForms('/i/web/status', { handle: nobodyOnX }),
  ...xPostForms('/{handle}/status'),
  ...xPostForms('/{handle}/statuses'),
  { path: '/{handle}', read: 'getProfile' },
  { path: '/{handle}/with_replies', read: 'getProfile', given: withReplies },
  { path: '/{handle}/media', read: 'getProfile', given: onlyMedia },
  { path: '/{handle}/followers', read: 'listFollowers' },
  { path: '/{handle}/following', read: 'listFollowing' },
];

/** Returns the addresses of a post on X: its own, and those of its photos and videos. */
function xPostForms(path: string, given: PathForm['given'] = {}): readonly SiteForm[] {
  return ['', '/photo/{n}', '/video/{n}'].map((tail) => ({
    path: `${path}/{id}${tail}`,
    read: 'getPost',
    given,
  }));
}

/** The paths of Bluesky's web app. */
export const blueskyForms: readonly SiteForm[] = [
  { path: '/search', read: 'searchPosts', given: bluesky },
  { path: '/hashtag/{tag}', read: 'searchPosts', given: bluesky },
  { path: '/profile/{handle}', read: 'getProfile' },
  { path: '/profile/{handle}/post/{id}', read: 'getPost' },
  { path: '/profile/{handle}/followers', read: 'listFollowers' },
  { path: '/profile/{handle}/follows', read: 'listFollowing' },
];

/** The paths of Mastodon that start with an account, in its web app and in those before and beside it. */
const mastodonAccountForms: readonly SiteForm[] = ['', '/web', '/deck'].flatMap((app) => [
  { path: `${app}/@{user}`, read: 'getProfile' },
  { path: `${app}/@{user}/with_replies`, read: 'getProfile', given: withReplies },
  { path: `${app}/@{user}/media`, read: 'getProfile', given: onlyMedia },
  { path: `${app}/@{user}/featured`, read: 'getProfile' },
  { path: `${app}/@{user}/followers`, read: 'listFollowers' },
  { path: `${app}/@{user}/following`, read: 'listFollowing' },
  { path: `${app}/@{user}/{id}`, read: 'getPost' },
]);

/** The user in the address of a Mastodon post that names only the server. */
const nobodyOnMastodon = '_';

/** The paths of Mastodon. */
export const mastodonForms: readonly SiteForm[] = [
  ...mastodonAccountForms,
  { path: '/users/{user}', read: 'getProfile' },
  { path: '/users/{user}/followers', read: 'listFollowers' },
  { path: '/users/{user}/following', read: 'listFollowing' },
  { path: '/users/{user}/statuses/{id}', read: 'getPost' },
  { path: '/users/{user}/statuses/{id}/activity', read: 'getPost' },
  { path: '/web/statuses/{id}', read: 'getPost', given: { user: nobodyOnMastodon } },
  { path: '/deck/statuses/{id}', read: 'getPost', given: { user: nobodyOnMastodon } },
  { path: '/tags/{tag}', read: 'searchPosts', given: mastodon },
];

/**
 * The search page of Mastodon. Other sites have one at the same path, so it counts only on the server
 * that Perch searches.
 */
export const mastodonSearchForm: SiteForm = {
  path: '/search',
  read: 'searchPosts',
  given: mastodon,
};
