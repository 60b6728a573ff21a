export type AddressedKind = 'post' | 'account' | 'followers' | 'following' | 'search';

/** Tab of an account's page: `replies` also has replies, `media` has only posts with media. */
export type AccountTab = 'replies' | 'media';

export interface PathForm {
  /**
   * Path with parameter names in braces: `handle`, `user` (name on a server of the fediverse),
   * `server` (its host), `id`, `number` (an id of digits) or `tag`. `*` at the end stands for any
   * further path, `**` at the start for any path before.
   */
  readonly path: string;
}

export interface AddressForm extends PathForm {
  readonly names: AddressedKind;
  readonly tab?: AccountTab;
  /** Pattern that the handle in `path` must match. Default: any handle of the platform. */
  readonly handles?: RegExp;
}

/** Form that Perch cannot read. `fault` says why, and completes “The address …”. */
export interface RefusedForm extends PathForm {
  readonly fault: string;
}

/** Forms of the addresses of a site. Forms that come first have priority. */
export type SiteForms = readonly (AddressForm | RefusedForm)[];

const post = (path: string, handles?: RegExp): AddressForm => ({
  path,
  names: 'post',
  ...(handles && { handles }),
});

const refuse = (path: string, fault: string): RefusedForm => ({ path, fault });

const account = (path: string): readonly AddressForm[] => [
  { path, names: 'account' },
  { path: `${path}/with_replies`, names: 'account', tab: 'replies' },
  { path: `${path}/media`, names: 'account', tab: 'media' },
  { path: `${path}/followers`, names: 'followers' },
  { path: `${path}/following`, names: 'following' },
];

const searches: readonly AddressForm[] = [
  { path: '/search', names: 'search' },
  { path: '/hashtag/{tag}', names: 'search' },
];

const domainHandles = /[.:]/;

const serverHandles = /^@[^@]+@[^@]+$/;

const postsBelow = ['status', 'statuses', 'article'].map((word) =>
  post(`/{handle}/${word}/{id}/*`),
);

/** Forms shared with platforms (`docs/contract/reads.md#permalinks`), main form of a kind first. */
export const permalinkForms: readonly AddressForm[] = [
  ...postsBelow,
  post('/i/web/status/{id}/*'),
  post('/status/{number}/*'),
  post('/statuses/{number}/*'),
  post('/profile/{handle}/post/{id}/*'),
  post('/{handle}/statuses/{id}/*', serverHandles),
  post('/{handle}/{id}/*', serverHandles),
  ...account('/{handle}'),
  { path: '/profile/{handle}', names: 'account', handles: domainHandles },
  { path: '/profile/{handle}/followers', names: 'followers' },
  { path: '/profile/{handle}/follows', names: 'following' },
  ...searches,
];

const byNumber = 'names an account only by its number, which no source can look up';

const aboutPages = ['about', 'affiliates', 'articles', 'header_photo', 'highlights', 'photo'];

export const xForms: SiteForms = [
  ...searches,
  refuse('/i/user/{number}/*', byNumber),
  refuse('/i/communities/{number}/*', 'is a community. Perch reads posts, accounts and searches'),
  refuse('/i/lists/{number}/*', 'is a list, which X shows only to logged-in readers'),
  refuse('/{handle}/lists/*', 'is a list, which X shows only to logged-in readers'),
  refuse('/i/spaces/{id}/*', 'is an audio space. Perch reads posts, accounts and searches'),
  refuse('/i/broadcasts/{id}/*', 'is a broadcast. Perch reads posts, accounts and searches'),
  refuse(
    '/i/article/{number}/*',
    'has the number of an article instead of the number of a post. Send the address of the post that shows the article',
  ),
  ...postsBelow,
  post('/**/status/{id}/*'),
  post('/**/statuses/{id}/*'),
  refuse('/{handle}/likes', 'is the list of an account’s likes, which X shows to nobody else'),
  ...account('/{handle}'),
  ...aboutPages.map((page) => ({ path: `/{handle}/${page}`, names: 'account' }) as const),
  ...feedsOfNitter(),
];

function feedsOfNitter(): readonly AddressForm[] {
  const tabs = account('/{handle}').filter(({ names }) => names === 'account');
  const pages = [...tabs, ...searches];
  return pages.map((form) => ({ ...form, path: `${form.path}/rss` }));
}

export const blueskyForms: SiteForms = [
  ...searches,
  post('/profile/{handle}/post/{id}/*'),
  post('/embed/{handle}/app.bsky.feed.post/{id}/*'),
  { path: '/profile/{handle}', names: 'account' },
  { path: '/profile/{handle}/rss', names: 'account' },
  // Bridgy Fed, which shows accounts of Bluesky on the fediverse.
  { path: '/ap/{handle}', names: 'account', handles: /^did:/ },
  { path: '/profile/{handle}/followers', names: 'followers' },
  { path: '/profile/{handle}/follows', names: 'following' },
  ...['/profile/{handle}/feed/{id}', '/profile/{handle}/lists/{id}', '/starter-pack/{handle}/{id}']
    .flatMap((path) => [path, path.replace('/starter-pack', '/start')])
    .map((path) =>
      refuse(
        `${path}/*`,
        'is a feed, a list or a starter pack. Perch reads posts, accounts and searches',
      ),
    ),
];

const fediverseApps = ['', '/web', '/deck', '/{server}'];

const fediverseAccounts = fediverseApps.flatMap((app): SiteForms => {
  const path = `${app}/@{user}`;
  return [
    ...account(path),
    { path: `${path}/featured`, names: 'account' },
    refuse(
      `${path}/tagged/*`,
      'is the list of one account’s posts with a hashtag, which no public API has',
    ),
    { path: `${path}/about`, names: 'account' },
    post(`${path}/statuses/{id}/*`),
    post(`${path}/posts/{id}/*`),
    post(`${path}/{id}/*`),
  ];
});

/** Pages of accounts, communities and channels. Posts of such software are read by whole URL. */
const otherAccounts: SiteForms = [
  ...['/u/{user}', '/u/{user}/summary', '/m/{user}'], // Lemmy, PieFed, Mbin, Discourse
  ...['/c/{user}', '/c/{user}/videos'], // Lemmy, PeerTube
  ...['/a/{user}', '/a/{user}/videos', '/accounts/{user}', '/video-channels/{user}'], // PeerTube
  ...['/channel/{user}', '/profile/{user}'], // Hubzilla, Friendica
  ...['/user/{user}', '/author/{user}'], // NodeBB, WordPress
].map((path): AddressForm => ({ path, names: 'account' }));

/** Forms of Mastodon, GoToSocial, Pleroma, Akkoma, Pixelfed, Misskey and others. */
export const fediverseForms: SiteForms = [
  ...fediverseAccounts,
  post('/ap/users/{number}/statuses/{id}/*'),
  refuse('/ap/users/{number}/*', byNumber),
  refuse('/i/web/profile/{number}/*', byNumber),
  post('/users/{user}/statuses/{id}/*'),
  { path: '/users/{user}', names: 'account' },
  { path: '/users/{user}/followers', names: 'followers' },
  { path: '/users/{user}/following', names: 'following' },
  ...['/statuses', '/web/statuses', '/deck/statuses', '/notice', '/notes', '/objects'].map((path) =>
    post(`${path}/{id}/*`),
  ),
  post('/p/{user}/{id}/*'),
  post('/i/web/post/{id}/*'),
  post('/{server}/s/{id}/*'),
  { path: '/tags/{tag}', names: 'search' },
  ...otherAccounts,
];

/** Form of Mastodon's search page, only for the host that Perch searches: others share the path. */
export const fediverseSearch: AddressForm = { path: '/search', names: 'search' };
