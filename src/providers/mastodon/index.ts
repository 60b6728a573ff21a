import type { RequestContext } from '../../lib/http/http-client.ts';
import type { Query, SearchQuery } from '../../model/queries.ts';
import { defaultMastodonHost, parseHandle } from '../../model/reference.ts';
import type { Home } from '../../normalize/mastodon/identity.ts';
import { describeAccountState, shapeAccount } from '../../normalize/mastodon/identity.ts';
import { parseAccount, type StatusPayload } from '../../normalize/mastodon/wire.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { createLiveProvider } from '../bounds.ts';
import type { Fetch, Provider } from '../provider.ts';
import { countSent, describeUnread, isHit, parseRows, uniqueBy } from '../rows.ts';
import { isBody } from '../upstream.ts';
import { type Accounts, createAccounts, createHomes } from './accounts.ts';
import {
  dropLater,
  fetchConnections,
  fetchTimeline,
  type PageRows,
  readBefore,
  readPosts,
  shapeAccounts,
  shapeListed,
  toLimit,
  writeCursor,
} from './lists.ts';
import { fetchPost, fetchReplies } from './post.ts';
import {
  createServers,
  createUnavailable,
  createUnreadable,
  type FetchFrom,
  type FoundReply,
  type ServersOptions,
} from './servers.ts';

/** Options. `http` must connect only to public addresses, because API clients choose hosts. */
interface MastodonOptions extends ServersOptions {
  readonly searchHost?: string;
}

export function createMastodon(options: MastodonOptions): Provider {
  const { clock, searchHost: host = defaultMastodonHost } = options;
  const fetchFrom = createServers(options);
  const fetchFromHome = createHomes(fetchFrom, clock);
  const accounts = createAccounts(fetchFromHome, clock);
  const connections = fetchConnections(accounts);
  const live = createLiveProvider('mastodon', 'mastodon', {
    post: fetchPost({ fetchFrom, fetchFromHome }),
    replies: fetchReplies({ fetchFrom, fetchFromHome }),
    profile: async ({ account }, context) => {
      const { row, home } = await accounts.read(account.handle, context);
      return { account: shapeAccount(row, home), warnings: describeAccountState(row, home) };
    },
    timeline: fetchTimeline(accounts),
    followers: connections,
    following: connections,
    search: fetchSearch(fetchFrom, host),
    searchUsers: fetchSearchUsers({ fetchFrom, host, accounts }),
  });
  return {
    ...live,
    covers: (query) => live.covers(query) && (isWhole(query) ? 'last resort' : true),
  };
}

/** A server knows only the replies that reached it; ActivityPub reads those of all servers. */
const isWhole = (query: Query): boolean => query.kind === 'post' && query.thread === 'whole';

interface TagSearch {
  readonly all: readonly string[];
  readonly none: readonly string[];
}

function fetchSearch(fetchFrom: FetchFrom, host: string): Fetch<'search'> {
  const home: Home = { host, domain: host };
  return async (query, context) => {
    const tags = parseTags(query.text);
    const page = await readBefore(query, async (cursor) => {
      const reply = await fetchFrom(host, toPath(tags, { ...query, cursor }), context);
      return readPosts(expectFound(reply), toLimit(query.count));
    });
    const listed = await shapeListed(dropLater(page.rows, query.untilSeconds), home);
    return {
      items: listed.posts.filter((post) => isHit(post, query)),
      cursor: isBeforeSince(page, query) ? null : page.next,
      rows: countSent(page),
      warnings: [
        `Without a login, Mastodon has no search for words in posts. These are the posts with these hashtags on ${host}; other servers may have more.`,
        ...describeFeed(query),
        ...listed.warnings,
        ...describeUnread(page, 'post', 'server'),
      ],
    };
  };
}

const maxFurther = 4;

const tagForm = /^(-?)[#＃]([\p{L}\p{M}\p{N}_·・]{1,100})$/u;

const onlyTags =
  'Without a login, Mastodon has no search for words in posts, but lists posts by hashtag. Search for `#tag`, for `#one #two` (posts with both hashtags), or for `#one -#two` (posts without the second hashtag).';

function parseTags(text: string): TagSearch {
  const found = text
    .trim()
    .split(/\s+/)
    .map((word) => tagForm.exec(word));
  const named = (sign: string) =>
    found.flatMap((match) => (match?.[1] === sign && match[2] !== undefined ? [match[2]] : []));
  const [all, none] = [named(''), named('-')];
  if (found.includes(null) || all.length === 0) throw new ProviderError('rejected', onlyTags);
  if (all.length > maxFurther + 1 || none.length > maxFurther) {
    const message = `A search on Mastodon may contain at most ${maxFurther + 1} hashtags, and exclude at most ${maxFurther}.`;
    throw new ProviderError('rejected', message);
  }
  return { all, none };
}

function toPath({ all, none }: TagSearch, { count, cursor, feed }: SearchQuery): string {
  const [first = '', ...further] = all;
  const parameters = [
    `limit=${toLimit(count)}`,
    ...further.map((tag) => `all[]=${encodeURIComponent(tag)}`),
    ...none.map((tag) => `none[]=${encodeURIComponent(tag)}`),
    ...(isOfMedia(feed) ? ['only_media=true'] : []),
    ...writeCursor(cursor),
  ];
  return `/api/v1/timelines/tag/${encodeURIComponent(first)}?${parameters.join('&')}`;
}

function expectFound(reply: Awaited<ReturnType<FetchFrom>>): FoundReply {
  if (reply.is === 'found') return reply;
  if (reply.is === 'no api') throw reply.failure;
  throw createUnavailable('The search server does not support this search.');
}

const isOfMedia = (feed: SearchQuery['feed']): feed is 'photos' | 'videos' =>
  feed === 'photos' || feed === 'videos';

function isBeforeSince({ rows }: PageRows<StatusPayload>, { sinceSeconds }: SearchQuery): boolean {
  if (sinceSeconds === null || rows.length === 0) return false;
  return rows.every(({ createdMs }) => createdMs < sinceSeconds * 1000);
}

function describeFeed({ feed }: SearchQuery): readonly string[] {
  if (feed === 'top') return ['Mastodon does not rank posts; these are the newest ones.'];
  if (!isOfMedia(feed)) return [];
  return [`Mastodon has no list of ${feed}; these are the posts with media that have ${feed}.`];
}

const maxAccounts = 40;

interface UserSearchOptions {
  readonly fetchFrom: FetchFrom;
  readonly host: string;
  readonly accounts: Accounts;
}

function fetchSearchUsers(options: UserSearchOptions): Fetch<'searchUsers'> {
  const limits = `These are the matching accounts stored on ${options.host}; other accounts are missing.`;
  return async ({ text }, context) => {
    const [named, found] = await Promise.all([
      readNamed(options.accounts, text, context),
      readFound(options, text, context),
    ]);
    const all = [...named.accounts, ...found.items];
    return {
      items: uniqueBy(all, ({ screen_name }) => screen_name.toLowerCase()),
      cursor: null,
      rows: named.accounts.length + found.sent,
      warnings: [limits, ...named.warnings, ...found.warnings],
    };
  };
}

async function readNamed(accounts: Accounts, text: string, context: RequestContext) {
  const reference = parseHandle(text.trim());
  if (reference?.platform !== 'mastodon') return { accounts: [], warnings: [] };
  try {
    const { row, home } = await accounts.read(reference.handle, context);
    return { accounts: [shapeAccount(row, home)], warnings: [] };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const unanswered = `The server of @${reference.handle} did not answer, so this account may be missing.`;
    return { accounts: [], warnings: error.kind === 'missing' ? [] : [unanswered] };
  }
}

async function readFound(
  { fetchFrom, host }: UserSearchOptions,
  text: string,
  context: RequestContext,
) {
  const path = `/api/v2/search?type=accounts&limit=${maxAccounts}&q=${encodeURIComponent(text)}`;
  const { body } = expectFound(await fetchFrom(host, path, context));
  const found = await parseRows(isBody(body) && body.accounts, parseAccount);
  if (found === null) throw createUnreadable();
  const shaped = await shapeAccounts(found, { host, domain: host });
  return { ...shaped, sent: countSent(found) };
}
