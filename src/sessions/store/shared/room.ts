import type { Client } from '../../../core/caller.ts';
import { Problem } from '../../../core/problem.ts';
import {
  addressesPerNetwork,
  type Excess,
  type Resource,
} from '../../../core/scheduling/quotas.ts';
import { overloadDetails, tooManyTurns } from '../room.ts';
import type { StoreBounds } from '../session-store.ts';
import { everyone, keys, readMs } from './keys.ts';
import { highestScript, lowestScript, readScript } from './scripts.ts';
import type { Need, Outcome, Transactions } from './transactions.ts';

const resources = { live: 'sessions', stored: 'sessionBytes', pending: 'queuedTurns' } as const;

type Field = Need['field'];
/** Result of a change that was not made because it would exceed a limit. */
export type Excessive = Extract<Outcome, { kind: 'excess' }>;

const inactiveMs = 60_000; // sessions used more recently are not evicted for other addresses
const maxHolders = 64;
const maxCandidates = 8;

/** Returns one `Need`; an empty list if no limits are set (`bounds` is `null`). */
export function toNeed(
  bounds: StoreBounds | null,
  { field, client, amount }: { field: Field; client: Client | null; amount: number },
): Need[] {
  if (bounds === null) return [];
  const resource: Resource = resources[field];
  const { perAddress, total } = bounds.ledger.bounds[resource];
  const { address, network } = client ?? { address: null, network: null };
  const own = [
    ...(address === null ? [] : [{ name: address, most: perAddress, kind: 'address' as const }]),
    ...(network === null
      ? []
      : [{ name: network, most: perAddress * addressesPerNetwork, kind: 'network' as const }]),
  ];
  return [{ field, amount, total, own, ignoresShare: false }];
}

/** Creates the error for an exceeded limit when no session can be evicted. */
export function toExcessProblem({ field, excess }: Excessive): Problem {
  if (field === 'pending') return tooManyTurns(excess);
  return new Problem('overloaded', { detail: overloadDetails[resources[field]] });
}

interface VictimSearch {
  readonly field: 'live' | 'stored';
  readonly excess: Excess;
  readonly client: Client | null;
  readonly except: string;
}

const evictable = { live: [keys.waiting], stored: [keys.over, keys.waiting] } as const;

/** Creates a search for a session to evict; one of the last minute only for its own client. */
export function createVictimSearch(
  { list }: Transactions,
  isReadHere: (id: string) => boolean,
  now: () => number,
) {
  const findUnread = async (sessions: readonly Member[]): Promise<Member | undefined> => {
    const unread = sessions.filter(({ name }) => !isReadHere(name));
    const ids = unread.map(({ name }) => name);
    const isRead = ids.length === 0 ? [] : await list(readScript, readMs, ...ids);
    return unread.find((_, at) => isRead[at] !== '1');
  };
  const findOf = async (name: string, { field, except }: VictimSearch, isOwn: boolean) => {
    const untilMs = isOwn ? '+inf' : now() - inactiveMs;
    for (const set of evictable[field]) {
      const oldest = toMembers(await list(lowestScript, set + name, untilMs, maxCandidates));
      const others = oldest.filter((session) => session.name !== except);
      const found = isOwn ? others[0] : await findUnread(others);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const findBelow = async (parent: string, search: VictimSearch) => {
    const byField = search.field === 'live' ? keys.holdersByLive : keys.holdersByStored;
    const holders = toMembers(await list(highestScript, byField + parent, maxHolders));
    for (const sum of new Set(holders.map(({ score }) => score))) {
      const equal = holders.filter(({ score }) => score === sum);
      const found = await Promise.all(equal.map(({ name }) => findOf(name, search, false)));
      const [oldest] = found.flatMap((one) => one ?? []).sort((a, b) => a.score - b.score);
      if (oldest !== undefined) return oldest;
    }
    return undefined;
  };
  const findOwn = async (search: VictimSearch) =>
    search.client ? findOf(search.client.address, search, true) : undefined;
  const find = async (search: VictimSearch): Promise<Member | undefined> => {
    const { excess, client } = search;
    if (excess === 'address' || excess === 'share') return findOwn(search);
    if (excess === 'network') {
      return (await findBelow(client?.network ?? '', search)) ?? findOwn(search);
    }
    const anyone = (await findBelow(everyone, search)) ?? (await findOf(everyone, search, false));
    return anyone ?? findOwn(search);
  };
  return async (search: VictimSearch): Promise<string | undefined> => (await find(search))?.name;
}

type Member = Readonly<{ name: string; score: number }>;

function toMembers(pairs: readonly string[]): readonly Member[] {
  const members: Member[] = [];
  for (let at = 0; at < pairs.length; at += 2) {
    members.push({ name: pairs[at] ?? '', score: Number(pairs[at + 1]) });
  }
  return members;
}
