import * as z from 'zod';
import { hashtagUrl } from '../../model/addresses/urls.ts';
import type { Facet } from '../../model/post.ts';
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
  url,
  urlOrNull,
} from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { nestRuns } from '../runs.ts';
import { codePointOffsets, isWebUrl } from '../text.ts';
import { readTimeMs, withCreatedMs } from '../times.ts';
import {
  blueskyProfileUrl,
  did,
  postUri,
  type RecordAddress,
  readTidMs,
  recordUri,
} from './addresses.ts';

const feature = z.object({ $type: token, uri: urlOrNull, did: lenient(did), tag: tokenOrNull });

/** Facet with offsets in UTF-8 bytes: https://atproto.com/lexicons/app-bsky-richtext */
const blueskyFacet = z.object({
  index: z.object({ byteStart: z.number().int(), byteEnd: z.number().int() }),
  features: listOf(feature, maximums.languages),
});

export type BlueskyFacet = z.output<typeof blueskyFacet>;

/** Converts to code point offsets. Omits facets that begin or end within a character. */
export function shapeFacets(text: string, facets: readonly BlueskyFacet[]): readonly Facet[] {
  if (facets.length === 0) return [];
  const { points, length } = pointsOfBytes(text);
  const found = facets.flatMap(({ index, features }): readonly Facet[] => {
    const start = points[index.byteStart] ?? -1;
    const end = points[index.byteEnd] ?? -1;
    const [target] = features.flatMap(toTarget);
    return target === undefined || start < 0 || end < 0 ? [] : [{ ...target, start, end }];
  });
  return nestRuns(found, length);
}

/** Link or mention before 2023, in UTF-16 units: https://atproto.com/lexicons/app-bsky-feed */
const blueskyEntity = z.object({
  index: z.object({ start: z.number().int().min(0), end: z.number().int() }),
  type: token,
  value: url,
});

/** Converts the entities of an old post to facets with code point offsets. */
export function shapeEntities(
  text: string,
  entities: readonly z.output<typeof blueskyEntity>[],
): readonly Facet[] {
  if (entities.length === 0) return [];
  const offsetOf = codePointOffsets(text);
  const found = entities.flatMap(({ index, type, value }): readonly Facet[] => {
    const [target] = toTarget({
      $type: `app.bsky.richtext.facet#${type}`,
      uri: value,
      did: did.safeParse(value).data ?? null,
      tag: null,
    });
    if (target === undefined || index.end > text.length) return [];
    return [{ ...target, start: offsetOf(index.start), end: offsetOf(index.end) }];
  });
  return nestRuns(found, offsetOf(text.length));
}

function pointsOfBytes(text: string) {
  const points = new Int32Array(Buffer.byteLength(text) + 1).fill(-1);
  let byte = 0;
  let length = 0;
  for (const point of text) {
    points[byte] = length;
    byte += Buffer.byteLength(point);
    length += 1;
  }
  points[byte] = length;
  return { points, length };
}

type Target = Required<Pick<Facet, 'type' | 'url'>>;

function toTarget({
  $type,
  uri,
  did: account,
  tag,
}: BlueskyFacet['features'][number]): readonly Target[] {
  switch ($type) {
    case 'app.bsky.richtext.facet#link':
      return uri !== null && isWebUrl(uri) ? [{ type: 'link', url: uri }] : [];
    case 'app.bsky.richtext.facet#mention':
      return account === null ? [] : [{ type: 'mention', url: blueskyProfileUrl(account) }];
    case 'app.bsky.richtext.facet#tag':
      return toTagTarget(tag);
    default:
      return [];
  }
}

function toTagTarget(tag: string | null): readonly Target[] {
  const name = tag?.replace(/^[#＃]/u, '') ?? '';
  if (name === '' || /\p{Surrogate}/u.test(name)) return [];
  return [{ type: 'hashtag', url: hashtagUrl('bluesky', name, { baseUrl: '' }) }];
}

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
