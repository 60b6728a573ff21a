import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { addressesPerNetwork } from '../../core/scheduling/ledger.ts';

type Rate = Readonly<{ perMinute: number; burst: number }>;

/** Rate limits of one client address. The limits of a bearer token and of a network are multiples of these limits. */
type CallRatesOptions = Readonly<{ starts: Rate; messages: Rate; clock: Clock }>;

/**
 * Creates the rate limits for session starts and messages. Addresses have limits too, because bearer tokens are not
 * verified. A token has a higher limit than an address, because several clients can share the token.
 */
export function createCallRates({ starts, messages, clock }: CallRatesOptions) {
  const spend = createRateLimit(clock);
  const toStarts = { rate: starts, what: 'start', ofWhat: 'sessions' };
  const toMessages = { rate: messages, what: 'send', ofWhat: 'messages' };
  return {
    /** Counts a session start, which is also a message. @throws Problem `rate_limited` with the exact waiting time */
    spendStart: (owner: string | null, client: Client): void => {
      const ofBearer =
        owner === null ? [] : [{ ...multiply(toStarts), who: 'One bearer', name: owner }];
      spend([...ofBearer, ...toCharges(client, toStarts), ...toCharges(client, toMessages)]);
    },
    /** Counts a message to an existing session. @throws Problem `rate_limited` with the exact waiting time */
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
const looks = 4; // number of least recently seen callers that each counted request checks for removal

/** Creates a rate limiter (generic cell rate algorithm). A call that exceeds one of its limits counts against none. */
function createRateLimit(clock: Clock): (charges: readonly Charge[]) => void {
  const fullAtMs = new Map<string, number>();
  /** Removes callers whose limit is fully available again and, above `maxCallers`, the least recently seen callers. */
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
