import type { Client, Pool, PoolShare, Spending } from '../../core/caller.ts';
import { Problem } from '../../core/problem.ts';
import { toClient } from '../client-address.ts';
import type { AllowanceStore, Charge, Spent } from './allowance-store.ts';

/** The policies of allowances, as `RateLimit-Policy` names them (docs/keys.md). */
export type AllowancePolicy = 'public' | 'key' | 'post';

/** The allowance that a read is paid from. */
export interface Account extends Charge {
  readonly policy: AllowancePolicy;
  /** The allowance that the network around the address shares; `null` for keys and IPv4. */
  readonly network: Charge | null;
}

/** The addresses of an IPv6 /48 have this many allowances together. */
const allowancesPerNetwork = 8;

/** State of an account's allowance. */
interface AllowanceState {
  /** Units that can be spent now. */
  readonly remaining: number;
  /** Whole seconds until a unit comes back; the window if none is spent. */
  readonly resetSeconds: number;
  /** Milliseconds for which this holds unless somebody spends; infinite if nothing is spent. */
  readonly holdsMs: number;
}

/** Sizes of the allowances in units; of the pool, in upstream requests. */
export interface AllowanceLimits {
  readonly windowSeconds: number;
  readonly public: number;
  /** Allowance of a key that has none of its own. */
  readonly key: number;
  readonly post: number;
  readonly pool: number;
}

/** The allowances of all callers. */
export interface Allowances {
  readonly limits: AllowanceLimits;
  /** Returns the account of a client address or a key; `limit` if the key has its own. */
  accountOf(policy: AllowancePolicy, name: string, limit?: number | null): Account;
  /**
   * Spends a unit.
   *
   * @throws Problem `rate_limited`, with the exact wait
   */
  spend(account: Account): Promise<Spending>;
  stateOf(account: Account): AllowanceState;
  /** Number of spends and refunds so far. While it is the same, states change only with time. */
  readonly revision: number;
  readonly pool: Pool;
}

/** Creates the allowances. The pool has a store of its own, so that many callers cannot make a bounded one forget it. */
export function createAllowances(
  stores: Readonly<Record<'callers' | 'pool', AllowanceStore>>,
  limits: AllowanceLimits,
): Allowances {
  const { windowSeconds } = limits;
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
      const spent = await stores.callers.spend(chargesOf(account));
      if (!spent.ok) throw exhausted(spent, explainAccount(account, windowSeconds));
      revision += 1;
      const giveBack = () => {
        spent.giveBack();
        revision += 1;
      };
      return { giveBack };
    },
    stateOf: (account) => {
      const states = chargesOf(account).map(({ account: name, limit }) => {
        const { spent, nextMs } = stores.callers.stateOf(name, limit);
        return {
          remaining: Math.max(0, limit - spent),
          resetSeconds: spent === 0 ? windowSeconds : Math.ceil(nextMs / 1000),
          holdsMs: spent === 0 ? Number.POSITIVE_INFINITY : ((nextMs - 1) % 1000) + 1,
        };
      });
      const least = states.reduce((a, b) => (b.remaining < a.remaining ? b : a));
      return { ...least, holdsMs: Math.min(...states.map(({ holdsMs }) => holdsMs)) };
    },
    pool: {
      take: async (share, history) => {
        const spent = await stores.pool.spend(poolCharges(limits.pool, share, history));
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

function chargesOf(account: Account): readonly Charge[] {
  return account.network === null ? [account] : [account, account.network];
}

/** Parts of the pool: for callers without a key, for all histories, and for the histories of one client. */
const poolParts = { anonymous: 4 / 5, histories: 5 / 8, client: 1 / 2 } as const;

const anonymous = 'pool anonymous';
const histories = 'pool histories';

function poolCharges(limit: number, share: PoolShare, history?: Client): readonly Charge[] {
  const part = (account: string, size: number) => ({
    account,
    limit: Math.max(1, Math.floor(limit * size)),
  });
  const charges = [part('pool', 1)];
  if (share === 'anonymous') charges.push(part(anonymous, poolParts.anonymous));
  if (history !== undefined) {
    const client = history.network ?? history.address;
    charges.push(part(histories, poolParts.histories));
    charges.push(part(`${histories} ${client}`, poolParts.client));
  }
  return charges;
}

function exhausted({ waitMs }: Spent & { readonly ok: false }, detail: string): Problem {
  return new Problem('rate_limited', { detail, retryAfterSeconds: Math.ceil(waitMs / 1000) });
}

function explainAccount({ policy, limit }: Account, windowSeconds: number): string {
  const size = `${limit} in ${windowSeconds} seconds`;
  return {
    public: `The public allowance of ${size} for this client address is used up.`,
    key: `The allowance of ${size} of this key is used up.`,
    post: `The allowance of posts, ${size} for this client address, is used up.`,
  }[policy];
}

function explainPool(account: string): string {
  if (account.startsWith(histories)) {
    return 'Histories have used up their part of the upstream requests that all callers share.';
  }
  return account === anonymous
    ? 'Callers without a key have used up their part of the upstream requests that all callers share.'
    : 'The upstream requests that all callers share are used up.';
}
