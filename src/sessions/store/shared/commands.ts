import type { KeyedRequest, Receipt } from '../session-rows.ts';
import type { MessageChange, SessionRecord } from '../state.ts';
import type { TransitionWrites } from '../transition-writes.ts';
import { amountsOf, everyone, holdersOf, keys } from './keys.ts';

/** Valkey or Redis command: name, key without the common prefix, further arguments. */
export type Command = readonly [name: string, key: string, ...args: (string | number)[]];

/** Change. `before` is `null` for a new session, `after` for a deleted one. */
export interface RecordChange {
  readonly id: string;
  readonly before: SessionRecord | null;
  readonly after: SessionRecord | null;
}

/** Returns the commands that write a changed session's record, events and messages. */
export function toWriteCommands(
  { after, lines, completed }: TransitionWrites,
  messages: readonly MessageChange[],
): readonly Command[] {
  const record = keys.record + after.id;
  return [
    ['HSET', record, 'record', JSON.stringify(after)],
    ...lines.map(
      ({ index, line }): Command => [
        'XADD',
        keys.events + after.id,
        `${index + 1}-0`,
        'line',
        line,
      ],
    ),
    ...messages.map((change) => toMessageCommand(record, change, completed)),
  ];
}

function toMessageCommand(key: string, change: MessageChange, completed: number | null): Command {
  const { sequence: at } = change;
  if (change.kind === 'add') {
    const { deliveryId, text } = change;
    return ['HSET', key, `text:${at}`, text, `delivery:${at}`, deliveryId, `state:${at}`, 'queued'];
  }
  const state = ['HSET', key, `state:${at}`, change.state] as const;
  if (change.state !== 'completed' || completed === null) return state;
  return [...state, `completed:${at}`, completed];
}

/** Returns commands that delete a session's data, but keep its id and deletion time. */
export function toPurgeCommands(id: string, nowMs: number): readonly Command[] {
  return [
    ['DEL', keys.record + id],
    ['DEL', keys.events + id],
    ['ZADD', keys.purged, nowMs, id],
  ];
}

/** Returns the command that stores the result of a request under its idempotency key. */
export function toOnceCommand(
  { key, fingerprint, nowMs }: KeyedRequest,
  receipt: Receipt,
  lifetimeMs: number,
): Command {
  const text = JSON.stringify({ fingerprint, receipt, atMs: nowMs });
  return ['SET', keys.once + key, text, 'PX', lifetimeMs];
}

/** Returns commands that update sorted sets and the usage of client, network and all. */
export function toIndexCommands(change: RecordChange): readonly Command[] {
  const { before, after } = change;
  const holders = holdersOf((after ?? before)?.client ?? null);
  const [old, now] = [amountsOf(before), amountsOf(after)];
  const more = {
    live: now.live - old.live,
    stored: now.stored - old.stored,
    pending: now.pending - old.pending,
  };
  const sums = holders.flatMap(({ name, parent }): readonly Command[] => [
    ...Object.entries(more)
      .filter(([, amount]) => amount !== 0)
      .map(([field, amount]): Command => ['HINCRBY', keys.use + name, field, amount]),
    ...(parent === null || more.live === 0
      ? []
      : [['ZINCRBY', keys.holdersByLive + parent, more.live, name] as const]),
    ...(parent === null || more.stored === 0
      ? []
      : [['ZINCRBY', keys.holdersByStored + parent, more.stored, name] as const]),
  ]);
  return [
    ...sums,
    ...toSetCommands(
      change,
      holders.map(({ name }) => name),
    ),
  ];
}

function toSetCommands(
  { id, before, after }: RecordChange,
  names: readonly string[],
): readonly Command[] {
  const sets = [
    ...names.map((name) => ({ key: keys.waiting + name, scoreOf: scoreOfWaiting })),
    ...names.map((name) => ({ key: keys.over + name, scoreOf: scoreOfOver })),
    { key: keys.live, scoreOf: scoreOfLive },
    { key: keys.ended, scoreOf: (record: SessionRecord) => record.endedMs },
    { key: keys.all, scoreOf: (record: SessionRecord) => record.createdMs },
  ];
  return sets.flatMap(({ key, scoreOf }): readonly Command[] => {
    const [old, now] = [before && scoreOf(before), after && scoreOf(after)];
    if (old === now) return [];
    return now === null ? [['ZREM', key, id]] : [['ZADD', key, now, id]];
  });
}

const scoreOfWaiting = ({ state, activeMs }: SessionRecord) =>
  state === 'waiting' ? activeMs : null;

const scoreOfOver = ({ state, activeMs }: SessionRecord) =>
  state === 'ended' || state === 'failed' ? activeMs : null;

const scoreOfLive = ({ endedMs, createdMs }: SessionRecord) =>
  endedMs === null ? createdMs : null;

/** Returns client and network, whose counters are deleted if the change made them zero. */
export const namesToPrune = ({ before, after }: RecordChange) =>
  holdersOf((after ?? before)?.client ?? null).filter(({ name }) => name !== everyone);
