import type { Client } from '../../core/caller.ts';
import { type Clock, createSteadyClock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { addressesPerNetwork } from '../../core/scheduling/quotas.ts';

type Rate = Readonly<{ perMinute: number; burst: number }>;

type CallRatesOptions = Readonly<{ starts: Rate; messages: Rate; spend: SpendCharges }>;

export interface CallRates {
  /** Counts a session start and its first message. @throws Problem `rate_limited` */
  spendStart(owner: string | null, client: Client): Promise<void>;
  /** Counts a message against the client's limits. @throws Problem `rate_limited` */
  spendMessage(client: Client): Promise<void>;
}

/** Function that counts a request against all limits, or returns the wait and counts none. */
export type SpendCharges = (charges: readonly NamedRate[]) => Promise<RateWait | null>;

export interface RateWait {
  /** Index, in the list of rate limits, of the exceeded limit with the longest wait. */
  readonly at: number;
  readonly waitMs: number;
}

/** Rate limit of a caller. `name` identifies the caller and the counted action. */
export type NamedRate = Rate & Readonly<{ name: string }>;

/**
 * Creates the rate limits of session starts and messages. Each counts towards the client's address
 * and IPv6 network, because callers can invent bearer tokens. A start also counts towards its
 * token, whose limit is higher because clients with different addresses can share it.
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
