import { z } from 'zod';
import { isPostId } from '../../model/reference.ts';
import { count, eachOf, lenient, words } from '../lenient.ts';
import { readTimeMs, withCreatedMs } from '../times.ts';

// What servers send (Mastodon, section 3). Strict only about what a post or an account cannot be shown
// without, because other software speaks the same API with gaps.

/** The id of anything: opaque, and part of a path. */
const anyId = z.string().regex(/^[\w-]{1,128}$/);

const postId = z.string().refine((id) => isPostId('mastodon', id));

/**
 * `user` on the server that was asked, `user@domain` elsewhere. Other software allows more than Mastodon,
 * but no sign that could pass for the `@` or turn the text around it.
 */
const acct = z
  .string()
  .regex(/^[\p{L}\p{M}\p{N}_.~+%-]{1,128}(?:@[\p{L}\p{M}\p{N}.-]{1,253}(?::\d{1,5})?)?$/u);

const flag = lenient(z.boolean());

const accountFields = {
  id: anyId,
  username: z.string().min(1),
  acct,
  display_name: words,
  note: words,
  url: words,
  avatar: words,
  header: words,
  bot: flag,
  memorial: flag,
  suspended: flag,
  limited: flag,
  hide_collections: flag,
  created_at: words,
  followers_count: count,
  following_count: count,
  statuses_count: count,
  fields: eachOf(z.object({ name: z.string(), value: z.string(), verified_at: words })),
};

const accountPayload = z.object({
  ...accountFields,
  moved: lenient(z.object({ acct, url: words })),
});

/** An account. */
export type AccountPayload = z.output<typeof accountPayload>;

/** Reads an account; null when it breaks the contract. */
export function parseAccount(row: unknown): AccountPayload | null {
  const parsed = accountPayload.safeParse(row);
  return parsed.success ? parsed.data : null;
}

const mediaPayload = z.object({
  type: z.string(),
  url: words,
  preview_url: words,
  remote_url: words,
  description: words,
  meta: lenient(
    z.object({
      original: lenient(z.object({ width: count, height: count, duration: count, bitrate: count })),
    }),
  ),
});

/** One item of media. */
export type MediaPayload = z.output<typeof mediaPayload>;

const pollPayload = z.object({
  expires_at: words,
  multiple: flag,
  votes_count: count,
  voters_count: count,
  options: eachOf(z.object({ title: z.string(), votes_count: count })),
});

/** A poll. */
export type PollPayload = z.output<typeof pollPayload>;

const mentions = eachOf(z.object({ id: anyId, username: z.string(), acct, url: words }));

/** The mentions of a post, by which the names in its text become handles. */
export type MentionPayload = z.output<typeof mentions>[number];

const cardPayload = z.object({
  url: z.string(),
  title: z.string().catch(''),
  description: words,
  image: words,
});

/** The preview of a page. */
export type CardPayload = z.output<typeof cardPayload>;

const quotePayload = z.object({
  state: words,
  quoted_status: z.unknown().optional(),
  quoted_status_id: lenient(postId),
});

/** A quote, and whether the quoted author agrees to it. */
export type QuotePayload = z.output<typeof quotePayload>;

const statusPayload = z
  .object({
    id: postId,
    uri: words,
    url: words,
    created_at: z.string(),
    content: z.string().catch(''),
    spoiler_text: words,
    sensitive: flag,
    visibility: words,
    language: words,
    in_reply_to_id: lenient(postId),
    in_reply_to_account_id: lenient(anyId),
    reblog: z.unknown().optional(),
    account: accountPayload,
    media_attachments: eachOf(mediaPayload),
    mentions,
    card: lenient(cardPayload),
    poll: lenient(pollPayload),
    quote: z.unknown().optional(),
    quoted_status: z.unknown().optional(),
    application: lenient(z.object({ name: words })),
    replies_count: count,
    reblogs_count: count,
    favourites_count: count,
    quotes_count: count,
  })
  .transform((row, context) => withCreatedMs(row, readTimeMs(row.created_at), context));

/** A post; a boost where `reblog` is there. */
export type StatusPayload = z.output<typeof statusPayload>;

/**
 * Reads a post; null when it breaks the contract. So does a boost of what cannot be read: its own text
 * can be a copy of what it boosts (Mastodon, section 3), which is not by whoever boosts it.
 */
export function parseStatus(row: unknown): StatusPayload | null {
  const { data } = statusPayload.safeParse(row);
  if (data === undefined) return null;
  const isBoost = typeof data.reblog === 'object' && data.reblog !== null;
  return isBoost && !statusPayload.safeParse(data.reblog).success ? null : data;
}

/**
 * Reads what a post says that it quotes, in the shapes of Mastodon and of its forks; null for none.
 * Where a state is told it decides, whatever else was sent.
 */
export function parseQuote({ quote, quoted_status }: StatusPayload): QuotePayload | null {
  const { data: told = null } = quotePayload.safeParse(quote);
  if (told !== null && told.state !== null) return told;
  const forked = parseStatus(quote) === null ? quoted_status : quote;
  if (parseStatus(forked) === null) return told;
  return { state: 'accepted', quoted_status: forked, quoted_status_id: null };
}
