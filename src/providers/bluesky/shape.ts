import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Card, Post, Status, Tombstone } from '../../model/post.ts';
import { shapeFacets } from '../../platforms/bluesky/facets.ts';
import { toLanguage } from '../../platforms/language.ts';
import { findLeftOut, nameLeftOut } from '../../platforms/left-out.ts';
import { maximums } from '../../platforms/maximums.ts';
import { isWebUrl, webUrlOrNull } from '../../platforms/text.ts';
import { toCreated } from '../../platforms/times.ts';
import { toTombstone, toUnavailability, type Unavailability } from '../../platforms/unavailable.ts';
import { nameOf, shapeAccount } from './accounts.ts';
import { type Assessment, assessPost, hiddenPosts, restrictionOf } from './labels.ts';
import {
  type ActorPayload,
  blueskyPostUrl,
  blueskyProfileUrl,
  type EmbedPayload,
  type MissingPayload,
  type PostPayload,
  parseEmbed,
  parseMissing,
  parseQuoted,
  parseShown,
  postCollection,
  type RecordAddress,
} from './payload.ts';

export interface Shaping {
  readonly nowMs: number;
  /** Author of the parent (the post to which the post replies); `null` if the server did not send the parent. */
  readonly parentAuthor: ActorPayload | null;
}

/**
 * Converts a post and its quoted post from Bluesky's format. Returns a `Tombstone` (placeholder) if
 * the post is not public.
 */
export const shapePost = (post: PostPayload, shaping: Shaping): Post =>
  shapeWithin(post, shaping, maximums.quotes);

function shapeWithin(post: PostPayload, shaping: Shaping, quotesLeft: number): Post {
  const assessment = assessPost(post, shaping.nowMs);
  if (assessment.restriction !== null) {
    const why = hiddenPosts[assessment.restriction];
    // The author of a protected post must not be named, so the tombstone has no URL.
    return toTombstoneAt(why.reason === 'protected' ? null : post.uri, why);
  }
  const embeds = post.embeds.map(parseEmbed);
  const own = shapeOwn({ post, embeds, assessment }, shaping);
  const row = embeds.map(({ record }) => record).find((record) => record !== undefined);
  if (row === undefined || isOtherKind(row)) return own;
  if (quotesLeft === 0) return nameLeftOut(own, ['quote']);
  return { ...own, quote: shapeQuote(row, shaping.nowMs, quotesLeft - 1) };
}

export const shapeMissing = ({ uri, is }: MissingPayload): Tombstone =>
  toTombstoneAt(uri, missingPosts[is]);

export function shapeUnreadable(): Tombstone {
  const sentence = 'The source sent this post in a form that Perch cannot read.';
  return toTombstoneAt(null, toUnavailability('unknown', sentence));
}

const missingPosts: Readonly<Record<MissingPayload['is'], Unavailability>> = {
  notFound: toUnavailability('deleted', 'This post was deleted, or its account was deleted.'),
  blocked: toUnavailability(
    'blocked',
    'This post is not shown, because one of the two accounts blocks the other.',
  ),
  detached: toUnavailability(
    'unknown',
    'The author of the quoted post has removed it from this quote.',
  ),
};

function toTombstoneAt(uri: RecordAddress | null, why: Unavailability): Tombstone {
  const { rkey: id = null } = uri ?? {};
  const url = uri && blueskyPostUrl(uri.did, uri.rkey);
  return toTombstone(why, { id, url, platform: 'bluesky' });
}

interface AssessedPost {
  readonly post: PostPayload;
  readonly embeds: readonly EmbedPayload[];
  readonly assessment: Assessment;
}

function shapeOwn({ post, embeds, assessment }: AssessedPost, shaping: Shaping): Status {
  const { uri, author, record } = post;
  const status: Status = {
    type: 'status',
    id: uri.rkey,
    url: blueskyPostUrl(nameOf(author), uri.rkey),
    text: record.text,
    facets: shapeFacets(record.text, record.facets),
    ...toCreated(post.createdMs),
    author: shapeAccount(author),
    lang: toLanguage(record.langs[0]),
    replies: post.replyCount,
    reposts: post.repostCount,
    likes: post.likeCount,
    quotes: post.quoteCount,
    bookmarks: post.bookmarkCount,
    views: null,
    ...(record.tags.length > 0 && { tags: [...record.tags] }),
    source: null,
    possibly_sensitive: assessment.isSensitive,
    content_warning: assessment.warning,
    replying_to: shapeTarget(post, shaping),
    quote: null,
    reposted_by: null,
    media: shapeMedia(embeds),
    poll: null,
    article: null,
    card: shapeCard(embeds, shaping.nowMs),
    community_note: null,
    context: null,
    platform: 'bluesky',
  };
  const leftOut = findLeftOut({
    facets: [record.facets],
    media: embeds.map(({ pictures }) => pictures),
    tags: [record.tags],
    labels: [post.labels, author.labels, record.labels?.values],
  });
  return nameLeftOut(status, leftOut);
}

/**
 * Returns a reference to the parent of a reply; `null` if the post is not a reply. If only logged-in users may see
 * the parent, returns a reference whose members are all `null`.
 */
function shapeTarget(post: PostPayload, { nowMs, parentAuthor }: Shaping): Status['replying_to'] {
  const uri = post.record.reply?.parent.uri ?? null;
  if (uri === null) return null;
  const author = uri.did === post.author.did ? post.author : parentAuthor;
  if (author?.did !== uri.did) return toTarget(uri, null);
  if (restrictionOf(author, nowMs) === 'signed-in') {
    return { screen_name: null, status: null, url: null };
  }
  return toTarget(uri, nameOf(author));
}

function toTarget({ did, rkey }: RecordAddress, name: string | null): Status['replying_to'] {
  return { screen_name: name, status: rkey, url: blueskyPostUrl(name ?? did, rkey) };
}

/**
 * Converts a quoted post and up to `quotesLeft` levels of quotes nested in it. Of a post at the
 * third level, Bluesky sends only the URI.
 */
function shapeQuote(row: unknown, nowMs: number, quotesLeft: number): Post {
  const missing = parseMissing(row);
  if (missing !== null) return shapeMissing(missing);
  const quoted = parseQuoted(row);
  if (quoted === null) return shapeUnreadable();
  return shapeWithin(quoted, { nowMs, parentAuthor: null }, quotesLeft);
}

/** Returns whether an embedded record is not a post but, for example, a list or a feed. */
function isOtherKind(row: unknown): boolean {
  const uri = typeof row === 'object' && row !== null && 'uri' in row ? row.uri : null;
  return typeof uri === 'string' && !uri.includes(`/${postCollection}/`);
}

type External = NonNullable<EmbedPayload['external']>;
type Picture = EmbedPayload['pictures'][number];
type Video = NonNullable<EmbedPayload['video']>;

/**
 * Returns the media in the embeds of a post, in display order. A link to a GIF on a known GIF
 * service counts as media.
 */
export function shapeMedia(embeds: readonly EmbedPayload[]): MediaSet {
  return toMediaSet(
    embeds.flatMap(({ pictures, video, external }) => [
      ...pictures.map(({ fullsize: url, alt, aspectRatio }): Media => {
        return { type: 'photo', url, ...toSize(aspectRatio), alt };
      }),
      ...(video === null ? [] : [shapeVideo(video)]),
      ...(external !== null && isGif(external) ? [shapeGif(external)] : []),
    ]),
  );
}

/**
 * Returns the link preview of the first web page, list, feed, starter pack or labeler in a post;
 * `null` if there is none.
 */
export function shapeCard(embeds: readonly EmbedPayload[], nowMs: number): Card | null {
  const [card] = embeds.flatMap(({ external, record }) => {
    const page = external === null || isGif(external) ? null : shapePage(external);
    return [page ?? shapeShown(record, nowMs)].filter((each) => each !== null);
  });
  return card ?? null;
}

/** Converts a video. Bluesky sends an HLS playlist, but neither an MP4 file nor a duration. */
function shapeVideo({ playlist, thumbnail, alt, aspectRatio, presentation }: Video): Media {
  return {
    type: presentation === 'gif' ? 'gif' : 'video',
    url: playlist,
    ...toSize(aspectRatio),
    alt,
    thumbnail_url: webUrlOrNull(thumbnail),
    duration: null,
    variants: [{ url: playlist, content_type: 'application/x-mpegURL', bitrate: null }],
  };
}

const minSize = 64; // pixels; smaller sizes are a ratio, such as 16 to 9, which some clients send

function toSize(ratio: Picture['aspectRatio']): Pick<Media, 'width' | 'height'> {
  const isSize = ratio !== null && Math.min(ratio.width, ratio.height) >= minSize;
  return isSize ? { width: ratio.width, height: ratio.height } : { width: null, height: null };
}

/** Pattern of the hosts of GIF services. The Bluesky app displays links to these hosts as animated images. */
const gifHosts = /^(?:media\.tenor\.com|static\.klipy\.com|(?:[\w-]+\.)?giphy\.com)$/;

const isGif = ({ uri }: External): boolean => isWebUrl(uri) && gifHosts.test(new URL(uri).hostname);

/**
 * Converts a link to a GIF. The size comes from the link's URL, and the author's alt text from the
 * description, where it follows `Alt:`.
 */
function shapeGif({ uri, title, description, thumb }: External): Media {
  const { searchParams } = new URL(uri);
  const pixels = (name: string) => Number.parseInt(searchParams.get(name) ?? '', 10) || null;
  return {
    type: 'gif',
    url: uri,
    width: pixels('ww'),
    height: pixels('hh'),
    alt: description?.replace(/^alt:\s*/i, '') || title || null,
    thumbnail_url: webUrlOrNull(thumb),
    duration: null,
  };
}

function shapePage({ uri, title, description, thumb }: External): Card | null {
  if (!isWebUrl(uri)) return null;
  return { url: uri, title: title ?? '', description, image_url: webUrlOrNull(thumb) };
}

/** Returns the link preview of an embedded feed, list, starter pack or labeler; `null` for posts and hidden records. */
function shapeShown(value: unknown, nowMs: number): Card | null {
  const shown = parseShown(value);
  if (shown === null) return null;
  if ([shown, shown.creator].some((each) => restrictionOf(each, nowMs) !== null)) return null;
  const { uri, displayName, name, record, creator, description, avatar } = shown;
  const url = shownUrl(uri, nameOf(creator));
  if (url === null) return null;
  return {
    url,
    title: displayName ?? name ?? record?.name ?? creator.displayName ?? nameOf(creator),
    description: description ?? record?.description ?? creator.description,
    image_url: webUrlOrNull(avatar),
  };
}

function shownUrl({ collection, rkey }: RecordAddress, account: string): string | null {
  const profile = blueskyProfileUrl(account);
  switch (collection) {
    case 'app.bsky.feed.generator':
      return `${profile}/feed/${rkey}`;
    case 'app.bsky.graph.list':
      return `${profile}/lists/${rkey}`;
    case 'app.bsky.graph.starterpack':
      return profile.replace('/profile/', '/starter-pack/').concat(`/${rkey}`);
    case 'app.bsky.labeler.service':
      return profile;
    default:
      return null;
  }
}
