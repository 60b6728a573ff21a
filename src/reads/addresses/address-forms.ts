import { nobodyOnX } from '../../model/reference.ts';
import type { AnyReadId, ReadId } from '../index.ts';

export interface PathForm {
  /** With parameters of the read, `n` (of a photo or video), `tag`, and `user` (of Mastodon) in braces. */
  readonly path: string;
  readonly given?: Readonly<Record<string, string>>;
  /** The form that a handle must have in this path. Default: any. */
  readonly handles?: RegExp;
}

export interface SiteForm extends PathForm {
  readonly read: ReadId;
}

export interface OwnForm extends PathForm {
  readonly id: string;
  readonly read: AnyReadId;
  /** `v1`: the versioned machine surface. `permalink`: the paths of the platforms. */
  readonly surface: 'v1' | 'permalink';
  readonly also?: readonly PathForm[];
}

const withReplies = { with_replies: 'true' } as const;
const onlyMedia = { only_media: 'true', with_replies: 'true' } as const;

/** Handles of Bluesky and of the sample: domain names and DIDs. */
const domainHandles = /[.:]/;

/** Handles of Mastodon as its web app writes them: `@user@host`. */
const mastodonHandles = /^@[^@]+@[^@]+$/;

function v1(read: AnyReadId, path: string): OwnForm {
  return { id: read, read, path: `/api/v1${path}`, surface: 'v1' };
}

function permalink(id: string, read: AnyReadId, path: string, also?: readonly PathForm[]): OwnForm {
  return { id, read, path, surface: 'permalink', ...(also && { also }) };
}

/** The paths at which Perch answers reads: the source of the route table. */
export const ownForms: readonly OwnForm[] = [
  v1('getPost', '/posts'),
  v1('listReplies', '/posts/{id}/replies'),
  v1('getProfile', '/profiles/{handle}'),
  v1('listFollowers', '/profiles/{handle}/followers'),
  v1('listFollowing', '/profiles/{handle}/following'),
  v1('searchPosts', '/search'),
  v1('getOEmbed', '/oembed'),
  v1('importProfilePosts', '/profiles/{handle}/posts'),
  permalink('getPostByPermalink', 'getPost', '/{handle}/status/{id}', [
    { path: '/i/web/status/{id}', given: { handle: nobodyOnX } },
    { path: '/profile/{handle}/post/{id}' },
    { path: '/{handle}/{id}', handles: mastodonHandles },
  ]),
  permalink('getPostPhotoByPermalink', 'getPost', '/{handle}/status/{id}/photo/{n}'),
  permalink('getPostVideoByPermalink', 'getPost', '/{handle}/status/{id}/video/{n}'),
  permalink('getProfileByHandle', 'getProfile', '/{handle}', [
    { path: '/profile/{handle}', handles: domainHandles },
    { path: '/{handle}/with_replies', given: withReplies },
    { path: '/{handle}/media', given: onlyMedia },
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

function xPostForms(path: string, given: PathForm['given'] = {}): readonly SiteForm[] {
  return ['', '/photo/{n}', '/video/{n}'].map((tail) => ({
    path: `${path}/{id}${tail}`,
    read: 'getPost',
    given,
  }));
}

export const blueskyForms: readonly SiteForm[] = [
  { path: '/search', read: 'searchPosts', given: bluesky },
  { path: '/hashtag/{tag}', read: 'searchPosts', given: bluesky },
  { path: '/profile/{handle}', read: 'getProfile' },
  { path: '/profile/{handle}/post/{id}', read: 'getPost' },
  { path: '/profile/{handle}/followers', read: 'listFollowers' },
  { path: '/profile/{handle}/follows', read: 'listFollowing' },
];

/** The paths of Mastodon that start with an account, in its web apps. */
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

/** The search page of Mastodon; only for the server that Perch searches, because other sites have one there. */
export const mastodonSearchForm: SiteForm = {
  path: '/search',
  read: 'searchPosts',
  given: mastodon,
};
