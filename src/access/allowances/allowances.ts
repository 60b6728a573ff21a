import type { Client, Pool, PoolShare, SpentUnit } from '../../core/caller.ts';
import { Problem } from '../../core/problem.ts';
import { toClient } from '../client-address.ts';
import type { AllowanceStore, Charge, Spent } from './allowance-store.ts';

/** Name of a rate-limit policy, as sent in the `RateLimit-Policy` header (docs/keys.md). */
export type AllowancePolicy = 'public' | 'key' | 'post' | 'media';

/** Rate-limit account of an API key or a client address, to which reads are charged. */
export interface Account extends Charge {
  readonly policy: AllowancePolicy;
  /** Charge to the limit of an IPv6 /48 network; `null` for API keys and IPv4 addresses. */
  readonly network: Charge | null;
}

const allowancesPerNetwork = 8;

interface AllowanceState {
  readonly remaining: number;
  /** Seconds, rounded up, until the next used unit is free; the whole window if none is used. */
  readonly resetSeconds: number;
  /** Milliseconds for which the state is correct without further spending; may be `Infinity`. */
  readonly validMs: number;
}

/** Units that one caller may spend per time window under each policy. Cached reads cost none. */
export interface AllowanceLimits {
  readonly windowSeconds: number;
  readonly public: number;
  /** Default number of units that an API key may spend in a time window. */
  readonly key: number;
  readonly post: number;
  readonly media: number;
  /** Maximum number of upstream requests of all callers together in a time window. */
  readonly pool: number;
}

export interface Allowances {
  readonly limits: AllowanceLimits;
  /** Returns the account of an address or key id (`name`). `limit` overrides the policy's limit. */
  accountOf(policy: AllowancePolicy, name: string, limit?: number | null): Account;
  /** Charges one request. Throws Problem `rate_limited` with the time to retry if none is left. */
  spend(account: Account): Promise<SpentUnit>;
  stateOf(account: Account): AllowanceState;
  /** Loads the state if it might be over a second old; otherwise returns `null`. */
  refresh(account: Account): Promise<void> | null;
  /** Number that increases when a state may have changed and results of `stateOf` are stale. */
  readonly revision: number;
  readonly pool: Pool;
  poolUse(): Promise<PoolUse>;
}

/** Number and limit of the upstream requests of all callers in the last `windowSeconds` seconds. */
export type PoolUse = Readonly<Record<'used' | 'limit' | 'windowSeconds', number>>;

/** Creates the rate limits of callers, and the common limit on upstream requests (`pool`). */
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
      if (!spent.ok) throw toRateLimited(spent, describeAccount(account, windowSeconds));
      revision += 1;
      const refund = () => {
        spent.refund();
        revision += 1;
      };
      return { refund };
    },
    stateOf: (account) => {
      const states = chargesOf(account).map(({ account: name, limit }) => {
        const { spent, nextMs } = stores.callers.stateOf(name, limit);
        return {
          remaining: Math.max(0, limit - spent),
          resetSeconds: spent === 0 ? windowSeconds : Math.ceil(nextMs / 1000),
          validMs: spent === 0 ? Number.POSITIVE_INFINITY : ((nextMs - 1) % 1000) + 1,
        };
      });
      const least = states.reduce((a, b) => (b.remaining < a.remaining ? b : a));
      return { ...least, validMs: Math.min(...states.map(({ validMs }) => validMs)) };
    },
    refresh: (account) => {
      if (stores.callers.refresh === undefined) return null;
      const refreshed = stores.callers.refresh(chargesOf(account));
      const count = () => {
        revision += 1;
      };
      return refreshed?.then(count) ?? null;
    },
    pool: {
      take: async (share, history) => {
        const spent = await stores.pool.spend(poolCharges(limits.pool, share, history));
        if (!spent.ok) throw toRateLimited(spent, describePool(spent.account));
      },
    },
    poolUse: async () => {
      const all = wholePool(limits.pool);
      await stores.pool.refresh?.([all]);
      const { spent } = stores.pool.stateOf(all.account, all.limit);
      return { used: spent, limit: all.limit, windowSeconds };
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

const poolParts = {
  /** Share of the upstream request limit that all callers without an API key together may use. */
  anonymous: 4 / 5,
  /** Share of the upstream request limit that all history imports together may use. */
  histories: 5 / 8,
  /** Share of the upstream request limit that the history imports of one client may use. */
  client: 1 / 2,
} as const;

const anonymous = 'pool anonymous';
const histories = 'pool histories';

const wholePool = (limit: number): Charge => ({ account: 'pool', limit });

function poolCharges(limit: number, share: PoolShare, history?: Client): readonly Charge[] {
  const part = (account: string, size: number) => ({
    account,
    limit: Math.max(1, Math.floor(limit * size)),
  });
  const charges = [wholePool(limit)];
  if (share === 'anonymous') charges.push(part(anonymous, poolParts.anonymous));
  if (history !== undefined) {
    const client = history.network ?? history.address;
    charges.push(part(histories, poolParts.histories));
    charges.push(part(`${histories} ${client}`, poolParts.client));
  }
  return charges;
}

function toRateLimited({ waitMs }: Spent & { readonly ok: false }, detail: string): Problem {
  return new Problem('rate_limited', { detail, retryAfterSeconds: Math.ceil(waitMs / 1000) });
}

function describeAccount({ policy, limit }: Account, windowSeconds: number): string {
  const size = `${limit} per ${windowSeconds} seconds`;
  return {
    public: `The public allowance of this client address (${size}) is used up.`,
    key: `The allowance of this key (${size}) is used up.`,
    post: `The allowance for posts of this client address (${size}) is used up.`,
    media: `The allowance for pictures of this client address (${size}) is used up.`,
  }[policy];
}

function describePool(account: string): string {
  if (account.startsWith(histories)) {
    return 'Reads of histories have used up their part of the upstream requests that all callers share.';
  }
  return account === anonymous
    ? 'Callers without a key have used up their part of the upstream requests that all callers share.'
    : 'The upstream requests that all callers share are used up.';
}
