import { defineScript } from '../../../core/engine/engine.ts';
import type { SpendCharges } from '../../http/rate-limit.ts';
import type { Transactions } from './transactions.ts';

/**
 * Script that applies several rate limits (GCRA), and counts a request only if all allow it. ARGV
 * for each limit: name, interval between requests and burst (requests × interval), both in
 * milliseconds. Returns an empty list if counted; otherwise the index of the limit with the longest
 * wait, and the wait in milliseconds.
 */
const spendScript = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local longest, wait, next = 0, 0, {}
for at = 1, #ARGV, 3 do
  local key, one = KEYS[1] .. 'rate:' .. ARGV[at], tonumber(ARGV[at + 1])
  -- Later than the burst allows only if the clock was set back.
  local full = math.min(tonumber(redis.call('GET', key) or now), now + tonumber(ARGV[at + 2]))
  next[at] = math.max(now, full) + one
  local left = next[at] - tonumber(ARGV[at + 2]) - now
  if left > wait then longest, wait = (at - 1) / 3, left end
end
if wait > 0 then return {tostring(longest), tostring(wait)} end
for at = 1, #ARGV, 3 do
  local lifetime = math.max(1, math.ceil(next[at] - now))
  redis.call('SET', KEYS[1] .. 'rate:' .. ARGV[at], string.format('%.3f', next[at]), 'PX', lifetime)
end
return {}
`);

/** Creates a limiter of all instances. It throws Problem `not_ready` if Valkey or Redis fails. */
export function createSharedRateLimit({ list }: Pick<Transactions, 'list'>): SpendCharges {
  return async (rates) => {
    const args = rates.flatMap(({ name, perMinute, burst }) => {
      const oneMs = 60_000 / perMinute;
      return [name, oneMs, burst * oneMs];
    });
    const [at, waitMs] = await list(spendScript, ...args);
    return at === undefined ? null : { at: Number(at), waitMs: Number(waitMs) };
  };
}
