import type { Account } from '../../model/account.ts';
import type { Media } from '../../model/media.ts';
import { canonicalUrl, type Post, type Status } from '../../model/post.ts';
import { contentTypeOf } from '../../normalize/files.ts';
import type { RenderContext } from '../context.ts';
import { chooseFile, hidesPictures } from '../html/pictures.ts';
import { renderPostBody } from '../html/post.ts';
import { copyPrefix, nameAccount } from '../markdown/blocks.ts';
import { toLine } from '../markdown/characters.ts';
import { firstWordsOf, listTags } from '../summary.ts';
import { findOwners, type KnownOwners, tagPost, tagTarget, toStrictUrl } from './urls.ts';

/** Author; the URLs are `null` if unknown. */
export interface Person {
  readonly name: string;
  readonly url: string | null;
  readonly avatarUrl: string | null;
}

/** File of an entry. Sizes are in pixels, the duration is in seconds. */
export interface EntryMedia extends Pick<Media, 'width' | 'height'> {
  readonly url: string;
  readonly mediaType: string;
  readonly medium: 'image' | 'video' | 'audio' | 'document';
  readonly description: string;
  readonly thumbnailUrl: string | null;
  readonly duration: number | null;
}

/** Post as a feed entry. Titles and names contain no HTML tags; `html` contains no scripts. */
export interface Entry {
  /** Tag URI (RFC 4151), which never changes. */
  readonly id: string;
  /** URL of the post on its platform; `null` unless http or https. */
  readonly url: string | null;
  readonly title: string;
  readonly html: string;
  readonly author: Person;
  /** Time of publication: ISO 8601, UTC. */
  readonly published: string;
  /** Time of the last edit, or `published` without one: ISO 8601, UTC. */
  readonly updated: string;
  readonly categories: readonly string[];
  /** Media; empty if sensitive or with a content warning, as `html` then links the media. */
  readonly media: readonly EntryMedia[];
  /** Replied-to post; `null` for other posts. `id` is a tag URI; `null` if unknown. */
  readonly inReplyTo: { readonly id: string | null; readonly url: string | null } | null;
  /** List of replies under `/api/v1`, without `format`; `null` if Perch cannot list them. */
  readonly repliesUrl: string | null;
  /** `null` if unknown, and in lists, where changing counts would change the feed too often. */
  readonly replyCount: number | null;
}

interface EntryOptions {
  readonly context: RenderContext;
  readonly owners: KnownOwners;
  readonly hasReplyCounts: boolean;
}

/** Returns each post once, without placeholders of unavailable posts. */
export function listEntryPosts(posts: readonly Post[]): readonly Status[] {
  const found = new Map<string, Status>();
  for (const post of posts) {
    if (post.type === 'tombstone') continue;
    const id = tagPost(post);
    if (!found.has(id)) found.set(id, post);
  }
  return [...found.values()];
}

/** Creates a converter to entries. Bluesky reply ids need account ids of authors of `posts`. */
export function createToEntry(
  posts: readonly Post[],
  options: Omit<EntryOptions, 'owners'>,
): (post: Status) => Entry {
  const owners = findOwners(posts);
  return (post) => toEntry(post, { ...options, owners });
}

function toEntry(post: Status, { context, owners, hasReplyCounts }: EntryOptions): Entry {
  const { replying_to: target, created_timestamp: seconds } = post;
  const published = toTime(seconds * 1000);
  return {
    id: tagPost(post),
    url: toStrictUrl(canonicalUrl(post)),
    title: titleEntry(post),
    html: renderPostBody(post, context),
    author: toPerson(post.author, context),
    published,
    updated: laterOf(published, toTime(Date.parse(post.edited_at ?? published))),
    categories: listTags(post, toTag, maxTag),
    media: hidesPictures(post) ? [] : post.media.all.flatMap((item) => toEntryMedia(item, context)),
    inReplyTo: target && { id: tagTarget(post, owners), url: toStrictUrl(target.url) },
    repliesUrl: toRepliesUrl(post, context),
    replyCount: hasReplyCounts ? post.replies : null,
  };
}

const epoch = '1970-01-01T00:00:00Z';

/** Formats an RFC 3339 time in UTC; returns `epoch` outside the years 1 to 9999. */
const toTime = (ms: number): string =>
  ms >= -62_135_596_800_000 && ms < 253_402_300_800_000
    ? `${new Date(ms).toISOString().slice(0, 19)}Z`
    : epoch;

export const laterOf = (a: string, b: string): string => (a < b ? b : a);

const maxTitle = 100;

function titleEntry(post: Status): string {
  const { author, reposted_by: reposter } = post;
  const words = firstWordsOf({ ...post, reposted_by: null }, maxTitle) || 'Post';
  const repost = reposter === null ? '' : `Repost of @${toLine(author.screen_name)}: `;
  return toPlainText(`${repost}${copyPrefix(post)}${words}`);
}

/** Returns one line with `‹` for each `<` that starts a tag: many readers show text as HTML. */
export const toPlainText = (text: string): string =>
  toLine(text)
    .replace(/\p{Noncharacter_Code_Point}/gu, '\ufffd')
    .replace(/<(?=[a-z/!?])/gi, '‹');

export const toPerson = (account: Account, context: RenderContext): Person => ({
  name: toPlainText(nameAccount(account)),
  url: toStrictUrl(account.copied_from?.url ?? account.url),
  avatarUrl: toPictureUrl(account.avatar_url, context),
});

const maxTag = 100;

const toTag = (written: string): string => toPlainText(written).replace(/^[#＃]/, '');

/** Values of the attribute `medium` (https://www.rssboard.org/media-rss#media-content). */
const mediums = {
  photo: 'image',
  video: 'video',
  gif: 'video',
  audio: 'audio',
  file: 'document',
} as const;

function toEntryMedia(item: Media, context: RenderContext): readonly EntryMedia[] {
  const medium = mediums[item.type];
  const file = medium === 'video' ? (chooseFile(item) ?? item.url) : item.url;
  const url = toStrictUrl(file);
  if (url === null) return [];
  const variant = item.variants?.find((one) => one.url === file);
  const type = variant?.content_type ?? item.content_type ?? null;
  return [
    {
      url: medium === 'image' ? (context.toPictureUrl?.(url) ?? url) : url,
      mediaType: contentTypeOf(url, type) ?? defaultTypes[medium],
      medium,
      description: toPlainText(item.alt ?? ''),
      thumbnailUrl: toPictureUrl(item.thumbnail_url ?? null, context),
      width: toSize(item.width),
      height: toSize(item.height),
      duration: toSize(Math.round(item.duration ?? 0)),
    },
  ];
}

/** Returns a picture's URL here if possible, else the original; `null` unless http(s). */
export function toPictureUrl(url: string | null, context: RenderContext): string | null {
  const strict = toStrictUrl(url);
  return strict && (context.toPictureUrl?.(strict) ?? strict);
}

const toSize = (size: number | null): number | null =>
  Number.isSafeInteger(size) && Number(size) > 0 ? size : null;

const defaultTypes = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  document: 'application/octet-stream',
} as const;

/** Returns `null` for a copied post, because only the author's server knows the replies. */
function toRepliesUrl(post: Status, { baseUrl }: RenderContext): string | null {
  const { id, platform, author, copied_from } = post;
  if (copied_from !== undefined) return null;
  const path = `${baseUrl}/api/v1/posts/${encodeURIComponent(toLine(id))}/replies`;
  if (platform === 'x') return path;
  return `${path}?handle=${encodeURIComponent(toLine(author.screen_name))}`;
}
