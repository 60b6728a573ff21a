import type { Client, Pool, PoolShare, Spending } from '../core/caller.ts';
import { Problem } from '../core/problem.ts';
import type { AllowanceStore, Charge, Spent } from './allowance-store.ts';
import { toClient } from './client-address.ts';

/** The policies of allowances, as `RateLimit-Policy` names them (decisions section 6). */
export type AllowancePolicy = 'public' | 'key' | 'post';

/** The allowance that a read is paid from. */
export interface Account extends Charge {
  readonly policy: AllowancePolicy;
  /** The allowance that the network around the address has together; `null` for keys and IPv4. */
  readonly network: Charge | null;
}

/** The addresses of an IPv6 /48 have this many allowances together. */
const allowancesPerNetwork = 8;

/** What is left of an account's allowance. */
export interface AllowanceState {
  /** Units that can be spent now. */
  readonly remaining: number;
  /** Whole seconds until a unit comes back; the window where none is spent. */
  readonly resetSeconds: number;
  /** Milliseconds for which this holds, unless somebody spends: for ever where nothing is spent. */
  readonly holdsMs: number;
}

/** How large the allowances are, in units; of the pool, in upstream requests. */
export interface AllowanceLimits {
  readonly windowSeconds: number;
  readonly public: number;
  /** That of a key without an allowance of its own. */
  readonly key: number;
  readonly post: number;
  readonly pool: number;
}

/** The allowances of all callers. */
export interface Allowances {
  readonly limits: AllowanceLimits;
  /** Returns the account of a client address or a key, by its name; `limit` where it has its own. */
  accountOf(policy: AllowancePolicy, name: string, limit?: number | null): Account;
  /**
   * Spends a unit.
   *
   * @throws Problem `rate_limited`, with the exact wait
   */
  spend(account: Account): Promise<Spending>;
  stateOf(account: Account): AllowanceState;
  /** Counts what was spent and given back. While it stands, no state changes but by time. */
  readonly revision: number;
  readonly pool: Pool;
}

/** The part of the pool that callers without a key can use (decisions section 6). */
const anonymousPart = 4 / 5;

/** Creates the allowances, counted in a store. */
export function createAllowances(store: AllowanceStore, limits: AllowanceLimits): Allowances {
  const { windowSeconds } = limits;
  const charges = poolCharges(limits.pool);
  let revision = 0;
  return {
    limits,
    get revision() {
      return revision;
    },
    accountOf: (policy, name, limit) => ({
      policy,
      account: `${policy} ${name}`,
      limit: limit ?? limits[policy],
      network: policy === 'key' ? null : toNetworkCharge(policy, name, limits[policy]),
    }),
    spend: async (account) => {
      const { network } = account;
      const spent = await store.spend(network === null ? [account] : [account, network]);
      if (!spent.ok) throw exhausted(spent, explainAccount(account, windowSeconds));
      revision += 1;
      const giveBack = () => {
        spent.giveBack();
        revision += 1;
      };
      return { giveBack };
    },
    stateOf: ({ network, ...own }) => {
      const state = stateOfCharge(own, store, windowSeconds);
      if (network === null) return state;
      const around = stateOfCharge(network, store, windowSeconds);
      const { remaining, resetSeconds } = around.remaining < state.remaining ? around : state;
      return { remaining, resetSeconds, holdsMs: Math.min(state.holdsMs, around.holdsMs) };
    },
    pool: {
      take: async (share, history) => {
        const parts = history === undefined ? [] : historyCharges(limits.pool, history);
        const spent = await store.spend([...charges[share], ...parts]);
        if (!spent.ok) throw exhausted(spent, explainPool(spent.account));
      },
    },
  };
}

function toNetworkCharge(policy: string, address: string, limit: number): Charge | null {
  const { network } = toClient(address);
  if (network === null) return null;
  return { account: `${policy} ${network}`, limit: limit * allowancesPerNetwork };
}

function stateOfCharge(
  { account, limit }: Charge,
  store: AllowanceStore,
  windowSeconds: number,
): AllowanceState {
  const { spent, nextMs } = store.stateOf(account, limit);
  return {
    remaining: Math.max(0, limit - spent),
    resetSeconds: spent === 0 ? windowSeconds : Math.ceil(nextMs / 1000),
    holdsMs: spent === 0 ? Number.POSITIVE_INFINITY : ((nextMs - 1) % 1000) + 1,
  };
}

const whole = 'pool';
const anonymous = 'pool anonymous';

function poolCharges(limit: number): Readonly<Record<PoolShare, readonly Charge[]>> {
  const all = { account: whole, limit };
  const part = { account: anonymous, limit: Math.max(1, Math.floor(limit * anonymousPart)) };
  return { keyed: [all], anonymous: [all, part] };
}

/** The parts of the pool for all histories and for those of one client: a history is one unit for many requests. */
const historyParts = { all: 5 / 8, oneClient: 1 / 2 } as const;

const histories = 'pool histories';

function historyCharges(limit: number, { address, network }: Client): readonly Charge[] {
  const partOf = (part: number) => Math.max(1, Math.floor(limit * part));
  return [
    { account: histories, limit: partOf(historyParts.all) },
    { account: `${histories} ${network ?? address}`, limit: partOf(historyParts.oneClient) },
  ];
}

function exhausted({ waitMs }: Spent & { readonly ok: false }, detail: string): Problem {
  return new Problem('rate_limited', { detail, retryAfterSeconds: Math.ceil(waitMs / 1000) });
}

function explainAccount({ policy, limit }: Account, windowSeconds: number): string {
  const size = `of ${limit} in ${windowSeconds} seconds`;
  switch (policy) {
    case 'public':
      return `The public allowance ${size} for this client address is used up.`;
    case 'key':
      return `The allowance ${size} of this key is used up.`;
    case 'post':
      return `The allowance of posts, ${limit} in ${windowSeconds} seconds for this client address, is used up.`;
  }
}

function explainPool(account: string): string {
  if (account.startsWith(histories)) {
    return 'Histories have used up their part of the upstream requests that all callers share.';
  }
  return account === anonymous
    ? 'Callers without a key have used up their part of the upstream requests that all callers share.'
    : 'The upstream requests that all callers share are used up.';
}
