import type { Client } from '../../../lib/caller.ts';
import { everyone } from '../../../lib/scheduling/quotas.ts';
import { columns, quantities } from '../quotas.ts';
import { idempotencyMs, type KeyedRequest, type Receipt } from '../session-store.ts';
import { isLive, type MessageChange, type SessionRecord } from '../state.ts';
import type { TransitionWrites } from '../writes.ts';

/**
 * Keys without `keyBase`. After a colon follows a session id, idempotency key or client. The last
 * ones, except `use`, are sorted sets of session ids.
 */
export const keys = {
  record: 'record:', // hash: `record`, `version`, `runner`, latest `operations`, and the messages
  events: 'events:', // stream of event lines; the event with index 0 has the entry id `1-0`
  once: 'once:', // result of a request with an idempotency key
  use: 'use:', // hash with used amounts of each client, each network and all clients (`*`)
  all: 'all', // all stored sessions, by start
  live: 'live', // active sessions, by start
  idle: 'waiting:*', // `waiting` sessions, by last activity
  ended: 'ended', // ended sessions, by end
  purged: 'purged', // deleted sessions, by deletion
  running: 'running', // sessions with a lease, by the end of the lease
  waiting: 'waiting:', // `waiting` sessions of each client, by last activity
  over: 'over:', // ended sessions of each client, by last activity
} as const;

/** Valkey or Redis command: name, key without the common prefix, further arguments. */
export type Command = readonly [name: string, key: string, ...args: (string | number)[]];

const unknownClient = '-';

/** Returns the names whose usage a session counts towards, without `*`. */
export function namesOf(client: Client | null): readonly string[] {
  if (client === null) return [unknownClient];
  return client.network === null ? [client.address] : [client.address, client.network];
}

/** Returns the commands that write a changed session's record, events and messages. */
export function toWriteCommands(
  { after, lines, completed }: TransitionWrites,
  messages: readonly MessageChange[],
): readonly Command[] {
  const record = keys.record + after.id;
  const events = keys.events + after.id;
  return [
    ['HSET', record, 'record', JSON.stringify(after)],
    ...lines.map(({ index, line }): Command => ['XADD', events, `${index + 1}-0`, 'line', line]),
    ...messages.flatMap((change) => toMessageCommands(record, change, completed)),
  ];
}

function toMessageCommands(
  key: string,
  change: MessageChange,
  completed: number | null,
): readonly Command[] {
  const { sequence } = change;
  if (change.kind === 'add') return [['HSET', key, `text:${sequence}`, change.text]];
  if (change.state !== 'completed' || completed === null) return [];
  return [['HSET', key, `completed:${sequence}`, completed]];
}

/** Returns commands that delete a session's data, but keep its id and deletion time. */
export const toPurgeCommands = (id: string, nowMs: number): readonly Command[] => [
  ['DEL', keys.record + id],
  ['DEL', keys.events + id],
  ['ZADD', keys.purged, nowMs, id],
];

/** Returns the command that stores the result of a request under its idempotency key. */
export function toOnceCommand(
  { key, fingerprint, nowMs }: KeyedRequest,
  receipt: Receipt,
): Command {
  const text = JSON.stringify({ fingerprint, receipt, atMs: nowMs });
  return ['SET', keys.once + key, text, 'PX', idempotencyMs];
}

/** Returns commands that update sorted sets and the usage of client, network and all. */
export function toIndexCommands(
  id: string,
  before: SessionRecord | null,
  after: SessionRecord | null,
): readonly Command[] {
  const client = (after ?? before)?.client ?? null;
  const [old, now] = [amountsOf(before), amountsOf(after)];
  const sums = [...namesOf(client), everyone].flatMap((name) =>
    quantities
      .map((at): Command => ['HINCRBY', keys.use + name, columns[at], now[at] - old[at]])
      .filter(([, , , amount]) => amount !== 0),
  );
  const [oldScores, scores] = [scoresOf(before), scoresOf(after)];
  const own = client?.address ?? unknownClient;
  const sets = Object.entries({ ...oldScores, ...scores }).flatMap(([set]): readonly Command[] => {
    const [was, is] = [oldScores[set] ?? null, scores[set] ?? null];
    const key = set.endsWith(':') ? set + own : set;
    if (was === is) return [];
    return is === null ? [['ZREM', key, id]] : [['ZADD', key, is, id]];
  });
  return [...sums, ...sets];
}

const amountsOf = (record: SessionRecord | null) => ({
  sessions: record !== null && isLive(record.state) ? 1 : 0,
  sessionBytes: record?.storedBytes ?? 0,
  queuedTurns: record?.pending.length ?? 0,
});

/** Returns the sorted sets that contain a session, with its scores. */
function scoresOf(record: SessionRecord | null): Readonly<Record<string, number>> {
  if (record === null) return {};
  const { state, createdMs, activeMs, endedMs } = record;
  const all = { [keys.all]: createdMs };
  if (endedMs !== null) return { ...all, [keys.ended]: endedMs, [keys.over]: activeMs };
  if (state === 'running') return { ...all, [keys.live]: createdMs };
  const waiting = { [keys.idle]: activeMs, [keys.waiting]: activeMs };
  return { ...all, ...waiting, [keys.live]: createdMs };
}
