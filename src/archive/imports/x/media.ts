import type { Account } from '../../../model/account.ts';
import type { Status } from '../../../model/post.ts';
import type { MediaReference } from '../export-source.ts';

/*
 * X exports contain the files of a post as `tweets_media/{id of the post}-{file name in the URL}`, and the pictures of the
 * profile as `profile_media/{id of the account}-{file name in the URL}`, with an extension that the URL can lack.
 */

/** Returns the name of a media file in posts and profiles; `null` for other files. */
export function mediaNameOf(path: string): string | null {
  const [, folder, name] = mediaPath.exec(path) ?? [];
  if (folder === undefined || name === undefined) return null;
  return folder === 'profile' ? `profile ${stemOf(name)}` : name;
}

const mediaPath = /(?:^|\/)(tweets?|community_tweet|profile)_media\/([^/]{1,500})$/;

/** Returns the URL and exported file name of each picture, video and thumbnail of a post. */
export function referToMedia({ id, media }: Status): readonly MediaReference[] {
  if (media.all.length === 0) return [];
  const urls = media.all.flatMap(({ url, thumbnail_url, variants = [] }) => [
    url,
    thumbnail_url ?? url,
    ...variants.map((variant) => variant.url),
  ]);
  return [...new Set(urls)].map((url) => ({ url, name: `${id}-${fileNameOf(url)}` }));
}

/** Returns references to profile picture and banner. `profile` has the URLs from `profile.js`. */
export function referToPictures(
  { id, avatar_url, banner_url }: Account,
  profile:
    | { readonly avatarMediaUrl: string | null; readonly headerMediaUrl: string | null }
    | undefined,
): readonly MediaReference[] {
  const pairs = [
    [avatar_url, profile?.avatarMediaUrl],
    [banner_url, profile?.headerMediaUrl],
  ] as const;
  return pairs.flatMap(([url, exported]) => {
    if (url === null || typeof exported !== 'string') return [];
    return [{ url, name: `profile ${id}-${stemOf(fileNameOf(exported))}` }];
  });
}

const fileNameOf = (url: string): string => {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.slice(path.lastIndexOf('/') + 1);
};

const stemOf = (name: string): string => name.replace(/\.[A-Za-z0-9]{1,5}$/, '');
