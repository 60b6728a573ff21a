import type { Decide, SessionStore } from '../session-store.ts';
import { createAdmission } from './admission.ts';
import { createChanges, type SharedSessionsOptions } from './changes.ts';
import { createSharedReads } from './reads.ts';
import { forgetScript } from './scripts.ts';

const maxPurged = 100_000;

/** Opens the store of all instances. Only the holder of a session's lease answers it. */
export function openSharedSessions(options: SharedSessionsOptions): SessionStore {
  const changes = createChanges(options);
  const { transactions, leases } = changes;
  const { trim, ...admission } = createAdmission(changes, options.clock);
  const change = async (id: string, decide: Decide, runner?: string) => {
    const changed = await changes.change(id, decide, runner);
    if (changed === undefined) return undefined;
    const { after, isOver } = changed;
    const onFault = (error: unknown) => options.onFault(error, 'deleting sessions');
    if (isOver) await trim(after.client, id).catch(onFault); // the change itself was made
    return after;
  };
  return {
    isShared: true,
    ...createSharedReads(transactions),
    ...admission,
    trim: () => trim(null, ''),
    find: async (id) => {
      const found = await transactions.find(id);
      if (typeof found === 'string') return { kind: found };
      return { kind: 'known', record: found.record };
    },
    probe: transactions.probe,
    setBounds: changes.setBounds,
    runs: leases.isHeld,
    change: (id, decide) => change(id, decide),
    changeOwn: (id, decide) => change(id, decide, options.engine.instance),
    purge: changes.purge,
    forget: async ({ purgedMs }) => {
      await transactions.run(forgetScript, purgedMs, maxPurged); // idempotency keys expire by themselves
    },
    onCommit: changes.onCommit,
    onTakeOver: leases.onTakeOver,
    close: leases.close,
  };
}
