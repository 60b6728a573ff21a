import type { SessionRecord } from '../state.ts';
import { claimScript, releaseScript, renewScript, versionsScript } from './scripts.ts';
import {
  changesChannel,
  leaseMs,
  type SharedSessionsOptions,
  type StoredSession,
  type Transactions,
} from './transactions.ts';

const checkMs = 1000;
const maxClaims = 20;

interface LeasesContext {
  readonly transactions: Transactions;
  /** Loads a session that another instance changed, and announces it. */
  readonly reload: (id: string) => Promise<SessionRecord | undefined>;
  /** Returns whether a version is newer than the last announced one. 0: no session. */
  readonly isUnseen: (id: string, version: number) => boolean;
}

/**
 * Manages this instance's leases: exclusive rights to answer a session's messages. Every second,
 * renews them and takes over expired ones. Reloads its sessions if other instances change them.
 */
export function createLeases(options: SharedSessionsOptions, context: LeasesContext) {
  const { engine, followed = new Set(), onFault } = options;
  const { transactions, isUnseen } = context;
  const held = new Set<string>();
  const closing = new AbortController();
  const serialize = createSerializer();
  const reload = (id: string): void => {
    const fail = (error: unknown) => onFault(error, 'following a session');
    serialize(id, () => context.reload(id)).catch(fail);
  };
  engine.subscribe(changesChannel, (message) => {
    const [operation = '', id = ''] = message.split(' ');
    const isOwn = operation.startsWith(`${engine.instance}:`);
    const isOfInterest = held.has(id) || followed.has(id);
    if (!isOwn && isOfInterest) reload(id);
  });
  let takeOver: ((record: SessionRecord) => void) | null = null;
  const renew = async (): Promise<void> => {
    if (held.size === 0) return;
    const lost = await transactions.list(renewScript, engine.instance, leaseMs, ...held);
    for (const id of lost) reload(id);
  };
  const claim = async (): Promise<void> => {
    if (takeOver === null) return; // the command line only reads and deletes sessions
    for (const id of await transactions.list(claimScript, engine.instance, leaseMs, maxClaims)) {
      const record = await context.reload(id);
      if (record !== undefined) takeOver(record);
    }
  };
  /** Reloads sessions whose changes this server instance has missed. */
  const catchUp = async (): Promise<void> => {
    const ids = [...new Set([...held, ...followed])];
    const versions = ids.length > 0 ? await transactions.list(versionsScript, ...ids) : [];
    for (const [at, id] of ids.entries()) if (isUnseen(id, Number(versions[at]))) reload(id);
  };
  const maintain = async (isSettled: boolean): Promise<void> => {
    await Promise.all([renew(), catchUp(), isSettled ? claim() : null]);
  };
  void watch(maintain, options, closing.signal);
  return {
    isHeld: (id: string) => held.has(id),
    /** Sets the listener for sessions taken over from other instances. */
    onTakeOver: (listener: (record: SessionRecord) => void): void => {
      takeOver = listener;
    },
    /** Adds a changed session that this instance runs to its leases; otherwise removes it. */
    note: (id: string, stored: StoredSession | undefined): void => {
      if (stored?.runner === engine.instance) held.add(id);
      else held.delete(id);
    },
    /** Releases the leases, so that other instances can take over immediately. */
    close: async (): Promise<void> => {
      closing.abort();
      if (held.size === 0 || !engine.state.isUp) return;
      await transactions.list(releaseScript, engine.instance, ...held).catch(() => {}); // the leases expire
    },
  };
}

/** Calls `maintain` every second while the engine answers, with whether it did for a lease. */
async function watch(
  maintain: (isSettled: boolean) => Promise<void>,
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
export function createSerializer() {
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
