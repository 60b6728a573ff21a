import type { RequestContext } from '../../../core/http/http-client.ts';
import { mapInSlices } from '../../../core/scheduling/slices.ts';
import type { Account } from '../../../model/account.ts';
import type { ConnectionsQuery, Page, SearchQuery } from '../../../model/queries.ts';
import { ProviderError } from '../../../platforms/provider-error.ts';
import { createMalformed, throwIfMissing } from '../../failure.ts';
import type { Ask, ProviderContext } from '../../provider.ts';
import { countSent, isHit, parseRows, type Rows, tellUnread, uniqueById } from '../../rows.ts';
import { readBody, type Upstream } from '../../upstream.ts';
import { readCursor, toAnswerFailure, trueStatus } from '../client.ts';
import { parsePost, parseUser, type UserPayload } from '../payload.ts';
import { type Profiles, profilePath } from '../profile.ts';
import { shapeAccount, shapeListed } from '../shape.ts';

/** One page of a list as it came; `cursor` is `null` where the service names no next page. */
export interface ListPage<Row> extends Rows<Row> {
  readonly is: 'page';
  readonly cursor: string | null;
}

/**
 * `absent`: a 404, for an account that is unknown, suspended or out of reach and for a search in an
 * outage. `refused`: a 400, for a parameter.
 */
export type ListAnswer<Row> =
  | ListPage<Row>
  | { readonly is: 'absent' }
  | { readonly is: 'refused' };

/** What is asked for, and how its rows are read. */
export interface ListRequest<Row> {
  /** Begins with a slash. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | null>>;
  /** Where in the body the rows are; default: `results`. */
  readonly field?: 'users';
  readonly parseRow: (row: unknown) => Row | null;
}

/** Asks for a page of a list. Throws ProviderError `throttled`, `unavailable` or `malformed`. */
export async function readList<Row>(
  upstream: Upstream,
  { path, parameters, field, parseRow }: ListRequest<Row>,
  context: RequestContext,
): Promise<ListAnswer<Row>> {
  const answer = await upstream(`${path}?${writeParameters(parameters)}`, context);
  const body = readBody(answer);
  const rows = await parseRows(body?.[field ?? 'results'], parseRow, context);
  const status = trueStatus(answer, body);
  if (status === 400 && body !== null) return { is: 'refused' };
  if (status === 404 && rows !== null) return { is: 'absent' };
  if (status !== 200 || rows === null) throw toAnswerFailure(answer, body);
  return { is: 'page', ...rows, cursor: readCursor(body) };
}

/** A surrogate without its other half cannot be sent; U+FFFD stands for it, as in `TextEncoder`. */
function writeParameters(parameters: ListRequest<unknown>['parameters']): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === null ? [] : [`${name}=${encodeURIComponent(value.replace(/\p{Cs}/gu, '\ufffd'))}`],
    )
    .join('&');
}

export const maxCount = 100;

/** Returns a `count` that the service accepts: 20 (a page of its own choice is not smaller) to 100. */
export function writeCount(count: number): string {
  return String(Math.min(Math.max(Math.trunc(count), 20), maxCount));
}

/** Returns where the list goes on; `null` at the end, for which X may repeat the cursor that was sent. */
export function nextCursor(page: ListPage<unknown>, sent: string | null): string | null {
  return page.cursor === sent ? null : page.cursor;
}

const fewRows = 2; // fewer rows than these come now and then in place of a full page

/** Returns the members of a page beside its items. */
export function toPaging(
  page: ListPage<unknown>,
  cursor: string | null,
  mayGoOn = cursor !== null,
): Pick<Page<unknown>, 'cursor' | 'rows' | 'isDoubtful'> {
  // What the service sent, because a page of which no row is wanted is not a short one.
  const rows = countSent(page);
  return { cursor, rows, ...(mayGoOn && rows < fewRows && { isDoubtful: true }) };
}

const endPrefix = '0|';

export function askConnections(upstream: Upstream, profiles: Profiles) {
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
    // The list of a protected account is as empty as that of one that nobody follows.
    const isBare = countSent(page) === 0 && cursor === null && next === null;
    if (isBare) await throwIfMissing(profiles.read(handle, context), context);
    return {
      items: await mapInSlices(uniqueById(page.rows), shapeAccount, context),
      ...toPaging(page, next),
      warnings: tellUnread(page, 'account'),
    };
  };
}

/** Creates the search of posts. Operators in the text are X's own and pass as they are. */
export function askSearch(upstream: Upstream): Ask<'search'> {
  return async (query, context) => {
    const { feed, count, cursor } = query;
    const place = { count: writeCount(count), cursor };
    const parameters = { q: writeSearch(query), feed: upstreamFeeds[feed], ...place };
    const request = { path: '/2/search', parameters, parseRow: parsePost };
    const page = await readFound(upstream, request, context);
    const posts = await shapeListed(page.rows, context);
    return {
      items: uniqueById(posts.filter((post) => isHit(post, query))),
      ...toPaging(page, nextCursor(page, cursor)),
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
  const message = `The search text is longer than the ${room} UTF-16 units that X accepts${limits}.`;
  throw new ProviderError('rejected', message);
}

/** X refuses a text of these alone, and must not see it with operators. */
function checkSearchText(text: string): void {
  if (!/^[_\s]*$/.test(text)) return;
  const nothing = 'The search text has nothing in it but underscores and spaces, which X refuses.';
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
      ...toPaging(page, null),
      warnings: [suggestions, ...tellUnread(page, 'account')],
    };
  };
}

/** Suggestions have 0 for every count, which means that it is not known. */
function shapeSuggested(row: UserPayload): Account {
  const counts = ['followers', 'following', 'statuses', 'media_count', 'likes'] as const;
  const unknown = counts.filter((name) => row[name] === 0).map((name) => [name, null]);
  return shapeAccount({ ...row, ...Object.fromEntries(unknown) });
}
