import type { Engine, EngineScript } from '../../../core/engine/engine.ts';
import { EngineError } from '../../../core/engine/engine-error.ts';
import { Problem } from '../../../core/problem.ts';
import type { Excess } from '../../../core/scheduling/quotas.ts';
import type { SessionRecord } from '../state.ts';
import type { StoreWatch } from '../store-faults.ts';
import type { Command } from './commands.ts';
import { changesChannel, keyBase } from './keys.ts';
import { commitScript, findScript, probeScript } from './scripts.ts';

export interface StoredSession {
  readonly version: number;
  readonly record: SessionRecord;
  /** Name of the server instance that answers the session's messages; empty if there is none. */
  readonly runner: string;
}

/** Amount that a change adds to a limited quantity, and the limits of the quantity. */
export interface Need {
  readonly field: 'live' | 'stored' | 'pending';
  readonly amount: number;
  /** Maximum of the quantity for all clients together. */
  readonly total: number;
  /** Maximums of the quantity for the client and for its network. */
  readonly own: readonly { readonly name: string; readonly most: number; readonly kind: Excess }[];
  readonly ignoresShare: boolean;
}

/** Change, made only if the stored version is `version` (0: no session). */
export interface SessionChange {
  readonly id: string;
  readonly version: number;
  /** Instance that must run the session for the change to be made; empty for any. */
  readonly runner: string;
  /** Key of the stored result, or empty. No change if it has a result newer than `onceSinceMs`. */
  readonly once: string;
  readonly onceSinceMs: number;
  readonly needs: readonly Need[];
  readonly commands: readonly Command[];
  readonly prune: readonly { readonly name: string; readonly parent: string | null }[];
  /** Lease that the change creates: `instance` runs the session for `ms` milliseconds. */
  readonly lease?: { readonly instance: string; readonly ms: number } | undefined;
  /** Whether the session has no lease after the change. */
  readonly ends: boolean;
  /** Limits of stored bytes. Exceeding them is reported, but does not prevent the change. */
  readonly room?: Need | undefined;
}

export type Outcome =
  /** The change was made. `excess`: the limit of stored bytes exceeded after it. */
  | { readonly kind: 'ok'; readonly excess?: Excess | undefined }
  /**
   * The change was not made. `changed`: another change of the session was stored first. `lost`: another server instance
   * runs the session. `once`: the request repeats an earlier request.
   */
  | { readonly kind: 'changed' | 'lost' | 'once' }
  /**
   * The change was not made, because it would exceed a limit. `field`: the limited quantity. `excess`: kind of the
   * limit, such as `total`.
   */
  | { readonly kind: 'excess'; readonly field: Need['field']; readonly excess: Excess };

/** Milliseconds to wait for an unavailable Valkey or Redis server before a call fails. */
const patienceMs = 2000;

interface TransactionsOptions {
  readonly engine: Engine;
  /** Number of replicas that must store a change before Perch confirms it. */
  readonly replicas: number;
  readonly watch?: StoreWatch | undefined;
}

export type Transactions = ReturnType<typeof createTransactions>;

function createRunner({ engine, watch }: TransactionsOptions) {
  const unavailable = (cause: unknown): Problem => {
    watch?.failed(cause);
    // Callers get no text of the engine, which can contain addresses.
    return new Problem('not_ready', { detail: 'The session store is unavailable.', cause });
  };
  /** Returns an error of Valkey or Redis instead of throwing it, so that callers can retry. */
  const attempt = async (script: EngineScript, args: readonly (string | number)[]) => {
    if (!(await engine.waitUntilUp(patienceMs))) {
      throw unavailable(new EngineError(String(engine.state.fault), true));
    }
    try {
      return { reply: await engine.evaluate(script, { keys: [keyBase], args }) };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (!error.isOutage) throw unavailable(error);
      return { error };
    }
  };
  /** Repeats a failed call once, so the script must be safe to repeat. */
  const run = async (script: EngineScript, args: readonly (string | number)[]) => {
    const first = await attempt(script, args);
    const { reply, error } = 'error' in first ? await attempt(script, args) : first;
    if (error !== undefined) throw unavailable(error);
    return reply;
  };
  return { run, unavailable };
}

/** Creates reads and changes, which throw Problem `not_ready` if Valkey or Redis fails. */
export function createTransactions(options: TransactionsOptions) {
  const { engine, replicas, watch } = options;
  const { run, unavailable } = createRunner(options);
  let operations = 0;
  const list = async (script: EngineScript, ...args: readonly (string | number)[]) => {
    const reply = await run(script, args);
    return Array.isArray(reply) ? reply.map(String) : [];
  };
  const confirm = async (): Promise<void> => {
    if (replicas === 0) return;
    try {
      await engine.confirmReplicas(replicas, patienceMs);
    } catch (error) {
      throw unavailable(error);
    }
  };
  return {
    /** Waits until `replicas` replicas have stored all changes. @throws Problem `not_ready` */
    confirm,
    run: async (script: EngineScript, ...args: readonly (string | number)[]): Promise<string> =>
      String((await run(script, args)) ?? ''),
    list,
    find: async (id: string): Promise<StoredSession | 'purged' | 'unknown'> => {
      const [kind, version, record = '', runner = ''] = await list(findScript, id);
      if (kind !== 'known') return kind === 'purged' ? 'purged' : 'unknown';
      return { version: Number(version), record: JSON.parse(record), runner };
    },
    /** Writes a value that expires. @throws Problem `not_ready` if the server does not store it */
    probe: async (): Promise<void> => {
      await run(probeScript, []);
      await confirm();
      watch?.worked();
    },
    /** Commits exactly once. Resolves when the server and `replicas` replicas have stored it. */
    commit: async (change: SessionChange): Promise<Outcome> => {
      operations += 1;
      const operation = `${engine.instance}:${operations};`;
      const channel = engine.prefix + changesChannel;
      const [kind = '', field, excess] = await list(
        commitScript,
        JSON.stringify({ ...change, operation, channel }),
      );
      if (kind === 'ok') {
        await confirm();
        watch?.worked();
      }
      // The script returns nothing else.
      return { kind, field, excess } as Outcome;
    },
  };
}
