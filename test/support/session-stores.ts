import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import type { Engine } from '../../src/lib/redis/engine.ts';
import type { Quotas } from '../../src/lib/scheduling/quotas.ts';
import type { SessionStore, StampEvent } from '../../src/sessions/store/session-store.ts';
import { openSharedSessions } from '../../src/sessions/store/shared/shared-store.ts';
import { openSqliteSessions } from '../../src/sessions/store/sqlite-store.ts';
import type { StoreWatch } from '../../src/sessions/store/store-faults.ts';
import { openTestEngine, startEngine } from './engine-server.ts';
import { openQuotas } from './quotas.ts';

/** Options of a store that a test opens. The embedded store counts in `quotas`, the shared one in its engine. */
export interface TestStoreOptions {
  readonly stamp: StampEvent;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly followed?: ReadonlySet<string>;
  readonly watch?: StoreWatch;
}

/** Names of the amounts that a store counts, and of their fields in an engine. */
const fields = { sessions: 'live', sessionBytes: 'stored', queuedTurns: 'pending' } as const;

/** Store, and the amounts that it counts. */
export interface CountedStore {
  readonly store: SessionStore;
  /** Returns the amount of an address or a network; of all clients for `*`. */
  usedBy(resource: keyof typeof fields, name: string): Promise<number>;
}

export type OpenCountedStore = (options: TestStoreOptions) => Promise<CountedStore>;

/** Opens the embedded store, which the caller closes. */
export function openCountedSqlite(path: string): OpenCountedStore {
  return async ({ stamp, quotas }) => ({
    store: openSqliteSessions({ path, stamp, quotas }),
    usedBy: async (resource, name) =>
      name === '*' ? quotas.totalOf(resource) : quotas.usedBy(resource, name),
  });
}

/** Opens a store on an engine, which the caller closes. */
export function openCountedShared(engine: Engine): OpenCountedStore {
  return async (options) => ({
    store: openStoreOn(engine, options),
    usedBy: async (resource, name) => {
      const text = await engine.run((to) => to.hGet(`{sessions}:use:${name}`, fields[resource]));
      return Number(text ?? 0);
    },
  });
}

/** Opens a store on an engine, which the caller closes. By default, its time is 0. */
export function openStoreOn(engine: Engine, given: Partial<TestStoreOptions> = {}): SessionStore {
  return openSharedSessions({
    engine,
    random: systemRandom,
    stamp: createStamp(),
    replicas: 0,
    onFault: () => {},
    ...given,
  });
}

/** Opens an engine whose server keeps nothing on disk, because it is faster. Both are stopped at the end of the test. */
export async function openFastEngine(): Promise<Engine> {
  return openTestEngine((await startEngine('--appendonly', 'no')).url);
}

/** Opens a store on an engine of its own. Both are closed at the end of the test. */
export async function openSharedStore(
  bounds?: Parameters<typeof openQuotas>[0],
): Promise<SessionStore> {
  const store = openStoreOn(await openFastEngine(), { quotas: openQuotas(bounds) });
  onTestFinished(() => store.close());
  return store;
}

let stamps = 0;

/** Creates unique ids of events, also among several stores. */
export function createStamp(): StampEvent {
  return (index) => {
    stamps += 1;
    return { id: `evt_${stamps}`, atMs: 1000 + index, index };
  };
}
