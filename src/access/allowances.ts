import type { Client, PoolShare, SpentUnit } from '../lib/caller.ts';
import { Problem } from '../lib/problem.ts';
import { toClient } from './client-address.ts';
import type { Charge, RateLimiter } from './rate-limits.ts';

/** Name of a rate-limit policy, as sent in the `RateLimit-Policy` header (docs/keys.md). */
export type AllowancePolicy = AddressPolicy | 'key';

/** Policy of a client address. */
export type AddressPolicy = 'public' | 'post' | 'media';

/** Rate-limit account of an API key or a client address, to which reads are charged. */
export interface Account extends Charge {
  readonly policy: AllowancePolicy;
  /** Charge to the limit of an IPv6 /48 network; `null` for API keys and IPv4 addresses. */
  readonly network: Charge | null;
}

const allowancesPerNetwork = 8;

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

export type Allowances = ReturnType<typeof createAllowances>;

/** Creates the rate limits of callers, and the common limit on upstream requests (`pool`). */
export function createAllowances(
  { callers, pool }: Readonly<Record<'callers' | 'pool', RateLimiter>>,
  limits: AllowanceLimits,
) {
  const { windowSeconds } = limits;
  const windowMs = windowSeconds * 1000;
  const { refresh: loadStates } = callers;
  let revision = 0;
  const toNetworkCharge = (policy: AddressPolicy, address: string): Charge | null => {
    const { network } = toClient(address);
    if (network === null) return null;
    const limit = limits[policy] * allowancesPerNetwork;
    return { account: `${policy} ${network}`, limit, windowMs };
  };
  return {
    limits,
    /** Number that increases when results of `stateOf` may be stale. */
    get revision() {
      return revision;
    },
    /** Returns the account of an address or key id (`name`). `limit` overrides the policy's limit. */
    accountOf: (policy: AllowancePolicy, name: string, limit?: number | null): Account => ({
      policy,
      account: `${policy} ${name}`,
      limit: limit ?? limits[policy],
      windowMs,
      network: policy === 'key' ? null : toNetworkCharge(policy, name),
    }),
    /** Charges one request. Throws Problem `rate_limited` with the time to retry if none is left. */
    spend: async (account: Account): Promise<SpentUnit> => {
      const spent = await callers.spend(chargesOf(account));
      if (!spent.ok) throw rateLimited(spent.waitMs, describeAccount(account, windowSeconds));
      revision += 1;
      const refund = () => {
        spent.refund();
        revision += 1;
      };
      return { refund };
    },
    /**
     * Returns the remaining units, the seconds until the window ends, rounded up, and the
     * milliseconds for which this is correct without further spending (may be `Infinity`).
     */
    stateOf: (account: Account) => {
      let least = { remaining: Number.POSITIVE_INFINITY, resetSeconds: 0 };
      let validMs = Number.POSITIVE_INFINITY;
      for (const charge of chargesOf(account)) {
        const { spent, resetMs } = callers.stateOf(charge);
        const remaining = Math.max(0, charge.limit - spent);
        const resetSeconds = Math.ceil(resetMs / 1000);
        if (remaining < least.remaining) least = { remaining, resetSeconds };
        if (spent > 0) validMs = Math.min(validMs, ((resetMs - 1) % 1000) + 1);
      }
      return { ...least, validMs };
    },
    /** Loads the state if it might be over a second old, otherwise returns `null`; if shared. */
    refresh:
      loadStates &&
      ((account: Account): Promise<void> | null => {
        const count = () => {
          revision += 1;
        };
        return loadStates(chargesOf(account))?.then(count) ?? null;
      }),
    ...createPool(pool, limits),
  };
}

function createPool(limiter: RateLimiter, { pool: limit, windowSeconds }: AllowanceLimits) {
  const windowMs = windowSeconds * 1000;
  return {
    pool: {
      take: async (share: PoolShare, history?: Client) => {
        const charges = toPoolCharges(limit, share, history);
        const spent = await limiter.spend(charges.map((charge) => ({ ...charge, windowMs })));
        if (!spent.ok) throw rateLimited(spent.waitMs, spent.charge.detail);
      },
    },
    /** Returns the number and limit of the upstream requests of all callers in the current window. */
    poolUse: async () => {
      const charge = { ...toWholePool(limit), windowMs };
      await limiter.refresh?.([charge]);
      return { used: limiter.stateOf(charge).spent, limit, windowSeconds };
    },
  };
}

function chargesOf(account: Account): readonly Charge[] {
  return account.network === null ? [account] : [account, account.network];
}

function rateLimited(waitMs: number, detail: string): Problem {
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

const poolParts = {
  /** Share of the upstream request limit that all callers without an API key together may use. */
  anonymous: 4 / 5,
  /** Share of the upstream request limit that all history imports together may use. */
  histories: 5 / 8,
  /** Share of the upstream request limit that the history imports of one client may use. */
  client: 1 / 2,
} as const;

const historiesDetail =
  'Reads of histories have used up their part of the upstream requests that all callers share.';
const anonymousDetail =
  'Callers without a key have used up their part of the upstream requests that all callers share.';

const toWholePool = (limit: number) => ({
  account: 'pool',
  limit,
  detail: 'The upstream requests that all callers share are used up.',
});

function toPoolCharges(limit: number, share: PoolShare, history?: Client) {
  const toPart = (account: string, size: number, detail: string) => ({
    account: `pool ${account}`,
    limit: Math.max(1, Math.floor(limit * size)),
    detail,
  });
  const charges = [toWholePool(limit)];
  if (share === 'anonymous') charges.push(toPart(share, poolParts.anonymous, anonymousDetail));
  if (history !== undefined) {
    const client = `histories ${history.network ?? history.address}`;
    charges.push(toPart('histories', poolParts.histories, historiesDetail));
    charges.push(toPart(client, poolParts.client, historiesDetail));
  }
  return charges;
}
