import type { RequestContext } from '../../../lib/http/http-client.ts';
import { mapWithPauses } from '../../../lib/scheduling/map.ts';
import type { Account } from '../../../model/account.ts';
import type { ConnectionsQuery, Page, SearchQuery } from '../../../model/queries.ts';
import { ProviderError } from '../../../normalize/provider-error.ts';
import { createMalformed, throwIfMissing } from '../../failure.ts';
import type { Fetch, ProviderContext } from '../../provider.ts';
import { countSent, describeUnread, isHit, parseRows, type Rows, uniqueById } from '../../rows.ts';
import { readBody, type Upstream } from '../../upstream.ts';
import { readCursor, toAnswerFailure, trueStatus } from '../client.ts';
import { shapeAccount, shapeListed } from '../normalize.ts';
import { type Profiles, profilePath } from '../profile.ts';
import { parsePost, parseUser, type UserPayload } from '../wire.ts';

/** Page of posts or accounts. `cursor` is `null` if there is no next page. */
export interface ListPage<Row> extends Rows<Row> {
  readonly is: 'page';
  readonly cursor: string | null;
}

/** Response. `absent`: 404, even for a search in an outage. `refused`: 400, invalid parameter. */
export type ListAnswer<Row> =
  | ListPage<Row>
  | { readonly is: 'absent' }
  | { readonly is: 'refused' };

export interface ListRequest<Row> {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | null>>;
  /** Member of the response body that contains the posts or accounts. Default: `results`. */
  readonly field?: 'users';
  readonly parseRow: (row: unknown) => Row | null;
}

/** Requests a page of a list. Throws ProviderError `throttled`, `unavailable` or `malformed`. */
export async function readList<Row>(
  upstream: Upstream,
  { path, parameters, field, parseRow }: ListRequest<Row>,
  context: RequestContext,
): Promise<ListAnswer<Row>> {
  const answer = await upstream(`${path}?${writeParameters(parameters)}`, context);
  const body = readBody(answer);
  const rows = await parseRows(body?.[field ?? 'results'], parseRow);
  const status = trueStatus(answer, body);
  if (status === 400 && body !== null) return { is: 'refused' };
  if (status === 404 && rows !== null) return { is: 'absent' };
  if (status !== 200 || rows === null) throw toAnswerFailure(answer, body);
  return { is: 'page', ...rows, cursor: readCursor(body) };
}

function writeParameters(parameters: ListRequest<unknown>['parameters']): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === null ? [] : [`${name}=${encodeURIComponent(value.replace(/\p{Cs}/gu, '\ufffd'))}`],
    )
    .join('&');
}

export const maxCount = 100;

/** Returns the page size: `count`, clamped to FxTwitter's range from 20 to 100. */
export const writeCount = (count: number): string =>
  String(Math.min(Math.max(Math.trunc(count), 20), maxCount));

/** Returns the cursor of the next page; `null` if there is none or it repeats `sent`. */
export const nextCursor = (page: ListPage<unknown>, sent: string | null): string | null =>
  page.cursor === sent ? null : page.cursor;

const fewRows = 2; // X sometimes sends fewer rows than this in place of a full page

/**
 * Returns the paging members of a page. `isDoubtful` marks a page with fewer than two items
 * although more may follow (`mayGoOn`), because X sometimes sends a nearly empty page in place of a
 * full one.
 */
export function toPaging(
  page: ListPage<unknown>,
  cursor: string | null,
  mayGoOn = cursor !== null,
): Pick<Page<unknown>, 'cursor' | 'rows' | 'isDoubtful'> {
  // Counts all items that FxTwitter sent, because filtered items do not make a page short.
  const rows = countSent(page);
  return { cursor, rows, ...(mayGoOn && rows < fewRows && { isDoubtful: true }) };
}

const endPrefix = '0|'; // prefix of the cursor after the last page

export function fetchConnections(upstream: Upstream, profiles: Profiles) {
  return async (query: ConnectionsQuery, context: ProviderContext): Promise<Page<Account>> => {
    const { kind, count, cursor } = query;
    const { handle } = query.account;
    const request = {
      path: `${profilePath(handle)}/${kind}`,
      parameters: { count: writeCount(count), cursor },
      parseRow: parseUser,
    };
    const page = await readList(upstream, request, context);
    if (page.is === 'absent') throw await profiles.explainAbsence(handle, context);
    if (page.is === 'refused') throw createMalformed();
    const named = nextCursor(page, cursor);
    const next = named?.startsWith(endPrefix) ? null : named;
    // The list of a protected account is empty, like that of an account without followers.
    const isBare = countSent(page) === 0 && cursor === null && next === null;
    if (isBare) await throwIfMissing(profiles.read(handle, context), context);
    return {
      items: await mapWithPauses(uniqueById(page.rows), shapeAccount),
      ...toPaging(page, next),
      warnings: describeUnread(page, 'account'),
    };
  };
}

/** Creates the function that searches posts. Sends the text unchanged for X's search operators. */
export function fetchSearch(upstream: Upstream): Fetch<'search'> {
  return async (query, context) => {
    const { feed, count, cursor } = query;
    const place = { count: writeCount(count), cursor };
    const parameters = { q: writeSearch(query), feed: upstreamFeeds[feed], ...place };
    const request = { path: '/2/search', parameters, parseRow: parsePost };
    const page = await readFound(upstream, request, context);
    const posts = await shapeListed(page.rows);
    return {
      items: uniqueById(posts.filter((post) => isHit(post, query))),
      ...toPaging(page, nextCursor(page, cursor)),
      warnings: [...feedWarnings(feed), ...describeUnread(page, 'post')],
    };
  };
}

const upstreamFeeds = { latest: 'latest', top: 'top', photos: 'media', videos: 'media' } as const;

function feedWarnings(feed: SearchQuery['feed']): readonly string[] {
  if (feed !== 'photos' && feed !== 'videos') return [];
  return [
    `Perch cannot use X’s own search for ${feed}. These are the posts with ${feed} from X’s media feed.`,
  ];
}

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
  const limits = operators.length > 0 ? ' together with a time range' : '';
  const message = `The search text is longer than the ${room} UTF-16 code units that X accepts${limits}.`;
  throw new ProviderError('rejected', message);
}

/** Throws ProviderError `rejected` for a text of only underscores and spaces, which X refuses. */
function checkSearchText(text: string): void {
  if (!/^[_\s]*$/.test(text)) return;
  const nothing = 'The search text contains only underscores and spaces, which X refuses.';
  throw new ProviderError('rejected', nothing);
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
      // An empty result has status 200, so this is an outage.
      throw new ProviderError('unavailable', 'X cannot search at the moment.');
    case 'refused':
      // On a later page, the text was accepted before, so the refused parameter is the cursor.
      if (request.parameters.cursor) throw createMalformed();
      throw new ProviderError('rejected', 'X refuses this search text.');
  }
}

const suggestions =
  'Perch cannot use X’s search for accounts. These are the accounts that X suggests for the search text.';

/** Creates the search of accounts: X's list of search suggestions, which has a single page. */
export function fetchSearchUsers(upstream: Upstream): Fetch<'searchUsers'> {
  return async ({ text }, context) => {
    checkSearchText(text);
    const parameters = { q: text, result_type: 'users' };
    const request = { path: '/2/typeahead', parameters, parseRow: parseUser };
    const page = await readFound(upstream, { ...request, field: 'users' }, context);
    return {
      items: await mapWithPauses(uniqueById(page.rows), shapeSuggested),
      ...toPaging(page, null),
      warnings: [suggestions, ...describeUnread(page, 'account')],
    };
  };
}

function shapeSuggested(row: UserPayload): Account {
  const counts = ['followers', 'following', 'statuses', 'media_count', 'likes'] as const;
  const unknown = counts.filter((name) => row[name] === 0).map((name) => [name, null]);
  return shapeAccount({ ...row, ...Object.fromEntries(unknown) });
}
