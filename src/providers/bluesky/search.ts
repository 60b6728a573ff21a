import { mapInSlices } from '../../core/scheduling/slices.ts';
import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Page, SearchQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, parseRows } from '../rows.ts';
import { Barred, type BlueskyClient, type Body, Refusal } from './client.ts';
import { toAccounts } from './connections.ts';
import { judgePost } from './labels.ts';
import { tellPostsLeftOut } from './left-out.ts';
import { type PostPayload, parsePost } from './payload.ts';
import { nextCursor, type Reading, uniqueBy, wholeLimit, writeLimit } from './reading.ts';
import { shapePost } from './shape.ts';

/** What searches are made with. */
export interface SearchOptions {
  readonly reading: Reading;
  /** The hosts that can search, in the order in which they are asked. At least one. */
  readonly hosts: readonly BlueskyClient[];
}

/**
 * Makes the search of posts. Bluesky gives those who are not signed in no second page, so the latest
 * posts are walked by time; the top posts are one page.
 */
export function askSearch({ reading, hosts }: SearchOptions): Ask<'search'> {
  return async (query, context) => {
    const beforeMs = startOf(query);
    const parameters = toParameters(query, beforeMs);
    const body = await searchHosts(hosts, parameters, context);
    const found = await parseRows(body.posts, parsePost, context);
    if (found === null) throw createMalformed();
    const { rows, unreadable, beyond } = found;
    const isEnd = nextCursor(body.cursor, null) === null;
    const nowMs = reading.clock.now();
    const shape = (row: PostPayload) => ({
      row,
      post: shapePost(row, { nowMs, parentAuthor: null }),
    });
    const posts = await mapInSlices(rows, shape, context);
    return {
      items: pickPosts(posts, query),
      cursor: isEnd || query.feed === 'top' ? null : writePlace(rows, beforeMs),
      rows: countSent(found),
      warnings: [
        ...feedWarnings(query.feed, isEnd),
        ...tellPostsLeftOut({ ...countWithheld(rows, nowMs), unreadable, beyond }),
      ],
    };
  };
}

/** Where a page begins, in milliseconds since the epoch: posts before that; null for the newest. */
function startOf({ cursor, untilSeconds }: SearchQuery): number | null {
  if (cursor === null) return untilSeconds === null ? null : untilSeconds * 1000;
  const ms = Number(cursor);
  if (!/^\d{1,15}$/.test(cursor) || Number.isNaN(new Date(ms).getTime())) throw createMalformed();
  return ms;
}

/**
 * Gives where the next page begins: just after the last hit, because others may be of the same
 * moment; whoever walks leaves out what is repeated. Where that leads nowhere, it is at the last hit,
 * and a page that moves nothing on is the last.
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
    limit: isFiltered ? wholeLimit : writeLimit(count),
    since: sinceSeconds === null ? null : new Date(sinceSeconds * 1000).toISOString(),
    until: beforeMs === null ? null : new Date(beforeMs).toISOString(),
  };
}

const barred = 'Bluesky does not let this server search at the moment.';

/** Asks one host after the other; a throttle and a refused text are the answer of all of them. */
async function searchHosts(
  hosts: readonly BlueskyClient[],
  parameters: ReturnType<typeof toParameters>,
  context: ProviderContext,
): Promise<Body> {
  const failures: unknown[] = [];
  for (const host of hosts) {
    try {
      return await host.query('app.bsky.feed.searchPosts', parameters, context);
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

/** The parameters beside the text are ours: where one of them is refused, that is no fault of the text. */
function toRejected(refusal: Refusal): ProviderError {
  if (/\b(?:since|until|limit|sort)\b/.test(refusal.saying)) return refusal;
  return new ProviderError('rejected', 'Bluesky refuses this search text.', { cause: refusal });
}

function pickPosts(posts: readonly Shaped[], query: SearchQuery): readonly Status[] {
  const wanted = posts.filter((each): each is Found => isWanted(each.post, query));
  return uniqueBy(wanted, ({ row }) => row.uri.uri).map(({ post }) => post);
}

interface Shaped {
  readonly row: PostPayload;
  readonly post: Post;
}

interface Found extends Shaped {
  readonly post: Status;
}

/** A tombstone has no place in a list. */
function isWanted(post: Post, { feed, sinceSeconds, untilSeconds }: SearchQuery): boolean {
  if (post.type === 'tombstone') return false;
  if (sinceSeconds !== null && post.created_timestamp < sinceSeconds) return false;
  if (untilSeconds !== null && post.created_timestamp >= untilSeconds) return false;
  return (feed !== 'photos' && feed !== 'videos') || post.media[feed].length > 0;
}

function countWithheld(rows: readonly PostPayload[], nowMs: number) {
  const verdicts = rows.map((row) => judgePost(row, nowMs).withheld).filter((one) => one !== null);
  const privates = verdicts.filter((withheld) => withheld === 'signed-in').length;
  return { private: privates, moderated: verdicts.length - privates };
}

function feedWarnings(feed: SearchQuery['feed'], isEnd: boolean): readonly string[] {
  switch (feed) {
    case 'latest':
      return [];
    case 'top':
      return isEnd ? [] : [onePage];
    case 'photos':
    case 'videos':
      return [`Bluesky has no search for ${feed}; these are the posts with ${feed} of the latest.`];
  }
}

const onePage = 'Bluesky gives only one page of top posts to those who are not signed in.';

/** Makes the search of accounts. */
export function askSearchUsers({ client, clock }: Reading): Ask<'searchUsers'> {
  return async ({ text, count, cursor }, context): Promise<Page<Account>> => {
    const parameters = { q: text, limit: writeLimit(count), cursor };
    const body = await client.query('app.bsky.actor.searchActors', parameters, context);
    const found = await toAccounts(body.actors, clock.now(), context);
    return { ...found, cursor: nextCursor(body.cursor, cursor) };
  };
}
