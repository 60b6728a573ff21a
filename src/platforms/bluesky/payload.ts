import { z } from 'zod';
import {
  count,
  fullListOf,
  lenient,
  listOf,
  parserOf,
  refuse,
  text,
  textOrNull,
  token,
  tokenOrNull,
  urlOrNull,
} from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { readTimeMs, withCreatedMs } from '../times.ts';
import { did, postUri, type RecordAddress, readTidMs, recordUri } from './addresses.ts';
import { blueskyEntity, blueskyFacet } from './facets.ts';

// Responses of the AppView, Bluesky's API server (lexicons `app.bsky.actor.defs`,
// `app.bsky.feed.defs`). Members are required only if a post or account cannot be shown without
// them.

const label = z.object({ val: token, uri: urlOrNull, neg: lenient(z.boolean()), exp: tokenOrNull });
export const labels = fullListOf(label, maximums.labels);
export type LabelPayload = z.output<typeof label>;

export const actorPayload = z.object({
  did,
  handle: token,
  displayName: textOrNull,
  description: textOrNull,
  avatar: urlOrNull,
  banner: urlOrNull,
  website: urlOrNull,
  followersCount: count,
  followsCount: count,
  postsCount: count,
  createdAt: tokenOrNull,
  labels,
  verification: lenient(
    z.object({ verifiedStatus: tokenOrNull, trustedVerifierStatus: tokenOrNull }),
  ),
});
export type ActorPayload = z.output<typeof actorPayload>;

/** Labels that an author has set on a post. A value that is not an object becomes `null`. */
const selfLabels = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'object' && !Array.isArray(value) ? value : null))
  .pipe(z.object({ values: fullListOf(z.object({ val: token }), maximums.labels) }).nullable());

const record = z.object({
  text,
  createdAt: tokenOrNull,
  facets: listOf(blueskyFacet, maximums.facets),
  entities: listOf(blueskyEntity, maximums.facets),
  langs: listOf(token.min(1), maximums.languages),
  tags: listOf(token.min(1), maximums.tags),
  reply: lenient(z.object({ parent: z.object({ uri: recordUri }) })),
  labels: selfLabels,
  embed: z.unknown().optional(),
});

const shared = {
  uri: postUri,
  author: actorPayload,
  indexedAt: tokenOrNull,
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
  .object({ ...shared, value: record, embeds: listOf(z.unknown(), maximums.languages) })
  .transform(({ value, ...row }) => ({ ...row, record: value }))
  .transform(withTimes);

interface Dated {
  readonly uri: RecordAddress;
  readonly record: { readonly createdAt: string | null };
  readonly indexedAt: string | null;
}

function withTimes<Row extends Dated>(row: Row, context: z.RefinementCtx) {
  const indexedMs = toMs(row.indexedAt);
  const latestMs = indexedMs ?? Number.POSITIVE_INFINITY;
  const writtenMs = toMs(row.record.createdAt) ?? readTidMs(row.uri.rkey, latestMs);
  const known = [writtenMs, indexedMs].filter((ms) => ms !== null);
  const createdMs = known.length === 0 ? null : Math.min(...known);
  return withCreatedMs({ ...row, writtenMs, indexedMs }, createdMs, context);
}

const toMs = (text: string | null): number | null => (text === null ? null : readTimeMs(text));

export type PostPayload = z.output<typeof postView>;

const isTrue = lenient(z.literal(true));

const missing = z
  .object({ uri: recordUri, notFound: isTrue, blocked: isTrue, detached: isTrue })
  .transform(({ uri, ...flags }, context) => {
    const is = (['notFound', 'blocked', 'detached'] as const).find((name) => flags[name]);
    return is === undefined ? refuse(context, 'This is not a placeholder.') : { uri, is };
  });

export type MissingPayload = z.output<typeof missing>;

const repostReason = 'app.bsky.feed.defs#reasonRepost';
const reason = z.object({ $type: tokenOrNull, by: lenient(actorPayload), indexedAt: tokenOrNull });

const feedRow = z
  .object({
    post: postView,
    reply: lenient(z.object({ parent: z.unknown() })),
    reason: reason.nullable().default(null),
  })
  .transform(({ reason: why, ...row }, context) => {
    if (why === null) return { ...row, repost: null, isPin: false };
    // A pinned post is at the top regardless of its time. Entries with an unknown reason are
    // treated as pinned.
    if (why.$type !== repostReason) return { ...row, repost: null, isPin: true };
    if (why.by === null) return refuse(context, 'The account that reposted this is missing.');
    return { ...row, repost: { by: why.by, ms: toMs(why.indexedAt) }, isPin: false };
  });
export type FeedRow = z.output<typeof feedRow>;

const threadNode = z.object({
  post: postView,
  parent: z.unknown().optional(),
  replies: listOf(z.unknown(), maximums.rows),
});
export type ThreadNode = z.output<typeof threadNode>;

// These parsers return `null` for malformed values.
export const parseActor = parserOf(actorPayload);
export const parsePost = parserOf(postView);
export const parseQuoted = parserOf(quotedView);
/** Ignores `$type`, because some servers omit it or send another value. */
export const parseMissing = parserOf(missing);
export const parseFeedRow = parserOf(feedRow);
export const parseThreadNode = parserOf(threadNode);
