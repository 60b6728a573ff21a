import type { RequestContext } from '../../core/http/http-client.ts';
import type { SearchQuery } from '../../model/queries.ts';
import { parseHandle } from '../../model/reference.ts';
import { shapeAccount } from '../../platforms/mastodon/account.ts';
import type { Home } from '../../platforms/mastodon/identity.ts';
import { parseAccount, type StatusPayload } from '../../platforms/mastodon/payload.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Ask } from '../provider.ts';
import { countSent, isHit, parseRows, uniqueBy } from '../rows.ts';
import { isBody } from '../upstream.ts';
import type { Accounts } from './accounts.ts';
import {
  describeUnread,
  dropLater,
  type PageRows,
  readBefore,
  readPosts,
  shapeAccounts,
  shapeListed,
  toLimit,
  writeCursor,
} from './lists.ts';
import { type AskServer, createUnavailable, createUnreadable, type FoundReply } from './servers.ts';

interface TagSearch {
  readonly all: readonly string[];
  readonly none: readonly string[];
}

/** Creates the search by hashtag. Mastodon allows other searches only with a login. */
export function askSearch(askServer: AskServer, host: string): Ask<'search'> {
  const home: Home = { host, domain: host };
  return async (query, context) => {
    const tags = parseTags(query.text);
    const page = await readBefore(query, async (cursor) => {
      const reply = await askServer(host, toPath(tags, { ...query, cursor }), context);
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
        ...describeUnread(page, 'post'),
      ],
    };
  };
}

const maxFurther = 4;

const tagForm = /^(-?)[#＃]([\p{L}\p{M}\p{N}_·・]{1,100})$/u;

const onlyTags =
  'Without a login, Mastodon has no search for words in posts, but lists posts by hashtag. Search for `#tag`, for `#one #two` (posts with both hashtags), or for `#one -#two` (posts without the second hashtag).';

/** Parses hashtags. Throws ProviderError `rejected` for words, too many or only excluded tags. */
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

/** Returns a successful reply. Throws ProviderError if the host lacks the search or the API. */
function expectFound(reply: Awaited<ReturnType<AskServer>>): FoundReply {
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
  readonly askServer: AskServer;
  readonly host: string;
  readonly accounts: Accounts;
}

/** Creates the search of accounts. Reads a full handle also from the account's server. */
export function askSearchUsers(options: UserSearchOptions): Ask<'searchUsers'> {
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
  { askServer, host }: UserSearchOptions,
  text: string,
  context: RequestContext,
) {
  const path = `/api/v2/search?type=accounts&limit=${maxAccounts}&q=${encodeURIComponent(text)}`;
  const { body } = expectFound(await askServer(host, path, context));
  const found = await parseRows(isBody(body) && body.accounts, parseAccount);
  if (found === null) throw createUnreadable();
  const shaped = await shapeAccounts(found, { host, domain: host });
  return { ...shaped, sent: countSent(found) };
}
