import type { Client } from '../../core/caller.ts';
import { type Clock, createSteadyClock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { addressesPerNetwork } from '../../core/scheduling/ledger.ts';

type Rate = Readonly<{ perMinute: number; burst: number }>;

type CallRatesOptions = Readonly<{ starts: Rate; messages: Rate; spend: SpendCharges }>;

/** Functions that apply the rate limits for session starts and messages. */
export interface CallRates {
  /**
   * Counts a new session and its first message against the caller's rate limits. @throws Problem
   * `rate_limited` with the time until a retry can succeed
   */
  spendStart(owner: string | null, client: Client): Promise<void>;
  /**
   * Counts a message against the client's rate limits. @throws Problem `rate_limited` with the time
   * until a retry can succeed
   */
  spendMessage(client: Client): Promise<void>;
}

/**
 * Function that counts one request against several rate limits (`charges`). If the request exceeds
 * one of the limits, it is counted against none of them. Returns the time to wait until all the
 * limits allow the request. Returns `null` if the request was counted.
 */
export type SpendCharges = (charges: readonly NamedRate[]) => Promise<RateWait | null>;

/** Time that a client must wait before it repeats a request that exceeded a rate limit. */
export interface RateWait {
  /** Index, in the list of rate limits, of the exceeded limit with the longest wait. */
  readonly at: number;
  /** Milliseconds until a retry can succeed. */
  readonly waitMs: number;
}

/** Rate limit of a caller. `name` identifies the caller and the counted action. */
export type NamedRate = Rate & Readonly<{ name: string }>;

/**
 * Creates the functions that apply the rate limits for session starts and messages. Each request counts towards the
 * limits of the client's address and IPv6 network, because callers can invent bearer tokens. A session start also
 * counts towards the limit of its bearer token. A token has a higher limit than an address, because clients with
 * different addresses can share the token.
 */
export function createCallRates({ starts, messages, spend }: CallRatesOptions): CallRates {
  const toStarts = {
    rate: starts,
    what: 'start',
    ofWhat: 'sessions',
    settings: '`PERCH_SESSION_STARTS_PER_MINUTE`, `PERCH_SESSION_START_BURST`',
  };
  const toMessages = {
    rate: messages,
    what: 'send',
    ofWhat: 'messages',
    settings: '`PERCH_SESSION_TURNS_PER_MINUTE`',
  };
  const spendAll = async (charges: readonly Charge[]): Promise<void> => {
    const rates = charges.map(({ rate, what, name }) => ({ ...rate, name: `${what} ${name}` }));
    const wait = await spend(rates);
    const charge = wait && charges[wait.at];
    if (charge) throw tooOften(charge, wait.waitMs);
  };
  return {
    spendStart: (owner, client) => {
      const ofBearer =
        owner === null ? [] : [{ ...multiply(toStarts), who: 'One bearer', name: owner }];
      const ofAddress = [...toCharges(client, toStarts), ...toCharges(client, toMessages)];
      return spendAll([...ofBearer, ...ofAddress]);
    },
    spendMessage: (client) => spendAll(toCharges(client, toMessages)),
  };
}

type Rule = Readonly<{ rate: Rate; what: string; ofWhat: string; settings: string }>;
type Charge = Rule & Readonly<{ who: string; name: string }>;

function toCharges({ address, network }: Client, rule: Rule): readonly Charge[] {
  const own = { ...rule, who: 'One address', name: address };
  if (network === null) return [own];
  return [own, { ...multiply(rule), who: 'One IPv6 /48', name: network }];
}

function multiply({ rate, ...rule }: Rule): Rule {
  const perMinute = rate.perMinute * addressesPerNetwork;
  return { ...rule, rate: { perMinute, burst: rate.burst * addressesPerNetwork } };
}

const maxCallers = 100_000;
const looks = 4; // number of least recently seen callers that each counted request checks for removal

/** Creates a rate limiter that keeps its state in the memory of this process. */
export function createOwnRateLimit(clock: Clock): SpendCharges {
  const steady = createSteadyClock(clock);
  const fullAtMs = new Map<string, number>();
  const forgetFull = (nowMs: number): void => {
    let left = looks;
    for (const [name, atMs] of fullAtMs) {
      if (atMs <= nowMs || fullAtMs.size > maxCallers) fullAtMs.delete(name);
      left -= 1;
      if (left === 0) break;
    }
  };
  return async (rates) => {
    const nowMs = steady.now();
    const taken = rates.map(({ perMinute, burst, name }, at) => {
      const oneMs = 60_000 / perMinute;
      const next = Math.max(nowMs, fullAtMs.get(name) ?? nowMs) + oneMs;
      return { at, name, next, waitMs: next - burst * oneMs - nowMs };
    });
    const [longest] = taken.toSorted((a, b) => b.waitMs - a.waitMs);
    if (longest && longest.waitMs > 0) return longest;
    for (const { name, next } of taken) {
      fullAtMs.delete(name); // keeps the least recently seen callers first
      fullAtMs.set(name, next);
      forgetFull(nowMs);
    }
    return null;
  };
}

function tooOften({ rate, who, what, ofWhat, settings }: Charge, waitMs: number): Problem {
  const { perMinute, burst } = rate;
  return new Problem('rate_limited', {
    detail: `${who} may ${what} ${perMinute} ${ofWhat} per minute, and ${burst} at once (${settings}).`,
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
