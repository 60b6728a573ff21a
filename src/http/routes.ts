import type { ReadId } from '../reads/index.ts';

/** A row of the route table: a path that a read answers at. */
export interface ReadRoute {
  /** The operation id of the machine description. */
  readonly id: string;
  /** With parameters in braces: the read's own, and `n`, the number of a photo or video. */
  readonly path: string;
  readonly read: ReadId;
  /** `v1`: the versioned machine surface; `permalink`: the paths of the original platform. */
  readonly surface: 'v1' | 'permalink';
}

/** THE route table of the read service. */
export const readRoutes: readonly ReadRoute[] = [
  { id: 'getPost', path: '/api/v1/posts', read: 'getPost', surface: 'v1' },
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
    id: 'getPostByPermalink',
    path: '/{handle}/status/{id}',
    read: 'getPost',
    surface: 'permalink',
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
  { id: 'getProfileByHandle', path: '/{handle}', read: 'getProfile', surface: 'permalink' },
  {
    id: 'listFollowersByHandle',
    path: '/{handle}/followers',
    read: 'listFollowers',
    surface: 'permalink',
  },
  {
    id: 'listFollowingByHandle',
    path: '/{handle}/following',
    read: 'listFollowing',
    surface: 'permalink',
  },
  { id: 'searchByPath', path: '/search', read: 'searchPosts', surface: 'permalink' },
  { id: 'getOEmbedByPath', path: '/oembed', read: 'getOEmbed', surface: 'permalink' },
];

/** First path segments that the service keeps for itself, so that they are no handles there. */
const reservedNames: ReadonlySet<string> = new Set([
  '.well-known',
  'admin',
  'api',
  'docs',
  'health',
  'mcp',
  'metrics',
  'oembed',
  'search',
  'svc',
]);

/** Endings of files that clients ask for by themselves, such as `/favicon.ico`. */
const fileEnding =
  /\.(?:avif|css|gif|html?|ico|jpe?g|js|json|map|pdf|php|png|svg|txt|webmanifest|webp|woff2?|xml)$/i;

/** Tells whether a first path segment can be a handle on the permalink surface (decisions §3). */
export function isPermalinkHandle(segment: string): boolean {
  const name = segment.replace(/^@/, '').toLowerCase();
  return name !== '' && !reservedNames.has(name) && !fileEnding.test(name);
}

/** Gives a path of the table in the router's notation: `{handle}` becomes `:handle`. */
export function toRouterPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
