import { LRUCache } from 'lru-cache';
import { toWrites } from '../quotas.ts';
import type { Commit, Decide } from '../session-store.ts';
import type { SessionRecord, Transition } from '../state.ts';
import { claimScript, renewScript } from './scripts.ts';
import {
  type Command,
  changesChannel,
  createTransactions,
  keys,
  leaseMs,
  type SessionChange,
  type SharedSessionsOptions,
  type StoredSession,
  type Transactions,
  toWriteCommands,
} from './transactions.ts';

const maxAttempts = 100;
const maxBackoffMs = 20;
const checkMs = 1000;
const maxClaims = 20;
const maxLatest = 10_000;

/** Version of a deleted session, later than all others. */
const deleted = { version: Number.POSITIVE_INFINITY };

/** Creates the last known versions of sessions, and the set of those that this instance runs. */
function createViews(instance: string) {
  const latest = new LRUCache<string, StoredSession | typeof deleted>({ max: maxLatest });
  const held = new Set<string>();
  let listener: (commit: Commit) => void = () => {};
  const versionOf = (id: string): number => latest.get(id)?.version ?? 0;
  return {
    held,
    announce: (id: string, stored: StoredSession | undefined): void => {
      // A session that was loaded before or with the last change of this instance can arrive late.
      if (stored !== undefined && stored.version <= versionOf(id)) return;
      latest.set(id, stored ?? deleted);
      if (stored?.runner === instance) held.add(id);
      else held.delete(id);
      listener(new Map([[id, stored?.record]]));
    },
    lastOf: (id: string): StoredSession | undefined => {
      const last = latest.get(id);
      return last && 'record' in last ? last : undefined;
    },
    /** Returns whether a version is newer than the last announced one. 0: no session. */
    isUnseen: (id: string, version: number) => versionOf(id) < (version || deleted.version),
    onCommit: (next: (commit: Commit) => void): void => {
      listener = next;
    },
  };
}

/**
 * Manages this instance's leases: exclusive rights to answer a session's messages. Every second,
 * renews them and takes over expired ones. Reloads its sessions if other instances change them.
 */
function createLeases(options: SharedSessionsOptions, { list, load }: Transactions) {
  const { engine, followed = new Set(), onFault } = options;
  const views = createViews(engine.instance);
  const { held, announce, isUnseen } = views;
  const closing = new AbortController();
  const serialize = createSerializer();
  const reload = async (id: string): Promise<SessionRecord | undefined> => {
    const stored = await load(id);
    announce(id, stored);
    return stored?.record;
  };
  const follow = (id: string): void => {
    const fail = (error: unknown) => onFault(error, 'following a session');
    serialize(id, () => reload(id)).catch(fail);
  };
  engine.subscribe(changesChannel, (message) => {
    const [operation = '', id = ''] = message.split(' ');
    const isOwn = operation.startsWith(`${engine.instance}:`);
    if (!isOwn && (held.has(id) || followed.has(id))) follow(id);
  });
  let takeOver: ((record: SessionRecord) => void) | null = null;
  /** Renews the leases, and reloads sessions whose changes this server instance has missed. */
  const renew = async (): Promise<void> => {
    const ids = [...new Set([...held, ...followed])];
    if (ids.length === 0) return;
    const versions = await list(renewScript, engine.instance, leaseMs, ...ids);
    for (const [at, id] of ids.entries()) if (isUnseen(id, Number(versions[at]))) follow(id);
  };
  const claim = async (): Promise<void> => {
    if (takeOver === null) return; // the command line only reads and deletes sessions
    for (const id of await list(claimScript, engine.instance, leaseMs, maxClaims)) {
      const record = await reload(id);
      if (record !== undefined) takeOver(record);
    }
  };
  const maintain = (isSettled: boolean) => Promise.all([renew(), isSettled && claim()]);
  void watch(maintain, options, closing.signal);
  return {
    ...views,
    /** Sets the listener for sessions taken over from other instances. */
    onTakeOver: (listener: (record: SessionRecord) => void): void => {
      takeOver = listener;
    },
    /** Ends the leases, so that other instances can take over immediately. */
    close: async (): Promise<void> => {
      closing.abort();
      if (held.size === 0 || !engine.state.isUp) return;
      // Leases that were not ended expire.
      const fail = (error: unknown) => onFault(error, 'ending leases');
      await list(renewScript, engine.instance, 0, ...held).catch(fail);
    },
  };
}

/** Calls `maintain` every second while the engine answers, with whether it did for a lease. */
async function watch(
  maintain: (isSettled: boolean) => Promise<unknown>,
  { engine, onFault }: SharedSessionsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = engine;
  let upSinceMs = clock.now();
  for (;;) {
    await Promise.allSettled([clock.sleep(checkMs, signal)]);
    if (signal.aborted) return;
    if (!engine.state.isUp) {
      upSinceMs = clock.now();
      continue;
    }
    // After an outage, each instance first renews its own leases.
    const isSettled = clock.now() - upSinceMs >= leaseMs;
    await maintain(isSettled).catch((error: unknown) => onFault(error, 'renewing leases'));
  }
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

export type Changes = ReturnType<typeof createChanges>;

/** Creates functions that retry a change if another one of the session was stored first. */
export function createChanges(options: SharedSessionsOptions) {
  const { engine, random } = options;
  const transactions = createTransactions(options);
  const { load, commit } = transactions;
  const leases = createLeases(options, transactions);
  const serialize = createSerializer();
  const write = createWriter(options, transactions, leases);
  /** Calls `attempt` until it returns a value other than `retry`. @throws Error after 100 calls */
  const repeat = async <Value>(attempt: (isFirst: boolean) => Promise<Value | 'retry'>) => {
    for (let count = 0; count < maxAttempts; count += 1) {
      const value = await attempt(count === 0);
      if (value !== 'retry') return value;
      await engine.clock.sleep(random.fraction() * maxBackoffMs);
    }
    throw new Error('A session changes too often.');
  };
  const finish = ({ outcome: { kind }, after }: Awaited<ReturnType<typeof write>>) => {
    if (kind === 'ok') return after;
    return kind === 'lost' ? undefined : 'retry';
  };
  const attemptChange = async (id: string, decide: Decide, runner: string, isFirst: boolean) => {
    const cached = isFirst ? leases.lastOf(id) : undefined;
    const before = cached ?? (await load(id));
    const transition = before && decide(before.record);
    if (before && transition) return finish(await write(before, transition, { runner }));
    return cached === undefined ? undefined : 'retry';
  };
  return {
    transactions,
    leases,
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
        // The id and its deletion time stay.
        const commands: Command[] = [
          ['DEL', keys.record + id],
          ['DEL', keys.events + id],
          ['ZADD', keys.purged, nowMs, id],
        ];
        const outcome = await commit({ id, before, after: null, commands });
        return outcome.kind === 'changed' ? 'retry' : undefined;
      });
      if (existed) leases.announce(id, undefined);
      return existed;
    },
  };
}

function createWriter(
  { stamp }: SharedSessionsOptions,
  { commit }: Transactions,
  { announce, held }: ReturnType<typeof createLeases>,
) {
  return async (
    before: StoredSession | null,
    transition: Transition,
    conditions: Pick<SessionChange, 'runner' | 'request' | 'receipt' | 'needs'>,
  ) => {
    const writes = toWrites(before?.record ?? transition.record, transition, stamp);
    const { after } = writes;
    const commands = toWriteCommands(writes, transition.messages);
    const outcome = await commit({ ...conditions, id: after.id, before, after, commands });
    if (outcome.kind === 'ok') {
      const version = (before?.version ?? 0) + 1;
      announce(after.id, { version, record: after, runner: outcome.runner });
    } else if (outcome.kind === 'lost') held.delete(after.id);
    return { outcome, after };
  };
}
