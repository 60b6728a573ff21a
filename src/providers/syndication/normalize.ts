import type { Account } from '../../model/account.ts';
import type { Article } from '../../model/article.ts';
import { type Media, toMediaSet } from '../../model/media.ts';
import type { Card, Poll, Status } from '../../model/post.ts';
import { findLeftOut, nameLeftOut, omitNull, toPercentage } from '../../normalize/fields.ts';
import { toLanguage } from '../../normalize/language.ts';
import { scanFacets } from '../../normalize/tags.ts';
import { decodeWithOffsets, isWebUrl } from '../../normalize/text.ts';
import type { RichText } from '../../normalize/text-writer.ts';
import { toCreated, toIsoTime } from '../../normalize/times.ts';
import {
  enlargeAvatar,
  shapeXMedia,
  toReplyingTo,
  toXAccount,
  xPostUrl,
} from '../../normalize/x.ts';
import { annotate, annotationsOf } from '../../normalize/x-text.ts';
import { type PostPayload, parsePost } from './wire.ts';

type UserPayload = PostPayload['user'];
type MediaPayload = PostPayload['mediaDetails'][number];
type CardPayload = NonNullable<PostPayload['card']>;

/** Converts a post and its quoted post from the format of X's embed endpoint. */
export function shapePost(row: PostPayload): Status {
  const quote = parsePost(row.quoted_tweet);
  return { ...shapeAlone(row, quote), quote: quote && shapeAlone(quote, null) };
}

function shapeAlone(row: PostPayload, quote: PostPayload | null): Status {
  const status: Status = {
    type: 'status',
    id: row.id_str,
    url: xPostUrl(row.user.screen_name, row.id_str),
    ...cleanText(row, quote?.id_str ?? null),
    ...toCreated(row.createdMs),
    author: shapeAccount(row.user),
    lang: pseudoLanguage.test(row.lang ?? '') ? null : toLanguage(row.lang),
    // Not `conversation_count`, which also counts the replies to replies.
    replies: row.reply_count,
    reposts: row.retweet_count,
    likes: row.favorite_count,
    quotes: null,
    bookmarks: null,
    views: null,
    source: null,
    possibly_sensitive: row.possibly_sensitive ?? false,
    replying_to: toReplyingTo(row.in_reply_to_screen_name, row.in_reply_to_status_id_str),
    quote: null,
    reposted_by: null,
    media: toMediaSet(row.mediaDetails.map(shapeItem)),
    poll: shapePoll(row.card),
    article: row.article && shapeArticle(row.article),
    content_warning: null,
    card: shapeCard(row),
    community_note: null,
    context: null,
    platform: 'x',
  };
  return nameLeftOut(status, leftOutOf(row));
}

function leftOutOf({ entities, mediaDetails }: PostPayload): readonly string[] {
  const { urls, hashtags, symbols, user_mentions } = entities ?? {};
  return findLeftOut({
    facets: [urls, hashtags, symbols, user_mentions],
    media: [mediaDetails, ...mediaDetails.map(({ video_info }) => video_info?.variants)],
  });
}

const pseudoLanguage = /^(?:und|zxx|q[a-z]{2})$/;

function shapeAccount(user: UserPayload): Account {
  return toXAccount({
    id: user.id_str,
    screen_name: user.screen_name,
    name: user.name,
    avatar_url: enlargeAvatar(user.profile_image_url_https),
    verification: shapeVerification(user),
  });
}

function shapeVerification({ verified, verified_type, is_blue_verified }: UserPayload) {
  const named = { Business: 'organization', Government: 'government' };
  const [, known] = Object.entries(named).find(([name]) => name === verified_type) ?? [];
  const type = known ?? (is_blue_verified === true ? 'individual' : null);
  return { verified: type !== null || verified === true, type };
}

function shapeArticle(article: NonNullable<PostPayload['article']>): Article {
  const { rest_id: id, title, preview_text, cover_media } = article;
  const cover_url = cover_media?.media_info.original_img_url ?? null;
  return { id, title, preview_text, cover_url, created_at: null, modified_at: null, blocks: [] };
}

function shapeCard({ card, entities }: PostPayload): Card | null {
  if (card === null || isPoll(card)) return null;
  const { title, description, domain, vanity_url } = card.binding_values;
  const target = targetOf(card, entities?.urls ?? []);
  if (target === null || (title ?? description) === null) return null;
  const image = pictureOf(card);
  return {
    url: target,
    title: title ?? '',
    description,
    image_url: image?.url ?? null,
    ...omitNull({ image_alt: image?.alt, provider_name: vanity_url ?? domain }),
  };
}

type Links = NonNullable<PostPayload['entities']>['urls'];

function targetOf({ binding_values, url }: CardPayload, links: Links): string | null {
  const short = binding_values.card_url ?? url;
  const target = links.find((link) => link.url === short)?.expanded_url ?? short;
  return target !== null && isWebUrl(target) ? target : null;
}

function pictureOf({ binding_values: values }: CardPayload) {
  return (
    values.photo_image_full_size_large ??
    values.summary_photo_image_large ??
    values.player_image_large ??
    values.thumbnail_image_large ??
    values.thumbnail_image
  );
}

function shapeItem({
  type,
  media_url_https: url,
  ext_alt_text: alt,
  ...item
}: MediaPayload): Media {
  const { width = null, height = null } = item.original_info ?? {};
  const known = item.video_info ?? { duration_millis: null, variants: [] };
  return shapeXMedia({ type, url, width, height, alt, video: type === 'photo' ? null : known });
}

const isPoll = ({ name }: CardPayload): boolean => /^poll\d/.test(name ?? '');

function shapePoll(card: CardPayload | null): Poll | null {
  if (card === null || !isPoll(card)) return null;
  const { binding_values: values } = card;
  const choices = ([1, 2, 3, 4] as const).flatMap((number) => {
    const label = values[`choice${number}_label`];
    return label === null ? [] : [{ label, count: readCount(values[`choice${number}_count`]) }];
  });
  const counts = choices.map(({ count }) => count).filter((count) => count !== null);
  const total = counts.length < choices.length ? null : counts.reduce((sum, n) => sum + n, 0);
  return {
    choices: choices.map((choice) => ({
      ...choice,
      percentage: toPercentage(choice.count, total),
    })),
    total_votes: total,
    ends_at: toIsoTime(values.end_datetime_utc),
  };
}

const readCount = (text: string | null): number | null =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

const postLink = /^https?:\/\/(?:\w+\.)?(?:x|twitter)\.com\/\w+\/status\/(\d+)/i;

const none = { urls: [], user_mentions: [], hashtags: [], symbols: [], media: [] };

/** Returns the text for display: expands links, decodes entities, removes media and quote links. */
export function cleanText(
  { text: encoded, entities, mediaDetails }: PostPayload,
  quotedId: string | null,
): RichText {
  const { urls, media, ...tags } = entities ?? none;
  const attached = mediaDetails.flatMap(({ url, indices }) => (indices ? [{ url, indices }] : []));
  const isQuoted = ({ expanded_url }: (typeof urls)[number]) =>
    quotedId !== null && postLink.exec(expanded_url)?.[1] === quotedId;
  const annotations = annotationsOf({
    ...tags,
    urls: urls.filter((link) => !isQuoted(link)),
    media: [...media, ...attached, ...urls.filter(isQuoted)],
  });
  const annotated = annotate(decodeWithOffsets(encoded), annotations);
  const { text } = annotated;
  return entities === null ? { text, facets: scanFacets(text) } : annotated;
}
