import { mapInSlices } from '../../core/scheduling/slices.ts';
import type { Status } from '../../model/post.ts';
import type { TimelineQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, parseRows, uniqueBy } from '../rows.ts';
import { admitAccount, explainAbsence, shapeAccount } from './accounts.ts';
import { maxLimit, nextCursor, type Reading, Refusal, writeLimit } from './client.ts';
import { judgePost, tellWithheld } from './labels.ts';
import { type FeedRow, parseFeedRow, parsePost } from './payload.ts';
import { shapePost } from './shape.ts';

/**
 * Creates the read of a page of a timeline. One with `untilSeconds` is entered by a made-up cursor, to
 * skip what is newer, unless Bluesky does not take that.
 */
export function askTimeline(reading: Reading): Ask<'timeline'> {
  return async (query, context) => {
    const page = await readPage(reading, query, context);
    const { rows, cursor } = page;
    // Every row is by the account, or passed on by it, so any row tells whose timeline this is.
    const [first] = rows;
    const owner = first?.repost?.by ?? first?.post.author;
    if (owner !== undefined) admitAccount(reading, query.account.handle, owner);
    else if (query.cursor === null && cursor === null) {
      await explainAbsence(reading, query.account.handle, context);
    }
    const nowMs = reading.clock.now();
    const picked = pickRows(rows, query);
    const shaped = await mapInSlices(picked, (row) => shapeRow(row, nowMs), context);
    const shown = shaped.filter((row) => row !== null);
    const verdicts = picked.map(({ post }) => judgePost(post, nowMs).withheld);
    return {
      items: shown.filter(({ media }) => query.onlyMedia !== true || media.all.length > 0),
      cursor,
      rows: countSent(page),
      warnings: tellWithheld(verdicts, page, 'post'),
    };
  };
}

/** A repost is sorted by when it was made, and tells only when it was seen, which is a little later. */
const indexingMs = 3_600_000;

async function readPage(reading: Reading, query: TimelineQuery, context: ProviderContext) {
  const { cursor, untilSeconds } = query;
  if (cursor !== null || untilSeconds === null || untilSeconds * 1000 >= reading.clock.now()) {
    return readFeed(reading, query, context);
  }
  // Cursors of a timeline are the time of its last row, and the next page is what is before it.
  const jump = { ...query, cursor: new Date(untilSeconds * 1000).toISOString() };
  const page = await readFeed(reading, jump, context).catch((error: unknown) => {
    if (error instanceof Refusal) return null;
    throw error;
  });
  const untilMs = untilSeconds * 1000 + indexingMs;
  const isUnderstood = page?.rows.every((row) => sortedMs(row) < untilMs);
  return page && page.rows.length > 0 && isUnderstood ? page : readFeed(reading, query, context);
}

async function readFeed(reading: Reading, query: TimelineQuery, context: ProviderContext) {
  const { account, count, cursor, withReposts } = query;
  const parameters = {
    actor: reading.known.actorFor(account.handle),
    // Of what is left out here as many rows are asked for as there can be.
    limit: withReposts ? writeLimit(count) : maxLimit,
    filter: filterOf(query),
    cursor,
  };
  try {
    const body = await reading.query('app.bsky.feed.getAuthorFeed', parameters, context);
    const found = await parseRows(body.feed, parseFeedRow, context);
    if (found === null) throw createMalformed();
    return { ...found, cursor: nextCursor(body.cursor, cursor) };
  } catch (error) {
    const isMissing = error instanceof ProviderError && error.kind === 'missing';
    if (isMissing) await explainAbsence(reading, account.handle, context);
    throw error;
  }
}

function filterOf({ withReplies, onlyMedia = false }: TimelineQuery): string {
  if (onlyMedia) return 'posts_with_media';
  return withReplies ? 'posts_with_replies' : 'posts_and_author_threads';
}

function sortedMs({ post, repost }: FeedRow): number {
  return repost?.ms ?? post.createdMs;
}

/** Each post once: an account may pass on what it wrote. */
function pickRows(rows: readonly FeedRow[], query: TimelineQuery): readonly FeedRow[] {
  const { untilSeconds, withReplies, withReposts } = query;
  const wanted = rows.filter((row) => {
    if (row.isPin || (row.repost !== null && !withReposts)) return false;
    if (untilSeconds !== null && sortedMs(row) >= untilSeconds * 1000) return false;
    const { author, record } = row.post;
    const answeredDid = record.reply?.parent.uri.did ?? author.did;
    return withReplies || row.repost !== null || answeredDid === author.did;
  });
  return uniqueBy(wanted, ({ post }) => post.uri.uri);
}

/** A tombstone has no place in a list. */
function shapeRow(row: FeedRow, nowMs: number): Status | null {
  const parentAuthor = parsePost(row.reply?.parent)?.author ?? null;
  const post = shapePost(row.post, { nowMs, parentAuthor });
  if (post.type === 'tombstone') return null;
  return { ...post, reposted_by: row.repost && shapeAccount(row.repost.by) };
}
