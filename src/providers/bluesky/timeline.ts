import { mapWithPauses } from '../../core/scheduling/map-with-pauses.ts';
import type { Status } from '../../model/post.ts';
import type { TimelineQuery } from '../../model/queries.ts';
import { shapeAccount } from '../../platforms/bluesky/account.ts';
import { assessPost } from '../../platforms/bluesky/labels.ts';
import { type FeedRow, parseFeedRow, parsePost } from '../../platforms/bluesky/payload.ts';
import { shapePost } from '../../platforms/bluesky/shape.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, parseRows, uniqueBy } from '../rows.ts';
import { acceptAccount, explainAbsence } from './accounts.ts';
import { type BlueskyClient, maxLimit, nextCursor, Refusal, writeLimit } from './client.ts';
import { describeHidden } from './labels.ts';

/** Creates the timeline reader. If Bluesky refuses `untilSeconds`, it reads the newest posts. */
export function askTimeline(client: BlueskyClient): Ask<'timeline'> {
  return async (query, context) => {
    const page = await readPage(client, query, context);
    const { rows, cursor } = page;
    // Every entry is a post or a repost by the account, so any entry identifies the account.
    const [first] = rows;
    const owner = first?.repost?.by ?? first?.post.author;
    if (owner !== undefined) acceptAccount(client, query.account.handle, owner);
    else if (query.cursor === null && cursor === null) {
      await explainAbsence(client, query.account.handle, context);
    }
    const nowMs = client.clock.now();
    const picked = pickRows(rows, query);
    const shaped = await mapWithPauses(picked, (row) => shapeRow(row, nowMs));
    const shown = shaped.filter((row) => row !== null);
    const reasons = picked.map(({ post }) => assessPost(post, nowMs).restriction);
    return {
      items: shown.filter(({ media }) => query.onlyMedia !== true || media.all.length > 0),
      cursor,
      rows: countSent(page),
      warnings: describeHidden(reasons, page, 'post'),
    };
  };
}

const indexingMs = 3_600_000;

async function readPage(client: BlueskyClient, query: TimelineQuery, context: ProviderContext) {
  const { cursor, untilSeconds } = query;
  if (cursor !== null || untilSeconds === null || untilSeconds * 1000 >= client.clock.now()) {
    return readFeed(client, query, context);
  }
  // The cursor of a timeline is the time of the last post on the page.
  const jump = { ...query, cursor: new Date(untilSeconds * 1000).toISOString() };
  const page = await readFeed(client, jump, context).catch((error: unknown) => {
    if (error instanceof Refusal) return null;
    throw error;
  });
  const untilMs = untilSeconds * 1000 + indexingMs;
  const isJumpAccepted = page?.rows.every((row) => sortedMs(row) < untilMs);
  return page && page.rows.length > 0 && isJumpAccepted ? page : readFeed(client, query, context);
}

async function readFeed(client: BlueskyClient, query: TimelineQuery, context: ProviderContext) {
  const { account, count, cursor, withReposts } = query;
  const parameters = {
    actor: client.known.actorFor(account.handle),
    // Requests the maximum if reposts are removed afterwards.
    limit: withReposts ? writeLimit(count) : maxLimit,
    filter: filterOf(query),
    cursor,
  };
  try {
    const body = await client.query('app.bsky.feed.getAuthorFeed', parameters, context);
    const found = await parseRows(body.feed, parseFeedRow);
    if (found === null) throw createMalformed();
    return { ...found, cursor: nextCursor(body.cursor, cursor) };
  } catch (error) {
    const isMissing = error instanceof ProviderError && error.kind === 'missing';
    if (isMissing) await explainAbsence(client, account.handle, context);
    throw error;
  }
}

function filterOf({ withReplies, onlyMedia = false }: TimelineQuery): string {
  if (onlyMedia) return 'posts_with_media';
  return withReplies ? 'posts_with_replies' : 'posts_and_author_threads';
}

const sortedMs = ({ post, repost }: FeedRow): number => repost?.ms ?? post.createdMs;

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

function shapeRow(row: FeedRow, nowMs: number): Status | null {
  const parentAuthor = parsePost(row.reply?.parent)?.author ?? null;
  const post = shapePost(row.post, { nowMs, parentAuthor });
  if (post.type === 'tombstone') return null;
  return { ...post, reposted_by: row.repost && shapeAccount(row.repost.by) };
}
