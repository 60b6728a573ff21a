import { type Account, toAccount } from '../../../model/account.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { type Media, type MediaSet, toMediaSet } from '../../../model/media.ts';
import type { Status } from '../../../model/post.ts';
import { toLanguage } from '../../../platforms/language.ts';
import { countCodePoints, decodeEntities, isWebUrl } from '../../../platforms/text.ts';
import { toCreated } from '../../../platforms/times.ts';
import { toReplyingTo, xPostUrl } from '../../../platforms/x.ts';
import type { ExportedPost, ExportedRepost } from '../export-source.ts';
import { referToMedia } from './media.ts';
import type { MediaPayload, TweetPayload } from './payload.ts';
import { type ShapedText, shapeText } from './text.ts';

/** Pattern of the prefix `RT @handle: ` in the text of an exported repost. Captures the original author's handle. */
const repostPattern = /^RT @(\w{1,20}): /;

/** Converts an exported post. `long`: the full text, if the export stores it in a separate file. */
export function shapePost(
  row: TweetPayload,
  author: Account,
  long: ShapedText | undefined,
): ExportedPost {
  const text = long ?? shapeText(row.full_text, row.entities, 0);
  const post = shapeStatus(row, { author, text, isRepost: false });
  return {
    kind: 'post',
    post,
    parentId: row.in_reply_to_status_id_str,
    created: row.createdMs / 1000,
    media: referToMedia(post),
  };
}

/**
 * Converts an exported repost to two items: the original post and the repost. The export does not contain the id, time
 * and text of the original post, so the original post gets those of the repost. Returns `undefined` if `row` is not a
 * repost.
 */
export function shapeRepost(
  row: TweetPayload,
  by: Account,
): readonly [ExportedPost, ExportedRepost] | undefined {
  const [prefix, handle] = repostPattern.exec(row.full_text) ?? [];
  if (prefix === undefined || handle === undefined) return undefined;
  const text = shapeText(row.full_text, row.entities, countCodePoints(prefix));
  const author = shapeMentioned(row, handle);
  const created = row.createdMs / 1000;
  const post = shapeStatus(row, { author, text, isRepost: true });
  return [
    { kind: 'post', post, parentId: null, created, media: referToMedia(post) },
    {
      kind: 'repost',
      handle: by.screen_name.toLowerCase(),
      postHandle: handle.toLowerCase(),
      postId: row.id_str,
      created,
    },
  ];
}

function shapeMentioned({ entities }: TweetPayload, handle: string): Account {
  const mention = entities?.user_mentions.find(
    ({ screen_name }) => screen_name.toLowerCase() === handle.toLowerCase(),
  );
  return toAccount({
    id: mention?.id_str ?? handle,
    screen_name: handle,
    name: mention?.name ?? handle,
    url: profileUrl('x', handle, ''),
    platform: 'x',
  });
}

interface Shaped {
  readonly author: Account;
  readonly text: ShapedText;
  /** Whether the exported post is a repost. If true, the converted post has no counts of likes and reposts. */
  readonly isRepost: boolean;
}

/** Converts an exported post. The code lists each member, because the spread syntax (`...`) is several times slower. */
function shapeStatus(row: TweetPayload, { author, text, isRepost }: Shaped): Status {
  const { created_at, created_timestamp } = toCreated(row.createdMs);
  return {
    type: 'status',
    id: row.id_str,
    url: xPostUrl(author.screen_name, row.id_str),
    text: text.text,
    facets: text.facets,
    created_at,
    created_timestamp,
    author,
    lang: noLanguage.test(row.lang ?? '') ? null : toLanguage(row.lang),
    replies: null,
    reposts: isRepost ? null : row.retweet_count,
    likes: isRepost ? null : row.favorite_count,
    quotes: null,
    bookmarks: null,
    views: null,
    source: row.source === null ? null : toClient(row.source),
    possibly_sensitive: row.possibly_sensitive,
    replying_to: isRepost
      ? null
      : toReplyingTo(row.in_reply_to_screen_name, row.in_reply_to_status_id_str),
    quote: null,
    reposted_by: null,
    media: shapeMedia(row),
    poll: null,
    article: null,
    content_warning: null,
    card: null,
    community_note: null,
    context: null,
    platform: 'x',
  };
}

/** Language codes of X for posts without a language: undetermined, or only links, tags or media. */
const noLanguage = /^(?:und|zxx|art|q\w\w)$/;

/** Returns the name of the posting app, parsed from `<a href="…" rel="nofollow">Twitter Web App</a>`. */
function toClient(source: string): string | null {
  const [, name] = /^<a [^>]*>([^<]*)<\/a>$/.exec(source) ?? [];
  return decodeEntities(name ?? source).trim() || null;
}

function shapeMedia({ entities, extended_media: extended }: TweetPayload): MediaSet {
  // If a post has several photos, `entities` contains only the first.
  return toMediaSet((extended.length > 0 ? extended : (entities?.media ?? [])).flatMap(shapeItem));
}

function shapeItem(item: MediaPayload): readonly Media[] {
  const picture = item.media_url_https ?? item.media_url;
  if (picture === null || !isWebUrl(picture)) return [];
  const size = item.sizes?.large ?? item.sizes?.medium;
  const known = { width: size?.w ?? null, height: size?.h ?? null, alt: item.ext_alt_text };
  if (item.video_info === null) return [{ type: 'photo', url: picture, ...known }];
  const type = item.type === 'animated_gif' ? 'gif' : 'video';
  return [{ type, ...known, ...shapeVideo(item.video_info, picture) }];
}

function shapeVideo(video: NonNullable<MediaPayload['video_info']>, picture: string) {
  const variants = video.variants.filter(({ url }) => isWebUrl(url));
  return {
    url: bestOf(variants)?.url ?? picture,
    thumbnail_url: picture,
    // GIFs loop, so X sends their duration as 0 or not at all.
    duration: video.duration_millis === null ? null : video.duration_millis / 1000 || null,
    variants,
  };
}

type Variant = NonNullable<MediaPayload['video_info']>['variants'][number];

/** Returns the MP4 variant of a video with the highest bitrate, or the first variant if there is no MP4. */
function bestOf(variants: readonly Variant[]): Variant | undefined {
  const files = variants.filter(({ content_type }) => content_type === 'video/mp4');
  return files.toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0))[0] ?? variants[0];
}
