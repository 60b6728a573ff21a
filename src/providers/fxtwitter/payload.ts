import { z } from 'zod';
import { count, eachOf, lenient, words } from '../lenient.ts';
import { checkTimeMs, readTimeMs, withCreatedMs } from '../times.ts';
import { xHandle, xId } from '../x.ts';
import { articlePayload } from './article-payload.ts';

// The posts and accounts that the service sends (FxTwitter, section 4), and the v1 names beside them
// (section 8). Strict only about what a post cannot be shown without.

/** An account as it stands in a post, a list or a profile. Absent and null are both null. */
export const userPayload = z
  .object({
    id: xId,
    screen_name: xHandle,
    name: words,
    description: words,
    location: words,
    avatar_url: words,
    banner_url: words,
    website: lenient(z.object({ url: z.string().min(1), display_url: words })),
    followers: count,
    following: count,
    statuses: count,
    tweets: count,
    media_count: count,
    likes: count,
    joined: words,
    protected: lenient(z.boolean()),
    verification: lenient(z.object({ verified: z.boolean(), type: words })),
  })
  .transform(({ tweets, ...user }) => ({ ...user, statuses: user.statuses ?? tweets }));

/** An account. */
export type UserPayload = z.output<typeof userPayload>;

const rawText = z.object({
  text: z.string(),
  display_text_range: lenient(z.tuple([z.number().int().nonnegative(), z.number()])),
  facets: eachOf(
    z.object({
      type: z.string(),
      indices: z.tuple([z.number().int().nonnegative(), z.number().int()]),
      original: words,
      replacement: words,
    }),
  ),
});

/** The text as X has it, with its facets in code points. */
export type RawText = z.output<typeof rawText>;

/** One facet of the raw text. */
export type FacetPayload = RawText['facets'][number];

const mediaPayload = z.object({
  type: z.enum(['photo', 'video', 'gif']),
  url: z.string().min(1),
  width: count,
  height: count,
  altText: words,
  thumbnail_url: words,
  duration: count,
  formats: eachOf(z.object({ url: z.string().min(1), container: words, bitrate: count })),
  variants: eachOf(z.object({ url: z.string().min(1), content_type: words, bitrate: count })),
});

/** One item of media. */
export type MediaPayload = z.output<typeof mediaPayload>;

const externalPayload = z.object({
  url: z.string().min(1),
  thumbnail_url: words,
  width: count,
  height: count,
});

const mediaSetPayload = z.object({
  all: eachOf(mediaPayload),
  external: lenient(externalPayload),
});

/** The media of a post. */
export type MediaSetPayload = z.output<typeof mediaSetPayload>;

const pollPayload = z.object({
  choices: eachOf(z.object({ label: z.string(), count, percentage: count })),
  total_votes: count,
  ends_at: words,
});

const replyingTo = z.union([
  z.string().transform((screen_name) => ({ screen_name, status: null })),
  z.object({ screen_name: words, status: lenient(xId) }),
]);

const statusPayload = z
  .object({
    type: z.literal('status').default('status'),
    id: xId,
    text: z.string(),
    author: userPayload,
    created_at: words,
    created_timestamp: count,
    lang: words,
    replies: count,
    reposts: count,
    retweets: count,
    likes: count,
    quotes: count,
    bookmarks: count,
    views: count,
    source: words,
    possibly_sensitive: lenient(z.boolean()),
    replying_to: lenient(replyingTo),
    replying_to_status: lenient(xId),
    raw_text: lenient(rawText),
    media: lenient(mediaSetPayload),
    quote: z.unknown().optional(),
    poll: lenient(pollPayload),
    article: lenient(articlePayload),
    community_note: lenient(z.object({ text: z.string().min(1) })),
    reposted_by: lenient(userPayload),
  })
  .transform((row, context) => withCreatedMs(row, readCreatedMs(row), context));

function readCreatedMs(row: {
  readonly created_at: string | null;
  readonly created_timestamp: number | null;
}): number | null {
  const stamped =
    row.created_timestamp === null ? null : checkTimeMs(Math.trunc(row.created_timestamp) * 1000);
  return stamped ?? (row.created_at === null ? null : readTimeMs(row.created_at));
}

/** A post; `createdMs` is the readable one of its two times. */
export type StatusPayload = z.output<typeof statusPayload>;

const tombstonePayload = z.object({
  type: z.literal('tombstone'),
  id: lenient(xId),
  reason: z
    .enum(['deleted', 'suspended', 'private', 'blocked', 'unavailable'])
    .catch('unavailable'),
  author: lenient(userPayload),
});

/** What stands for a post that X does not show. */
export type TombstonePayload = z.output<typeof tombstonePayload>;

/** A row that stands for a post. */
export type PostPayload = StatusPayload | TombstonePayload;

/** Reads one row; null when it breaks the contract. */
export function parsePost(row: unknown): PostPayload | null {
  const tombstone = tombstonePayload.safeParse(row);
  if (tombstone.success) return tombstone.data;
  const status = statusPayload.safeParse(row);
  return status.success ? status.data : null;
}

/** Reads one account; null when it breaks the contract. */
export function parseUser(row: unknown): UserPayload | null {
  const user = userPayload.safeParse(row);
  return user.success ? user.data : null;
}
