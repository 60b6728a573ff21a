import type { Clock } from '../../core/clock.ts';
import type { RequestContext } from '../../core/http/http-client.ts';
import { Problem } from '../../core/problem.ts';
import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { Answers, Page, ProfileFound, ProfileQuery, QueryKind } from '../../model/queries.ts';
import { platformNames } from '../../model/reference.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { AskOptions, ProviderChain, Sourced } from '../chain/provider-chain.ts';
import type { WalkMemory } from './given-items.ts';
import { type ReadPage, type SourcedPage, type Walked, walk } from './walk.ts';

/** The store of the parts that pages of a list are put together from. */
export interface PartStore {
  get(key: string): ListPart | undefined;
  set(key: string, part: ListPart): void;
}

/** A profile, or a page of the source of which some items are left. */
export type ListPart = ProfilePart | SourcedPage;

type Sourcing = Pick<SourcedPage, 'source' | 'isLocal' | 'askedMs'>;

interface ProfilePart extends Sourcing {
  readonly profile: ProfileFound;
}

interface BrowseContext {
  readonly request: RequestContext;
  readonly chain: ProviderChain;
  readonly parts: PartStore;
  readonly memory: WalkMemory;
  readonly clock: Clock;
  readonly isLiveOnly?: boolean | undefined;
}

/**
 * Returns one page of a list with its profile, asked for at once. If the posts of a profile cannot be
 * read, it comes without them, and the next page is then the first. Throws Problem, see
 * ProviderChain.ask.
 */
export async function browse(query: BrowseQuery, context: BrowseContext) {
  const profileFailed = new AbortController();
  const signal = AbortSignal.any([context.request.signal, profileFailed.signal]);
  const request = { ...context.request, signal };
  const listing = Promise.allSettled([readList(query, { ...context, request })]);
  const profile = await readProfile(query, context).catch((error: unknown) => {
    profileFailed.abort(); // nobody waits for the posts of an account that cannot be shown
    throw error;
  });
  const [read] = await listing;
  if (read.status === 'fulfilled') return join(query, { profile, walked: read.value }, context);
  const isOutage = read.reason instanceof Problem && read.reason.status >= 500;
  if (profile === null || !isOutage || query.position !== null || query.page !== 1) {
    throw read.reason;
  }
  return join(query, { profile, walked: withoutItems(read.reason.message) }, context);
}

async function readProfile(
  { profile }: BrowseQuery,
  { chain, parts, clock, request }: BrowseContext,
): Promise<ProfilePart | null> {
  if (profile === null) return null;
  const key = `profile ${profile.account.platform} ${profile.account.handle}`;
  const kept = parts.get(key);
  if (kept !== undefined && 'profile' in kept) return kept;
  const askedMs = clock.now();
  const { found, source, isLocal } = await chain.ask('profile', profile, request);
  const part = { profile: found, source, isLocal, askedMs };
  parts.set(key, part);
  return part;
}

async function readList(query: BrowseQuery, context: BrowseContext): Promise<Walked | null> {
  const { list, listKey, limit, page } = query;
  if (list === null) return null;
  const { memory, parts } = context;
  const position = query.position ?? startOfList;
  const { cursor, taken, recent } = position;
  const isStart = cursor === null && taken === 0 && recent.length === 0;
  const given = isStart ? [] : memory.recall(listKey, position);
  const read = createReadPage(list, query, context);
  const skip = query.position === null ? (page - 1) * limit : 0;
  const options = { position, given, isNewestFirst: isNewestFirst(list), skip, limit, page };
  const walked = await walk(read, options).catch(async (error: unknown) => {
    throw list.kind === 'replies' ? await explainAbsence(error, list, context) : error;
  });
  const { next, leftover } = walked;
  if (leftover !== undefined && next !== null) {
    parts.set(pageKey(listKey, leftover.source, next.cursor), leftover);
  }
  if (next !== null && next.recent.length > 0) memory.remember(listKey, next, walked.given);
  return walked;
}

/** What is ranked changes its places; everything else grows on top. */
function isNewestFirst(list: ListQuery): boolean {
  if (list.kind === 'searchUsers' || list.kind === 'replies') return false;
  return list.kind !== 'search' || list.feed !== 'top';
}

/**
 * Returns the error for replies that could not be read. If a source misses the post, which an outage
 * looks like, the post is asked for: other sources confirm its absence.
 */
async function explainAbsence(
  error: unknown,
  { post }: Extract<ListQuery, { kind: 'replies' }>,
  { chain, request }: BrowseContext,
): Promise<unknown> {
  const cause = error instanceof Problem ? error.cause : undefined;
  if (!(cause instanceof ProviderError) || cause.kind !== 'ambiguous') return error;
  const alone = { kind: 'post', post, thread: false, replies: 'off' } as const;
  try {
    await chain.ask('post', alone, request);
  } catch (other) {
    return other instanceof Problem && other.code === 'not_found' ? other : error;
  }
  return new Problem('upstream_unavailable', {
    detail: 'The post can be read, but the source could not look for its replies.',
    cause: error,
  });
}

function pageKey(listKey: string, provider: string, cursor: string | null): string {
  return `page ${listKey} ${provider} ${cursor ?? ''}`;
}

/** Creates the reader of a list's pages. The first provider to answer gives all, as no other reads its cursors. */
function createReadPage(
  list: ListQuery,
  { listKey, position }: BrowseQuery,
  { chain, parts, clock, request, isLiveOnly }: BrowseContext,
): ReadPage {
  let provider = position?.provider ?? undefined;
  return async ({ cursor, count, again }) => {
    const key = provider === undefined ? undefined : pageKey(listKey, provider, cursor);
    const kept = key === undefined || again ? undefined : parts.get(key);
    if (kept !== undefined && 'page' in kept) return kept;
    const askedMs = clock.now();
    const options = { ...request, provider, isLiveOnly };
    const sourced = await askList(chain, { ...list, cursor, count }, options);
    provider = sourced.source;
    return { ...sourced, askedMs };
  };
}

async function askList(
  chain: ProviderChain,
  query: { [Kind in ListKind]: Answers[Kind]['query'] }[ListKind],
  options: AskOptions,
): Promise<Omit<SourcedPage, 'askedMs'>> {
  // A list's kind goes with its query and with the items of its pages; the compiler loses track of
  // that across the union.
  const { found, ...sourced } = (await chain.ask(query.kind, query, options)) as Sourced<
    typeof query.kind
  >;
  return { ...sourced, page: found as Page<ListItem> };
}

function withoutItems(message: string): Walked {
  const warnings = [`The posts could not be read: ${message}`];
  const nothing = { items: [], given: [], read: [], leftover: undefined };
  return { ...nothing, next: startOfList, warnings, isSound: false };
}

function warnOfLastResort(list: ListQuery | null): string {
  const name = list !== null && 'platform' in list ? platformNames[list.platform] : 'The platform';
  return `${name} could not be searched now. What was imported of ${name} into the archive of this server was searched instead, which is not live and may lack much.`;
}

interface Parts {
  readonly profile: ProfilePart | null;
  readonly walked: Walked | null;
}

function join({ list }: BrowseQuery, { profile: part, walked }: Parts, { clock }: BrowseContext) {
  const read = walked?.read ?? [];
  const parts = [...(part === null ? [] : [part]), ...read];
  const degraded = read.some((one) => one.degraded);
  const found: BrowseFound = {
    account: part?.profile.account ?? null,
    answered: read.find(({ page }) => page.answered !== undefined)?.page.answered,
    items: walked?.items ?? [],
    next: walked?.next ?? null,
    warnings: [
      ...(part?.profile.warnings ?? []),
      ...(degraded ? [warnOfLastResort(list)] : []),
      ...(walked?.warnings ?? []),
    ],
    degraded,
    missing: walked?.isSound === false ? ['items'] : [],
    ...oldestOf([part?.profile.asOfMs, ...read.map(({ page }) => page.asOfMs)]),
  };
  return {
    found,
    source: parts[0]?.source ?? '',
    isLocal: parts.every(({ isLocal }) => isLocal),
    askedMs: Math.min(clock.now(), ...parts.map((one) => one.askedMs)),
  };
}

function oldestOf(times: readonly (number | undefined)[]) {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 && { asOfMs: Math.min(...known) };
}

export type ListKind = Exclude<QueryKind, 'post' | 'profile'>;

/** A list as a whole: a provider's query without the place in it. */
export type ListQuery = {
  [Kind in ListKind]: Omit<Answers[Kind]['query'], 'cursor' | 'count'>;
}[ListKind];

export type ListItem = Post | Account;

/** A place in a list: the content of a cursor. */
export interface ListPosition {
  /** The provider that the walk stays with; `null` if none has answered yet. */
  readonly provider: string | null;
  /** The provider's own cursor of the page with the next item; `null` for its first page. */
  readonly cursor: string | null;
  /** Number of items of that page that the walk has given. */
  readonly taken: number;
  readonly page: number;
  /** Number of pages in a row on which the walk has found nothing. */
  readonly fruitless: number;
  /** Marks of the items given last, oldest first (`given-items.ts`). Empty if pages never overlap. */
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

export interface BrowseQuery {
  readonly kind: 'browse';
  readonly profile: ProfileQuery | null;
  /** `null` if the profile alone is wanted. */
  readonly list: ListQuery | null;
  readonly listKey: string;
  readonly limit: number;
  /** The number of the page, from 1; the pages before it are walked unless `position` is given. */
  readonly page: number;
  /** The place where the page begins; `null` for the beginning of the list. */
  readonly position: ListPosition | null;
}

/** A page of a list: exactly as many items as were wanted, unless it is the last or `missing` is not empty. */
export interface BrowseFound {
  readonly account: Account | null;
  /** Of replies, the post that they answer, if a source has sent it. */
  readonly answered?: Post | undefined;
  readonly items: readonly ListItem[];
  /** The place where the next page begins; `null` at the end. */
  readonly next: ListPosition | null;
  readonly warnings: readonly string[];
  /** Whether a provider answered that is asked as the last resort only. */
  readonly degraded: boolean;
  /** Not empty if the source failed, or left a doubt whether there is more. */
  readonly missing: readonly 'items'[];
  /** The time of its state, in milliseconds since the epoch; left out if that is now. */
  readonly asOfMs?: number;
}
