import { z } from 'zod';
import { blueskyFacet } from '../../platforms/bluesky-facets.ts';
import {
  address,
  count,
  eachOf,
  lenient,
  readerOf,
  term,
  text,
  token,
  wholeOf,
  words,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { readTimeMs, withCreatedMs } from '../../platforms/times.ts';
import { did, postUri, recordUri } from './address.ts';

// The views that the AppView sends (lexicons `app.bsky.actor.defs`, `app.bsky.feed.defs`). Strict only
// about what a row cannot be shown without.

const label = z.object({
  val: token,
  uri: address,
  neg: lenient(z.boolean()),
  exp: term,
});

export const labels = wholeOf(label, maximums.labels);
export type LabelPayload = z.output<typeof label>;

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

const shared = {
  uri: postUri,
  author: actorPayload,
  indexedAt: term,
  labels,
  replyCount: count,
  repostCount: count,
  likeCount: count,
  quoteCount: count,
  bookmarkCount: count,
};

const postView = z
  .object({ ...shared, record, embed: z.unknown().optional() })
  .transform(({ embed, ...row }) => ({ ...row, embeds: [embed] as readonly unknown[] }))
  .transform(withTimes);

const quotedView = z
  .object({ ...shared, value: record, embeds: eachOf(z.unknown(), maximums.languages) })
  .transform(({ value, ...row }) => ({ ...row, record: value }))
  .transform(withTimes);

function withTimes<
  Row extends { readonly record: { readonly createdAt: string | null }; indexedAt: string | null },
>(row: Row, context: z.RefinementCtx) {
  const writtenMs = toMs(row.record.createdAt);
  const known = [writtenMs, toMs(row.indexedAt)].filter((ms) => ms !== null);
  const createdMs = known.length === 0 ? null : Math.min(...known);
  return withCreatedMs({ ...row, writtenMs }, createdMs, context);
}

function toMs(text: string | null): number | null {
  return text === null ? null : readTimeMs(text);
}

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
export type FeedRow = z.output<typeof feedRow>;

const threadNode = z.object({
  post: postView,
  parent: z.unknown().optional(),
  replies: eachOf(z.unknown(), maximums.rows),
});
export type ThreadNode = z.output<typeof threadNode>;

// Rows that break the contract are `null`.
export const parseActor = readerOf(actorPayload);
export const parsePost = readerOf(postView);
export const parseQuoted = readerOf(quotedView);
/** Reads a placeholder. The keys decide, because some servers leave `$type` out or send another one. */
export const parseMissing = readerOf(missing);
export const parseFeedRow = readerOf(feedRow);
export const parseThreadNode = readerOf(threadNode);
