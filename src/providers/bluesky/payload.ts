import { z } from 'zod';
import { blueskyFacet } from '../../platforms/bluesky-facets.ts';
import {
  address,
  count,
  eachOf,
  lenient,
  term,
  text,
  token,
  wholeOf,
  words,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { readTimeMs } from '../../platforms/times.ts';
import { did, postUri, recordUri } from './address.ts';

// The views that the AppView sends (lexicons `app.bsky.actor.defs`, `app.bsky.feed.defs`). Strict only
// about what a row cannot be shown without.

const label = z.object({
  val: token,
  uri: address,
  neg: lenient(z.boolean()),
  exp: term,
});

/** Labels of a post, an account or another record. */
export const labels = wholeOf(label, maximums.labels);

/** A label that a moderation service, or the account itself, has put on something. */
export type LabelPayload = z.output<typeof label>;

/** An account, as it stands in a post, a list or a profile. */
export const actorPayload = z.object({
  did,
  handle: token,
  displayName: words,
  description: words,
  avatar: address,
  banner: address,
  website: address,
  followersCount: count,
  followsCount: count,
  postsCount: count,
  createdAt: term,
  labels,
  verification: lenient(z.object({ verifiedStatus: term, trustedVerifierStatus: term })),
});

/** An account. */
export type ActorPayload = z.output<typeof actorPayload>;

/** Labels that an author has put on the post; `null` for a value of another form. */
const selfLabels = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'object' && !Array.isArray(value) ? value : null))
  .pipe(z.object({ values: wholeOf(z.object({ val: token }), maximums.labels) }).nullable());

const record = z.object({
  text,
  createdAt: term,
  facets: eachOf(blueskyFacet, maximums.facets),
  langs: eachOf(token.min(1), maximums.languages),
  tags: eachOf(token.min(1), maximums.tags),
  reply: lenient(z.object({ parent: z.object({ uri: recordUri }) })),
  labels: selfLabels,
});

const counts = {
  replyCount: count,
  repostCount: count,
  likeCount: count,
  quoteCount: count,
  bookmarkCount: count,
};

const shared = {
  uri: postUri,
  author: actorPayload,
  indexedAt: term,
  labels,
  ...counts,
};

const postView = z
  .object({ ...shared, record, embed: z.unknown().optional() })
  .transform(({ embed, ...row }) => ({ ...row, embeds: [embed] as readonly unknown[] }))
  .transform(withTimes);

const quotedView = z
  .object({ ...shared, value: record, embeds: eachOf(z.unknown(), maximums.languages) })
  .transform(({ value, ...row }) => ({ ...row, record: value }))
  .transform(withTimes);

/** Clients write any time into a post, so the earlier of the two is when it was (Bluesky, section 4). */
function withTimes<
  Row extends { readonly record: { readonly createdAt: string | null }; indexedAt: string | null },
>(row: Row, context: z.RefinementCtx): Row & PostTimes {
  const writtenMs = toMs(row.record.createdAt);
  const indexedMs = toMs(row.indexedAt);
  const known = [writtenMs, indexedMs].filter((ms) => ms !== null);
  if (known.length > 0) return { ...row, createdMs: Math.min(...known), writtenMs };
  context.addIssue({ code: 'custom', message: 'There is no readable time.' });
  return z.NEVER;
}

interface PostTimes {
  /** When the post was made, as far as can be believed. */
  readonly createdMs: number;
  /** When its author's client says that it was made; null where that is unreadable. */
  readonly writtenMs: number | null;
}

function toMs(text: string | null): number | null {
  return text === null ? null : readTimeMs(text);
}

/** A post that was sent whole, by itself or as a quote. */
export type PostPayload = z.output<typeof postView>;

const missing = z
  .object({
    uri: recordUri,
    notFound: lenient(z.literal(true)),
    blocked: lenient(z.literal(true)),
    detached: lenient(z.literal(true)),
  })
  .transform(({ uri, notFound, blocked, detached }, context): MissingPayload => {
    if (notFound) return { uri, is: 'notFound' };
    if (blocked) return { uri, is: 'blocked' };
    if (detached) return { uri, is: 'detached' };
    context.addIssue({ code: 'custom', message: 'Nothing is missing.' });
    return z.NEVER;
  });

/** What stands for a post that the AppView does not send. */
export interface MissingPayload {
  readonly uri: z.output<typeof recordUri>;
  readonly is: 'notFound' | 'blocked' | 'detached';
}

const repostReason = 'app.bsky.feed.defs#reasonRepost';

const reason = z.object({ $type: term, by: lenient(actorPayload), indexedAt: term });

const feedRow = z
  .object({
    post: postView,
    reply: lenient(z.object({ parent: z.unknown() })),
    reason: reason.nullable().default(null),
  })
  .transform(({ reason: why, ...row }, context) => {
    if (why === null) return { ...row, repost: null, isPin: false };
    // A pinned post stands on top whatever its time, and so may what comes for other reasons.
    if (why.$type !== repostReason) return { ...row, repost: null, isPin: true };
    if (why.by !== null)
      return { ...row, repost: { by: why.by, ms: toMs(why.indexedAt) }, isPin: false };
    context.addIssue({ code: 'custom', message: 'Nobody says who passed this on.' });
    return z.NEVER;
  });

/** A row of a timeline: a post, or a repost of one. */
export type FeedRow = z.output<typeof feedRow>;

const threadNode = z.object({
  post: postView,
  parent: z.unknown().optional(),
  replies: eachOf(z.unknown(), maximums.rows),
});

/** A post in a thread, with what hangs above and below it as it came. */
export type ThreadNode = z.output<typeof threadNode>;

/** Reads what a schema describes; null for anything else. */
function reader<S extends z.ZodType>(schema: S): (value: unknown) => z.output<S> | null {
  return (value) => {
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : null;
  };
}

/** Reads an account; null when it breaks the contract. */
export const parseActor = reader(actorPayload);

/** Reads a post; null when it breaks the contract. */
export const parsePost = reader(postView);

/** Reads a post that is quoted; null when it is none, or breaks the contract. */
export const parseQuoted = reader(quotedView);

/**
 * Reads what stands for a post that is not sent; null for anything else. The keys decide, because
 * some servers leave `$type` out or give another one (Bluesky, section 4).
 */
export const parseMissing = reader(missing);

/** Reads a row of a timeline; null when it breaks the contract. */
export const parseFeedRow = reader(feedRow);

/** Reads a post in a thread; null for what is none, and when it breaks the contract. */
export const parseThreadNode = reader(threadNode);
