import { toIsoSeconds } from '../../lib/clock.ts';
import type { Card, Post, Status, Tombstone } from '../../model/post.ts';
import { findLeftOut, nameLeftOut } from '../fields.ts';
import { toLanguage } from '../language.ts';
import { maximums } from '../maximums.ts';
import { countCodePoints } from '../text.ts';
import { toCreated } from '../times.ts';
import { toTombstone, toUnavailability, type Unavailability } from '../unavailable.ts';
import {
  type Assessment,
  assessPost,
  hiddenPosts,
  nameOf,
  restrictionOf,
  shapeAccount,
} from './account.ts';
import {
  blueskyPostUrl,
  pageOfRecord,
  parseRecordUri,
  postCollection,
  type RecordAddress,
} from './addresses.ts';
import {
  type EmbedPayload,
  parseEmbed,
  partsOf,
  shapeMedia,
  shapePageCard,
  shapeRecordCard,
} from './embeds.ts';
import {
  type ActorPayload,
  type MissingPayload,
  type PostPayload,
  parseMissing,
  parseQuoted,
  shapeEntities,
  shapeFacets,
} from './wire.ts';

export interface Shaping {
  readonly nowMs: number;
  /** Author of the parent; `null` if the server did not send the parent. */
  readonly parentAuthor: ActorPayload | null;
}

/** Converts a post and its quoted post. Returns a `Tombstone` if the post is not public. */
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
  const isLost = losesEmbed(post, { own, row, quotesLeft });
  return addRecord(isLost ? nameLeftOut(own, ['embed']) : own, row, { shaping, quotesLeft });
}

interface Levels {
  readonly shaping: Shaping;
  readonly quotesLeft: number;
}

function addRecord(own: Status, row: unknown, { shaping, quotesLeft }: Levels): Status {
  if (row === undefined) return own;
  const card = shapeRecordCard(row, shaping.nowMs);
  if (card !== null) return addCard(own, card);
  if (isOtherKind(row)) return own;
  if (quotesLeft === 0) return nameLeftOut(own, ['quote']);
  return { ...own, quote: shapeQuote(row, shaping.nowMs, quotesLeft - 1) };
}

const sentLevels = 2;

interface ShownEmbed {
  readonly own: Status;
  readonly row: unknown;
  readonly quotesLeft: number;
}

function losesEmbed({ record, embeds }: PostPayload, { own, row, quotesLeft }: ShownEmbed) {
  // Of an unknown type, Bluesky sends only what the author's record contains.
  const isSent = quotesLeft > maximums.quotes - sentLevels;
  const { hasMedia, hasRecord } = partsOf((isSent ? record.embed : null) ?? embeds[0]);
  const showsMedia = own.card !== null || own.media.all.length > 0;
  const isMediaLost = hasMedia && !showsMedia && !own.left_out?.includes('media');
  return isMediaLost || (hasRecord && (row === undefined || isUnknownKind(row)));
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
    facets: shapeLinks(record),
    ...toTimes(post),
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
    card: shapePageCard(embeds),
    community_note: null,
    context: null,
    platform: 'bluesky',
  };
  const leftOut = findLeftOut({
    facets: [record.facets, record.entities],
    media: embeds.map(({ pictures }) => pictures),
    tags: [record.tags],
    labels: [post.labels, author.labels, record.labels?.values],
  });
  return nameLeftOut(status, leftOut);
}

const shapeLinks = ({ text, facets, entities }: PostPayload['record']): Status['facets'] =>
  facets.length > 0 ? shapeFacets(text, facets) : shapeEntities(text, entities);

const dayMs = 86_400_000;

function toTimes({ createdMs, indexedMs }: PostPayload) {
  const isBackdated = indexedMs !== null && indexedMs - createdMs > dayMs;
  return { ...toCreated(createdMs), ...(isBackdated && { indexed_at: toIsoSeconds(indexedMs) }) };
}

function addCard(post: Status, card: Card): Status {
  if (post.card === null) return { ...post, card };
  if (showsUrl(post, card.url)) return post;
  const above = post.text === '' ? '' : `${post.text}\n\n`;
  const text = `${above}${card.url}`;
  const range = { start: countCodePoints(above), end: countCodePoints(text) };
  return { ...post, text, facets: [...post.facets, { type: 'link', url: card.url, ...range }] };
}

function showsUrl({ card, facets, text }: Status, url: string): boolean {
  if (card?.url === url || facets.some((facet) => facet.url === url)) return true;
  const at = text.indexOf(url);
  return at >= 0 && !/[\w-]/.test(text.charAt(at + url.length));
}

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

function shapeQuote(row: unknown, nowMs: number, quotesLeft: number): Post {
  const missing = parseMissing(row);
  if (missing !== null) return shapeMissing(missing);
  const quoted = parseQuoted(row);
  if (quoted === null) return shapeUnreadable();
  return shapeWithin(quoted, { nowMs, parentAuthor: null }, quotesLeft);
}

function isOtherKind(row: unknown): boolean {
  const uri = uriOf(row);
  return uri !== null && !uri.includes(`/${postCollection}/`);
}

function isUnknownKind(row: unknown): boolean {
  const address = parseRecordUri(uriOf(row) ?? '');
  return isOtherKind(row) && (address === null || pageOfRecord(address, address.did) === null);
}

function uriOf(row: unknown): string | null {
  const uri = typeof row === 'object' && row !== null && 'uri' in row ? row.uri : null;
  return typeof uri === 'string' ? uri : null;
}
