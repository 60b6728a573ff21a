import type { Clock } from '../../core/clock.ts';
import { mapInSlices } from '../../core/scheduling/slices.ts';
import type { SearchQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, isHit, parseRows, uniqueBy } from '../rows.ts';
import type { Body } from '../upstream.ts';
import { Barred, type BlueskyQuery, maxLimit, nextCursor, Refusal, writeLimit } from './client.ts';
import { judgePost, tellWithheld } from './labels.ts';
import { type PostPayload, parsePost } from './payload.ts';
import { shapePost } from './shape.ts';

/**
 * Creates the search of posts, which asks `hosts` in order. Without a login there is no second page, so
 * the latest posts are walked by time; the top posts are one page.
 */
export function askSearch(hosts: readonly BlueskyQuery[], clock: Clock): Ask<'search'> {
  return async (query, context) => {
    const beforeMs = startOf(query);
    const body = await searchHosts(hosts, toParameters(query, beforeMs), context);
    const found = await parseRows(body.posts, parsePost, context);
    if (found === null) throw createMalformed();
    const isEnd = nextCursor(body.cursor, null) === null;
    const nowMs = clock.now();
    const rows = uniqueBy(found.rows, ({ uri }) => uri.uri);
    const shape = (row: PostPayload) => shapePost(row, { nowMs, parentAuthor: null });
    const posts = await mapInSlices(rows, shape, context);
    const verdicts = found.rows.map((row) => judgePost(row, nowMs).withheld);
    return {
      items: posts.filter((post) => post.type === 'status').filter((post) => isHit(post, query)),
      cursor: isEnd || query.feed === 'top' ? null : writePlace(found.rows, beforeMs),
      rows: countSent(found),
      warnings: [...feedWarnings(query.feed, isEnd), ...tellWithheld(verdicts, found, 'post')],
    };
  };
}

/** Returns the time before which the posts of a page are, in milliseconds since the epoch; `null` for the newest. */
function startOf({ cursor, untilSeconds }: SearchQuery): number | null {
  if (cursor === null) return untilSeconds === null ? null : untilSeconds * 1000;
  const ms = Number(cursor);
  if (!/^\d{1,15}$/.test(cursor) || Number.isNaN(new Date(ms).getTime())) throw createMalformed();
  return ms;
}

/**
 * Returns where the next page begins: just after the last hit, because others may be of the same moment,
 * or at it, if that is no progress. A page without progress is the last.
 */
function writePlace(rows: readonly PostPayload[], beforeMs: number | null): string | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  const lastMs = last.writtenMs ?? last.createdMs;
  const places = [lastMs + 1, lastMs, last.createdMs];
  const next = places.find((ms) => beforeMs === null || ms < beforeMs);
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

const barred = 'Bluesky does not let this server search at the moment.';

/** Asks one host after the other. A throttle or a refused text ends the search. */
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
      if (!isWorthAnother(error)) throw error;
      failures.push(error);
    }
  }
  const cause = failures.find((error) => error instanceof Barred);
  if (cause !== undefined) throw new ProviderError('unavailable', barred, { cause });
  throw failures[0];
}

function isWorthAnother(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return error instanceof Barred || error.kind === 'unavailable' || error.kind === 'malformed';
}

/** The other parameters are not the caller's: if one of them is refused, the text is not rejected. */
function toRejected(refusal: Refusal): ProviderError {
  if (/\b(?:since|until|limit|sort)\b/.test(refusal.saying)) return refusal;
  return new ProviderError('rejected', 'Bluesky refuses this search text.', { cause: refusal });
}

function feedWarnings(feed: SearchQuery['feed'], isEnd: boolean): readonly string[] {
  if (feed === 'top') return isEnd ? [] : [onePage];
  if (feed === 'latest') return [];
  return [`Bluesky has no search for ${feed}; these are the posts with ${feed} of the latest.`];
}

const onePage = 'Bluesky gives only one page of top posts to those who are not signed in.';
