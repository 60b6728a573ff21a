import { defineScript } from '../../../lib/redis/engine.ts';

const functions = `
local function key(rest) return KEYS[1] .. rest end
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function used(name, column) return tonumber(redis.call('HGET', key('use:' .. name), column) or 0) end
local function excess(need)
  for _, limit in ipairs(need.limits) do
    if used(limit.name, need.column) + need.amount > limit.most then return limit.scope end
  end
end
`;

/** Script that runs the command ARGV[1] with the key ARGV[2] and the further arguments. */
export const callScript = defineScript(`${functions}
return redis.call(ARGV[1], key(ARGV[2]), unpack(ARGV, 3))
`);

/**
 * Script that changes a session of the expected version. ARGV[1] is the result of `toArguments` with
 * `operation`, a unique name that makes repeated calls harmless, and `channel` for Pub/Sub. A session
 * that begins to run gets a lease of `instance`. Returns the `Outcome` as JSON. `names`: client and
 * network, whose counts are deleted when they are zero.
 */
export const commitScript = defineScript(`${functions}
local change = cjson.decode(ARGV[1])
local record = key('record:' .. change.id)
local found = redis.call('HMGET', record, 'version', 'operations', 'runner')
local operations = found[2] or ''
local runner = found[3] or ''
if string.find(operations, change.operation, 1, true) then return cjson.encode({kind = 'ok', runner = runner}) end
if tonumber(found[1] or 0) ~= change.version then return cjson.encode({kind = 'changed'}) end
if change.runner ~= '' and runner ~= change.runner then return cjson.encode({kind = 'lost'}) end
if change.once ~= '' then
  local earlier = redis.call('GET', key(change.once))
  earlier = earlier and cjson.decode(earlier)
  if earlier and earlier.atMs > change.onceSinceMs and
    redis.call('EXISTS', key('record:' .. earlier.receipt.sessionId)) == 1 then return cjson.encode({kind = 'once'}) end
end
for _, need in ipairs(change.needs) do
  local scope = excess(need)
  if scope then return cjson.encode({kind = 'excess', quantity = need.quantity, scope = scope}) end
end
for _, command in ipairs(change.commands) do
  redis.call(command[1], key(command[2]), unpack(command, 3))
end
for _, name in ipairs(change.names) do
  if used(name, 'live') == 0 and used(name, 'stored') == 0 and used(name, 'pending') == 0 then
    redis.call('DEL', key('use:' .. name))
  end
end
if redis.call('EXISTS', record) == 1 then
  redis.call('HSET', record, 'version', change.version + 1,
    'operations', string.sub(operations .. ' ' .. change.operation, -512))
end
if not change.runs then
  runner = ''
  redis.call('HDEL', record, 'runner')
  redis.call('ZREM', key('running'), change.id)
elseif runner == '' then
  runner = change.instance
  redis.call('HSET', record, 'runner', runner)
  redis.call('ZADD', key('running'), nowMs() + change.leaseMs, change.id)
end
redis.call('PUBLISH', change.channel, change.operation .. ' ' .. change.id)
return cjson.encode({kind = 'ok', runner = runner})
`);

/** Script that returns the limit that a `Need` (ARGV[1]) would exceed, or an empty string. */
export const roomScript = defineScript(`${functions}
return excess(cjson.decode(ARGV[1])) or ''
`);

/** Script that returns 'known' with version, record and runner; 'purged'; or 'unknown'. */
export const findScript = defineScript(`${functions}
local found = redis.call('HMGET', key('record:' .. ARGV[1]), 'version', 'record', 'runner')
if found[1] then return {'known', found[1], found[2], found[3] or ''} end
return {redis.call('ZSCORE', key('purged'), ARGV[1]) and 'purged' or 'unknown'}
`);

/** Script that returns events from index ARGV[2]: up to ARGV[3] bytes, but at least one if any. */
export const eventsScript = defineScript(`${functions}
local lines, bytes, from = {}, 0, tonumber(ARGV[2]) + 1
while #lines < 256 do
  local found = redis.call('XRANGE', key('events:' .. ARGV[1]), from .. '-0', '+', 'COUNT', 16)
  for _, entry in ipairs(found) do
    local line = entry[2][2]
    if #lines > 0 and bytes + #line > tonumber(ARGV[3]) then return lines end
    lines[#lines + 1], bytes, from = line, bytes + #line, from + 1
  end
  if #found < 16 then return lines end
end
return lines
`);

/** Script that returns up to ARGV[3] questions before ARGV[2] with their answers, latest first. */
export const answeredScript = defineScript(`${functions}
local record, found = key('record:' .. ARGV[1]), {}
local before, count = tonumber(ARGV[2]), tonumber(ARGV[3])
for at = before - 1, math.max(0, before - 200), -1 do
  if #found == 2 * count then break end
  local fields = redis.call('HMGET', record, 'completed:' .. at, 'text:' .. at)
  if fields[1] then
    local id = (tonumber(fields[1]) + 1) .. '-0'
    local entry = redis.call('XRANGE', key('events:' .. ARGV[1]), id, id)[1]
    found[#found + 1], found[#found + 2] = fields[2], entry and entry[2][2] or ''
  end
end
return found
`);

/**
 * Script that makes leases of ARGV[1] on the sessions ARGV[3…] end in ARGV[2] milliseconds. Returns
 * the versions of the sessions; 0 for a missing one.
 */
export const renewScript = defineScript(`${functions}
local untilMs, versions = nowMs() + ARGV[2], {}
for at = 3, #ARGV do
  local found = redis.call('HMGET', key('record:' .. ARGV[at]), 'version', 'runner')
  if found[2] == ARGV[1] then redis.call('ZADD', key('running'), 'XX', untilMs, ARGV[at]) end
  versions[at - 2] = found[1] or '0'
end
return versions
`);

/**
 * Script that leases up to ARGV[3] sessions with expired leases to ARGV[1] for ARGV[2]
 * milliseconds. Returns their ids. Increments each version as a fencing token, so that later writes
 * of the previous instance fail.
 */
export const claimScript = defineScript(`${functions}
local now = nowMs()
local due = redis.call('ZRANGEBYSCORE', key('running'), '-inf', now, 'LIMIT', 0, ARGV[3])
for _, id in ipairs(due) do
  local record = key('record:' .. id)
  if redis.call('EXISTS', record) == 1 then
    redis.call('HINCRBY', record, 'version', 1)
    redis.call('HSET', record, 'runner', ARGV[1])
    redis.call('ZADD', key('running'), now + ARGV[2], id)
  else
    redis.call('ZREM', key('running'), id)
  end
end
return due
`);
