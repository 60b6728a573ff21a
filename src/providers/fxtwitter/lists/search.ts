import type { RequestContext } from '../../../core/http/http-client.ts';
import type { Account } from '../../../model/account.ts';
import type { SearchQuery } from '../../../model/queries.ts';
import { ProviderError } from '../../../platforms/provider-error.ts';
import { createMalformed } from '../../failure.ts';
import type { Ask } from '../../provider.ts';
import { isHit, tellUnread, uniqueById } from '../../rows.ts';
import type { Upstream } from '../../upstream.ts';
import { parsePost, parseUser, type UserPayload } from '../payload.ts';
import { shapeAccount, shapeListed } from '../shape.ts';
import {
  type ListPage,
  type ListRequest,
  nextCursor,
  readList,
  toPaging,
  writeCount,
} from './list.ts';

/** Creates the search of posts. Operators in the text are X's own and pass as they are. */
export function askSearch(upstream: Upstream): Ask<'search'> {
  return async (query, context) => {
    const { feed, count, cursor } = query;
    const parameters = {
      q: writeSearch(query),
      feed: upstreamFeeds[feed],
      count: writeCount(count),
      cursor,
    };
    const request = { path: '/2/search', parameters, parseRow: parsePost };
    const page = await readFound(upstream, request, context);
    const posts = await shapeListed(page.rows, context);
    return {
      items: uniqueById(posts.filter((post) => isHit(post, query))),
      ...toPaging(page, { cursor: nextCursor(page, cursor) }),
      warnings: [...feedWarnings(feed), ...tellUnread(page, 'post')],
    };
  };
}

/** X has no feeds of photos or videos: its media feed holds both. */
const upstreamFeeds = { latest: 'latest', top: 'top', photos: 'media', videos: 'media' } as const;

function feedWarnings(feed: SearchQuery['feed']): readonly string[] {
  if (feed !== 'photos' && feed !== 'videos') return [];
  return [`X has no feed of ${feed}; these are the posts with ${feed} of its media feed.`];
}

/** Maximum length of a search text in UTF-16 code units. */
const maxSearchLength = 512;

function writeSearch({ text, sinceSeconds, untilSeconds }: SearchQuery): string {
  checkSearchText(text);
  const operators = [
    ...(sinceSeconds === null ? [] : [`since_time:${sinceSeconds}`]),
    ...(untilSeconds === null ? [] : [`until_time:${untilSeconds}`]),
  ];
  const search = [text, ...operators].join(' ');
  if (search.length <= maxSearchLength) return search;
  const room = maxSearchLength - (search.length - text.length);
  const limits = operators.length > 0 ? ' with its time limits' : '';
  throw new ProviderError(
    'rejected',
    `The search text is longer than the ${room} UTF-16 units that X accepts${limits}.`,
  );
}

/** X refuses a text of these alone, and must not see it with operators. */
function checkSearchText(text: string): void {
  if (!/^[_\s]*$/.test(text)) return;
  throw new ProviderError(
    'rejected',
    'The search text has nothing in it but underscores and spaces, which X refuses.',
  );
}

async function readFound<Row>(
  upstream: Upstream,
  request: ListRequest<Row>,
  context: RequestContext,
): Promise<ListPage<Row>> {
  const page = await readList(upstream, request, context);
  switch (page.is) {
    case 'page':
      return page;
    case 'absent':
      // Nothing found is a 200, so this is an outage.
      throw new ProviderError('unavailable', 'X cannot be searched at the moment.');
    case 'refused':
      // The text of a later page has been accepted before: then it is the cursor that is refused.
      if (request.parameters.cursor) throw createMalformed();
      throw new ProviderError('rejected', 'X refuses this search text.');
  }
}

const suggestions = 'X offers no search for accounts; these are its suggestions.';

/** Creates the search of accounts: the suggestions of X, which are one page. */
export function askSearchUsers(upstream: Upstream): Ask<'searchUsers'> {
  return async ({ text }, context) => {
    checkSearchText(text);
    const parameters = { q: text, result_type: 'users' };
    const request = { path: '/2/typeahead', parameters, parseRow: parseUser };
    const page = await readFound(upstream, { ...request, field: 'users' }, context);
    return {
      items: uniqueById(page.rows).map(shapeSuggested),
      ...toPaging(page, { cursor: null }),
      warnings: [suggestions, ...tellUnread(page, 'account')],
    };
  };
}

/** Suggestions have 0 for every count, which means that it is not known. */
function shapeSuggested(row: UserPayload): Account {
  const account = shapeAccount(row);
  return {
    ...account,
    followers: account.followers || null,
    following: account.following || null,
    statuses: account.statuses || null,
    media_count: account.media_count || null,
    likes: account.likes || null,
  };
}
