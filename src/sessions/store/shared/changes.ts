import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../core/clock.ts';
import type { Engine } from '../../../core/engine/engine.ts';
import type { Random } from '../../../core/random.ts';
import type { Excess } from '../../../core/scheduling/quotas.ts';
import { idempotencyMs, type KeyedRequest, type Receipt } from '../session-rows.ts';
import type { Commit, Decide, StampEvent, StoreBounds } from '../session-store.ts';
import type { SessionRecord, Transition } from '../state.ts';
import type { StoreWatch } from '../store-faults.ts';
import { toWrites } from '../transition-writes.ts';
import {
  namesToPrune,
  type RecordChange,
  toIndexCommands,
  toOnceCommand,
  toPurgeCommands,
  toWriteCommands,
} from './commands.ts';
import { keys } from './keys.ts';
import { createLeases, leaseMs } from './leases.ts';
import { toNeed } from './room.ts';
import { createSerializer } from './serialize.ts';
import {
  createTransactions,
  type Need,
  type Outcome,
  type SessionChange,
  type StoredSession,
  type Transactions,
} from './transactions.ts';

export interface SharedSessionsOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly stamp: StampEvent;
  /** Number of replicas that must store a change before Perch confirms it. */
  readonly replicas: number;
  /** Called with errors to log and the failed action. Errors never contain messages or answers. */
  readonly onFault: (error: unknown, doing: string) => void;
  readonly watch?: StoreWatch | undefined;
}

const maxAttempts = 100;
const maxBackoffMs = 20;
const maxCached = 1000;
const maxLatest = 10_000;

/** Optional conditions of a change, and data for recognizing a repeated request. */
export interface ChangeExtras {
  /** Instance that must run the session; the change is not made if another one does. */
  readonly runner?: string;
  /** Request with an idempotency key. Its result (`receipt`) is stored under this key. */
  readonly request?: KeyedRequest | null;
  /** Result of `request`. The server returns it again if the request is repeated. */
  readonly receipt?: Receipt;
  readonly needs?: readonly Need[];
}

type Written = Readonly<{ outcome: Outcome; after: SessionRecord }>;

/** Session after a change. `isOver`: whether the stored bytes now exceed a limit. */
export type Changed = Readonly<{ after: SessionRecord; isOver: boolean }>;

export type Changes = ReturnType<typeof createChanges>;

/** Creates functions that retry a change if another one of the session was stored first. */
export function createChanges(options: SharedSessionsOptions) {
  const { engine, random } = options;
  const transactions = createTransactions(options);
  const views = createViews(options, transactions);
  const { announce, load, written, leases, boundsOf } = views;
  const serialize = createSerializer();
  const write = createWriter(options, { transactions, announce, boundsOf });
  /** Calls `attempt` until it returns a value other than `retry`. @throws Error after 100 calls */
  const repeat = async <Value>(attempt: (isFirst: boolean) => Promise<Value | 'retry'>) => {
    for (let count = 0; count < maxAttempts; count += 1) {
      const value = await attempt(count === 0);
      if (value !== 'retry') return value;
      await engine.clock.sleep(random.fraction() * maxBackoffMs);
    }
    throw new Error('A session changes too often.');
  };
  const attemptChange = async (id: string, decide: Decide, runner: string, isFirst: boolean) => {
    const cached = isFirst ? written.get(id) : undefined;
    const before = cached ?? (await load(id));
    const transition = before && decide(before.record);
    if (before && transition) return finish(await write(before, transition, { runner }));
    written.delete(id);
    return cached === undefined ? undefined : 'retry';
  };
  const finish = ({ outcome, after }: Written) => {
    if (outcome.kind === 'ok') return { after, isOver: isOver(outcome.excess) };
    written.delete(after.id);
    if (outcome.kind !== 'lost') return 'retry';
    leases.note(after.id, undefined);
    return undefined;
  };
  return {
    ...views,
    transactions,
    write,
    repeat,
    change: (id: string, decide: Decide, runner = ''): Promise<Changed | undefined> =>
      serialize(id, () => repeat((isFirst) => attemptChange(id, decide, runner, isFirst))),
    purge: async (id: string, nowMs: number): Promise<boolean> => {
      let existed = false;
      await repeat(async () => {
        const before = await load(id);
        // Absent at the second attempt: it was deleted, but the answer to the first one was lost.
        if (before === undefined) return undefined;
        existed = true;
        const deletion = { id, before: before.record, after: null };
        const ends = { lease: { ends: true } };
        const change = toChange(deletion, before, toPurgeCommands(id, nowMs), ends);
        return (await transactions.commit(change)).kind === 'changed' ? 'retry' : undefined;
      });
      if (existed) announce(id, undefined);
      return existed;
    },
  };
}

const isOver = (excess: Excess | undefined) => excess !== undefined && excess !== 'share';

function createViews(options: SharedSessionsOptions, transactions: Transactions) {
  const written = new LRUCache<string, StoredSession>({ max: maxCached });
  const latest = new LRUCache<string, number>({ max: maxLatest });
  let bounds: StoreBounds | null = null;
  let listener: (commit: Commit) => void = () => {};
  const announce = (id: string, stored: StoredSession | undefined): void => {
    // A session that was loaded before or with the last change of this instance can arrive after
    // it.
    if (stored !== undefined && stored.version <= (latest.get(id) ?? 0)) return;
    latest.set(id, stored?.version ?? Number.POSITIVE_INFINITY);
    if (stored === undefined) written.delete(id);
    else written.set(id, stored);
    leases.note(id, stored);
    listener(new Map([[id, stored?.record]]));
  };
  const load = async (id: string): Promise<StoredSession | undefined> => {
    const found = await transactions.find(id);
    return typeof found === 'string' ? undefined : found;
  };
  const isUnseen = (id: string, version: number): boolean =>
    (latest.get(id) ?? -1) < (version === 0 ? Number.POSITIVE_INFINITY : version);
  const boundsOf = () => bounds;
  const leases = createLeases(options, { transactions, load, announce, isUnseen, boundsOf });
  return {
    written,
    announce,
    load,
    leases,
    boundsOf,
    setBounds: (next: StoreBounds): void => {
      bounds = next;
    },
    onCommit: (next: (commit: Commit) => void): void => {
      listener = next;
    },
  };
}

interface WriterContext {
  readonly transactions: Transactions;
  readonly announce: (id: string, stored: StoredSession) => void;
  readonly boundsOf: () => StoreBounds | null;
}

function createWriter(
  { engine, stamp }: SharedSessionsOptions,
  { transactions, announce, boundsOf }: WriterContext,
) {
  return async (
    before: StoredSession | null,
    transition: Transition,
    extras: ChangeExtras = {},
  ): Promise<Written> => {
    const known = before?.record ?? { ...transition.record, events: 0 };
    const writes = toWrites(known, transition, stamp);
    const { after } = writes;
    const commands = toWriteCommands(writes, transition.messages);
    const change = { id: after.id, before: before?.record ?? null, after };
    const lease = toLease(change, engine.instance);
    const outcome = await transactions.commit({
      ...toChange(change, before, commands, { ...extras, lease }),
      room: toRoom(boundsOf(), known, after),
    });
    if (outcome.kind === 'ok') {
      const version = (before?.version ?? 0) + 1;
      const runner = lease.lease?.instance ?? (lease.ends ? '' : (before?.runner ?? ''));
      announce(after.id, { version, record: after, runner });
    }
    return { outcome, after };
  };
}

function toRoom(bounds: StoreBounds | null, before: SessionRecord, after: SessionRecord) {
  if (after.storedBytes <= before.storedBytes) return undefined;
  return toNeed(bounds, { field: 'stored', client: after.client, amount: 0 })[0];
}

type LeaseChange = Pick<SessionChange, 'ends'> & { readonly lease?: SessionChange['lease'] };

function toLease({ before, after }: RecordChange, instance: string): LeaseChange {
  const isRunning = after?.state === 'running';
  if (isRunning && before?.state !== 'running')
    return { lease: { instance, ms: leaseMs }, ends: false };
  return { ends: !isRunning };
}

function toChange(
  change: RecordChange,
  before: StoredSession | null,
  commands: SessionChange['commands'],
  {
    runner = '',
    request,
    receipt,
    needs = [],
    lease,
  }: ChangeExtras & { readonly lease: LeaseChange },
): SessionChange {
  const once =
    request && receipt ? [toOnceCommand(request, receipt, idempotencyMs)] : ([] as const);
  return {
    id: change.id,
    version: before?.version ?? 0,
    runner,
    once: request ? keys.once + request.key : '',
    onceSinceMs: (request?.nowMs ?? 0) - idempotencyMs,
    needs,
    commands: [...commands, ...toIndexCommands(change), ...once],
    prune: namesToPrune(change),
    ...lease,
  };
}
