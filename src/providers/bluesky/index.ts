import type { Clock } from '../../lib/clock.ts';
import { mapWithPauses } from '../../lib/scheduling/map.ts';
import type { Status } from '../../model/post.ts';
import type { SearchQuery, TimelineQuery } from '../../model/queries.ts';
import { assessPost, shapeAccount } from '../../normalize/bluesky/account.ts';
import { shapePost } from '../../normalize/bluesky/normalize.ts';
import {
  type FeedRow,
  type PostPayload,
  parseFeedRow,
  parsePost,
} from '../../normalize/bluesky/wire.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { createLiveProvider } from '../bounds.ts';
import { createMalformed } from '../failure.ts';
import type { Fetch, Provider, ProviderContext } from '../provider.ts';
import { countSent, isHit, parseRows, uniqueBy } from '../rows.ts';
import { type Body, createUpstream, type UpstreamOptions } from '../upstream.ts';
import {
  acceptAccount,
  describeHidden,
  explainAbsence,
  fetchConnections,
  fetchProfile,
  fetchSearchUsers,
} from './accounts.ts';
import {
  Banned,
  type BlueskyClient,
  type BlueskyQuery,
  createKnownAccounts,
  createQuery,
  maxLimit,
  nextCursor,
  Refusal,
  writeLimit,
} from './client.ts';
import { fetchPost, fetchReplies } from './post.ts';

interface BlueskyOptions extends UpstreamOptions {
  readonly clock: Clock;
  readonly searchUrl?: string;
}

/** Maximum requests per minute. Bluesky allows 3,000 in five minutes from one client address. */
export const blueskyPerMinute = 600;

/** Creates the provider that reads Bluesky through a public AppView, without a login. */
export function createBluesky({ http, apiUrl, searchUrl, clock }: BlueskyOptions): Provider {
  const queryOf = (url: string) => createQuery(createUpstream({ http, apiUrl: url }), clock);
  const client = { query: queryOf(apiUrl), known: createKnownAccounts(clock), clock };
  const connections = fetchConnections(client);
  const hosts = [...new Set([searchUrl ?? apiUrl, apiUrl])].map(queryOf);
  return createLiveProvider('bluesky', 'bluesky', {
    post: fetchPost(client),
    replies: fetchReplies(client),
    profile: fetchProfile(client),
    timeline: fetchTimeline(client),
    followers: connections,
    following: connections,
    search: fetchSearch(hosts, clock),
    searchUsers: fetchSearchUsers(client),
  });
}

function fetchSearch(hosts: readonly BlueskyQuery[], clock: Clock): Fetch<'search'> {
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

function fetchTimeline(client: BlueskyClient): Fetch<'timeline'> {
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
