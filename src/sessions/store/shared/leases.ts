import type { Engine } from '../../../lib/redis/engine.ts';
import type { SessionRecord } from '../state.ts';
import { claimScript, releaseScript, renewScript, versionsScript } from './scripts.ts';
import { changesChannel, type StoredSession, type Transactions } from './transactions.ts';

/** Milliseconds after which other server instances take over the sessions of a failed instance. */
export const leaseMs = 5000;

const checkMs = 1000;
const maxClaims = 20;

interface LeasesOptions {
  readonly engine: Engine;
  /** Ids of the sessions with open streams here. */
  readonly followed?: ReadonlySet<string>;
  readonly onFault: (error: unknown, doing: string) => void;
}

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
export function createLeases(options: LeasesOptions, context: LeasesContext) {
  const { engine, followed = new Set(), onFault } = options;
  const { transactions, isUnseen } = context;
  const held = new Set<string>();
  const closing = new AbortController();
  const reload = createReloads(context.reload, onFault);
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
  { engine, onFault }: LeasesOptions,
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

function createReloads(
  reload: (id: string) => Promise<unknown>,
  onFault: LeasesOptions['onFault'],
): (id: string) => void {
  /** Sessions being loaded. `true`: must be loaded once more afterwards. */
  const loading = new Map<string, boolean>();
  const run = async (id: string): Promise<void> => {
    do {
      loading.set(id, false);
      await reload(id).catch((error: unknown) => onFault(error, 'following a session'));
    } while (loading.get(id) === true);
    loading.delete(id);
  };
  return (id) => {
    if (loading.has(id)) loading.set(id, true);
    else void run(id);
  };
}
