import * as z from 'zod';
import { isPostId } from '../../model/reference.ts';
import {
  count,
  lenient,
  line,
  listOf,
  parserOf,
  refuse,
  text,
  textOrNull,
  token,
  tokenOrNull,
  url,
  urlOrNull,
} from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { webUrlOrNull } from '../text.ts';
import { readTimeMs, withCreatedMs } from '../times.ts';

// Few members are required, because other software implements the API incompletely.

const anyId = z.string().regex(/^[\w-]{1,128}$/); // any id: an opaque part of a path

const postId = token.refine((id) => isPostId('mastodon', id));

const acct = z
  .string()
  .regex(/^[\p{L}\p{M}\p{N}_.~+%-]{1,128}(?:@[\p{L}\p{M}\p{N}.-]{1,253}(?::\d{1,5})?)?$/u);

const flag = lenient(z.boolean());

const accountPayload = z.object({
  id: anyId,
  username: token.min(1),
  acct,
  display_name: textOrNull,
  note: textOrNull,
  url: urlOrNull,
  avatar: urlOrNull,
  header: urlOrNull,
  bot: flag,
  memorial: flag,
  suspended: flag,
  limited: flag,
  hide_collections: flag,
  created_at: tokenOrNull,
  followers_count: count,
  following_count: count,
  statuses_count: count,
  fields: listOf(z.object({ name: line, value: line, verified_at: tokenOrNull }), maximums.fields),
  moved: lenient(z.object({ acct })),
});
export type AccountPayload = z.output<typeof accountPayload>;

export const parseAccount = parserOf(accountPayload);
const mediaMeta = z.object({ width: count, height: count, duration: count, bitrate: count });

const mediaPayload = z
  .object({
    type: token,
    url: urlOrNull,
    preview_url: urlOrNull,
    remote_url: urlOrNull,
    description: textOrNull,
    meta: lenient(z.object({ original: lenient(mediaMeta) })),
    // Only Pleroma and its relatives, or Pixelfed, send the media type of a file.
    pleroma: lenient(z.object({ mime_type: tokenOrNull })),
    mime: tokenOrNull,
  })
  .transform(({ remote_url, pleroma, mime, ...item }, context) => {
    const url = webUrlOrNull(item.url) ?? webUrlOrNull(remote_url);
    const mime_type = pleroma?.mime_type ?? mime;
    return url === null ? refuse(context, 'The file has no URL.') : { ...item, url, mime_type };
  });

const pollPayload = z.object({
  expires_at: tokenOrNull,
  multiple: flag,
  votes_count: count,
  voters_count: count,
  options: listOf(z.object({ title: text, votes_count: count }), maximums.choices),
});

export type PollPayload = z.output<typeof pollPayload>;

const mention = z.object({ id: anyId, username: token, acct, url: urlOrNull });
export type MentionPayload = z.output<typeof mention>;

const cardAuthor = z.object({
  name: textOrNull,
  url: urlOrNull,
  account: lenient(z.object({ display_name: textOrNull, url: urlOrNull })),
});

const cardPayload = z.object({
  url,
  title: text.catch(''),
  description: textOrNull,
  image: urlOrNull,
  image_description: textOrNull,
  provider_name: textOrNull,
  author_name: textOrNull,
  author_url: urlOrNull,
  authors: listOf(cardAuthor, maximums.fields),
});

const quotePayload = z.object({
  state: tokenOrNull,
  quoted_status: z.unknown().optional(),
  quoted_status_id: lenient(postId),
  quote_url: urlOrNull,
});
export type QuotePayload = z.output<typeof quotePayload>;

const reactionList = listOf(
  z.object({ name: token.min(1), count: z.number().int().min(0), url: urlOrNull }),
  maximums.reactions,
);

const reactions = z.transform((value: unknown) =>
  reactionList.parse(isObject(value) ? toRows(value) : value),
);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function toRows(counts: Readonly<Record<string, unknown>>): readonly unknown[] {
  const entries = Object.entries(counts).slice(0, maximums.reactions + 1);
  return entries.map(([name, each]) => ({ name, count: each }));
}

/**
 * Members that Pleroma and Akkoma add to posts:
 * https://docs.pleroma.social/backend/development/API/differences_in_mastoapi_responses/
 */
const pleromaPayload = z.object({
  quote: z.unknown().optional(),
  quote_id: lenient(postId),
  quote_url: urlOrNull,
  quote_visible: flag,
  quotes_count: count,
  emoji_reactions: reactions,
});

/** Post. A boost (repost) can contain a malformed post; `parseStatus` rejects it. */
export const statusPayload = z
  .object({
    id: postId,
    uri: urlOrNull,
    url: urlOrNull,
    created_at: tokenOrNull,
    edited_at: tokenOrNull,
    content: text.catch(''),
    spoiler_text: textOrNull,
    sensitive: flag,
    visibility: tokenOrNull,
    language: tokenOrNull,
    in_reply_to_id: lenient(postId),
    in_reply_to_account_id: lenient(anyId),
    reblog: z.unknown().optional(),
    account: accountPayload,
    media_attachments: listOf(mediaPayload, maximums.media),
    mentions: listOf(mention, maximums.facets),
    tags: listOf(z.object({ name: token.min(1) }), maximums.tags),
    card: lenient(cardPayload),
    poll: lenient(pollPayload),
    quote: z.unknown().optional(),
    quoted_status: z.unknown().optional(),
    quote_id: lenient(postId),
    quote_url: urlOrNull,
    application: lenient(z.object({ name: textOrNull })),
    replies_count: count,
    reblogs_count: count,
    favourites_count: count,
    quotes_count: count,
    emoji_reactions: reactions,
    reactions,
    pleroma: lenient(pleromaPayload),
  })
  .transform((row, context) => {
    const quotes_count = row.quotes_count ?? row.pleroma?.quotes_count ?? null;
    return withCreatedMs({ ...row, quotes_count }, readCreatedMs(row), context);
  });

/** Unix milliseconds between which the ids of Mastodon encode the time of a post. */
const idTimes = { first: Date.UTC(2017, 0), last: Date.UTC(2100, 0) } as const;

function readCreatedMs({ created_at: at, id }: { created_at: string | null; id: string }) {
  const writtenMs = at === null ? null : readTimeMs(at);
  if (writtenMs !== null || !/^\d{15,19}$/.test(id)) return writtenMs;
  const idMs = Number(BigInt(id) >> 16n); // https://github.com/mastodon/mastodon/blob/main/lib/mastodon/snowflake.rb
  return idMs >= idTimes.first && idMs < idTimes.last ? idMs : null;
}

export type StatusPayload = z.output<typeof statusPayload>;

const readStatus = parserOf(statusPayload);

/** Returns `null` for a malformed post or a boost of one. */
export function parseStatus(row: unknown): StatusPayload | null {
  const status = readStatus(row);
  const isBoost = typeof status?.reblog === 'object' && status.reblog !== null;
  return isBoost && readStatus(status.reblog) === null ? null : status;
}

export const boostedIn = ({ reblog }: StatusPayload): StatusPayload | null =>
  reblog === undefined || reblog === null ? null : parseStatus(reblog);

const readQuote = parserOf(quotePayload);

/** Parses the quote in a post, in the formats of Mastodon and its forks. */
export function parseQuote(row: StatusPayload): QuotePayload | null {
  const quote = readQuote(row.quote);
  if (quote !== null && quote.state !== null) return quote;
  const whole = [row.quote, row.quoted_status].find((each) => parseStatus(each) !== null);
  if (whole === undefined) return parseNamedQuote(row) ?? quote;
  return { state: 'accepted', quoted_status: whole, quoted_status_id: null, quote_url: null };
}

function parseNamedQuote({ pleroma, ...row }: StatusPayload): QuotePayload | null {
  const { quote = null, quote_visible } = pleroma ?? {};
  const id = pleroma?.quote_id ?? row.quote_id;
  const quote_url = pleroma?.quote_url ?? row.quote_url;
  if (quote === null && id === null && quote_url === null) return null;
  const state = quote_visible === false ? 'unauthorized' : 'accepted';
  return { state, quoted_status: quote, quoted_status_id: id, quote_url };
}
