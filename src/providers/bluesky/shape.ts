import type { Post, Status, Tombstone } from '../../model/post.ts';
import { shapeFacets } from '../../platforms/bluesky-facets.ts';
import { maximums } from '../../platforms/maximums.ts';
import { toCreated } from '../../platforms/times.ts';
import { findLeftOut, nameLeftOut } from '../bound-post.ts';
import { nameOf, shapeAccount } from './accounts.ts';
import { shapeCard, shapeMedia } from './embeds.ts';
import {
  judgeAccount,
  judgePost,
  type PostVerdict,
  type Withheld,
  withheldPosts,
} from './labels.ts';
import {
  type ActorPayload,
  blueskyPostUrl,
  type EmbedPayload,
  type MissingPayload,
  type PostPayload,
  parseEmbed,
  parseMissing,
  parseQuoted,
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
  if (verdict.withheld !== null) return shapeWithheld(post.uri, verdict.withheld);
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

interface Told extends Pick<Tombstone, 'reason'> {
  readonly sentence: string;
}

/** The author of a private post is not named, not even by its address. */
function shapeWithheld(uri: RecordAddress, withheld: Withheld): Tombstone {
  const told = withheldPosts[withheld];
  return toTombstone(told.reason === 'private' ? null : uri, told);
}

function toTombstone(uri: RecordAddress | null, { reason, sentence }: Told): Tombstone {
  return {
    type: 'tombstone',
    id: uri?.rkey ?? null,
    url: uri === null ? null : blueskyPostUrl(uri.did, uri.rkey),
    text: sentence,
    reason,
    author: null,
    context: null,
    platform: 'bluesky',
  };
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
  return nameLeftOut(
    status,
    findLeftOut({
      facets: [record.facets],
      media: embeds.map(({ pictures }) => pictures),
      tags: [record.tags],
      labels: [post.labels, author.labels, record.labels?.values],
    }),
  );
}

/** Returns what a post answers; nothing of an account that is for those who are signed in. */
function shapeTarget(post: PostPayload, { nowMs, parentAuthor }: Shaping): Status['replying_to'] {
  const uri = post.record.reply?.parent.uri ?? null;
  if (uri === null) return null;
  const author = uri.did === post.author.did ? post.author : parentAuthor;
  if (author?.did !== uri.did) return toTarget(uri, null);
  if (judgeAccount(author, nowMs) === 'signed-in') return noTarget;
  return toTarget(uri, nameOf(author));
}

const noTarget = { screen_name: null, status: null, url: null };

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
