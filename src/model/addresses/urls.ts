import { defaultMastodonHost, nobodyOnX, type Platform, type PostReference } from '../reference.ts';

/** Returns the URL of an account on its platform. URLs of sample accounts start with `baseUrl`. */
export function profileUrl(of: Platform, handle: string, baseUrl: string): string {
  const name = encodeURIComponent(handle).replaceAll('%40', '@').replaceAll('%3A', ':');
  switch (of) {
    case 'x':
      return `https://x.com/${name}`;
    case 'bluesky':
      return `https://bsky.app/profile/${name}`;
    case 'mastodon':
    case 'activitypub':
      return `https://${handle.slice(handle.lastIndexOf('@') + 1)}/@${handle.split('@')[0]}`;
    case 'sample':
      return `${baseUrl}/${name}`;
  }
}

const postPaths: Readonly<Record<Exclude<Platform, 'activitypub'>, string>> = {
  x: '/status/',
  bluesky: '/post/',
  mastodon: '/',
  sample: '/status/',
};

/** Returns the URL of a post on its platform. URLs of sample posts start with `baseUrl`. */
export const postUrl = ({ platform: of, handle, id }: PostReference, baseUrl: string): string =>
  of === 'activitypub'
    ? id
    : `${profileUrl(of, handle ?? nobodyOnX, baseUrl)}${postPaths[of]}${id}`;

export const embedUrl = (url: string, baseUrl: string): string =>
  `${baseUrl}/api/v1/oembed?url=${encodeURIComponent(url)}`;

/** Returns the URL of a hashtag's page. `where.host` is the server of Mastodon. */
export function hashtagUrl(
  of: Platform,
  tag: string,
  where: { baseUrl: string; host?: string },
): string {
  const name = encodeURIComponent(tag);
  const ofServer = `https://${where.host ?? defaultMastodonHost}/tags/${name}`;
  const urls: Record<Platform, string> = {
    x: `https://x.com/hashtag/${name}`,
    bluesky: `https://bsky.app/hashtag/${name}`,
    mastodon: ofServer,
    activitypub: ofServer,
    sample: `${where.baseUrl}/search?q=%23${name}&platform=sample`,
  };
  return urls[of];
}

/** Returns a URL that X redirects to the page of the account's current handle. */
export const xUserUrl = (id: string): string => `https://x.com/i/user/${id}`;

export const xCommunityUrl = (id: string): string => `https://x.com/i/communities/${id}`;

/** Returns the URL of the search for a symbol such as `$AAPL` (`name` without `$`) on X. */
export const xSymbolUrl = (name: string): string =>
  `https://x.com/search?q=%24${encodeURIComponent(name)}`;
