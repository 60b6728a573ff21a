import { LRUCache } from 'lru-cache';
import type { Commit, Decide } from '../session-store.ts';
import type { SessionRecord, Transition } from '../state.ts';
import { toWrites } from '../writes.ts';
import { toPurgeCommands, toWriteCommands } from './commands.ts';
import { createLeases, createSerializer } from './leases.ts';
import {
  createTransactions,
  type Outcome,
  type SessionChange,
  type SharedSessionsOptions,
  type StoredSession,
  type Transactions,
} from './transactions.ts';

const maxAttempts = 100;
const maxBackoffMs = 20;
const maxLatest = 10_000;

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
        const commands = toPurgeCommands(id, nowMs);
        const outcome = await transactions.commit({ id, before, after: null, commands });
        return outcome.kind === 'changed' ? 'retry' : undefined;
      });
      if (existed) announce(id, undefined);
      return existed;
    },
  };
}

/** Version of a deleted session, later than all others. */
const deleted = { version: Number.POSITIVE_INFINITY };

function createViews(options: SharedSessionsOptions, transactions: Transactions) {
  const latest = new LRUCache<string, StoredSession | typeof deleted>({ max: maxLatest });
  let listener: (commit: Commit) => void = () => {};
  const versionOf = (id: string): number => latest.get(id)?.version ?? 0;
  const announce = (id: string, stored: StoredSession | undefined): void => {
    // A session that was loaded before or with the last change of this instance can arrive late.
    if (stored !== undefined && stored.version <= versionOf(id)) return;
    latest.set(id, stored ?? deleted);
    leases.note(id, stored);
    listener(new Map([[id, stored?.record]]));
  };
  const load = async (id: string): Promise<StoredSession | undefined> => {
    const found = await transactions.find(id);
    return typeof found === 'string' ? undefined : found;
  };
  const isUnseen = (id: string, version: number): boolean =>
    versionOf(id) < (version === 0 ? deleted.version : version);
  const reload = async (id: string): Promise<SessionRecord | undefined> => {
    const stored = await load(id);
    announce(id, stored);
    return stored?.record;
  };
  const leases = createLeases(options, { transactions, reload, isUnseen });
  return {
    announce,
    load,
    lastOf: (id: string): StoredSession | undefined => {
      const last = latest.get(id);
      return last && 'record' in last ? last : undefined;
    },
    leases,
    onCommit: (next: (commit: Commit) => void): void => {
      listener = next;
    },
  };
}

function createWriter(
  { stamp }: SharedSessionsOptions,
  { commit }: Transactions,
  announce: (id: string, stored: StoredSession) => void,
) {
  return async (
    before: StoredSession | null,
    transition: Transition,
    conditions: Pick<SessionChange, 'runner' | 'request' | 'receipt' | 'needs'>,
  ): Promise<Readonly<{ outcome: Outcome; after: SessionRecord }>> => {
    const writes = toWrites(before?.record ?? transition.record, transition, stamp);
    const { after } = writes;
    const commands = toWriteCommands(writes, transition.messages);
    const outcome = await commit({ ...conditions, id: after.id, before, after, commands });
    if (outcome.kind === 'ok') {
      const version = (before?.version ?? 0) + 1;
      announce(after.id, { version, record: after, runner: outcome.runner });
    }
    return { outcome, after };
  };
}
