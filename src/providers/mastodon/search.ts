import type { RequestContext } from '../../core/http/http-client.ts';
import type { SearchQuery } from '../../model/queries.ts';
import { parseHandle } from '../../model/reference.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Ask } from '../provider.ts';
import { countSent, isHit, parseRows, uniqueBy } from '../rows.ts';
import { isBody } from '../upstream.ts';
import { type Accounts, shapeAccount } from './accounts.ts';
import type { Home } from './identity.ts';
import {
  dropLater,
  type PageRows,
  readBefore,
  readPosts,
  shapeAccounts,
  shapeListed,
  tellUnread,
  toLimit,
  writeCursor,
} from './lists.ts';
import { parseAccount, type StatusPayload } from './payload.ts';
import { type AskServer, createUnavailable, createUnreadable, type FoundReply } from './servers.ts';

interface TagSearch {
  readonly all: readonly string[];
  readonly none: readonly string[];
}

/** Creates the search of posts, which without a login is one of hashtags. */
export function askSearch(askServer: AskServer, host: string): Ask<'search'> {
  const home: Home = { host, domain: host };
  return async (query, context) => {
    const tags = parseTags(query.text);
    const page = await readBefore(query, async (cursor) => {
      const reply = await askServer(host, toPath(tags, { ...query, cursor }), context);
      return readPosts(expectFound(reply), toLimit(query.count), context);
    });
    const listed = await shapeListed(dropLater(page.rows, query.untilSeconds), home, context);
    return {
      items: listed.posts.filter((post) => isHit(post, query)),
      cursor: isPast(page, query) ? null : page.next,
      rows: countSent(page),
      warnings: [
        `Mastodon has no search of posts without a login; these are the posts that ${host} knows with these hashtags.`,
        ...tellFeed(query),
        ...listed.warnings,
        ...tellUnread(page, 'post'),
      ],
    };
  };
}

const maxFurther = 4;

/** As Mastodon writes them: letters, digits and underscores, and a few signs within. */
const tagForm = /^(-?)[#＃]([\p{L}\p{M}\p{N}_·・]{1,100})$/u;

const onlyTags =
  'Mastodon has no search of posts without a login. It lists those with a hashtag: search for `#tag`, for `#one #two` with both, or for `#one -#two` without the second.';

/** @throws ProviderError `rejected` for a text that is more than hashtags */
function parseTags(text: string): TagSearch {
  const found = text
    .trim()
    .split(/\s+/)
    .map((word) => tagForm.exec(word));
  const named = (sign: string) =>
    found.flatMap((match) => (match?.[1] === sign && match[2] !== undefined ? [match[2]] : []));
  const [all, none] = [named(''), named('-')];
  if (found.includes(null) || all.length === 0) {
    throw new ProviderError('rejected', onlyTags);
  }
  if (all.length > maxFurther + 1 || none.length > maxFurther) {
    const message = `Mastodon lists posts with at most ${maxFurther + 1} hashtags, and without at most ${maxFurther}.`;
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

/** @throws ProviderError if the server has no such search */
function expectFound(reply: Awaited<ReturnType<AskServer>>): FoundReply {
  if (reply.is === 'found') return reply;
  if (reply.is === 'no api') throw reply.failure;
  throw createUnavailable('The server that searches are asked of does not offer this search.');
}

function isOfMedia(feed: SearchQuery['feed']): feed is 'photos' | 'videos' {
  return feed === 'photos' || feed === 'videos';
}

/** Returns whether a page is before the beginning of the time; the server may get single posts late. */
function isPast({ rows }: PageRows<StatusPayload>, { sinceSeconds }: SearchQuery): boolean {
  if (sinceSeconds === null || rows.length === 0) return false;
  return rows.every(({ createdMs }) => createdMs < sinceSeconds * 1000);
}

function tellFeed({ feed }: SearchQuery): readonly string[] {
  if (feed === 'top') return ['Mastodon ranks no posts; these are the newest.'];
  if (!isOfMedia(feed)) return [];
  return [
    `Mastodon has no list of ${feed}; these are the posts with ${feed} among those with media.`,
  ];
}

const maxAccounts = 40;

interface UserSearchOptions {
  readonly askServer: AskServer;
  readonly host: string;
  readonly accounts: Accounts;
}

/** Creates the search of accounts: one page. A whole handle is also asked of its server. */
export function askSearchUsers(options: UserSearchOptions): Ask<'searchUsers'> {
  const limits = `These are the accounts that ${options.host} knows; those of servers that it has never met are missing.`;
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
    const unasked = `The server of @${reference.handle} gave no answer, so the account may be missing here.`;
    return { accounts: [], warnings: error.kind === 'missing' ? [] : [unasked] };
  }
}

async function readFound(
  { askServer, host }: UserSearchOptions,
  text: string,
  context: RequestContext,
) {
  const path = `/api/v2/search?type=accounts&limit=${maxAccounts}&q=${encodeURIComponent(text)}`;
  const { body } = expectFound(await askServer(host, path, context));
  const found = await parseRows(isBody(body) && body.accounts, parseAccount, context);
  if (found === null) throw createUnreadable();
  const shaped = await shapeAccounts(found, { host, domain: host }, context);
  return { ...shaped, sent: countSent(found) };
}
