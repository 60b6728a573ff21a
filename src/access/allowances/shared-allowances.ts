import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, createSteadyClock } from '../../core/clock.ts';
import { defineScript, type Engine } from '../../core/engine/engine.ts';
import type { AccountState, AllowanceStore, Charge, Spent } from './allowance-store.ts';
import { AllowanceWindow } from './allowance-window.ts';

interface SharedAllowancesOptions {
  readonly engine: Engine;
  readonly windowMs: number;
  readonly clock: Clock;
  /** Returns the text for a Redis hash tag, the same for all lists that share an account. */
  readonly tagOf: (charges: readonly Charge[]) => string;
  /** Secret for hashing account names, so that the engine stores no client addresses. */
  readonly secret: Buffer;
}

type Seen = AccountState & Readonly<{ atMs: number }>;

const maxSeen = 100_000;
const hashLength = 22;
const maxHashes = 10_000;
/** Age in milliseconds after which `refresh` reads a state from the engine again. */
const maxAgeMs = 1000;
/** Milliseconds for which the peak number of instances counts; in an outage it divides limits. */
const peakMemoryMs = 600_000;

// The sorted set of an account contains its spent units by time. It expires after two windows,
// later than its units.
/**
 * Lua script that spends one unit of each account in KEYS, or none if any is exhausted. ARGV:
 * window, unique name of the unit (empty: only read), limit of each account. Returns the position
 * (from 1) and wait of the exhausted account with the longest wait, or two zeros; then for each
 * account its spent units and the time until it regains one. Times are in milliseconds.
 */
const spendScript = defineScript(`
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[1])
local exhausted, wait, reply = 0, 0, {0, 0}
for at, key in ipairs(KEYS) do
  local limit = tonumber(ARGV[at + 2])
  local first = tonumber(call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
  if first and first > now then -- the clock was set back
    call('DEL', key)
    first = nil
  end
  if first and first + window <= now then
    call('ZREMRANGEBYSCORE', key, '-inf', now - window)
    call('PEXPIRE', key, 2 * window)
    first = tonumber(call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
  end
  local spent, left = 0, 0
  if first then
    spent = call('ZCARD', key)
    if spent > limit then first = tonumber(call('ZRANGE', key, spent - limit, spent - limit, 'WITHSCORES')[2]) end
    left = math.min(first + window - now, window)
    if left < 1 then left = 1 end
    if spent >= limit and left > wait then exhausted, wait = at, left end
  end
  reply[2 * at + 1], reply[2 * at + 2] = spent, left
end
if ARGV[2] ~= '' and wait == 0 then
  for at, key in ipairs(KEYS) do
    call('ZADD', key, now, ARGV[2])
    local spent = reply[2 * at + 1]
    if spent == 0 then
      call('PEXPIRE', key, 2 * window)
      reply[2 * at + 2] = window
    end
    reply[2 * at + 1] = spent + 1
  end
end
reply[1], reply[2] = exhausted, wait
return reply
`);

/** Creates a limiter for all instances; in an outage each has its share (docs/instances.md). */
export function createSharedAllowances(options: SharedAllowancesOptions): AllowanceStore {
  const [{ engine, windowMs }, clock] = [options, createSteadyClock(options.clock)];
  const toKeys = createNaming(options);
  const own = new AllowanceWindow({ windowMs, clock });
  const seen = new LRUCache<string, Seen>({ max: maxSeen });
  let units = 0;
  let isAlone = false; // whether the last spend was counted only in this instance
  const countInstances = createPeakCounter(engine, clock);
  const shareOf = (limit: number) => Math.floor(limit / countInstances());
  const ask = async (charges: readonly Charge[], unit: string): Promise<Spent> => {
    const args = [windowMs, unit, ...charges.map(({ limit }) => limit)];
    const reply = await engine.evaluate(spendScript, { keys: toKeys(charges), args });
    countInstances();
    isAlone = false;
    const [exhausted = 0, waitMs = 0, ...states] = toNumbers(reply);
    for (const [at, { account }] of charges.entries()) {
      const [spent = 0, nextMs = 0] = states.slice(2 * at);
      seen.set(account, { spent, nextMs, atMs: clock.now() });
    }
    const refused = charges[exhausted - 1];
    if (refused !== undefined) return { ok: false, account: refused.account, waitMs };
    return { ok: true, refund: createRefund(charges, unit) };
  };
  const createRefund = (charges: readonly Charge[], unit: string) => () => {
    for (const key of toKeys(charges)) {
      // A unit that cannot be refunded expires with the window.
      engine.run((client) => client.zRem(key, unit)).catch(() => {});
    }
    for (const { account } of charges) seen.delete(account);
  };
  const spendAlone = (charges: readonly Charge[]): Promise<Spent> => {
    isAlone = true;
    const shares = charges.map(({ account, limit }) => ({ account, limit: shareOf(limit) }));
    const none = shares.find(({ limit }) => limit === 0);
    if (none === undefined) return own.spend(shares);
    return Promise.resolve({ ok: false, account: none.account, waitMs: windowMs });
  };
  return {
    spend: (charges) => {
      units += 1;
      return ask(charges, `${engine.instance}:${units}`).catch(() => spendAlone(charges));
    },
    stateOf: (account, limit) => {
      if (engine.state.isUp && !isAlone) return toCurrent(seen.get(account), clock.now());
      if (limit === undefined) return own.stateOf(account);
      const state = own.stateOf(account, shareOf(limit));
      return { ...state, spent: limit - Math.max(0, shareOf(limit) - state.spent) };
    },
    refresh: (charges) => {
      const nowMs = clock.now();
      const isRecent = charges.every(
        ({ account }) => Math.abs(nowMs - (seen.get(account)?.atMs ?? 0)) < maxAgeMs,
      );
      if (isRecent || !engine.state.isUp) return null;
      return ask(charges, '').then(
        () => {},
        () => {}, // the replies then have the state of this instance
      );
    },
  };
}

function createPeakCounter(engine: Pick<Engine, 'state'>, clock: Clock): () => number {
  let [peak, peakMs] = [1, Number.NEGATIVE_INFINITY];
  return () => {
    const { instances } = engine.state;
    const nowMs = clock.now();
    if (instances >= peak || nowMs - peakMs > peakMemoryMs) [peak, peakMs] = [instances, nowMs];
    return peak;
  };
}

function createNaming({ tagOf, secret }: Pick<SharedAllowancesOptions, 'tagOf' | 'secret'>) {
  const hashes = new LRUCache<string, string>({
    max: maxHashes,
    memoMethod: (name) =>
      createHmac('sha256', secret).update(name).digest('base64url').slice(0, hashLength),
  });
  return (charges: readonly Charge[]): readonly string[] => {
    const tag = hashes.memo(tagOf(charges));
    return charges.map(({ account }) => `allowance:{${tag}}:${hashes.memo(account)}`);
  };
}

function toCurrent(state: Seen | undefined, nowMs: number): AccountState {
  if (state === undefined || state.spent === 0) return { spent: 0, nextMs: 0 };
  const leftMs = state.nextMs - (nowMs - state.atMs);
  if (leftMs > 0) return { spent: state.spent, nextMs: leftMs };
  return { spent: state.spent - 1, nextMs: state.spent === 1 ? 0 : 1 };
}

function toNumbers(reply: unknown): readonly number[] {
  return Array.isArray(reply) ? reply.map(Number) : [];
}
