import { LRUCache } from 'lru-cache';
import type { Random } from '../../../lib/random.ts';
import type { Engine } from '../../../lib/redis/engine.ts';
import {
  type Commit,
  type Decide,
  idempotencyMs,
  type KeyedRequest,
  type Receipt,
  type StoreContext,
} from '../session-store.ts';
import type { SessionRecord, Transition } from '../state.ts';
import type { StoreWatch } from '../store-faults.ts';
import { toWrites } from '../writes.ts';
import {
  keys,
  namesOf,
  type RecordChange,
  toIndexCommands,
  toOnceCommand,
  toPurgeCommands,
  toWriteCommands,
} from './commands.ts';
import { createLeases, leaseMs } from './leases.ts';
import {
  createTransactions,
  type Outcome,
  type SessionChange,
  type StoredSession,
  type Transactions,
} from './transactions.ts';

export interface SharedSessionsOptions extends StoreContext {
  readonly engine: Engine;
  readonly random: Random;
  /** Number of replicas that must store a change before Perch confirms it. */
  readonly replicas: number;
  /** Called with errors to log and the failed action. Errors never contain messages or answers. */
  readonly onFault: (error: unknown, doing: string) => void;
  readonly watch?: StoreWatch | undefined;
}

const maxAttempts = 100;
const maxBackoffMs = 20;
const maxLatest = 10_000;

/** Optional conditions of a change, and the result (`receipt`) to store for a keyed request. */
type ChangeExtras = Readonly<{
  /** Instance that must run the session; the change is not made if another one does. */
  runner?: string;
  request?: KeyedRequest | null;
  receipt?: Receipt;
  needs?: SessionChange['needs'];
}>;

export type Changes = ReturnType<typeof createChanges>;

/** Creates functions that retry a change if another one of the session was stored first. */
export function createChanges(options: SharedSessionsOptions) {
  const { engine, random } = options;
  const transactions = createTransactions(options);
  const views = createViews(options, transactions);
  const { announce, load, lastOf, leases } = views;
  const serialize = createSerializer();
  const write = createWriter(options, transactions, announce);
  /** Calls `attempt` until it returns a value other than `retry`. @throws Error after 100 calls */
  const repeat = async <Value>(attempt: (isFirst: boolean) => Promise<Value | 'retry'>) => {
    for (let count = 0; count < maxAttempts; count += 1) {
      const value = await attempt(count === 0);
      if (value !== 'retry') return value;
      await engine.clock.sleep(random.fraction() * maxBackoffMs);
    }
    throw new Error('A session changes too often.');
  };
  const finish = ({ outcome, after }: Awaited<ReturnType<typeof write>>) => {
    if (outcome.kind === 'ok') return after;
    if (outcome.kind !== 'lost') return 'retry';
    leases.note(after.id, undefined);
    return undefined;
  };
  const attemptChange = async (id: string, decide: Decide, runner: string, isFirst: boolean) => {
    const cached = isFirst ? lastOf(id) : undefined;
    const before = cached ?? (await load(id));
    const transition = before && decide(before.record);
    if (before && transition) return finish(await write(before, transition, { runner }));
    return cached === undefined ? undefined : 'retry';
  };
  return {
    ...views,
    transactions,
    write,
    repeat,
    change: (id: string, decide: Decide, runner = ''): Promise<SessionRecord | undefined> =>
      serialize(id, () => repeat((isFirst) => attemptChange(id, decide, runner, isFirst))),
    purge: async (id: string, nowMs: number): Promise<boolean> => {
      let existed = false;
      await repeat(async () => {
        const before = await load(id);
        // Absent at the second attempt: it was deleted, but the answer to the first one was lost.
        if (before === undefined) return undefined;
        existed = true;
        const deletion = { id, before: before.record, after: null };
        const change = toChange(deletion, before, toPurgeCommands(id, nowMs));
        const outcome = await transactions.commit({ ...change, ends: true });
        return outcome.kind === 'changed' ? 'retry' : undefined;
      });
      if (existed) announce(id, undefined);
      return existed;
    },
  };
}

/** Creates a function that runs the works of one session in call order, of others concurrently. */
function createSerializer() {
  const last = new Map<string, Promise<unknown>>();
  return <Value>(id: string, work: () => Promise<Value>): Promise<Value> => {
    const result = (last.get(id) ?? Promise.resolve()).then(work, work);
    last.set(id, result);
    const forget = () => {
      if (last.get(id) === result) last.delete(id);
    };
    result.then(forget, forget);
    return result;
  };
}

function createViews(options: SharedSessionsOptions, transactions: Transactions) {
  const latest = new LRUCache<string, StoredSession | 'deleted'>({ max: maxLatest });
  let listener: (commit: Commit) => void = () => {};
  const lastOf = (id: string): StoredSession | undefined => {
    const last = latest.get(id);
    return last === 'deleted' ? undefined : last;
  };
  const versionOf = (id: string): number =>
    latest.get(id) === 'deleted' ? Number.POSITIVE_INFINITY : (lastOf(id)?.version ?? 0);
  const announce = (id: string, stored: StoredSession | undefined): void => {
    // A session that was loaded before or with the last change of this instance can arrive late.
    if (stored !== undefined && stored.version <= versionOf(id)) return;
    latest.set(id, stored ?? 'deleted');
    leases.note(id, stored);
    listener(new Map([[id, stored?.record]]));
  };
  const load = async (id: string): Promise<StoredSession | undefined> => {
    const found = await transactions.find(id);
    return typeof found === 'string' ? undefined : found;
  };
  const isUnseen = (id: string, version: number): boolean =>
    versionOf(id) < (version === 0 ? Number.POSITIVE_INFINITY : version);
  const reload = async (id: string): Promise<SessionRecord | undefined> => {
    const stored = await load(id);
    announce(id, stored);
    return stored?.record;
  };
  const leases = createLeases(options, { transactions, reload, isUnseen });
  return {
    announce,
    load,
    lastOf,
    leases,
    onCommit: (next: (commit: Commit) => void): void => {
      listener = next;
    },
  };
}

function createWriter(
  { engine: { instance }, stamp }: SharedSessionsOptions,
  transactions: Transactions,
  announce: (id: string, stored: StoredSession) => void,
) {
  return async (
    before: StoredSession | null,
    transition: Transition,
    extras: ChangeExtras = {},
  ): Promise<Readonly<{ outcome: Outcome; after: SessionRecord }>> => {
    const old = before ?? { version: 0, record: null, runner: '' };
    const writes = toWrites(old.record ?? { ...transition.record, events: 0 }, transition, stamp);
    const { after } = writes;
    const commands = toWriteCommands(writes, transition.messages);
    const change = { id: after.id, before: old.record, after };
    const runner = toRunner(old, after, instance);
    const isNew = after.state === 'running' && old.record?.state !== 'running';
    const lease = isNew ? { instance, ms: leaseMs } : undefined;
    const sent = toChange(change, before, commands, extras);
    const outcome = await transactions.commit({ ...sent, lease, ends: after.state !== 'running' });
    if (outcome.kind === 'ok')
      announce(after.id, { version: old.version + 1, record: after, runner });
    return { outcome, after };
  };
}

function toRunner(
  { record, runner }: Readonly<{ record: SessionRecord | null; runner: string }>,
  after: SessionRecord,
  instance: string,
): string {
  if (after.state !== 'running') return '';
  return record?.state === 'running' ? runner : instance;
}

function toChange(
  change: RecordChange,
  before: StoredSession | null,
  commands: SessionChange['commands'],
  { runner = '', request, receipt, needs = [] }: ChangeExtras = {},
): Omit<SessionChange, 'ends'> {
  const once = request && receipt ? [toOnceCommand(request, receipt)] : [];
  return {
    id: change.id,
    version: before?.version ?? 0,
    runner,
    once: request ? keys.once + request.key : '',
    onceSinceMs: (request?.nowMs ?? 0) - idempotencyMs,
    needs,
    commands: [...commands, ...toIndexCommands(change), ...once],
    names: namesOf((change.after ?? change.before)?.client ?? null),
  };
}
