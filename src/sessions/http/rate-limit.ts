import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { addressesPerNetwork } from '../../core/scheduling/ledger.ts';

type Rate = Readonly<{ perMinute: number; burst: number }>;

/** Rates of one address. Bearer tokens and networks have multiples of these rates. */
type CallRatesOptions = Readonly<{ starts: Rate; messages: Rate; clock: Clock }>;

/**
 * Creates the limits of session starts and messages. Bearer tokens are not verified, so addresses are limited too. A
 * token has a higher limit than an address, so that one client cannot use up the limit of others with the same token.
 */
export function createCallRates({ starts, messages, clock }: CallRatesOptions) {
  const spend = createRateLimit(clock);
  const toStarts = { rate: starts, what: 'start', ofWhat: 'sessions' };
  const toMessages = { rate: messages, what: 'send', ofWhat: 'messages' };
  return {
    /** Counts the start of a session, which is also a message. @throws Problem `rate_limited` with the exact wait */
    spendStart: (owner: string | null, client: Client): void => {
      const ofBearer =
        owner === null ? [] : [{ ...multiply(toStarts), who: 'One bearer', name: owner }];
      spend([...ofBearer, ...toCharges(client, toStarts), ...toCharges(client, toMessages)]);
    },
    /** Counts a message to an existing session. @throws Problem `rate_limited` with the exact wait */
    spendMessage: (client: Client): void => spend(toCharges(client, toMessages)),
  };
}

type Rule = Readonly<{ rate: Rate; what: string; ofWhat: string }>;
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
const looks = 4; // least recently seen callers that each charge checks for removal

/** Creates a limiter by the generic cell rate algorithm. A call applies all of its charges or none of them. */
function createRateLimit(clock: Clock): (charges: readonly Charge[]) => void {
  const fullAtMs = new Map<string, number>();
  /** Removes callers whose full burst is available again, and the least recently seen callers if there are too many. */
  const forgetFull = (nowMs: number): void => {
    let left = looks;
    for (const [name, atMs] of fullAtMs) {
      if (atMs <= nowMs || fullAtMs.size > maxCallers) fullAtMs.delete(name);
      left -= 1;
      if (left === 0) break;
    }
  };
  return (charges) => {
    const nowMs = clock.now();
    const taken = charges.map((charge) => {
      const { rate, what, name } = charge;
      const [oneMs, key] = [60_000 / rate.perMinute, `${what} ${name}`];
      const next = Math.max(nowMs, fullAtMs.get(key) ?? nowMs) + oneMs;
      return { charge, key, next, waitMs: next - rate.burst * oneMs - nowMs };
    });
    const [longest] = taken.toSorted((a, b) => b.waitMs - a.waitMs);
    if (longest && longest.waitMs > 0) throw tooOften(longest.charge, longest.waitMs);
    for (const { key, next } of taken) {
      fullAtMs.delete(key); // keeps the least recently seen callers first
      fullAtMs.set(key, next);
      forgetFull(nowMs);
    }
  };
}

function tooOften({ rate, who, what, ofWhat }: Charge, waitMs: number): Problem {
  return new Problem('rate_limited', {
    detail: `${who} may ${what} ${rate.perMinute} ${ofWhat} per minute.`,
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
