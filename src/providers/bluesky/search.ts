import type { Clock } from '../../core/clock.ts';
import { mapWithPauses } from '../../core/scheduling/map-with-pauses.ts';
import type { SearchQuery } from '../../model/queries.ts';
import { assessPost } from '../../platforms/bluesky/labels.ts';
import { type PostPayload, parsePost } from '../../platforms/bluesky/payload.ts';
import { shapePost } from '../../platforms/bluesky/shape.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, isHit, parseRows, uniqueBy } from '../rows.ts';
import type { Body } from '../upstream.ts';
import { Banned, type BlueskyQuery, maxLimit, nextCursor, Refusal, writeLimit } from './client.ts';
import { describeHidden } from './labels.ts';

/**
 * Creates the function that searches posts, host by host until one answers. Without a login,
 * Bluesky sends one page per search: the next page of latest posts is a search for earlier posts,
 * and top posts have no next page.
 */
export function askSearch(hosts: readonly BlueskyQuery[], clock: Clock): Ask<'search'> {
  return async (query, context) => {
    const beforeMs = upperBoundOf(query);
    const body = await searchHosts(hosts, toParameters(query, beforeMs), context);
    const found = await parseRows(body.posts, parsePost);
    if (found === null) throw createMalformed();
    const isEnd = nextCursor(body.cursor, null) === null;
    const nowMs = clock.now();
    const rows = uniqueBy(found.rows, ({ uri }) => uri.uri);
    const shape = (row: PostPayload) => shapePost(row, { nowMs, parentAuthor: null });
    const posts = await mapWithPauses(rows, shape);
    const reasons = found.rows.map((row) => assessPost(row, nowMs).restriction);
    return {
      items: posts.filter((post) => post.type === 'status').filter((post) => isHit(post, query)),
      cursor: isEnd || query.feed === 'top' ? null : toNextCursor(found.rows, beforeMs),
      rows: countSent(found),
      warnings: [...feedWarnings(query.feed, isEnd), ...describeHidden(reasons, found, 'post')],
    };
  };
}

function upperBoundOf({ cursor, untilSeconds }: SearchQuery): number | null {
  if (cursor === null) return untilSeconds === null ? null : untilSeconds * 1000;
  const ms = Number(cursor);
  if (!/^\d{1,15}$/.test(cursor) || Number.isNaN(new Date(ms).getTime())) throw createMalformed();
  return ms;
}

function toNextCursor(rows: readonly PostPayload[], beforeMs: number | null): string | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  const lastMs = last.writtenMs ?? last.createdMs;
  const candidates = [lastMs + 1, lastMs, last.createdMs];
  const next = candidates.find((ms) => beforeMs === null || ms < beforeMs);
  return next === undefined ? null : String(next);
}

function toParameters(query: SearchQuery, beforeMs: number | null) {
  const { text, feed, count, sinceSeconds } = query;
  const isFiltered = feed === 'photos' || feed === 'videos';
  return {
    q: text,
    sort: feed === 'top' ? 'top' : 'latest',
    limit: isFiltered ? maxLimit : writeLimit(count),
    since: sinceSeconds === null ? null : new Date(sinceSeconds * 1000).toISOString(),
    until: beforeMs === null ? null : new Date(beforeMs).toISOString(),
  };
}

const forbidden = 'Bluesky does not allow searches from this server at the moment.';

async function searchHosts(
  hosts: readonly BlueskyQuery[],
  parameters: ReturnType<typeof toParameters>,
  context: ProviderContext,
): Promise<Body> {
  const failures: unknown[] = [];
  for (const host of hosts) {
    try {
      return await host('app.bsky.feed.searchPosts', parameters, context);
    } catch (error) {
      if (error instanceof Refusal) throw toRejected(error);
      if (!isWorthNextHost(error)) throw error;
      failures.push(error);
    }
  }
  const cause = failures.find((error) => error instanceof Banned);
  if (cause !== undefined) throw new ProviderError('unavailable', forbidden, { cause });
  throw failures[0];
}

function isWorthNextHost(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return error instanceof Banned || error.kind === 'unavailable' || error.kind === 'malformed';
}

function toRejected(refusal: Refusal): ProviderError {
  if (/\b(?:since|until|limit|sort)\b/.test(refusal.rawMessage)) return refusal;
  return new ProviderError('rejected', 'Bluesky refuses this search text.', { cause: refusal });
}

function feedWarnings(feed: SearchQuery['feed'], isEnd: boolean): readonly string[] {
  if (feed === 'top') return isEnd ? [] : [onePage];
  if (feed === 'latest') return [];
  return [`Bluesky has no search for ${feed}; these are the latest posts that have ${feed}.`];
}

const onePage = 'Bluesky sends only one page of top posts without a login.';
