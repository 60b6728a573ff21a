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
 * Script that changes a session if the session has the expected version. ARGV[1] is JSON: a `SessionChange`, plus
 * `operation` (a unique name, so that a repeated call has no effect) and `channel` (the Pub/Sub channel on which the
 * change is published). Returns a list: the `kind` of the `Outcome`; if a limit is exceeded, also its `field` and
 * `excess`.
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

/**
 * Script that returns 'known' with the version, record and server instance (`runner`) of the
 * session ARGV[1]; 'purged' for a deleted session; otherwise 'unknown'.
 */
export const findScript = defineScript(`${functions}
local found = redis.call('HMGET', key('record:' .. ARGV[1]), 'version', 'record', 'runner')
if found[1] then return {'known', found[1], found[2], found[3] or ''} end
return {redis.call('ZSCORE', key('purged'), ARGV[1]) and 'purged' or 'unknown'}
`);

/** Script that returns the versions of the sessions with the ids in ARGV; 0 for a session that does not exist. */
export const versionsScript = defineScript(`${functions}
local versions = {}
for at, id in ipairs(ARGV) do versions[at] = redis.call('HGET', key('record:' .. id), 'version') or '0' end
return versions
`);

/**
 * Script that returns a batch of event lines of the session ARGV[1], from index ARGV[2] on. The batch has at most
 * ARGV[3] bytes, unless its first line is longer. Returns an empty list if there is no line at index ARGV[2].
 */
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
 * Script that returns the length of a long event in bytes, and one part of the event. ARGV: session id, event index,
 * offset in bytes, maximum length of the part in bytes. Returns an empty list if the event is not longer than the
 * maximum; read a short event with `eventsScript`.
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

/**
 * Script that returns up to ARGV[3] answered questions of the session ARGV[1] before the message number ARGV[2],
 * latest first. Each question is followed by the `message.completed` line with the answer.
 */
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
 * Script that checks whether an additional amount would exceed a limit, such as the limit of a client's stored bytes.
 * ARGV[1] is the amount with its limits: a `Need` as JSON. Returns the kind of the exceeded limit, such as `total`; an
 * empty string if no limit would be exceeded.
 */
export const roomScript = defineScript(`${functions}
return excess(cjson.decode(ARGV[1])) or ''
`);

/**
 * Script that returns ids of the sorted set ARGV[1] with scores from ARGV[2] to ARGV[3]. Skips the
 * first ARGV[5] ids, and returns up to ARGV[4] ids.
 */
export const rangeScript = defineScript(`${functions}
return redis.call('ZRANGEBYSCORE', key(ARGV[1]), ARGV[2], ARGV[3], 'LIMIT', ARGV[5] or 0, ARGV[4])
`);

/**
 * Script that returns the members with the lowest scores in a sorted set, as alternating names and scores. ARGV[1]: key
 * of the set. ARGV[2]: maximum score. ARGV[3]: maximum number of members.
 */
export const lowestScript = defineScript(`${functions}
return redis.call('ZRANGEBYSCORE', key(ARGV[1]), '-inf', ARGV[2], 'WITHSCORES', 'LIMIT', 0, ARGV[3])
`);

/**
 * Script that returns the members with the highest scores in a sorted set, as alternating names and scores. ARGV[1]:
 * key of the set. ARGV[2]: maximum number of members.
 */
export const highestScript = defineScript(`${functions}
return redis.call('ZRANGE', key(ARGV[1]), 0, ARGV[2] - 1, 'REV', 'WITHSCORES')
`);

/**
 * Script that returns, for each session in ARGV[2…], 1 if it has an open event stream, otherwise 0.
 * A stream counts as open for ARGV[1] milliseconds after a server instance has confirmed it.
 */
export const readScript = defineScript(`${functions}
local since, found = nowMs() - ARGV[1], {}
for at = 2, #ARGV do
  found[at - 1] = tonumber(redis.call('ZSCORE', key('read'), ARGV[at]) or 0) > since and 1 or 0
end
return found
`);

/**
 * Script that sets the leases of the server instance ARGV[1] on the sessions ARGV[3…] to expire in ARGV[2]
 * milliseconds. Returns the ids of the sessions whose leases the instance has lost.
 */
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
 * Script that leases up to ARGV[3] sessions with expired leases to the server instance ARGV[1] for
 * ARGV[2] milliseconds. Returns the ids of these sessions. Increments the version of each session
 * as a fencing token, so that later writes of the previous instance fail.
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

/**
 * Script that ends the leases of the server instance ARGV[1] on the sessions ARGV[2…], so that
 * other instances can take over the sessions immediately.
 */
export const releaseScript = defineScript(`${functions}
for at = 2, #ARGV do
  if redis.call('HGET', key('record:' .. ARGV[at]), 'runner') == ARGV[1] then
    redis.call('ZADD', key('running'), 'XX', 0, ARGV[at])
  end
end
`);

/**
 * Script that records the current time as the last read time of each session in ARGV[2…], so that all server instances
 * know that a client reads the session's events. Deletes read times of all sessions if they are more than ARGV[1]
 * milliseconds old.
 */
export const confirmReadScript = defineScript(`${functions}
local now = nowMs()
redis.call('ZREMRANGEBYSCORE', key('read'), '-inf', now - ARGV[1])
for at = 2, #ARGV do redis.call('ZADD', key('read'), now, ARGV[at]) end
`);

/**
 * Script that limits the stored ids of deleted sessions. Removes ids of sessions deleted up to the
 * time ARGV[1]. Of the other ids, keeps the latest ARGV[2] and removes the rest.
 */
export const forgetScript = defineScript(`${functions}
redis.call('ZREMRANGEBYSCORE', key('purged'), '-inf', ARGV[1])
redis.call('ZREMRANGEBYRANK', key('purged'), 0, -1 - ARGV[2])
`);

/**
 * Script that returns the stored result of the request with the idempotency key ARGV[1]; an empty
 * string if there is none or its session no longer exists.
 */
export const recallScript = defineScript(`${functions}
return receipt('once:' .. ARGV[1]) or ''
`);

/**
 * Script that returns the used amount of a quantity. ARGV[1]: a client or network, or `*` for all clients together.
 * ARGV[2]: the quantity, `live` (active sessions), `stored` (bytes) or `pending` (unanswered messages).
 */
export const sumScript = defineScript(`${functions}
return used(ARGV[1], ARGV[2])
`);

/** Script that returns the text of the message number ARGV[2] of the session ARGV[1]. */
export const textScript = defineScript(`${functions}
return redis.call('HGET', key('record:' .. ARGV[1]), 'text:' .. ARGV[2])
`);

/**
 * Script that returns the first ARGV[2] messages of the session ARGV[1]: for each message its
 * delivery id, text and state.
 */
export const messagesScript = defineScript(`${functions}
local record, found = key('record:' .. ARGV[1]), {}
for at = 0, ARGV[2] - 1 do
  local fields = redis.call('HMGET', record, 'delivery:' .. at, 'text:' .. at, 'state:' .. at)
  for n = 1, 3 do found[#found + 1] = fields[n] or '' end
end
return found
`);
