import { createHmac } from 'node:crypto';
import { type Clock, createSteadyClock } from '../lib/clock.ts';
import { defineScript, type Engine } from '../lib/redis/engine.ts';
import {
  allUnits,
  type Charge,
  createAccountCache,
  createRateLimiter,
  maxAccounts,
  type RateLimiter,
  type Spent,
} from './rate-limits.ts';

interface SharedRateLimiterOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Returns the text for a Redis hash tag, the same for all lists that share an account. */
  readonly tagOf: (charges: readonly Charge[]) => string;
  /** Secret for hashing account names, so that the engine stores no client addresses. */
  readonly secret: Buffer;
}

/** Window of an account when the engine last answered: `startMs` by its clock, others by ours. */
interface Seen {
  readonly startMs: number;
  spent: number;
  readonly endMs: number;
  readonly atMs: number;
}

const hashLength = 22;
/** Age in milliseconds after which `refresh` reads a state from the engine again. */
const maxAgeMs = 1000;
/** Milliseconds for which the peak number of instances counts; in an outage it divides limits. */
const peakMemoryMs = 600_000;

/**
 * Lua script that spends a unit of each account in KEYS, or none if any is exhausted. The value of
 * an account is the start of its window and the number of spent units. ARGV: 1 to spend, 0 to read,
 * -1 to refund; then for each account: limit, window, units that the end of a window returns, and
 * start of the window to refund. Returns the position (from 1) and wait of the exhausted account
 * with the longest wait, or two zeros; then for each account: start, spent units, and time until
 * the window ends. Times are in milliseconds.
 */
const spendScript = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local units, exhausted, wait, reply = tonumber(ARGV[1]), 0, 0, {0, 0}
local arg = function(at, index) return tonumber(ARGV[4 * at - 3 + index]) end
for at, key in ipairs(KEYS) do
  local length = arg(at, 2)
  local start, spent = string.match(redis.call('GET', key) or '', '(%S+) (%S+)')
  start, spent = tonumber(start) or now, tonumber(spent) or 0
  local ended = math.floor((now - start + 0.001) / length) -- the start can be rounded
  -- A window that starts later than now is from before the clock was set back.
  spent = ended < 0 and 0 or math.max(0, spent - ended * arg(at, 3))
  start = spent == 0 and now or start + ended * length
  local left = math.max(1, math.ceil(start + length - now))
  if spent >= arg(at, 1) and left > wait then exhausted, wait = at, left end
  reply[3 * at], reply[3 * at + 1], reply[3 * at + 2] = start, spent, left
end
for at, key in ipairs(KEYS) do
  local start, spent = reply[3 * at], reply[3 * at + 1]
  if units == 1 and wait == 0 or units == -1 and spent > 0 and start == arg(at, 4) then
    spent = spent + units
    local left = start + arg(at, 2) * math.ceil(spent / arg(at, 3)) - now
    if spent == 0 then redis.call('DEL', key)
    else redis.call('SET', key, string.format('%.3f %d', start, spent), 'PX', math.max(1, math.ceil(left))) end
    reply[3 * at + 1] = spent
  end
end
reply[1], reply[2] = exhausted, wait
return reply
`);

/** Creates a limiter for all instances; in an outage each has its share (docs/instances.md). */
export function createSharedRateLimiter(options: SharedRateLimiterOptions): RateLimiter {
  const [{ engine }, clock] = [options, createSteadyClock(options.clock)];
  const own = createRateLimiter({ clock });
  const { seen, change } = createEngineWindows(options, clock);
  let isAlone = false; // whether the last spend was counted only in this instance
  const countInstances = createPeakCounter(engine, clock);
  const shareOf = (limit: number) => Math.floor(limit / countInstances());
  const ask = async <One extends Charge>(units: 0 | 1, charges: readonly One[]) => {
    const changed = await change(units, charges);
    countInstances();
    isAlone = false;
    return changed;
  };
  const spendAlone = async <One extends Charge>(charges: readonly One[]): Promise<Spent<One>> => {
    isAlone = true;
    const shares = charges.map((charge) => ({ ...charge, limit: shareOf(charge.limit) }));
    const none = shares.find(({ limit }) => limit === 0);
    if (none === undefined) return own.spend(shares);
    return { ok: false, charge: none, waitMs: none.windowMs };
  };
  return {
    spend: async (charges) => (await ask(1, charges).catch(() => null)) ?? spendAlone(charges),
    stateOf: (charge) => {
      if (engine.state.isUp && !isAlone) {
        const { spent = 0, endMs = 0 } = seen.peek(charge.account) ?? {};
        const resetMs = endMs - clock.now();
        const isOver = spent === 0 || resetMs <= 0;
        return isOver ? { spent: 0, resetMs: charge.windowMs } : { spent, resetMs };
      }
      const share = shareOf(charge.limit);
      const { spent, resetMs } = own.stateOf(charge);
      return { spent: charge.limit - Math.max(0, share - spent), resetMs };
    },
    refresh: (charges) => {
      const nowMs = clock.now();
      const isRecent = charges.every(
        ({ account }) => Math.abs(nowMs - (seen.peek(account)?.atMs ?? 0)) < maxAgeMs,
      );
      if (isRecent || !engine.state.isUp) return null;
      return ask(0, charges).then(
        () => {},
        () => {}, // the replies then have the state of this instance
      );
    },
  };
}

function createEngineWindows(options: SharedRateLimiterOptions, clock: Clock) {
  const { engine } = options;
  const toKeys = createNaming(options);
  const seen = createAccountCache<Seen>(maxAccounts);
  /** Changes all accounts by a number of units. A refund names the `starts` of its windows. */
  const change = async <One extends Charge>(
    units: 1 | 0 | -1,
    charges: readonly One[],
    starts: readonly number[] = [],
  ): Promise<Spent<One>> => {
    const args = charges.flatMap(({ limit, windowMs, regained = allUnits }, at) => [
      ...[limit, windowMs, regained, starts[at] ?? 0],
    ]);
    const call = { keys: toKeys(charges), args: [units, ...args] };
    const [exhausted = 0, waitMs = 0, ...states] = toNumbers(
      await engine.evaluate(spendScript, call),
    );
    const atMs = clock.now();
    const windows = charges.map(({ account }, at) => {
      const [startMs = 0, spent = 0, leftMs = 0] = states.slice(3 * at);
      seen.set(account, { startMs, spent, endMs: atMs + leftMs, atMs });
      return startMs;
    });
    const refused = charges[exhausted - 1];
    if (refused !== undefined) return { ok: false, charge: refused, waitMs };
    let spent = charges;
    const refund = () => {
      if (spent.length > 0) refundAll(spent, windows);
      spent = [];
    };
    return { ok: true, refund };
  };
  const refundAll = (charges: readonly Charge[], windows: readonly number[]): void => {
    for (const [at, { account }] of charges.entries()) {
      const known = seen.peek(account);
      if (known !== undefined && known.startMs === windows[at]) known.spent -= 1;
    }
    change(-1, charges, windows).catch(() => {}); // the units return with the end of the window
  };
  return { seen, change };
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

function createNaming({ tagOf, secret }: Pick<SharedRateLimiterOptions, 'tagOf' | 'secret'>) {
  const hash = (name: string) =>
    createHmac('sha256', secret).update(name).digest('base64url').slice(0, hashLength);
  return (charges: readonly Charge[]): readonly string[] => {
    const tag = hash(tagOf(charges));
    return charges.map(({ account }) => `rate:{${tag}}:${hash(account)}`);
  };
}

function toNumbers(reply: unknown): readonly number[] {
  return Array.isArray(reply) ? reply.map(Number) : [];
}
