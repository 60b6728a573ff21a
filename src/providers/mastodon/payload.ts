import { z } from 'zod';
import { isPostId } from '../../model/reference.ts';
import {
  address,
  count,
  eachOf,
  lenient,
  line,
  readerOf,
  refuse,
  term,
  text,
  token,
  url,
  words,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { webUrlOrNull } from '../../platforms/text.ts';
import { readTimeMs, withCreatedMs } from '../../platforms/times.ts';
import { type Body, isBody } from '../upstream.ts';

// Only members that a post or an account cannot be shown without are required, because other software implements
// the API incompletely.

const anyId = z.string().regex(/^[\w-]{1,128}$/); // any id: an opaque part of a path

const postId = token.refine((id) => isPostId('mastodon', id));

/**
 * Handle as servers write it: `user` for local accounts, `user@domain` for others. Allows more characters than Mastodon,
 * for other software, but none that looks like `@` or changes the direction of text.
 */
const acct = z
  .string()
  .regex(/^[\p{L}\p{M}\p{N}_.~+%-]{1,128}(?:@[\p{L}\p{M}\p{N}.-]{1,253}(?::\d{1,5})?)?$/u);

const flag = lenient(z.boolean());

const accountPayload = z.object({
  id: anyId,
  username: token.min(1),
  acct,
  display_name: words,
  note: words,
  url: address,
  avatar: address,
  header: address,
  bot: flag,
  memorial: flag,
  suspended: flag,
  limited: flag,
  hide_collections: flag,
  created_at: term,
  followers_count: count,
  following_count: count,
  statuses_count: count,
  fields: eachOf(z.object({ name: line, value: line, verified_at: term }), maximums.fields),
  moved: lenient(z.object({ acct })),
});
export type AccountPayload = z.output<typeof accountPayload>;

export const parseAccount = readerOf(accountPayload);

const mediaMeta = z.object({ width: count, height: count, duration: count, bitrate: count });

const mediaPayload = z
  .object({
    type: token,
    url: address,
    preview_url: address,
    remote_url: address,
    description: words,
    meta: lenient(z.object({ original: lenient(mediaMeta) })),
  })
  .transform(({ remote_url, ...item }, context) => {
    const url = webUrlOrNull(item.url) ?? webUrlOrNull(remote_url);
    return url === null ? refuse(context, 'The file has no URL.') : { ...item, url };
  });

const pollPayload = z.object({
  expires_at: term,
  multiple: flag,
  votes_count: count,
  voters_count: count,
  options: eachOf(z.object({ title: text, votes_count: count }), maximums.choices),
});

export type PollPayload = z.output<typeof pollPayload>;

const mention = z.object({ id: anyId, username: token, acct, url: address });
export type MentionPayload = z.output<typeof mention>;

const cardAuthor = z.object({
  name: words,
  url: address,
  account: lenient(z.object({ display_name: words, url: address })),
});

const cardPayload = z.object({
  url,
  title: text.catch(''),
  description: words,
  image: address,
  image_description: words,
  provider_name: words,
  author_name: words,
  author_url: address,
  authors: eachOf(cardAuthor, maximums.fields),
});

const quotePayload = z.object({
  state: term,
  quoted_status: z.unknown().optional(),
  quoted_status_id: lenient(postId),
});
export type QuotePayload = z.output<typeof quotePayload>;

const reactionList = eachOf(
  z.object({ name: token.min(1), count: z.number().int().min(0), url: address }),
  maximums.reactions,
);

/** Reactions: a list, or, from some software, an object with the count of each emoji. */
const reactions = z
  .unknown()
  .optional()
  .transform((value) => reactionList.parse(isBody(value) ? toRows(value) : value));

/** Converts the object to a list with one item more than the maximum, which shows later that the list was cut. */
function toRows(counts: Body): readonly unknown[] {
  const entries = Object.entries(counts).slice(0, maximums.reactions + 1);
  return entries.map(([name, each]) => ({ name, count: each }));
}

/**
 * Additions of Pleroma and Akkoma:
 * https://docs.pleroma.social/backend/development/API/differences_in_mastoapi_responses/
 */
const pleromaPayload = z.object({
  quote: z.unknown().optional(),
  quote_id: lenient(postId),
  quote_url: address,
  quote_visible: flag,
  quotes_count: count,
  emoji_reactions: reactions,
});

const statusPayload = z
  .object({
    id: postId,
    uri: address,
    url: address,
    created_at: token,
    edited_at: term,
    content: text.catch(''),
    spoiler_text: words,
    sensitive: flag,
    visibility: term,
    language: term,
    in_reply_to_id: lenient(postId),
    in_reply_to_account_id: lenient(anyId),
    reblog: z.unknown().optional(),
    account: accountPayload,
    media_attachments: eachOf(mediaPayload, maximums.media),
    mentions: eachOf(mention, maximums.facets),
    tags: eachOf(z.object({ name: token.min(1) }), maximums.tags),
    card: lenient(cardPayload),
    poll: lenient(pollPayload),
    quote: z.unknown().optional(),
    quoted_status: z.unknown().optional(),
    application: lenient(z.object({ name: words })),
    replies_count: count,
    reblogs_count: count,
    favourites_count: count,
    quotes_count: count,
    emoji_reactions: reactions,
    reactions,
    pleroma: lenient(pleromaPayload),
  })
  .transform((row) => ({
    ...row,
    quotes_count: row.quotes_count ?? row.pleroma?.quotes_count ?? null,
  }))
  .transform((row, context) => withCreatedMs(row, readTimeMs(row.created_at), context));
export type StatusPayload = z.output<typeof statusPayload>;

const readStatus = readerOf(statusPayload);

/** Parses a post. Returns `null` also for a boost of a malformed post, although the text of a boost can be a copy. */
export function parseStatus(row: unknown): StatusPayload | null {
  const status = readStatus(row);
  const isBoost = typeof status?.reblog === 'object' && status.reblog !== null;
  return isBoost && readStatus(status.reblog) === null ? null : status;
}

/** Returns the boosted post, or `null` if the post is not a boost. */
export function boostedIn({ reblog }: StatusPayload): StatusPayload | null {
  return reblog === undefined || reblog === null ? null : parseStatus(reblog);
}

const readQuote = readerOf(quotePayload);

/** Parses a quote in the forms of Mastodon and its forks, or returns `null`. A quote with a state takes precedence. */
export function parseQuote(row: StatusPayload): QuotePayload | null {
  const quote = readQuote(row.quote);
  if (quote !== null && quote.state !== null) return quote;
  const whole = [row.quote, row.quoted_status].find((each) => parseStatus(each) !== null);
  if (whole === undefined) return parsePleromaQuote(row.pleroma) ?? quote;
  return { state: 'accepted', quoted_status: whole, quoted_status_id: null };
}

/** Parses a quote of Pleroma, which sends `quote_visible: false` also for posts without a quote. */
function parsePleromaQuote(pleroma: StatusPayload['pleroma']): QuotePayload | null {
  const { quote = null, quote_id: id = null, quote_url = null, quote_visible } = pleroma ?? {};
  if (quote === null && id === null && quote_url === null) return null;
  const state = quote_visible === false ? 'unauthorized' : 'accepted';
  return { state, quoted_status: quote, quoted_status_id: id };
}
