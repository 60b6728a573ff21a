import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Card, Post, Status, Tombstone } from '../../model/post.ts';
import { shapeFacets } from '../../platforms/bluesky-facets.ts';
import { maximums } from '../../platforms/maximums.ts';
import { isWebUrl, webUrlOrNull } from '../../platforms/text.ts';
import { toCreated } from '../../platforms/times.ts';
import { findLeftOut, nameLeftOut } from '../bounds.ts';
import { nameOf, shapeAccount } from './accounts.ts';
import { judgeAccount, judgePost, type PostVerdict, type Told, withheldPosts } from './labels.ts';
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
  /** The author of the post that is answered; `null` if that was not sent. */
  readonly parentAuthor: ActorPayload | null;
}

/** Returns a post with its quote, or a tombstone if it is not public. `context` is null. */
export function shapePost(post: PostPayload, shaping: Shaping): Post {
  return shapeWithin(post, shaping, maximums.quotes);
}

function shapeWithin(post: PostPayload, shaping: Shaping, quotesLeft: number): Post {
  const verdict = judgePost(post, shaping.nowMs);
  if (verdict.withheld !== null) {
    const told = withheldPosts[verdict.withheld];
    // The author of a private post is not named, not even by its address.
    return toTombstone(told.reason === 'private' ? null : post.uri, told);
  }
  const embeds = post.embeds.map(parseEmbed);
  const own = shapeOwn({ post, embeds, verdict }, shaping);
  const row = embeds.map(({ record }) => record).find((record) => record !== undefined);
  if (row === undefined || isOtherKind(row)) return own;
  if (quotesLeft === 0) return nameLeftOut(own, ['quote']);
  return { ...own, quote: shapeQuote(row, shaping.nowMs, quotesLeft - 1) };
}

export function shapeMissing({ uri, is }: MissingPayload): Tombstone {
  return toTombstone(uri, missingPosts[is]);
}

export function shapeUnreadable(): Tombstone {
  const sentence = 'This post was sent in a form that Perch does not understand.';
  return toTombstone(null, { reason: 'unavailable', sentence });
}

const missingPosts: Readonly<Record<MissingPayload['is'], Told>> = {
  notFound: { reason: 'deleted', sentence: 'This post was deleted, or its account is gone.' },
  blocked: {
    reason: 'blocked',
    sentence: 'This post is not shown, because one of two accounts in this place blocks the other.',
  },
  detached: {
    reason: 'unavailable',
    sentence: 'The author of the quoted post has taken it out of this quote.',
  },
};

function toTombstone(uri: RecordAddress | null, { reason, sentence: text }: Told): Tombstone {
  const { rkey: id = null } = uri ?? {};
  const url = uri && blueskyPostUrl(uri.did, uri.rkey);
  const post = { type: 'tombstone', id, url, text, reason, author: null } as const;
  return { ...post, context: null, platform: 'bluesky' };
}

interface Judged {
  readonly post: PostPayload;
  readonly embeds: readonly EmbedPayload[];
  readonly verdict: PostVerdict;
}

function shapeOwn({ post, embeds, verdict }: Judged, shaping: Shaping): Status {
  const { uri, author, record } = post;
  const status: Status = {
    type: 'status',
    id: uri.rkey,
    url: blueskyPostUrl(nameOf(author), uri.rkey),
    text: record.text,
    facets: shapeFacets(record.text, record.facets),
    ...toCreated(post.createdMs),
    author: shapeAccount(author),
    lang: record.langs[0] ?? null,
    replies: post.replyCount,
    reposts: post.repostCount,
    likes: post.likeCount,
    quotes: post.quoteCount,
    bookmarks: post.bookmarkCount,
    views: null,
    ...(record.tags.length > 0 && { tags: [...record.tags] }),
    source: null,
    possibly_sensitive: verdict.isSensitive,
    content_warning: verdict.warning,
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

/** Returns what a post answers; nothing of an account that is for those who are signed in. */
function shapeTarget(post: PostPayload, { nowMs, parentAuthor }: Shaping): Status['replying_to'] {
  const uri = post.record.reply?.parent.uri ?? null;
  if (uri === null) return null;
  const author = uri.did === post.author.did ? post.author : parentAuthor;
  if (author?.did !== uri.did) return toTarget(uri, null);
  if (judgeAccount(author, nowMs) === 'signed-in') {
    return { screen_name: null, status: null, url: null };
  }
  return toTarget(uri, nameOf(author));
}

function toTarget({ did, rkey }: RecordAddress, name: string | null): Status['replying_to'] {
  return { screen_name: name, status: rkey, url: blueskyPostUrl(name ?? did, rkey) };
}

/** The AppView resolves two levels of quotes. Of what the second one quotes it sends the address alone. */
function shapeQuote(row: unknown, nowMs: number, quotesLeft: number): Post {
  const missing = parseMissing(row);
  if (missing !== null) return shapeMissing(missing);
  const quoted = parseQuoted(row);
  if (quoted === null) return shapeUnreadable();
  return shapeWithin(quoted, { nowMs, parentAuthor: null }, quotesLeft);
}

/** Returns whether an embedded record is no post. It may be of a kind that is not known yet. */
function isOtherKind(row: unknown): boolean {
  const uri = typeof row === 'object' && row !== null && 'uri' in row ? row.uri : null;
  return typeof uri === 'string' && !uri.includes(`/${postCollection}/`);
}

type External = NonNullable<EmbedPayload['external']>;
type Picture = EmbedPayload['pictures'][number];
type Video = NonNullable<EmbedPayload['video']>;

/** Returns the media of embeds in display order. A card of a GIF service is the GIF. */
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

/** Returns the card of embeds: the linked page, or the embedded record that is no post. */
export function shapeCard(embeds: readonly EmbedPayload[], nowMs: number): Card | null {
  const [card] = embeds.flatMap(({ external, record }) => {
    const page = external === null || isGif(external) ? null : shapePage(external);
    return [page ?? shapeShown(record, nowMs)].filter((each) => each !== null);
  });
  return card ?? null;
}

/** The AppView has no mp4 and no duration. */
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

/** Clients write the size in pixels, or a mere ratio such as 16 to 9, which is no size. */
const leastSize = 64;

function toSize(ratio: Picture['aspectRatio']): Pick<Media, 'width' | 'height'> {
  const isSize = ratio !== null && Math.min(ratio.width, ratio.height) >= leastSize;
  return isSize ? { width: ratio.width, height: ratio.height } : { width: null, height: null };
}

/** Hosts of the GIFs in the app, which shows a card of one of them as a moving picture. */
const gifHosts = /^(?:media\.tenor\.com|static\.klipy\.com|(?:[\w-]+\.)?giphy\.com)$/;

function isGif({ uri }: External): boolean {
  return isWebUrl(uri) && gifHosts.test(new URL(uri).hostname);
}

/** The app writes the size into the address, and the author's words after `Alt:`. */
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

/** Returns the card of a record that is no post; `null` for a post, and if it or its creator is not served. */
function shapeShown(value: unknown, nowMs: number): Card | null {
  const shown = parseShown(value);
  if (shown === null) return null;
  if ([shown, shown.creator].some((each) => judgeAccount(each, nowMs) !== null)) return null;
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
