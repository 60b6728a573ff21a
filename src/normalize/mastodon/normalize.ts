import type { Account } from '../../model/account.ts';
import { type Media, toMediaSet } from '../../model/media.ts';
import type { Card, Poll, Post, Reaction, Status, Tombstone } from '../../model/post.ts';
import { findLeftOut, nameLeftOut, omitNull, toPercentage } from '../fields.ts';
import { toMedia } from '../files.ts';
import { toLanguage } from '../language.ts';
import { isCut } from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { isWebUrl, webUrlOrNull } from '../text.ts';
import { toCreated, toIsoTime } from '../times.ts';
import { toTombstone, toUnavailability, type UnavailableReason } from '../unavailable.ts';
import {
  copiedFrom,
  copyUrl,
  createNaming,
  type Home,
  identifyStatus,
  type PostIdentity,
  shapeAccount,
  toHandle,
} from './identity.ts';
import { findTagsBeside, readPostText } from './text.ts';
import {
  type AccountPayload,
  boostedIn,
  type PollPayload,
  parseQuote,
  parseStatus,
  type QuotePayload,
  type StatusPayload,
} from './wire.ts';

type MediaPayload = StatusPayload['media_attachments'][number];
type CardPayload = NonNullable<StatusPayload['card']>;

export interface Surroundings {
  readonly home: Home;
  /** Identity of each post in the response, by the post's id on the responding server. */
  readonly known: ReadonlyMap<string, PostIdentity>;
  /** Caches the converted author, because many posts of a timeline have the same one. */
  shapeAuthor(row: AccountPayload): Account;
}

/** Creates the identities of the posts in a response, and a cache of converted authors. */
export function createSurroundings(rows: readonly StatusPayload[], home: Home): Surroundings {
  const shaped = new Map<string, Account>();
  return {
    home,
    known: new Map(rows.map((row) => [row.id, identifyStatus(row, home)])),
    shapeAuthor: (row) => {
      const author = shaped.get(row.id) ?? shapeAccount(row, home);
      shaped.set(row.id, author);
      return author;
    },
  };
}

/** Converts a post, or the boosted post. Returns a `Tombstone` if it or the boost is not public. */
export function shapePost(row: StatusPayload, around: Surroundings): Post {
  const boosted = boostedIn(row);
  if (boosted === null) return shapeWithin(row, around, maximums.quotes);
  const reason = hiddenReason(row);
  if (reason !== null) return toHidden(reason);
  const post = shapeWithin(boosted, around, maximums.quotes);
  if (post.type === 'tombstone') return post;
  return { ...post, reposted_by: around.shapeAuthor(row.account) };
}

/** Returns the reason to hide a post; `null` if it is public. */
export function hiddenReason({ visibility, account }: StatusPayload): UnavailableReason | null {
  if (visibility !== 'public' && visibility !== 'unlisted') return 'protected';
  return account.suspended === true ? 'suspended' : null;
}

function shapeWithin(row: StatusPayload, around: Surroundings, quotesLeft: number): Post {
  const reason = hiddenReason(row);
  return reason === null ? shapeStatus(row, around, quotesLeft) : toHidden(reason);
}

const toHidden = (
  reason: UnavailableReason,
  url: string | null = null,
  detail?: string,
): Tombstone => toTombstone(toUnavailability(reason, detail), { url, platform: 'mastodon' });

function shapeStatus(row: StatusPayload, around: Surroundings, quotesLeft: number): Status {
  const { home } = around;
  const { id, url } = identifyStatus(row, home);
  const quoted = parseQuote(row);
  const quote = quotesLeft > 0 ? shapeQuote(quoted, around, quotesLeft - 1) : null;
  const isQuoteLost = quotesLeft === 0 && quoted !== null;
  const media = toMediaSet(row.media_attachments.map(shapeItem));
  const text = readPostText(row.content, {
    nameMention: createNaming(row.mentions, home),
    showsQuote: quote?.type === 'status',
  });
  const status: Status = {
    type: 'status',
    id,
    url,
    ...omitNull({ copied_from: copiedFrom(row.account.acct, home, row.id) }),
    ...text,
    ...omitNull({
      tags: findTagsBeside(
        row.tags.map(({ name }) => name),
        text,
      ),
    }),
    ...toCreated(row.createdMs),
    ...omitNull({ edited_at: toIsoTime(row.edited_at) }),
    author: around.shapeAuthor(row.account),
    lang: toLanguage(row.language),
    replies: row.replies_count,
    reposts: row.reblogs_count,
    likes: row.favourites_count,
    quotes: row.quotes_count,
    bookmarks: null,
    views: null,
    ...omitNull({ reactions: shapeReactions(row) }),
    source: row.application?.name ?? null,
    possibly_sensitive: row.sensitive === true && media.all.length > 0,
    content_warning: row.spoiler_text?.trim() || null,
    replying_to: replyingTo(row, around),
    quote,
    reposted_by: null,
    media,
    poll: row.poll && shapePoll(row.poll),
    article: null,
    // The link preview of a quoted post contains the post's text, so a hidden quote has no preview.
    card: quote?.type === 'tombstone' ? null : shapeCard(row.card),
    community_note: null,
    context: null,
    platform: 'mastodon',
  };
  return nameLeftOut(status, [...leftOutOf(row), ...(isQuoteLost ? ['quote'] : [])]);
}

function leftOutOf(row: StatusPayload): readonly string[] {
  const { content, media_attachments, mentions, poll, tags } = row;
  const lists = { media: [media_attachments], mentions: [mentions], poll: [poll?.options] };
  const names = { tags: [tags], reactions: [reactionsOf(row)] };
  return [...(isCut(content) ? ['text'] : []), ...findLeftOut({ ...lists, ...names })];
}

function replyingTo(row: StatusPayload, around: Surroundings): Status['replying_to'] {
  const { in_reply_to_id: id, in_reply_to_account_id: accountId, account, mentions } = row;
  if (id === null && accountId === null) return null;
  const parent = id === null ? undefined : around.known.get(id);
  if (parent) return { screen_name: parent.handle, status: parent.id, url: parent.url };
  const { home } = around;
  const target =
    accountId === account.id ? account : mentions.find((mention) => mention.id === accountId);
  const acct = target?.acct ?? null;
  const screen_name = acct === null ? null : toHandle(acct, home);
  if (id === null) return { screen_name, status: null, url: null };
  const status = acct?.includes('@') === false ? id : null;
  const unknown = `https://${home.host}/web/statuses/${id}`;
  return { screen_name, status, url: acct === null ? unknown : copyUrl(acct, id, home) };
}

const blocked = ['rejected', 'revoked', 'blocked_account', 'blocked_domain', 'muted_account'];

function toQuoteReason(state: string | null): UnavailableReason {
  if (state === 'deleted' || state === 'pending') return state;
  if (state === 'unauthorized') return 'protected';
  return blocked.includes(state ?? '') ? 'blocked' : 'unknown';
}

const unreadQuote = 'This post quotes another post, which could not be read.';

function shapeQuote(quote: QuotePayload | null, around: Surroundings, quotesLeft: number) {
  if (quote === null) return null;
  const { state, quoted_status, quoted_status_id: id, quote_url } = quote;
  if (state !== 'accepted') return toHidden(toQuoteReason(state));
  const row = parseStatus(quoted_status);
  if (row !== null) return shapeWithin(row, around, quotesLeft);
  const copy = id === null ? null : `https://${around.home.host}/web/statuses/${id}`;
  const url = webUrlOrNull(quote_url) ?? copy;
  return url === null ? toHidden('unknown') : toHidden('unknown', url, unreadQuote);
}

function reactionsOf({ pleroma, emoji_reactions, reactions }: StatusPayload) {
  const lists = [pleroma?.emoji_reactions ?? [], emoji_reactions, reactions];
  return lists.find((list) => list.length > 0) ?? [];
}

function shapeReactions(row: StatusPayload): readonly Reaction[] | null {
  const counted = reactionsOf(row).filter(({ count }) => count > 0);
  if (counted.length === 0) return null;
  return counted
    .map(({ name, count, url }) => ({ name, count, ...(url !== null && isWebUrl(url) && { url }) }))
    .sort((a, b) => b.count - a.count);
}

const types = { image: 'photo', video: 'video', gifv: 'gif', audio: 'audio' } as const;
const typesByName: ReadonlyMap<string, Media['type']> = new Map(Object.entries(types));

function shapeItem(item: MediaPayload): Media {
  const { url } = item;
  const { original } = item.meta ?? {};
  const { width = null, height = null, duration = null, bitrate = null } = original ?? {};
  const known = toMedia({ url, contentType: item.mime_type, alt: item.description, width, height });
  const type = typesByName.get(item.type) ?? known.type;
  if (type === 'file') return known;
  const base = { type, url, width, height, alt: item.description };
  if (type === 'photo') return base;
  const preview = webUrlOrNull(item.preview_url);
  return {
    ...base,
    thumbnail_url: preview === url ? null : preview,
    duration: type === 'gif' ? null : duration,
    variants: bitrate === null ? [] : [{ url, content_type: null, bitrate }],
  };
}

/** Converts a poll. Percentages are of all votes, or of known voters in multiple-choice polls. */
export function shapePoll({ expires_at, multiple, ...poll }: PollPayload): Poll {
  const { votes_count: votes, voters_count: voters, options } = poll;
  const base = multiple === true ? (voters ?? votes) : votes;
  return {
    choices: options.map(({ title: label, votes_count: count }) => {
      return { label, count, percentage: toPercentage(count, base) };
    }),
    total_votes: votes,
    ...omitNull({ total_voters: voters }),
    ends_at: toIsoTime(expires_at),
  };
}

function shapeCard(card: CardPayload | null): Card | null {
  if (card === null || !isWebUrl(card.url)) return null;
  const { url, title, description, image, image_description: image_alt, provider_name } = card;
  return {
    url,
    title,
    description,
    image_url: webUrlOrNull(image),
    ...omitNull({ image_alt, provider_name, ...authorOf(card) }),
  };
}

function authorOf({ author_name, author_url, authors }: CardPayload) {
  const [first] = authors;
  return {
    author_name: author_name ?? first?.name ?? first?.account?.display_name,
    author_url: webUrlOrNull(author_url ?? first?.url ?? first?.account?.url ?? null),
  };
}
