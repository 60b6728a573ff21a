import type { Account } from '../../../model/account.ts';
import { xCommunityUrl } from '../../../model/addresses/urls.ts';
import { type Media, type MediaSet, toMediaSet } from '../../../model/media.ts';
import type { Community, Status } from '../../../model/post.ts';
import { omitNull } from '../../../normalize/fields.ts';
import { toLanguage } from '../../../normalize/language.ts';
import { nestRuns } from '../../../normalize/runs.ts';
import { scanFacets } from '../../../normalize/tags.ts';
import {
  countCodePoints,
  decodeEntities,
  decodeWithOffsets,
  isWebUrl,
  webUrlOrNull,
} from '../../../normalize/text.ts';
import type { RichText } from '../../../normalize/text-writer.ts';
import { toCreated } from '../../../normalize/times.ts';
import {
  enlargeAvatar,
  shapeXMedia,
  toReplyingTo,
  toXAccount,
  xPostUrl,
} from '../../../normalize/x.ts';
import {
  annotate,
  annotationsOf,
  maxAnnotations,
  toLinkAnnotation,
  toMediaAnnotation,
} from '../../../normalize/x-text.ts';
import {
  type ExportedPost,
  type ExportedRepost,
  type MediaReference,
  toPostItem,
  toRepostItem,
} from '../export-source.ts';
import {
  type EntitiesPayload,
  type MediaPayload,
  type NotePayload,
  noEntities,
  type RepostedPayload,
  type TweetPayload,
} from './wire.ts';

const repostPattern = /^RT @(\w{1,20}): /;

/**
 * Unix milliseconds before which X had no reposts.
 * Source: https://blog.x.com/official/en_us/a/2009/retweet-limited-rollout.html
 */
const repostsSinceMs = Date.UTC(2009, 10, 5);

/** Returns whether a post has what X never exports for a repost, or is older than reposts. */
const isOwn = (row: TweetPayload): boolean =>
  row.createdMs < repostsSinceMs ||
  (row.favorite_count ?? 0) + (row.retweet_count ?? 0) > 0 ||
  (row.in_reply_to_status_id_str ?? row.community_id) !== null;

interface LongText {
  readonly long?: RichText | null;
  readonly isShortened?: boolean;
}

export function shapePost(
  row: TweetPayload,
  author: Account,
  { long = null, isShortened = false }: LongText = {},
) {
  const text = markQuoted(long ?? shapeText(row.full_text, row.entities, 0));
  const shaped = shapeStatus(row, { author, text, isRepost: false });
  const community = row.community_id === null ? null : toCommunity(row.community_id);
  // Most posts have neither, and the spread syntax is slow.
  const post =
    community === null && !isShortened
      ? shaped
      : { ...shaped, ...omitNull({ community }), ...(isShortened && { left_out: ['text'] }) };
  return toPostItem(post, row.createdMs / 1000, referToMedia(post));
}

/** X exports only the ids of communities. */
const toCommunity = (id: string): Community => ({
  id,
  name: `Community ${id}`,
  url: xCommunityUrl(id),
  description: null,
});

function markQuoted(whole: RichText): RichText {
  const { text, facets } = whole;
  const [prefix] = /^RT:? @\w{1,20}:? /.exec(text) ?? [];
  if (prefix === undefined) return whole;
  const [quoted = ''] = text.split(' // ', 1);
  const run = {
    type: 'italic',
    start: countCodePoints(prefix),
    end: countCodePoints(quoted),
  } as const;
  return { text, facets: nestRuns([...facets, run], countCodePoints(text)) };
}

/**
 * Converts an exported repost to the original post and the repost. The export lacks the original's
 * id, time and text, so it gets those of the repost. Returns `undefined` if `row` is not a repost.
 * `isTyped`: the author typed the text, even if it starts with `RT @…`.
 */
export function shapeRepost(
  row: TweetPayload,
  by: Account,
  { isTyped }: { readonly isTyped: boolean },
): readonly [ExportedPost, ExportedRepost] | undefined {
  if (row.reposted !== null) return shapeOriginal(row, row.reposted, by);
  const [prefix = '', handle] = repostPattern.exec(row.full_text) ?? [];
  if (handle === undefined || isTyped || isOwn(row)) return undefined;
  const text = shapeText(row.full_text, row.entities, countCodePoints(prefix));
  const mention = row.entities?.user_mentions.find(
    ({ screen_name }) => screen_name.toLowerCase() === handle.toLowerCase(),
  );
  const author = toXAccount({ id: mention?.id_str, screen_name: handle, name: mention?.name });
  const shaped = shapeStatus(row, { author, text, isRepost: true });
  const isCut = countCodePoints(row.full_text) >= repostLength && row.full_text.endsWith('…');
  const post: Status = isCut ? { ...shaped, left_out: ['text'] } : shaped;
  const created = row.createdMs / 1000;
  return [toPostItem(post, created, referToMedia(post)), toRepostItem(by, post, created)];
}

function shapeOriginal(
  repost: TweetPayload,
  { row, user }: RepostedPayload,
  by: Account,
): readonly [ExportedPost, ExportedRepost] {
  const author = toXAccount({
    id: user.id_str ?? user.id,
    screen_name: user.screen_name,
    name: user.name,
    avatar_url: enlargeAvatar(webUrlOrNull(user.profile_image_url_https)),
    protected: user.protected,
  });
  const text = shapeText(row.full_text, row.entities, 0);
  const post = shapeStatus(row, { author, text, isRepost: true });
  const item = toPostItem(post, row.createdMs / 1000, referToMedia(post));
  return [item, toRepostItem(by, post, repost.createdMs / 1000)];
}

/** Code points to which X shortens a repost's text. An entity such as `&amp;` counts as one. */
const repostLength = 139;

interface Shaped {
  readonly author: Account;
  readonly text: RichText;
  /** If `true`, the converted post has no counts of likes and reposts. */
  readonly isRepost: boolean;
}

/** Lists each member, because the spread syntax (`...`) is several times slower. */
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

const noLanguage = /^(?:und|zxx|art|q\w\w)$/;

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
  const { w: width = null, h: height = null } = item.sizes ?? {};
  const { type, ext_alt_text: alt, video_info } = item;
  const variants = video_info?.variants.filter(({ url }) => isWebUrl(url)) ?? [];
  const video = video_info && { ...video_info, variants };
  return [shapeXMedia({ type, url: picture, width, height, alt, video })];
}

function referToMedia({ id, media }: Status): readonly MediaReference[] {
  if (media.all.length === 0) return [];
  const urls = media.all.flatMap(({ url, thumbnail_url, variants = [] }) => [
    url,
    thumbnail_url ?? url,
    ...variants.map((variant) => variant.url),
  ]);
  return [...new Set(urls)].map((url) => ({ url, name: `${id}-${fileNameOf(url)}` }));
}

export const fileNameOf = (url: string): string => {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.slice(path.lastIndexOf('/') + 1);
};

function shapeText(exported: string, entities: EntitiesPayload | null, begin: number): RichText {
  // Fast path: most posts have no entities, so offsets are not needed.
  if (begin === 0 && entities === noEntities) {
    return { text: decodeEntities(exported).trimEnd(), facets: [] };
  }
  const decoded = decodeWithOffsets(exported);
  if (entities !== null) return annotate(decoded, annotationsOf(entities), begin);
  const text = decoded.text.slice(decoded.toIndex(begin));
  return { text, facets: scanFacets(text) };
}

/** Returns a long post's text without media links. Finds the positions of links by searching. */
export function shapeNote({ core }: NotePayload, media: EntitiesPayload['media']): RichText {
  const decoded = decodeWithOffsets(core.text);
  const indices = [-1, -1] as const;
  const annotations = [
    ...core.urls.flatMap(({ shortUrl, expandedUrl }) =>
      toLinkAnnotation({ url: shortUrl, expanded_url: expandedUrl, indices }),
    ),
    ...media.flatMap(({ url }) => toMediaAnnotation({ url, indices })),
  ].slice(0, maxAnnotations);
  const places = annotations.map((item) => ({ item, at: decoded.text.indexOf(item.written) }));
  const sorted = places.toSorted((a, b) => a.at - b.at).map(({ item }) => item);
  const { text, facets } = annotate(decoded, sorted);
  return { text, facets: nestRuns([...facets, ...scanFacets(text)], countCodePoints(text)) };
}
