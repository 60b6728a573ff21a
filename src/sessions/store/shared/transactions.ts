import type { Client } from '../../../lib/caller.ts';
import type { Random } from '../../../lib/random.ts';
import type { Engine, EngineScript } from '../../../lib/redis/engine.ts';
import { EngineError } from '../../../lib/redis/engine-error.ts';
import { everyone, type Limit, type Quotas } from '../../../lib/scheduling/quotas.ts';
import { columns, type Need, type Quantity, quantities, type TransitionWrites } from '../quotas.ts';
import {
  idempotencyMs,
  type KeyedRequest,
  type Receipt,
  type StoreContext,
} from '../session-store.ts';
import { isLive, type MessageChange, type SessionRecord } from '../state.ts';
import { toUnavailable } from '../store-faults.ts';
import { callScript, commitScript, findScript } from './scripts.ts';

/** Key prefix. Its hash tag keeps all keys on one server of a cluster, as scripts require. */
const keyBase = '{sessions}:';

/** Pub/sub channel on which server instances publish changes of sessions. */
export const changesChannel = 'sessions';

/** Milliseconds after which other server instances take over the sessions of a failed instance. */
export const leaseMs = 5000;

export interface StoredSession {
  readonly version: number;
  readonly record: SessionRecord;
  /** Name of the server instance that answers the session's messages; empty if there is none. */
  readonly runner: string;
}

/** Need with the name of its quantity in the store, and the limits to check. */
type LimitedNeed = Need & Readonly<{ column: string; limits: readonly Limit[] }>;

export const withLimits = (
  needs: readonly Need[],
  { client }: SessionRecord,
  quotas?: Quotas,
): readonly LimitedNeed[] =>
  needs.map((need) => {
    const limits = quotas?.limitsOf(need.quantity, client) ?? [];
    return { ...need, column: columns[need.quantity], limits };
  });

/** Change of a session, made only if the stored one is still `before` (`null`: there is none). */
export interface SessionChange {
  readonly id: string;
  readonly before: StoredSession | null;
  /** New record; `null` for a deletion. */
  readonly after: SessionRecord | null;
  /** Commands that write the record, events and messages. */
  readonly commands: readonly Command[];
  /** Instance that must run the session for the change to be made. Without it, each may. */
  readonly runner?: string;
  /** Request that is not executed if it was before, and the result to store for it. */
  readonly request?: KeyedRequest | null;
  readonly receipt?: Receipt;
  readonly needs?: readonly LimitedNeed[];
}

/** Limit that would be exceeded. */
export type Excess = Readonly<{ quantity: Quantity; scope: Limit['scope'] }>;

/**
 * Result of a change, which is made only for `ok`. `runner`: instance that runs the session then,
 * or empty. `changed`: another change of the session came
 * first. `lost`: another instance runs it. `once`: the request repeats an earlier one.
 */
export type Outcome =
  | Readonly<{ kind: 'ok'; runner: string }>
  | Readonly<{ kind: 'changed' | 'lost' | 'once' }>
  | (Excess & Readonly<{ kind: 'excess' }>);

/** Milliseconds to wait for an unavailable Valkey or Redis server before a call fails. */
const patienceMs = 2000;

export interface SharedSessionsOptions extends StoreContext {
  readonly engine: Engine;
  readonly random: Random;
  /** Number of replicas that must store a change before Perch confirms it. */
  readonly replicas: number;
  /** Called with errors to log and the failed action. Errors never contain messages or answers. */
  readonly onFault: (error: unknown, doing: string) => void;
}

export type Transactions = ReturnType<typeof createTransactions>;

type Args = readonly (string | number)[];

/** Creates the function that runs scripts, which must be safe to repeat after an outage. */
function createRunner({ engine, watch }: SharedSessionsOptions) {
  const attempt = async (script: EngineScript, args: Args): Promise<unknown> => {
    const isUp = await engine.waitUntilUp(patienceMs);
    if (!isUp) throw toUnavailable(new EngineError(String(engine.state.fault), true), watch);
    return engine.evaluate(script, { keys: [keyBase], args });
  };
  return (script: EngineScript, args: Args): Promise<unknown> => {
    const repeatOutage = (error: unknown) => {
      if (error instanceof EngineError && error.isOutage) return attempt(script, args);
      throw error;
    };
    const fail = (error: unknown) => {
      throw error instanceof EngineError ? toUnavailable(error, watch) : error;
    };
    return attempt(script, args).catch(repeatOutage).catch(fail);
  };
}

/** Creates reads and changes, which throw Problem `not_ready` if Valkey or Redis fails. */
export function createTransactions(options: SharedSessionsOptions) {
  const { engine, replicas, watch } = options;
  const run = createRunner(options);
  let operations = 0;
  /** Returns the reply, or its items, as strings; empty for `nil`. */
  const list = async (script: EngineScript, ...args: Args): Promise<readonly string[]> =>
    [(await run(script, args)) ?? []].flat().map((item) => String(item ?? ''));
  const call = async (...command: Command) => (await list(callScript, ...command))[0] ?? '';
  const confirm = async (): Promise<void> => {
    const fail = (error: unknown) => Promise.reject(toUnavailable(error, watch));
    if (replicas > 0) await engine.confirmReplicas(replicas, patienceMs).catch(fail);
  };
  const find = async (id: string) => {
    const [kind, version, record = '', runner = ''] = await list(findScript, id);
    if (kind !== 'known') return { kind: kind === 'purged' ? kind : 'unknown' } as const;
    return {
      kind,
      version: Number(version),
      record: JSON.parse(record) as SessionRecord,
      runner,
    } as const;
  };
  return {
    /** Waits until `replicas` replicas have stored all changes. @throws Problem `not_ready` */
    confirm,
    list,
    /** Runs one command that is safe to repeat. Returns its reply, empty for `nil`. */
    call,
    callList: (...command: Command) => list(callScript, ...command),
    find,
    load: async (id: string): Promise<StoredSession | undefined> => {
      const found = await find(id);
      return found.kind === 'known' ? found : undefined;
    },
    /** Writes a value that expires. @throws Problem `not_ready` if the server does not store it */
    probe: async (): Promise<void> => {
      await call('SET', 'probe', 1, 'EX', 60);
      await confirm();
      watch?.worked();
    },
    /** Commits exactly once. Resolves when the server and `replicas` replicas have stored it. */
    commit: async (change: SessionChange): Promise<Outcome> => {
      operations += 1;
      const json = JSON.stringify({
        ...toArguments(change),
        instance: engine.instance,
        operation: `${engine.instance}:${operations};`,
        channel: engine.prefix + changesChannel,
      });
      const [text = ''] = await list(commitScript, json);
      const outcome: Outcome = JSON.parse(text);
      if (outcome.kind === 'ok') {
        await confirm();
        watch?.worked();
      }
      return outcome;
    },
  };
}

function toArguments({ id, before, after, request = null, receipt, ...change }: SessionChange) {
  const once: Command[] = [];
  if (request && receipt) {
    const { key, fingerprint, nowMs } = request;
    const result = JSON.stringify({ fingerprint, receipt, atMs: nowMs });
    once.push(['SET', keys.once + key, result, 'PX', idempotencyMs]);
  }
  const indexes = toIndexCommands(id, before?.record ?? null, after);
  return {
    id,
    version: before?.version ?? 0,
    runner: change.runner ?? '',
    once: request ? keys.once + request.key : '',
    onceSinceMs: (request?.nowMs ?? 0) - idempotencyMs,
    needs: change.needs ?? [],
    commands: [...change.commands, ...indexes, ...once],
    names: namesOf((after ?? before?.record)?.client ?? null),
    runs: after?.state === 'running',
    leaseMs,
  };
}

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
function namesOf(client: Client | null): readonly string[] {
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

/** Returns commands that update sorted sets and the usage of client, network and all. */
function toIndexCommands(
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
