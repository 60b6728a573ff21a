import { describe, expect, it } from 'vitest';
import { Problem } from '../../../../src/lib/problem.ts';
import { parseAddress } from '../../../../src/reads/addresses/address.ts';

const place = {
  baseUrl: 'http://localhost:8080',
  xMirrors: ['fxtwitter.com', 'vxtwitter.com', 'nitter.net', 'xcancel.com'],
  mastodonSearchHost: 'mastodon.social',
};

const object = (url: string) => [url, `getPost ${url}`] as const;
const post = (handle: string, id: string) => `getPost ${handle} ${id}`;
const account = (handle: string, tab = '') => `getProfile ${handle}${tab}`;
const replies = ' with_replies';
const media = ' only_media with_replies';

const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const kim = post('kim', '1900000000000000200');
const nobody = post('i', '1900000000000000200');

/** Addresses as people copy them, with the read that each one means. */
const addresses: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'posts on X': [
    ['https://x.com/kim/status/1900000000000000200', kim],
    ['http://x.com/kim/status/1900000000000000200', kim],
    ['HTTPS://X.COM/Kim/status/1900000000000000200', kim],
    ['x.com/kim/status/1900000000000000200', kim],
    ['//x.com/kim/status/1900000000000000200', kim],
    ['https:/x.com/kim/status/1900000000000000200', kim],
    ['www.x.com/kim/status/1900000000000000200', kim],
    ['https://m.twitter.com/kim/status/1900000000000000200', kim],
    ['https://mobile.x.com/kim/status/1900000000000000200', kim],
    ['https://x.com:443/kim/status/1900000000000000200', kim],
    ['http://x.com:80/kim/status/1900000000000000200', kim],
    ['https://twitter.com/kim/statuses/1900000000000000200', kim],
    ['https://x.com//kim//status/1900000000000000200//', kim],
    ['https://x.com/@kim/status/1900000000000000200', kim],
    ['https://x.com/kim/status/1900000000000000200/photo/1', kim],
    ['https://x.com/kim/status/1900000000000000200/video/2', kim],
    ['https://x.com/kim/status/1900000000000000200/photo', kim],
    ['https://x.com/kim/status/1900000000000000200/mediaViewer?currentPost=1', kim],
    ['https://x.com/kim/status/1900000000000000200/retweets/with_comments', kim],
    ['https://x.com/kim/status/1900000000000000200/likes', kim],
    ['https://x.com/kim/status/1900000000000000200/hidden', kim],
    ['https://x.com/kim/status/1900000000000000200/analytics', kim],
    ['https://x.com/kim/status/1900000000000000200/quotes', kim],
    ['https://x.com/kim/status/1900000000000000200/history', kim],
    ['https://x.com/kim/status/1900000000000000200?s=46&t=abc', kim],
    ['https://x.com/kim/status/1900000000000000200#m', kim],
    ['https://x.com/kim/status/1900000000000000200).', kim],
    ['(https://x.com/kim/status/1900000000000000200)', kim],
    ['<https://x.com/kim/status/1900000000000000200>', kim],
    ['https://x.com/kim/status/1900000000000000200…', kim],
    ['https://x.com/kim/status/1900000000000000200%20', kim],
    ['https://x.com/kim/status/1900000000000000200&s=20', kim],
    ['https://x.com/kim/status/1900000000000000200#/photo/1', kim],
    ['https://pro.x.com/kim/status/1900000000000000200', kim],
    [' https://x.com/kim/status/1900000000000000200\u200b\n', kim],
    ['https://x.com/kim/article/1900000000000000200', kim],
    ['https://x.com/kim/article/1900000000000000200/media/1', kim],
    ['https://twitter.com/#!/kim/status/1900000000000000200', kim],
    ['https://x.com/i/status/1900000000000000200', nobody],
    ['https://x.com/i/web/status/1900000000000000200', nobody],
    ['https://x.com/status/1900000000000000200', nobody],
    ['https://x.com/statuses/1900000000000000200', nobody],
    ['https://x.com/a-strange-handle/status/1900000000000000200', nobody],
    ['https://twitter.com/intent/like?tweet_id=1900000000000000200', nobody],
    ['https://x.com/intent/post?in_reply_to=1900000000000000200', nobody],
    ['https://platform.twitter.com/embed/Tweet.html?theme=dark&id=1900000000000000200', nobody],
  ],
  'mirrors of X': [
    ['https://fxtwitter.com/kim/status/1900000000000000200', kim],
    ['https://fxtwitter.com/kim/status/1900000000000000200/fr', kim],
    ['https://d.fxtwitter.com/kim/status/1900000000000000200', kim],
    ['https://www.vxtwitter.com/kim/status/1900000000000000200', kim],
    ['https://c.vxtwitter.com/kim/status/1900000000000000200/2', kim],
    ['https://fxtwitter.com/status/1900000000000000200', nobody],
    ['https://fxtwitter.com/dir/kim/status/1900000000000000200', nobody],
    ['xcancel.com/kim/status/1900000000000000200#m', kim],
    ['https://nitter.net/kim/rss', account('kim')],
    ['https://nitter.net/kim/with_replies/rss', account('kim', replies)],
    ['https://nitter.net/kim/media/rss', account('kim', media)],
    ['https://nitter.net/search/rss?f=tweets&q=kites', 'searchPosts kites x'],
  ],
  'other sites around an address': [
    ['https://web.archive.org/web/2024/https://x.com/kim/status/1900000000000000200', kim],
    ['https://bsky.brid.gy/r/https://bsky.app/profile/kim.example.com', account('kim.example.com')],
    ['https://web.archive.org/web/2024/twitter.com/kim/status/1900000000000000200', kim],
    [
      'https://www.example.com/url?sa=t&q=https%3A%2F%2Fx.com%2Fkim%2Fstatus%2F1900000000000000200',
      kim,
    ],
    ['http://localhost:8080/x.com/kim/status/1900000000000000200', kim],
    ['http://localhost:8080/kim/rss', account('kim')],
    [`https://bsky.brid.gy/convert/ap/at://${did}/app.bsky.feed.post/3kq`, post(did, '3kq')],
    [`https://bsky.brid.gy/ap/${did}`, account(did)],
    ['https://reader.example.org/http://twitter.com/kim?lang=de', account('kim')],
  ],
  'accounts, lists and searches on X': [
    ['https://x.com/kim', account('kim')],
    ['x.com/kim/', account('kim')],
    ['https://x.com/kim?lang=de', account('kim')],
    ['https://twitter.com/#!/kim', account('kim')],
    ['https://x.com/kim/with_replies', account('kim', replies)],
    ['https://x.com/kim/media', account('kim', media)],
    ['https://x.com/kim/highlights', account('kim')],
    ['https://x.com/kim/photo', account('kim')],
    ['https://twitter.com/intent/user?screen_name=kim', account('kim')],
    ['https://x.com/kim/followers', 'listFollowers kim'],
    ['https://x.com/kim/following', 'listFollowing kim'],
    ['https://x.com/search?q=kites%20fly&f=live', 'searchPosts kites fly x latest'],
    ['https://twitter.com/#!/search?q=kites', 'searchPosts kites x'],
    ['https://x.com/hashtag/kites?src=hash', 'searchPosts #kites x'],
  ],
  Bluesky: [
    ['https://bsky.app/profile/kim.example.com/post/3kq', post('kim.example.com', '3kq')],
    ['bsky.app/profile/kim.example.com/post/3kq', post('kim.example.com', '3kq')],
    ['https://www.bsky.app/profile/kim.example.com/post/3kq', post('kim.example.com', '3kq')],
    ['https://bsky.app/profile/Kim.Example.com/post/3kq/', post('kim.example.com', '3kq')],
    ['https://bsky.app/profile/kim.example.com/post/3kq/liked-by', post('kim.example.com', '3kq')],
    [
      'https://bsky.app/profile/kim.example.com/post/3kq/reposted-by',
      post('kim.example.com', '3kq'),
    ],
    ['https://bsky.app/profile/kim.example.com/post/3kq/quotes', post('kim.example.com', '3kq')],
    [
      'https://bsky.app/profile/kim.example.com/post/3kq?ref_src=embed',
      post('kim.example.com', '3kq'),
    ],
    ['https://bsky.app/profile/kim.example.com/post/3kq.', post('kim.example.com', '3kq')],
    [`https://bsky.app/profile/${did}/post/3kq`, post(did, '3kq')],
    [`https://bsky.app/profile/${did.replaceAll(':', '%3A')}/post/3kq`, post(did, '3kq')],
    [
      'https://bsky.app/profile/did:web:kites.example.org/post/3kq',
      post('did:web:kites.example.org', '3kq'),
    ],
    [`at://${did}/app.bsky.feed.post/3kq`, post(did, '3kq')],
    ['at://kim.example.com/app.bsky.feed.post/3kq', post('kim.example.com', '3kq')],
    [`at://${did}`, account(did)],
    [`at://${did}/app.bsky.actor.profile/self`, account(did)],
    ['https://main.bsky.dev/profile/kim.example.com/post/3kq', post('kim.example.com', '3kq')],
    [
      'https://blacksky.example.org/profile/kim.example.com/post/3kq',
      post('kim.example.com', '3kq'),
    ],
    ['https://bskx.app/profile/kim.example.com/post/3kq/photo/1', post('kim.example.com', '3kq')],
    ['https://deer.social/profile/kim.example.com', account('kim.example.com')],
    ['http://192.168.1.5:8443/profile/kim.example.com/post/3kq', post('kim.example.com', '3kq')],
    [
      'https://embed.bsky.app/embed/kim.example.com/app.bsky.feed.post/3kq',
      post('kim.example.com', '3kq'),
    ],
    ['https://bsky.app/profile/kim.example.com/post/3kq&x=1', post('kim.example.com', '3kq')],
    ['https://bsky.app/profile/kim.example.com', account('kim.example.com')],
    ['https://bsky.app/profile/kim.example.com/rss', account('kim.example.com')],
    ['https://bsky.app/profile/kim.example.com/followers', 'listFollowers kim.example.com'],
    ['https://bsky.app/profile/kim.example.com/follows', 'listFollowing kim.example.com'],
    ['https://kim.bsky.social', account('kim.bsky.social')],
    ['https://kim.bsky.social/', account('kim.bsky.social')],
    ['kim.bsky.social/', account('kim.bsky.social')],
    ['https://bsky.app/search?q=kites', 'searchPosts kites bluesky'],
    ['https://bsky.app/hashtag/kites', 'searchPosts #kites bluesky'],
  ],
  Mastodon: [
    ['https://reef.example.org/@kim/112', post('kim@reef.example.org', '112')],
    ['reef.example.org/@kim/112', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/@Kim/112/', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/@kim/112/embed', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/@kim/112/favourites', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/@kim/112/reblogs', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/@kim/112/quotes', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/@kim/112.json', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/@kim/112,', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/@wren@kelp.example.net/112', post('wren@reef.example.org', '112')],
    ['https://reef.example.org/users/kim/statuses/112', post('kim@reef.example.org', '112')],
    [
      'https://reef.example.org/users/kim/statuses/112/replies',
      post('kim@reef.example.org', '112'),
    ],
    [
      'https://reef.example.org/users/kim/statuses/112/activity',
      post('kim@reef.example.org', '112'),
    ],
    ['https://reef.example.org/ap/users/115/statuses/112', post('_@reef.example.org', '112')],
    ['https://reef.example.org/statuses/112', post('_@reef.example.org', '112')],
    ['https://reef.example.org/web/statuses/112', post('_@reef.example.org', '112')],
    ['https://reef.example.org/web/@kim/112', post('kim@reef.example.org', '112')],
    ['https://reef.example.org/deck/@kim/112', post('kim@reef.example.org', '112')],
    ['https://elk.zone/reef.example.org/@kim/112', post('kim@reef.example.org', '112')],
    [
      'https://elk.zone/reef.example.org/@wren@kelp.example.net/112',
      post('wren@reef.example.org', '112'),
    ],
    ['https://phanpy.social/#/reef.example.org/s/112', post('_@reef.example.org', '112')],
    ['https://reef.example.org/@kim', account('kim@reef.example.org')],
    ['https://reef.example.org/@kim.rss', account('kim@reef.example.org')],
    ['https://reef.example.org/@kim.atom', account('kim@reef.example.org')],
    ['https://reef.example.org/users/kim', account('kim@reef.example.org')],
    ['https://reef.example.org/users/kim.json', account('kim@reef.example.org')],
    ['https://reef.example.org/@wren@kelp.example.net', account('wren@kelp.example.net')],
    ['https://reef.example.org/@kim/with_replies', account('kim@reef.example.org', replies)],
    ['https://reef.example.org/@kim/media', account('kim@reef.example.org', media)],
    ['https://reef.example.org/@kim/featured', account('kim@reef.example.org')],
    ['https://reef.example.org/@kim/followers', 'listFollowers kim@reef.example.org'],
    ['https://reef.example.org/users/kim/following', 'listFollowing kim@reef.example.org'],
    ['https://elk.zone/reef.example.org/@kim', account('kim@reef.example.org')],
    ['https://reef.example.org/tags/kites', 'searchPosts #kites mastodon'],
    ['https://reef.example.org/tags/kites.rss', 'searchPosts #kites mastodon'],
    ['https://reef.example.org/@kim/media.rss', account('kim@reef.example.org', media)],
    ['https://reef.example.org/@kim/112&x=1', post('kim@reef.example.org', '112')],
    ['https://mastodon.social/search?q=kites', 'searchPosts kites mastodon'],
  ],
  'other software of the fediverse': [
    [
      'https://toot.example.org/@kim/statuses/01J8ZC0Q5V',
      post('kim@toot.example.org', '01J8ZC0Q5V'),
    ],
    ['https://lamp.example.org/notice/AgT3xqLm2kD9', post('_@lamp.example.org', 'AgT3xqLm2kD9')],
    [
      'https://lamp.example.org/@kim/posts/AgT3xqLm2kD9',
      post('kim@lamp.example.org', 'AgT3xqLm2kD9'),
    ],
    [
      'https://lamp.example.org/objects/3b241101-e2bb-4255-8caf-4136c566a962',
      post('_@lamp.example.org', '3b241101-e2bb-4255-8caf-4136c566a962'),
    ],
    ['https://fern.example.org/notes/9xk2mfz0tq', post('_@fern.example.org', '9xk2mfz0tq')],
    ['https://pics.example.org/p/kim/551773', post('kim@pics.example.org', '551773')],
    ['https://pics.example.org/i/web/post/551773', post('_@pics.example.org', '551773')],
    ['pics.example.org/p/kim/551773?utm_source=share', post('kim@pics.example.org', '551773')],
  ],
  'this server': [
    ['http://localhost:8080/kim/status/20', post('kim', '20')],
    ['localhost:8080/kim/status/20', post('kim', '20')],
    ['/kim/status/20', post('kim', '20')],
    ['http://127.0.0.1:8080/kim/status/20', post('kim', '20')],
    ['http://localhost:8080/kim/statuses/20', post('kim', '20')],
    ['http://localhost:8080/kim/article/20', post('kim', '20')],
    ['http://localhost:8080/kim/status/20/likes', post('kim', '20')],
    ['http://localhost:8080//kim//status/20/', post('kim', '20')],
    ['http://localhost:8080/status/20', post('i', '20')],
    ['http://localhost:8080/kim/status/20.html', post('kim', '20')],
    ['http://localhost:8080/i/web/status/20', post('i', '20')],
    [
      'http://localhost:8080/ada.example/status/1900000000000000001',
      post('ada.example', '1900000000000000001'),
    ],
    [
      'http://localhost:8080/profile/kim.example.com/post/3kq/quotes',
      post('kim.example.com', '3kq'),
    ],
    ['http://localhost:8080/@kim@reef.example.org/112', post('@kim@reef.example.org', '112')],
    [
      'http://localhost:8080/@kim@reef.example.org/statuses/112',
      post('@kim@reef.example.org', '112'),
    ],
    ['http://localhost:8080/ada.example', account('ada.example')],
    ['http://localhost:8080/kim/media', account('kim', media)],
    ['http://localhost:8080/status/followers', 'listFollowers status'],
    ['http://localhost:8080/profile/kim.example.com/follows', 'listFollowing kim.example.com'],
    ['http://localhost:8080/search?q=kites', 'searchPosts kites'],
    ['http://localhost:8080/hashtag/kites', 'searchPosts #kites'],
    ['http://localhost:8080/https://x.com/kim/status/20', post('kim', '20')],
    ['http://localhost:8080/https:/x.com/kim/status/20', post('kim', '20')],
    ['http://localhost:8080/https%3A%2F%2Fx.com%2Fkim', account('kim')],
    [`http://localhost:8080/at://${did}/app.bsky.feed.post/3kq`, post(did, '3kq')],
  ],
  'servers without the API of Mastodon': [
    object('https://reef.example.org/@kim/collections'),
    object('https://aggregate.example.org/post/1234'),
    object('https://aggregate.example.org/comment/1234'),
    object('https://aggregate.example.org/c/kites/p/123/a-title'),
    object('https://tube.example.org/w/abc'),
    object('https://tube.example.org/videos/watch/9c9de5e8-0a1e-484a-b099-e80766180a6d'),
    object('https://hub.example.org/display/abc-1'),
    object('https://hub.example.org/item/abc-1'),
    object('https://news.example.com/story'),
    object('https://news.example.com/?p=12&preview=true'),
    ['https://aggregate.example.org/u/kim', account('kim@aggregate.example.org')],
    ['https://aggregate.example.org/c/kites', account('kites@aggregate.example.org')],
    ['https://aggregate.example.org/c/kites@other.example.org', account('kites@other.example.org')],
    ['https://aggregate.example.org/m/kites', account('kites@aggregate.example.org')],
    ['https://tube.example.org/a/kim/videos', account('kim@tube.example.org')],
    ['https://tube.example.org/accounts/kim', account('kim@tube.example.org')],
    ['https://tube.example.org/video-channels/kites', account('kites@tube.example.org')],
    ['https://hub.example.org/channel/kim', account('kim@hub.example.org')],
    ['https://hub.example.org/profile/kim', account('kim@hub.example.org')],
    ['https://forum.example.org/user/kim', account('kim@forum.example.org')],
    ['https://blog.example.org/author/kim/', account('kim@blog.example.org')],
  ],
};

/** Addresses that Perch refuses, with the problem code and a part of the reason. */
const refusals: readonly (readonly [string, string, RegExp])[] = [
  ['https://x.com/i/user/12', 'invalid_path', /only by its number/],
  ['https://x.com/i/communities/1500', 'invalid_path', /community/],
  ['https://x.com/i/lists/1500', 'invalid_path', /list/],
  ['https://x.com/kim/lists/friends', 'invalid_path', /list/],
  ['https://x.com/kim/likes', 'invalid_path', /likes/],
  ['https://x.com/i/spaces/1eaKbrPAqbwKX', 'invalid_path', /audio space/],
  ['https://x.com/intent/user?user_id=12', 'invalid_path', /only by its number/],
  ['https://x.com:8443/kim/status/20', 'invalid_url', /port/],
  [`https://x.com/${'.'.repeat(8200)}a`, 'invalid_url', /longer/],
  ['https://x.com/i/article/1900', 'invalid_path', /number of an article/],
  ['https://x.com/home', 'invalid_path', /not the URL of a post/],
  ['https://bsky.app/profile/kim.example.com/feed/kites', 'invalid_path', /feed/],
  ['https://bsky.app/starter-pack/kim.example.com/3k', 'invalid_path', /starter pack/],
  [`at://${did}/app.bsky.graph.list/3k`, 'invalid_path', /list/],
  [`at://${did}/com.example.thing/3k`, 'invalid_path', /neither a post nor an account/],
  ['https://reef.example.org/ap/users/115', 'invalid_path', /only by its number/],
  ['https://reef.example.org/@kim/tagged/kites', 'invalid_path', /hashtag/],
  ['https://t.co/abc', 'unsupported_host', /not a site/],
  ['https://www.tiktok.com/@kim/video/7300', 'unsupported_host', /not a site/],
  ['@kim', 'invalid_url', /not a URL/],
];

const options = [
  'q',
  'handle',
  'id',
  'url',
  'only_media',
  'with_replies',
  'platform',
  'feed',
] as const;

function meaning(text: string): string {
  const { read, given } = parseAddress(text, place);
  const words = options.flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [value === 'true' ? name : String(value)];
  });
  return [read, ...words].join(' ');
}

describe.each(Object.entries(addresses))('an address of %s', (_, rows) => {
  it.each(rows)('%s is read as %s', (text, read) => {
    expect(meaning(text)).toBe(read);
  });
});

describe('an address that Perch cannot read', () => {
  it.each(refusals)('%s is refused with %s and the reason', (text, code, reason) => {
    expect(refusalOf(text)).toMatchObject({ code, message: expect.stringMatching(reason) });
  });

  it.each([
    ['https://mirror.example.com/kim/status/1900000000000000200', 'kim/status/1900000000000000200'],
    ['https://mirror.example.com/i/status/1900000000000000200', 'i/status/1900000000000000200'],
    ['https://mirror.example.com/kim/rss', 'kim'],
    ['https://nitter.example.com/kim/status/20', 'kim/status/20'],
  ])('names the setting for mirrors if it looks like a page of a mirror of X: %s', (url, path) => {
    const { resolution } = refusalOf(url);

    expect(resolution).toContain('`PERCH_X_MIRRORS`');
    expect(resolution).toContain(`\`https://x.com/${path}\``);
  });
});

function refusalOf(text: string): Problem {
  try {
    return expect.unreachable(meaning(text));
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

it('covers at least 150 addresses', () => {
  expect(Object.values(addresses).flat().length + refusals.length).toBeGreaterThanOrEqual(150);
});
