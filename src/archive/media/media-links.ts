import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Post, Status } from '../../model/post.ts';

/** Path prefix of media files on this server. The hash of the file follows. */
export const copiesPath = '/media/sha256/';

/** Prefix of placeholders for unknown URLs. `createMediaLinks` replaces or removes them. */
export const exportOnly = 'export:';

export type MediaLinks = ReturnType<typeof createMediaLinks>;

/** Creates functions that replace media URLs in posts and accounts with those of stored copies. */
export function createMediaLinks(database: SqliteDatabase, baseUrl: string) {
  const find = database
    .prepare<[string], string>('SELECT hash FROM public_media WHERE url = ? LIMIT 1')
    .pluck();
  const anyCopy = database.prepare('SELECT 1 FROM media_copies LIMIT 1');
  const isEmpty = () => anyCopy.get() === undefined;
  const copyOf = (url: string): string | null => {
    const hash = find.get(url);
    return hash === undefined ? null : `${baseUrl}${copiesPath}${hash}`;
  };
  const toLink = (url: string | null): string | null => {
    if (url === null) return null;
    return copyOf(url) ?? (url.startsWith(exportOnly) ? null : url);
  };
  const linkAccount = (account: Account): Account => ({
    ...account,
    avatar_url: toLink(account.avatar_url),
    banner_url: toLink(account.banner_url),
  });
  const linkItem = (item: Media): readonly Media[] => {
    const variants = item.variants?.map((one) => ({ ...one, url: copyOf(one.url) ?? one.url }));
    // An export of X contains one variant of each video, which is not always the best one.
    const stored = variants?.find(({ url }, at) => url !== item.variants?.[at]?.url)?.url;
    const url = copyOf(item.url) ?? stored ?? toLink(item.url);
    if (url === null) return [];
    const { thumbnail_url: picture } = item;
    return [
      {
        ...item,
        url,
        ...(picture !== undefined && { thumbnail_url: toLink(picture) }),
        ...(variants !== undefined && { variants }),
      },
    ];
  };
  const linkMedia = (media: MediaSet): MediaSet =>
    media.all.length === 0 ? media : toMediaSet(media.all.flatMap(linkItem));
  const linkStatus = (post: Status): Status => ({
    ...post,
    author: linkAccount(post.author),
    media: linkMedia(post.media),
    ...(post.quote !== null && { quote: linkPost(post.quote) }),
  });
  const linkPost = (post: Post): Post => (post.type === 'status' ? linkStatus(post) : post);
  return {
    /** Returns whether JSON has no media URL to replace, neither of a copy nor `export:`. */
    isUnchanged: (json: string): boolean => isEmpty() && !json.includes(`"${exportOnly}`),
    account: linkAccount,
    post: linkPost,
  };
}
