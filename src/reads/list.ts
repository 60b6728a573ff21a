import type * as z from 'zod';
import { freshnessDivisor } from '../fetching/cache/response-cache.ts';
import type {
  ListPosition,
  ListQuery,
  PageFound,
  PageQuery,
} from '../fetching/lists/fetch-page.ts';
import { positionOf } from '../fetching/lists/item-places.ts';
import { type Answer, pageIn } from '../fetching/plan.ts';
import { toIsoSeconds } from '../lib/clock.ts';
import { Problem, quoteInput } from '../lib/problem.ts';
import type { ProfileQuery } from '../model/queries.ts';
import { type AccountReference, parseHandle } from '../model/reference.ts';
import {
  accountFormats,
  isFeedFormat,
  type ListItems,
  type ListResult,
  type ListSubject,
  listFormats,
  type PageUrls,
} from '../model/results.ts';
import {
  clampedCount,
  flag,
  freeText,
  optionalChoice,
  type SomeOf,
  textLimit,
  toReplyUrl,
  wholeNumber,
} from './parameters.ts';
import { createRead, type PlanContext, type Read, type ReadOf, staleWarnings } from './read.ts';

const defaultLimit = 20;
const maxLimit = 100;
const maxPage = 10;

export const listParams = {
  limit: clampedCount(maxLimit)
    .default(defaultLimit)
    .describe(`Number of items on a page, 1 to ${maxLimit}.`),
  cursor: freeText('invalid_cursor')
    .optional()
    .describe(
      'Cursor of the next page, unchanged: `nextCursor` of the previous page in JSON, or `cursor` in its link “Next page”.',
    ),
  page: wholeNumber(maxPage)
    .optional()
    .describe(`Page number, 1 to ${maxPage}. Cannot be combined with \`cursor\`.`),
  full: flag(false).describe(
    'Adds details to Markdown and HTML. Posts get the exact time, the language, and the counts of quotes, bookmarks and reactions. Accounts get details such as the complete biography or the ID.',
  ),
  max_chars: textLimit(
    'items at the end of the page are left out, and the next page starts with them',
  ),
  nocache: flag(false).describe('Fetches new data instead of using the response cache.'),
  format: optionalChoice('invalid_format', listFormats).describe(
    'Default: the format that `Accept` prefers, or `markdown`. `html` is a web page. `atom`, `rss` and `jsonfeed` are feeds, for lists of posts.',
  ),
};

export const handleParam = freeText('invalid_handle').describe(
  'The account’s handle; a leading `@` is accepted.',
);

type ListSchema = z.ZodObject<
  Omit<typeof listParams, 'format'> & {
    readonly format: z.ZodType<(typeof listFormats)[number] | undefined>;
  }
>;
type ListParams = z.output<ListSchema>;

/** Requested list, without the position of the requested page. */
export interface ListTarget<Params> {
  readonly subject: ListSubject;
  readonly cacheSubject: string;
  readonly param?: string;
  readonly profile?: ProfileQuery;
  readonly list: ListQuery | null;
  /** Path of the list, relative to `/api/v1`. */
  readonly path: string;
  /** Parameters outside the path, in a form in which those with the same meaning are equal. */
  readonly parameters: SomeOf<Params>;
  readonly isLiveOnly?: boolean;
}

/** Parses the handle of an account. @throws Problem `invalid_handle` for an invalid handle */
export function toAccountReference(handle: string): AccountReference {
  const reference = parseHandle(handle);
  if (reference !== null) return reference;
  const detail = `The parameter \`handle\` has the value ${quoteInput(handle)}, which is not a valid handle on any platform.`;
  throw new Problem('invalid_handle', { detail });
}

/** Creates a read of one page of a list. Its parameters' schema must include `listParams`. */
export function createListRead<Schema extends ListSchema>(
  about: ReadOf<Schema>,
  toTarget: (params: z.output<Schema>, context: PlanContext) => ListTarget<z.output<Schema>>,
): Read {
  return createRead({ ...about, kind: 'browse' }, (params, context) => {
    const { full, cursor, nocache, format, max_chars: maxChars } = params;
    const target = toTarget(params, context);
    const query = toQuery(target, params, context);
    const hasFeeds = query.list !== null && !accountLists.has(query.list.kind);
    if (!hasFeeds) refuseFeed(format);
    const { baseUrl } = context;
    const toUrl = (position: PagePosition) =>
      toReplyUrl(
        about.params,
        { ...target.parameters, ...position },
        { baseUrl, path: target.path },
      );
    return {
      plan: {
        query,
        subject: target.cacheSubject,
        param: target.param,
        freshness: target.subject.resource === 'search' ? 'search' : 'list',
        useCache: !nocache,
        isLiveOnly: target.isLiveOnly === true,
      },
      format,
      hasFeeds,
      parameters: target.parameters,
      assemble: (answer) =>
        assemble(answer, { target, query, full, maxChars, cursor, toUrl }, context),
    };
  });
}

const accountLists: ReadonlySet<string> = new Set(['followers', 'following', 'searchUsers']);

function refuseFeed(format: string | undefined): void {
  if (format === undefined || !isFeedFormat(format)) return;
  const words = accountFormats.map((word) => `\`${word}\``).join(' or ');
  const detail = `The parameter \`format\` has the value "${format}", which is available only for lists of posts. For this list, it must be ${words}.`;
  throw new Problem('invalid_format', { detail });
}

function toQuery(
  { profile, list, isLiveOnly }: ListTarget<unknown>,
  { limit, page, cursor }: ListParams,
  { cursors }: PlanContext,
): PageQuery {
  if (cursor !== undefined && page !== undefined) {
    const detail =
      'The parameters `page` and `cursor` are both given; only one of them can set the start of the page.';
    throw new Problem('invalid_option', { detail, param: 'page' });
  }
  // Without `isLiveOnly`, later pages and the cache could contain results that are not live.
  const listKey = JSON.stringify([profile, list, isLiveOnly]);
  const position = cursor === undefined ? null : cursors.open(listKey, cursor);
  const at = position?.page ?? page ?? 1;
  return { kind: 'browse', profile: profile ?? null, list, listKey, limit, page: at, position };
}

type PagePosition = Readonly<{ cursor: string | undefined; page: number | undefined }>;

type PageView = Readonly<{
  target: ListTarget<unknown>;
  query: PageQuery;
  full: boolean;
  maxChars: number | undefined;
  cursor: string | undefined;
  toUrl: (position: PagePosition) => string;
}>;

function assemble(answer: Answer, view: PageView, context: PlanContext): ListResult {
  const { target, query, full, maxChars } = view;
  const found = pageIn(answer);
  const fetchedAt = toIsoSeconds(answer.fetchedAtMs);
  const isSearch = target.subject.resource === 'search';
  const next = toNext(found.next, view, context);
  const nextAfter = (count: number) =>
    toNext(positionOf(found, { index: count, page: query.page + 1 }), view, context);
  return {
    kind: 'browse',
    subject: nameSubject(target.subject, found),
    profile: found.account,
    items: toItems(found, query.list),
    page: query.page,
    limit: query.limit,
    next,
    urls: toUrls(view),
    freshSeconds: context.embedSeconds / freshnessDivisor[isSearch ? 'search' : 'list'],
    warnings: [
      ...found.warnings,
      ...(next === null && found.next !== null ? [endlessCursor] : []),
      ...staleWarnings(answer, fetchedAt),
    ],
    degraded: found.degraded || (isSearch && answer.cache === 'stale'),
    fetchedAt,
    source: answer.source,
    full,
    ...(maxChars !== undefined && { bound: { maxChars, nextAfter } }),
  };
}

const endlessCursor =
  'The list has more items, but the source’s cursor for the next page is too long to be passed on.';

function nameSubject(
  subject: ListSubject,
  { account, answered }: Pick<PageFound, 'account' | 'answered'>,
): ListSubject {
  switch (subject.resource) {
    case 'search':
      return subject;
    case 'replies':
      if (answered?.type !== 'status') return subject;
      return { ...subject, answered, handle: answered.author.screen_name, url: answered.url };
    default:
      if (account === null) return subject;
      return { ...subject, handle: account.screen_name, url: account.url };
  }
}

function toItems({ items }: PageFound, list: ListQuery | null): ListItems | null {
  const posts = items.filter((item) => 'type' in item);
  switch (list?.kind) {
    case undefined:
      return null;
    case 'timeline':
    case 'search':
      return { posts };
    case 'replies':
      return { posts: posts.map((post) => ({ ...post, context: 'reply' })) };
    case 'followers':
    case 'following':
    case 'searchUsers':
      return { users: items.flatMap((item) => ('type' in item ? [] : [item])) };
  }
}

function toNext(
  next: ListPosition | null,
  { query, toUrl }: PageView,
  { cursors }: PlanContext,
): ListResult['next'] {
  const cursor = next === null ? null : cursors.seal(query.listKey, next);
  return cursor === null ? null : { cursor, url: toUrl({ cursor, page: undefined }) };
}

function toUrls({ query: { page }, cursor, maxChars, toUrl }: PageView): PageUrls {
  // Numbered pages do not start where shortened pages end.
  const isNumbered = page === 2 || cursor === undefined || maxChars === undefined;
  const toNumbered = (number: number) =>
    toUrl({ cursor: undefined, page: number === 1 ? undefined : number });
  return {
    self: cursor === undefined ? toNumbered(page) : toUrl({ cursor, page: undefined }),
    first: toNumbered(1),
    previous: page === 1 || page > maxPage + 1 || !isNumbered ? null : toNumbered(page - 1),
  };
}
