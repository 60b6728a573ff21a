import { defineScript } from '../../../core/engine/engine.ts';

const functions = `
local function key(rest) return KEYS[1] .. rest end
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function used(name, field) return tonumber(redis.call('HGET', key('use:' .. name), field) or 0) end
local function excess(need)
  local left = need.total - used('*', need.field) - need.amount
  local share = false
  for _, own in ipairs(need.own) do
    local amount = used(own.name, need.field)
    if amount + need.amount > own.most then return own.kind end
    if amount > left then share = true end
  end
  if left < 0 then return 'total' end
  return share and 'share' or false
end
local function receipt(name)
  local text = redis.call('GET', key(name))
  if not text then return false end
  return redis.call('EXISTS', key('record:' .. cjson.decode(text).receipt.sessionId)) == 1 and text
end
`;

/** Script that writes a value for a minute, to find out whether the server accepts changes. */
export const probeScript = defineScript(
  `return redis.call('SET', KEYS[1] .. 'probe', 1, 'EX', 60)`,
);

/**
 * Script that changes a session of the expected version. ARGV[1] is a `SessionChange` with
 * `operation`, a unique name that makes repeated calls harmless, and `channel` for Pub/Sub. Returns
 * the `kind` of the `Outcome`; if a limit is exceeded, also its `field` and `excess`.
 */
export const commitScript = defineScript(`${functions}
local change = cjson.decode(ARGV[1])
local record = key('record:' .. change.id)
local found = redis.call('HMGET', record, 'version', 'operations', 'runner')
local operations = found[2] or ''
if string.find(operations, change.operation, 1, true) then return {'ok'} end
if tonumber(found[1] or 0) ~= change.version then return {'changed'} end
if change.runner ~= '' and found[3] ~= change.runner then return {'lost'} end
if change.once ~= '' then
  local earlier = receipt(change.once)
  if earlier and cjson.decode(earlier).atMs > change.onceSinceMs then return {'once'} end
end
for _, need in ipairs(change.needs) do
  local kind = excess(need)
  if kind and not (kind == 'share' and need.ignoresShare) then return {'excess', need.field, kind} end
end
for _, command in ipairs(change.commands) do
  redis.call(command[1], key(command[2]), unpack(command, 3))
end
for _, holder in ipairs(change.prune) do
  if used(holder.name, 'live') == 0 then redis.call('ZREM', key('holders:live:' .. holder.parent), holder.name) end
  if used(holder.name, 'stored') == 0 then
    redis.call('ZREM', key('holders:stored:' .. holder.parent), holder.name)
    if used(holder.name, 'live') == 0 and used(holder.name, 'pending') == 0 then
      redis.call('DEL', key('use:' .. holder.name))
    end
  end
end
if redis.call('EXISTS', record) == 1 then
  redis.call('HSET', record, 'version', change.version + 1,
    'operations', string.sub(operations .. ' ' .. change.operation, -512))
end
if change.lease then
  redis.call('HSET', record, 'runner', change.lease.instance)
  redis.call('ZADD', key('running'), nowMs() + change.lease.ms, change.id)
elseif change.ends then
  redis.call('HDEL', record, 'runner')
  redis.call('ZREM', key('running'), change.id)
end
redis.call('PUBLISH', change.channel, change.operation .. ' ' .. change.id)
local kind = change.room and excess(change.room)
if kind then return {'ok', change.room.field, kind} end
return {'ok'}
`);

/** Script that returns 'known' with version, record and runner; 'purged'; or 'unknown'. */
export const findScript = defineScript(`${functions}
local found = redis.call('HMGET', key('record:' .. ARGV[1]), 'version', 'record', 'runner')
if found[1] then return {'known', found[1], found[2], found[3] or ''} end
return {redis.call('ZSCORE', key('purged'), ARGV[1]) and 'purged' or 'unknown'}
`);

/** Script that returns the versions of the sessions in ARGV; 0 for a missing one. */
export const versionsScript = defineScript(`${functions}
local versions = {}
for at, id in ipairs(ARGV) do versions[at] = redis.call('HGET', key('record:' .. id), 'version') or '0' end
return versions
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

/**
 * Script that returns a long event's bytes and one part of it; an empty list for a short event.
 * ARGV: session id, event index, offset in bytes, maximum length of the part in bytes.
 */
export const partScript = defineScript(`${functions}
local at = (tonumber(ARGV[2]) + 1) .. '-0'
local entry = redis.call('XRANGE', key('events:' .. ARGV[1]), at, at)[1]
local line = entry and entry[2][2] or ''
if #line <= tonumber(ARGV[4]) then return {} end
local from, to = tonumber(ARGV[3]) + 1, tonumber(ARGV[3]) + tonumber(ARGV[4])
local function continues(byte) return byte ~= nil and byte >= 128 and byte < 192 end
while to < #line and continues(string.byte(line, to + 1)) do to = to - 1 end
return {#line, string.sub(line, from, to)}
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

/** Script that returns the limit that a `Need` (ARGV[1]) would exceed, or an empty string. */
export const roomScript = defineScript(`${functions}
return excess(cjson.decode(ARGV[1])) or ''
`);

/** Script that returns ids of a sorted set. ARGV: set, lowest and highest score, count, offset. */
export const rangeScript = defineScript(`${functions}
return redis.call('ZRANGEBYSCORE', key(ARGV[1]), ARGV[2], ARGV[3], 'LIMIT', ARGV[5] or 0, ARGV[4])
`);

/** Script that returns names and lowest scores. ARGV: set, maximum score, maximum members. */
export const lowestScript = defineScript(`${functions}
return redis.call('ZRANGEBYSCORE', key(ARGV[1]), '-inf', ARGV[2], 'WITHSCORES', 'LIMIT', 0, ARGV[3])
`);

/** Script that returns alternating names and highest scores. ARGV: set, maximum members. */
export const highestScript = defineScript(`${functions}
return redis.call('ZRANGE', key(ARGV[1]), 0, ARGV[2] - 1, 'REV', 'WITHSCORES')
`);

/** Script that returns 1 for each session with a stream confirmed in the last ARGV[1] ms. */
export const readScript = defineScript(`${functions}
local since, found = nowMs() - ARGV[1], {}
for at = 2, #ARGV do
  found[at - 1] = tonumber(redis.call('ZSCORE', key('read'), ARGV[at]) or 0) > since and 1 or 0
end
return found
`);

/** Script that renews leases. ARGV: instance, milliseconds, sessions. Returns lost sessions. */
export const renewScript = defineScript(`${functions}
local untilMs, lost = nowMs() + ARGV[2], {}
for at = 3, #ARGV do
  local id = ARGV[at]
  if redis.call('HGET', key('record:' .. id), 'runner') == ARGV[1] then
    redis.call('ZADD', key('running'), 'XX', untilMs, id)
  else
    lost[#lost + 1] = id
  end
end
return lost
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

/** Script that ends leases of ARGV[1] on ARGV[2…], so that others can take over immediately. */
export const releaseScript = defineScript(`${functions}
for at = 2, #ARGV do
  if redis.call('HGET', key('record:' .. ARGV[at]), 'runner') == ARGV[1] then
    redis.call('ZADD', key('running'), 'XX', 0, ARGV[at])
  end
end
`);

/** Script that records reads of sessions ARGV[2…], and deletes those older than ARGV[1] ms. */
export const confirmReadScript = defineScript(`${functions}
local now = nowMs()
redis.call('ZREMRANGEBYSCORE', key('read'), '-inf', now - ARGV[1])
for at = 2, #ARGV do redis.call('ZADD', key('read'), now, ARGV[at]) end
`);

/** Script that forgets ids deleted up to ARGV[1], and keeps the latest ARGV[2] of the others. */
export const forgetScript = defineScript(`${functions}
redis.call('ZREMRANGEBYSCORE', key('purged'), '-inf', ARGV[1])
redis.call('ZREMRANGEBYRANK', key('purged'), 0, -1 - ARGV[2])
`);

/** Script that returns a request's result by key; empty if none or its session is gone. */
export const recallScript = defineScript(`${functions}
return receipt('once:' .. ARGV[1]) or ''
`);

/** Script that returns a used amount. ARGV: holder or `*`; `live`, `stored` or `pending`. */
export const sumScript = defineScript(`${functions}
return used(ARGV[1], ARGV[2])
`);

/** Script that returns the text of the message number ARGV[2] of the session ARGV[1]. */
export const textScript = defineScript(`${functions}
return redis.call('HGET', key('record:' .. ARGV[1]), 'text:' .. ARGV[2])
`);

/** Script that returns delivery id, text and state of the first ARGV[2] messages of ARGV[1]. */
export const messagesScript = defineScript(`${functions}
local record, found = key('record:' .. ARGV[1]), {}
for at = 0, ARGV[2] - 1 do
  local fields = redis.call('HMGET', record, 'delivery:' .. at, 'text:' .. at, 'state:' .. at)
  for n = 1, 3 do found[#found + 1] = fields[n] or '' end
end
return found
`);
