import type { Charge, RateLimiter } from '../access/rate-limits.ts';
import type { Client } from '../lib/caller.ts';
import { Problem } from '../lib/problem.ts';
import { addressesPerNetwork } from '../lib/scheduling/quotas.ts';

type Rate = Readonly<{ perMinute: number; burst: number }>;

/** Limits of each client address. */
export type CallLimits = Readonly<
  Record<'startsPerMinute' | 'startBurst' | 'messagesPerMinute', number>
>;

/**
 * Creates the rate limits of session starts and messages. Each counts towards the client's address
 * and IPv6 network, because callers can invent bearer tokens. A start also counts towards its
 * token, whose limit is higher because clients with different addresses can share it.
 */
export function createCallRates(limits: CallLimits, limiter: RateLimiter) {
  const { startsPerMinute, startBurst, messagesPerMinute } = limits;
  const starts = { perMinute: startsPerMinute, burst: startBurst };
  // The burst is a third of the rate per minute, like the default for starts.
  const burst = Math.max(1, Math.floor(messagesPerMinute / 3));
  const toStart = createRule(starts, {
    what: 'start',
    ofWhat: 'sessions',
    settings: '`PERCH_SESSION_STARTS_PER_MINUTE`, `PERCH_SESSION_START_BURST`',
    // A burst is followed by one start at a time.
    toWindow: ({ perMinute }) => ({ windowMs: 60_000 / perMinute, regained: 1 }),
  });
  const toMessage = createRule(
    { perMinute: messagesPerMinute, burst },
    {
      what: 'send',
      ofWhat: 'messages',
      settings: '`PERCH_SESSION_TURNS_PER_MINUTE`',
      toWindow: ({ perMinute, burst }) => ({ windowMs: (60_000 * burst) / perMinute }),
    },
  );
  const spend = async (charges: readonly CallCharge[]): Promise<void> => {
    const spent = await limiter.spend(charges);
    if (spent.ok) return;
    const { charge, waitMs } = spent;
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    throw new Problem('rate_limited', { detail: charge.detail, retryAfterSeconds });
  };
  return {
    /** Counts a session start and its first message. @throws Problem `rate_limited` */
    spendStart: (owner: string | null, client: Client) => {
      const ofBearer = owner === null ? [] : [toStart('One bearer', owner, addressesPerNetwork)];
      return spend([...ofBearer, ...toCharges(client, toStart), ...toCharges(client, toMessage)]);
    },
    /** Counts a message against the client's limits. @throws Problem `rate_limited` */
    spendMessage: (client: Client) => spend(toCharges(client, toMessage)),
  };
}

type CallCharge = Charge & Readonly<{ detail: string }>;

type Rule = (who: string, name: string, factor: number) => CallCharge;

interface RuleTexts {
  readonly what: string;
  readonly ofWhat: string;
  readonly settings: string;
  readonly toWindow: (rate: Rate) => Pick<Charge, 'windowMs' | 'regained'>;
}

function createRule(rate: Rate, { what, ofWhat, settings, toWindow }: RuleTexts): Rule {
  return (who, name, factor) => {
    const [perMinute, burst] = [rate.perMinute * factor, rate.burst * factor];
    const detail = `${who} may ${what} ${perMinute} ${ofWhat} per minute, and ${burst} at once (${settings}).`;
    return {
      ...toWindow({ perMinute, burst }),
      account: `${what} ${name}`,
      limit: burst,
      detail,
    };
  };
}

function toCharges({ address, network }: Client, rule: Rule): readonly CallCharge[] {
  const own = rule('One address', address, 1);
  return network === null ? [own] : [own, rule('One IPv6 /48', network, addressesPerNetwork)];
}
