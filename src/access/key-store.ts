import type { Clock } from '../core/clock.ts';
import type { Random } from '../core/random.ts';
import { createKey, hashKey } from './key.ts';
import { createKeyChecks, type KeyCheck } from './key-check.ts';
import { type KeyFile, type Outcome, openKeyFile } from './key-file.ts';
import type { KeyFileTrouble } from './key-file-look.ts';
import { createKeyOutage, type KeyOutage, type OutageListener } from './key-outage.ts';
import type { KeyChanges, KeyRecord, NewKey } from './key-record.ts';
import type { KeyRows } from './key-rows.ts';
import { toKeyProblem } from './key-trouble.ts';
import { createKeyUses } from './key-uses.ts';

export type { KeyCheck } from './key-check.ts';
export type { KeyRecord } from './key-record.ts';

/** A new key. It is shown to its owner now; only its hash is kept. */
export interface IssuedKey {
  readonly record: KeyRecord;
  readonly key: string;
}

/**
 * The keys of callers. What it promises is on the disk. All but `check` and `close` throw Problem
 * `key_store_unavailable` where the store cannot be used within 2 s.
 */
export interface KeyStore {
  /**
   * Tells what a presented key is worth. Call it where a request arrives, once for each request:
   * a change by any process holds for every request that arrives after it. Never throws.
   */
  check(key: string): KeyCheck;
  /** All keys, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Adds a key. Where the store is missing or empty, a new one is made: it is asked for. */
  create(fields: NewKey): Promise<IssuedKey>;
  /** Gives the changed record; undefined where there is no such key. */
  change(id: string, changes: KeyChanges): Promise<KeyRecord | undefined>;
  /** Whether there was such a key. */
  remove(id: string): Promise<boolean>;
  /**
   * Deletes a key and adds one like it, in one transaction; undefined where there is no such key.
   * A disabled key gives a disabled one.
   */
  rotate(id: string): Promise<IssuedKey | undefined>;
  /** Writes the last uses that are not written yet, and closes. */
  close(): void;
}

/** Where the keys are, and who is told of their troubles. */
export interface KeyStoreOptions extends OutageListener {
  /** A file path, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether opening makes a store that is not there (the default), or only `create` does. */
  readonly whenMissing?: 'make' | 'wait';
  /** Calls back when this turn of the event loop has read what had arrived. Default: setImmediate. */
  readonly onTurnEnd?: (callback: () => void) => void;
  /** Milliseconds since any moment, with fractions; never goes back. Default: performance.now. */
  readonly elapsed?: () => number;
}

/** Opens the keys of callers. A store that cannot be used is told of, and tried again later. */
export function openKeyStore(options: KeyStoreOptions): KeyStore {
  const { clock, random, whenMissing = 'make', onTurnEnd = setImmediate } = options;
  const { elapsed = () => performance.now() } = options;
  const file = openKeyFile(options);
  const outage = createKeyOutage(clock, options);
  const uses = createKeyUses(file, clock);
  const checks = createKeyChecks({ file, outage, onTurnEnd, elapsed, onUsed: uses.note });
  const operate = createOperations({ outage, clock, onDone: checks.forget });

  // An empty file is left as it is: a new store in its place would say that its keys are unknown.
  const trouble =
    (whenMissing === 'make' ? file.makeWhere(['missing']) : undefined) ??
    troubleOf(file.use(() => {}));
  if (trouble !== undefined) outage.fail(trouble);
  return {
    check: checks.check,
    list: () => operate(() => file.use((rows) => rows.list())),
    ...openIssuing({ file, operate, clock, random }),
    change: (id, changes) => operate(() => file.use((rows) => rows.change(id, changes))),
    remove: (id) => operate(() => file.use((rows) => rows.remove(id))),
    close: () => {
      uses.close();
      checks.forget();
      file.close();
    },
  };
}

function troubleOf(outcome: Outcome<unknown>): KeyFileTrouble | undefined {
  return 'trouble' in outcome ? outcome.trouble : undefined;
}

/** Carries out an act of the operator, again and again while somebody holds a lock. */
type Operate = <Value>(attempt: () => Outcome<Value>) => Promise<Value>;

interface OperationOptions {
  readonly outage: KeyOutage;
  readonly clock: Clock;
  readonly onDone: () => void;
}

/** How long an act of the operator waits for a lock, and how long between two tries. */
const patienceMs = 2000;
const pauseMs = 25;

function createOperations({ outage, clock, onDone }: OperationOptions): Operate {
  return async (attempt) => {
    const lastTryMs = clock.now() + patienceMs;
    for (;;) {
      const outcome = attempt();
      if ('value' in outcome) {
        outage.recover();
        onDone();
        return outcome.value;
      }
      if (!isWorthAnotherTry(outcome.trouble, lastTryMs - clock.now())) {
        throw toKeyProblem(outcome.trouble);
      }
      await clock.sleep(pauseMs);
    }
  };
}

function isWorthAnotherTry({ fault }: KeyFileTrouble, leftMs: number): boolean {
  return fault === 'locked' && leftMs > 0;
}

interface IssuingOptions {
  readonly file: KeyFile;
  readonly operate: Operate;
  readonly clock: Clock;
  readonly random: Random;
}

function openIssuing(options: IssuingOptions): Pick<KeyStore, 'create' | 'rotate'> {
  const { file, operate, clock, random } = options;
  const issue = () => {
    const key = createKey(random);
    const id = random.bytes(6).toString('hex');
    return { key, hash: hashKey(key), id, createdMs: clock.now() };
  };
  return {
    create: async ({ label, allowance = null, notes = null }) => {
      const { key, hash, id, createdMs } = issue();
      const kept = { id, label, enabled: true, allowance, createdMs, lastUsedMs: null, notes };
      await operate(() => makeAndUse(file, (rows) => rows.insert(kept, hash)));
      return { record: kept, key };
    },
    rotate: async (id) => {
      const { key, ...replacement } = issue();
      const record = await operate(() => file.use((rows) => rows.replace(id, replacement)));
      return record && { record, key };
    },
  };
}

function makeAndUse<Value>(file: KeyFile, work: (rows: KeyRows) => Value): Outcome<Value> {
  const trouble = file.makeWhere(['missing', 'empty']);
  return trouble === undefined ? file.use(work) : { trouble };
}
