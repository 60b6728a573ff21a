import { Problem } from '../core/problem.ts';
import type { Answers, Page, ProfileFound } from '../providers/provider.ts';
import type { BrowseFound, BrowseQuery, ListItem, ListKind, ListQuery } from './browse-query.ts';
import { type ListPosition, startOfList } from './list-position.ts';
import type { ProviderChain, Sourced } from './provider-chain.ts';
import { type PageSource, type SourcedPage, type Walked, walk } from './walk.ts';
import type { WalkMemory } from './walk-memory.ts';

/** What a page of a list is put together from, kept as long as a list is fresh. */
export interface PartStore {
  /** Gives a part that is fresh. The caller knows by the key what it is. */
  get(key: string): unknown;
  set(key: string, part: ListPart, source: string): void;
}

/** A part that is kept: a profile, or a page of the source of which some is left. */
export type ListPart = ProfilePart | SourcedPage;

interface ProfilePart {
  readonly profile: ProfileFound;
  readonly source: string;
}

/** What browsing may use. */
export interface BrowseContext {
  readonly chain: ProviderChain;
  readonly parts: PartStore;
  readonly memory: WalkMemory;
  readonly signal: AbortSignal;
}

/** A page of a list, and who sent it. */
export interface Browsed {
  readonly found: BrowseFound;
  readonly source: string;
}

/**
 * Gives one page of a list with the profile that it belongs to, both asked for at the same time. A
 * profile whose posts cannot be read is given without them, and the next page is then the first.
 *
 * @throws Problem, see ProviderChain.ask
 */
export async function browse(query: BrowseQuery, context: BrowseContext): Promise<Browsed> {
  const [profile, list] = await Promise.allSettled([
    readProfile(query, context),
    readList(query, context),
  ]);
  if (profile.status === 'rejected') throw profile.reason;
  if (list.status === 'fulfilled') return join(profile.value, list.value);
  if (profile.value === null || !isBearable(list.reason, query)) throw list.reason;
  return join(profile.value, withoutItems(query, list.reason));
}

function isBearable(reason: unknown, { position, page }: BrowseQuery): reason is Problem {
  return reason instanceof Problem && reason.status >= 500 && position === null && page === 1;
}

async function readProfile(
  { profile }: BrowseQuery,
  { chain, parts, signal }: BrowseContext,
): Promise<ProfilePart | null> {
  if (profile === null) return null;
  const key = `profile ${profile.account.platform} ${profile.account.handle}`;
  // Only this function keeps parts under such a key.
  const kept = parts.get(key) as ProfilePart | undefined;
  if (kept !== undefined) return kept;
  const { found, source } = await chain.ask('profile', profile, { signal });
  const part = { profile: found, source };
  parts.set(key, part, source);
  return part;
}

async function readList(query: BrowseQuery, context: BrowseContext): Promise<Walked | null> {
  const { list, listKey, limit, page } = query;
  if (list === null) return null;
  const position = query.position ?? startOfList;
  const given = isStart(position) ? [] : context.memory.recall(listKey, position);
  const source = createPageSource({ list, listKey, position }, context);
  const skip = query.position === null ? (page - 1) * limit : 0;
  const walked = await walk(source, { position, given }, { skip, limit, page });
  const { next, leftover } = walked;
  if (leftover !== undefined && next !== null) {
    context.parts.set(pageKey(listKey, leftover.source, next.cursor), leftover, leftover.source);
  }
  if (given !== undefined && next !== null && next.recent.length > 0) {
    context.memory.remember(listKey, next, walked.given);
  }
  return walked;
}

function isStart({ cursor, taken, recent }: ListPosition): boolean {
  return cursor === null && taken === 0 && recent.length === 0;
}

function pageKey(listKey: string, provider: string, cursor: string | null): string {
  return `page ${listKey} ${provider} ${cursor ?? ''}`;
}

interface WalkedList {
  readonly list: ListQuery;
  readonly listKey: string;
  readonly position: ListPosition;
}

/** Makes the source of a walk: who answers first is asked to the end, for no other reads its cursors. */
function createPageSource(
  { list, listKey, position }: WalkedList,
  { chain, parts, signal }: BrowseContext,
): PageSource {
  let provider = position.provider ?? undefined;
  return {
    read: async ({ cursor, count, again }) => {
      const key = provider === undefined ? undefined : pageKey(listKey, provider, cursor);
      // Only `readList` keeps parts under such a key.
      const kept = key === undefined || again ? undefined : parts.get(key);
      if (kept !== undefined) return kept as SourcedPage;
      const sourced = await askList(chain, { ...list, cursor, count }, { signal, provider });
      provider = sourced.source;
      return sourced;
    },
  };
}

type PageAsk = { [Kind in ListKind]: Answers[Kind]['query'] }[ListKind];

async function askList(
  chain: ProviderChain,
  query: PageAsk,
  options: Parameters<ProviderChain['ask']>[2],
): Promise<SourcedPage> {
  // A list's kind goes with its query and with the items of its pages; the compiler loses track of
  // that across the union.
  const { found, source, degraded } = (await chain.ask(query.kind, query, options)) as Sourced<
    typeof query.kind
  >;
  return { page: found as Page<ListItem>, source, degraded };
}

const noPosts: Pick<Walked, 'items' | 'given' | 'leftover' | 'degraded' | 'asOfMs'> = {
  items: [],
  given: [],
  leftover: undefined,
  degraded: false,
  asOfMs: undefined,
};

function withoutItems({ page }: BrowseQuery, problem: Problem): Walked {
  return {
    ...noPosts,
    next: { ...startOfList, page },
    warnings: [`The posts could not be read: ${problem.message}`],
    isCut: true,
    source: '',
  };
}

function join(part: ProfilePart | null, walked: Walked | null): Browsed {
  const times = [part?.profile.asOfMs, walked?.asOfMs].filter((time) => time !== undefined);
  const found: BrowseFound = {
    account: part?.profile.account ?? null,
    items: walked?.items ?? [],
    next: walked?.next ?? null,
    warnings: [...(part?.profile.warnings ?? []), ...(walked?.warnings ?? [])],
    degraded: walked?.degraded ?? false,
    missing: walked?.isCut === true ? ['items'] : [],
    ...(times.length === 0 ? {} : { asOfMs: Math.min(...times) }),
  };
  return { found, source: part?.source ?? walked?.source ?? '' };
}
