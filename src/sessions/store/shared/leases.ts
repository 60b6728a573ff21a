import type { Engine } from '../../../core/engine/engine.ts';
import type { StoreBounds } from '../session-store.ts';
import type { SessionRecord } from '../state.ts';
import { changesChannel, readMs } from './keys.ts';
import {
  claimScript,
  confirmReadScript,
  releaseScript,
  renewScript,
  versionsScript,
} from './scripts.ts';
import type { StoredSession, Transactions } from './transactions.ts';

/** Milliseconds after which other server instances take over the sessions of a failed instance. */
export const leaseMs = 5000;

const checkMs = 1000;
const maxClaims = 20;

interface LeasesOptions {
  readonly engine: Engine;
  readonly onFault: (error: unknown, doing: string) => void;
}

interface LeasesContext {
  readonly transactions: Transactions;
  readonly load: (id: string) => Promise<StoredSession | undefined>;
  /** Called for a session that another instance changed; `undefined` if it was deleted. */
  readonly announce: (id: string, stored: StoredSession | undefined) => void;
  /** Returns whether a version is newer than the last announced one. 0: no session. */
  readonly isUnseen: (id: string, version: number) => boolean;
  readonly boundsOf: () => StoreBounds | null;
}

/**
 * Manages this instance's leases: exclusive rights to answer a session's messages. Every second,
 * renews them and takes over expired ones. Reloads its sessions if other instances change them.
 */
export function createLeases(options: LeasesOptions, context: LeasesContext) {
  const { engine, onFault } = options;
  const { transactions, load, announce, isUnseen, boundsOf } = context;
  const held = new Set<string>();
  const closing = new AbortController();
  const readIds = () => boundsOf()?.readIds() ?? [];
  const reload = createReloads(async (id) => announce(id, await load(id)), onFault);
  engine.subscribe(changesChannel, (message) => {
    const [operation = '', id = ''] = message.split(' ');
    const isOwn = operation.startsWith(`${engine.instance}:`);
    const isOfInterest = held.has(id) || boundsOf()?.isRead(id) === true;
    if (!isOwn && isOfInterest) reload(id);
  });
  let takeOver: ((record: SessionRecord) => void) | null = null;
  const tasks: LeaseTasks = {
    renew: async () => {
      if (held.size === 0) return;
      const lost = await transactions.list(renewScript, engine.instance, leaseMs, ...held);
      for (const id of lost) reload(id);
    },
    claim: async () => {
      if (takeOver === null) return; // the command line only reads and deletes sessions
      for (const id of await transactions.list(claimScript, engine.instance, leaseMs, maxClaims)) {
        const stored = await load(id);
        announce(id, stored);
        if (stored !== undefined) takeOver(stored.record);
      }
    },
    confirmRead: async () => {
      const ids = readIds();
      if (ids.length > 0) await transactions.run(confirmReadScript, readMs, ...ids);
    },
    catchUp: async () => {
      const ids = [...new Set([...held, ...readIds()])];
      const versions = ids.length > 0 ? await transactions.list(versionsScript, ...ids) : [];
      for (const [at, id] of ids.entries()) if (isUnseen(id, Number(versions[at]))) reload(id);
    },
  };
  void watch(tasks, options, closing.signal);
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
      await transactions.run(releaseScript, engine.instance, ...held).catch(() => {}); // the leases expire
    },
  };
}

interface LeaseTasks {
  renew(): Promise<void>;
  claim(): Promise<void>;
  confirmRead(): Promise<void>;
  /** Reloads sessions whose changes this server instance has missed. */
  catchUp(): Promise<void>;
}

async function watch(
  { renew, claim, confirmRead, catchUp }: LeaseTasks,
  { engine, onFault }: LeasesOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = engine;
  let upSinceMs = clock.now();
  const check = async (): Promise<void> => {
    const { isUp } = engine.state;
    if (!isUp) upSinceMs = clock.now();
    if (!isUp) return;
    // After an outage, each instance first renews its own leases.
    const isSettled = clock.now() - upSinceMs >= leaseMs;
    await Promise.all([renew(), confirmRead(), catchUp(), isSettled ? claim() : null]);
  };
  for (;;) {
    await Promise.allSettled([clock.sleep(checkMs, signal)]);
    if (signal.aborted) return;
    await check().catch((error: unknown) => onFault(error, 'renewing leases'));
  }
}

function createReloads(
  load: (id: string) => Promise<void>,
  onFault: LeasesOptions['onFault'],
): (id: string) => void {
  /** Sessions being loaded. `true`: must be loaded once more afterwards. */
  const loading = new Map<string, boolean>();
  const run = async (id: string): Promise<void> => {
    do {
      loading.set(id, false);
      await load(id).catch((error: unknown) => onFault(error, 'following a session'));
    } while (loading.get(id) === true);
    loading.delete(id);
  };
  return (id) => {
    if (loading.has(id)) loading.set(id, true);
    else void run(id);
  };
}
