import type { Clock } from '../../lib/clock.ts';
import type { RequestContext } from '../../lib/http/http-client.ts';
import { Problem } from '../../lib/problem.ts';
import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { Answers, Page, ProfileFound, ProfileQuery, QueryKind } from '../../model/queries.ts';
import { platformNames } from '../../model/reference.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import type { ChainFetchOptions, ProviderChain, SourcedAnswer } from '../chain/provider-chain.ts';
import { type ItemPlaces, positionOf, toPageKey } from './item-places.ts';
import { type FilledPage, fillPage, type ReadPage, type SourcedPage } from './page-filler.ts';
import type { SentItemsMemory } from './sent-items.ts';

/** Cache of profiles and upstream pages, from which the pages of a list are assembled. */
export interface PartStore {
  get(key: string): Promise<ListPart | undefined>;
  set(key: string, part: ListPart): void;
}

/** Cached part of a list: the profile, or a page with items left for the client's next page. */
export type ListPart = ProfilePart | SourcedPage;

type SourceFacts = Pick<SourcedPage, 'source' | 'isLocal' | 'requestedMs'>;

interface ProfilePart extends SourceFacts {
  readonly profile: ProfileFound;
}

interface PageContext {
  readonly request: RequestContext;
  readonly chain: ProviderChain;
  readonly parts: PartStore;
  readonly memory: SentItemsMemory;
  readonly clock: Clock;
  readonly isLiveOnly?: boolean | undefined;
}

/** Returns a list page with the profile, or only the profile in an outage. @throws Problem */
export async function fetchPage(query: PageQuery, context: PageContext) {
  const profileFailed = new AbortController();
  const signal = AbortSignal.any([context.request.signal, profileFailed.signal]);
  const request = { ...context.request, signal };
  const listing = Promise.allSettled([readList(query, { ...context, request })]);
  const profile = await readProfile(query, context).catch((error: unknown) => {
    profileFailed.abort(); // without a profile, the posts are not needed
    throw error;
  });
  const [read] = await listing;
  if (read.status === 'fulfilled') return join(query, { profile, filled: read.value }, context);
  const isOutage = read.reason instanceof Problem && read.reason.status >= 500;
  if (profile === null || !isOutage || query.position !== null || query.page !== 1) {
    throw read.reason;
  }
  return join(query, { profile, filled: withoutItems(read.reason.message) }, context);
}

async function readProfile(
  { profile }: PageQuery,
  { chain, parts, clock, request }: PageContext,
): Promise<ProfilePart | null> {
  if (profile === null) return null;
  const key = `profile ${profile.account.platform} ${profile.account.handle}`;
  const cached = await parts.get(key);
  if (cached !== undefined && 'profile' in cached) return cached;
  const requestedMs = clock.now();
  const { found, source, isLocal } = await chain.fetch('profile', profile, request);
  const part = { profile: found, source, isLocal, requestedMs };
  parts.set(key, part);
  return part;
}

async function readList(query: PageQuery, context: PageContext): Promise<FilledPage | null> {
  const { list, listKey, limit, page } = query;
  if (list === null) return null;
  const { memory, parts } = context;
  const position = query.position ?? startOfList;
  const { cursor, taken, recent } = position;
  const isStart = cursor === null && taken === 0 && recent.length === 0;
  const sent = isStart ? [] : await memory.recall(listKey, position);
  const read = createReadPage(list, query, context);
  const skip = query.position === null ? (page - 1) * limit : 0;
  const options = { position, sent, isNewestFirst: isNewestFirst(list), skip, limit, page };
  const filled = await fillPage(read, options).catch(async (error: unknown) => {
    throw list.kind === 'replies' ? await confirmAbsence(error, list, context) : error;
  });
  const { next, leftover } = filled;
  if (leftover !== undefined && next !== null) {
    parts.set(toPageKey(listKey, leftover.source, next.cursor), leftover);
  }
  await rememberSent(query, filled, memory);
  return filled;
}

async function rememberSent(
  { listKey, page, position }: PageQuery,
  filled: FilledPage,
  memory: SentItemsMemory,
): Promise<void> {
  const isNumbered = position === null && page > 1;
  // If the page is shortened, the next page starts within it.
  const start = isNumbered ? positionOf(filled, { index: 0, page }) : null;
  const places = [
    { at: start, sent: filled.sentBefore },
    { at: filled.next, sent: filled.sent },
  ];
  for (const { at, sent } of places) {
    if (at !== null && at.recent.length > 0) await memory.remember(listKey, at, sent);
  }
}

function isNewestFirst(list: ListQuery): boolean {
  if (list.kind === 'searchUsers' || list.kind === 'replies') return false;
  return list.kind !== 'search' || list.feed !== 'top';
}

async function confirmAbsence(
  error: unknown,
  { post }: Extract<ListQuery, { kind: 'replies' }>,
  { chain, request }: PageContext,
): Promise<unknown> {
  const cause = error instanceof Problem ? error.cause : undefined;
  if (!(cause instanceof ProviderError) || cause.kind !== 'ambiguous') return error;
  const alone = { kind: 'post', post, thread: false, replies: 'off' } as const;
  try {
    await chain.fetch('post', alone, request);
  } catch (other) {
    return other instanceof Problem && other.code === 'not_found' ? other : error;
  }
  return new Problem('upstream_unavailable', {
    detail: 'The post can be read, but its replies cannot. Try again later.',
    cause: error,
  });
}

function createReadPage(
  list: ListQuery,
  { listKey, position }: PageQuery,
  { chain, parts, clock, request, isLiveOnly }: PageContext,
): ReadPage {
  let provider = position?.provider ?? undefined;
  return async ({ cursor, count, bypassCache }) => {
    const key = provider === undefined ? undefined : toPageKey(listKey, provider, cursor);
    const cached = key === undefined || bypassCache ? undefined : await parts.get(key);
    if (cached !== undefined && 'page' in cached) return cached;
    const requestedMs = clock.now();
    const options = { ...request, provider, isLiveOnly };
    const sourced = await askList(chain, { ...list, cursor, count }, options);
    provider = sourced.source;
    return { ...sourced, requestedMs };
  };
}

async function askList(
  chain: ProviderChain,
  query: { [Kind in ListKind]: Answers[Kind]['query'] }[ListKind],
  options: ChainFetchOptions,
): Promise<Omit<SourcedPage, 'requestedMs'>> {
  // The kind of a list determines its query and its items, which the compiler cannot track across
  // the union.
  const { found, ...sourced } = (await chain.fetch(query.kind, query, options)) as SourcedAnswer<
    typeof query.kind
  >;
  return { ...sourced, page: found as Page<ListItem> };
}

function withoutItems(message: string): FilledPage {
  const warnings = [`The posts could not be read: ${message}`];
  const places = { provider: null, recent: [], isExact: true, pages: [] };
  const nothing = { items: [], sent: [], sentBefore: [], places, read: [], leftover: undefined };
  return { ...nothing, next: startOfList, warnings, isComplete: false };
}

function warnOfLastResort(list: ListQuery | null): string {
  const name = list !== null && 'platform' in list ? platformNames[list.platform] : 'The platform';
  return `${name} could not be searched now. The posts and accounts of ${name} in the archive of this server were searched instead. They are not live and may be incomplete.`;
}

interface Parts {
  readonly profile: ProfilePart | null;
  readonly filled: FilledPage | null;
}

function join({ list }: PageQuery, { profile: part, filled }: Parts, { clock }: PageContext) {
  const read = filled?.read ?? [];
  const parts = [...(part === null ? [] : [part]), ...read];
  const degraded = read.some((one) => one.degraded);
  const found: PageFound = {
    account: part?.profile.account ?? null,
    answered: read.find(({ page }) => page.answered !== undefined)?.page.answered,
    items: filled?.items ?? [],
    places: filled?.places,
    next: filled?.next ?? null,
    warnings: [
      ...(part?.profile.warnings ?? []),
      ...(degraded ? [warnOfLastResort(list)] : []),
      ...(filled?.warnings ?? []),
    ],
    degraded,
    missing: filled?.isComplete === false ? ['items'] : [],
    ...oldestOf([part?.profile.asOfMs, ...read.map(({ page }) => page.asOfMs)]),
  };
  return {
    found,
    source: parts[0]?.source ?? '',
    isLocal: parts.every(({ isLocal }) => isLocal),
    requestedMs: Math.min(clock.now(), ...parts.map((one) => one.requestedMs)),
  };
}

function oldestOf(times: readonly (number | undefined)[]) {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 && { asOfMs: Math.min(...known) };
}

export type ListKind = Exclude<QueryKind, 'post' | 'profile'>;

/** Query of a list, such as a timeline or a search, without cursor and count. */
export type ListQuery = {
  [Kind in ListKind]: Omit<Answers[Kind]['query'], 'cursor' | 'count'>;
}[ListKind];

export type ListItem = Post | Account;

/** Position in a list, encoded in the cursors that callers receive. */
export interface ListPosition {
  /** Provider of the list; `null` if no provider has answered yet. */
  readonly provider: string | null;
  /** Provider's cursor of the page that contains the next item; `null` for the first page. */
  readonly cursor: string | null;
  /** Number of items of the page at `cursor` that were already returned. */
  readonly taken: number;
  readonly page: number;
  /** Sum of `fruitlessWeights` of the last empty pages in a row. The list ends at a maximum. */
  readonly fruitless: number;
  /** Short hashes of the last items returned, in list order. Empty if pages never overlap. */
  readonly recent: readonly number[];
}

export const startOfList: ListPosition = {
  provider: null,
  cursor: null,
  taken: 0,
  page: 1,
  fruitless: 0,
  recent: [],
};

export interface PageQuery {
  readonly kind: 'browse';
  readonly profile: ProfileQuery | null;
  /** Query of the list; `null` if only the profile is requested. */
  readonly list: ListQuery | null;
  readonly listKey: string;
  readonly limit: number;
  /** Page number from 1. Without `position`, all earlier pages are read and skipped. */
  readonly page: number;
  /** Position of the first item; `null` for the start of the list. */
  readonly position: ListPosition | null;
}

/** Page of a list. Has `limit` items, unless it is the last page or `missing` is not empty. */
export interface PageFound {
  readonly account: Account | null;
  /** Post to which the replies belong; absent for other lists, or if no source returned it. */
  readonly answered?: Post | undefined;
  readonly items: readonly ListItem[];
  /** Places of the items in the source; `undefined` if only a profile was requested. */
  readonly places?: ItemPlaces | undefined;
  /** Position of the next page; `null` at the end of the list. */
  readonly next: ListPosition | null;
  readonly warnings: readonly string[];
  /** Whether a provider of last resort, such as the server's archive, answered. */
  readonly degraded: boolean;
  /** Parts that may be incomplete: `['items']` if the source failed or may have more items. */
  readonly missing: readonly 'items'[];
  /** Epoch time in ms at which the content was current. Default: the time of the request. */
  readonly asOfMs?: number;
}
