import { hashKey, isKeyShaped } from './key.ts';
import type { KeyFile, Outcome } from './key-file.ts';
import type { KeyFileTrouble } from './key-file-look.ts';
import type { KeyOutage } from './key-outage.ts';
import type { FoundKey, KeyRows } from './key-rows.ts';

/** What a presented key is worth now. `unverified`: the store could not be read at once. */
export type KeyCheck =
  | { readonly status: 'valid'; readonly id: string; readonly allowance: number | null }
  | { readonly status: 'invalid' }
  | { readonly status: 'unverified' };

/** What presented keys are worth. */
export interface KeyChecks {
  check(key: string): KeyCheck;
  /** Makes the next check of every key ask the store. */
  forget(): void;
}

/** What checks may use. */
export interface KeyCheckOptions {
  readonly file: KeyFile;
  readonly outage: KeyOutage;
  /** Calls back when this turn of the event loop has read what had arrived. */
  readonly onTurnEnd: (callback: () => void) => void;
  /** Milliseconds since any moment, with fractions; never goes back. */
  readonly elapsed: () => number;
  /** Told of a key that was found valid, once a turn. */
  readonly onUsed: (id: string) => void;
}

const invalid: KeyCheck = { status: 'invalid' };
const unverified: KeyCheck = { status: 'unverified' };

/**
 * For how long a look at the file is enough where turns are short; milliseconds. Nobody can write a
 * change, sync it and send a request after it in that time.
 */
const lookEveryMs = 0.1;

/** The most keys whose verdicts are remembered. */
const maxVerdicts = 1000;

/** What was found of a key, and the turn of the look or read that this was last checked after. */
interface Verdict {
  readonly check: KeyCheck;
  turn: number;
}

/**
 * Creates the check of presented keys. The store is read once a turn: requests that one turn takes in
 * had begun to arrive before it, so none of them comes after a change that the read did not see
 * (docs/decisions/0019). What the keys are worth is read again when the store has changed.
 */
export function createKeyChecks(options: KeyCheckOptions): KeyChecks {
  const { file, outage, onTurnEnd, onUsed } = options;
  const verdicts = new Map<string, Verdict>();
  const watch = createVersionWatch(options);
  let turn = 0;
  let sureOf = -1;
  const endTurn = () => {
    turn += 1;
  };
  const isSure = () => sureOf === turn || watch.hasJustLooked();
  const fail = (trouble: KeyFileTrouble): KeyCheck => {
    outage.fail(trouble);
    return unverified;
  };
  const judgeKey = (key: string): KeyCheck => {
    const known = verdicts.get(key);
    if (known !== undefined) {
      known.turn = sureOf;
      return known.check;
    }
    const outcome = attempt(() => file.use((rows) => rows.find(hashKey(key))));
    if ('trouble' in outcome) return fail(outcome.trouble);
    const check = judge(outcome.value);
    if (verdicts.size >= maxVerdicts) verdicts.clear();
    verdicts.set(key, { check, turn: sureOf });
    return check;
  };
  const makeSure = (): KeyFileTrouble | undefined => {
    if (isSure()) return undefined;
    const outcome = attempt(watch.isCurrent);
    if ('trouble' in outcome) return outcome.trouble;
    if (!outcome.value) verdicts.clear();
    sureOf = turn;
    onTurnEnd(endTurn);
    return undefined;
  };
  const ask = (key: string): KeyCheck => {
    if (!isKeyShaped(key)) return invalid;
    if (outage.isResting()) return unverified;
    const trouble = makeSure();
    const check = trouble === undefined ? judgeKey(key) : fail(trouble);
    if (check.status !== 'unverified') outage.recover();
    if (check.status === 'valid') onUsed(check.id);
    return check;
  };
  return {
    check: (key) => {
      const known = verdicts.get(key);
      return known?.turn === sureOf && isSure() ? known.check : ask(key);
    },
    forget: () => verdicts.clear(),
  };
}

/** The test whether the store is what it was at the last test. */
interface VersionWatch {
  readonly isCurrent: () => Outcome<boolean>;
  /** Whether the last test was a look that is still enough. */
  hasJustLooked(): boolean;
}

function createVersionWatch({ file, elapsed }: KeyCheckOptions): VersionWatch {
  let knownRows: KeyRows | undefined;
  let knownVersion = -1;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const read = (rows: KeyRows): boolean => {
    const version = rows.version();
    const isSame = rows === knownRows && version === knownVersion;
    knownRows = rows;
    knownVersion = version;
    return isSame;
  };
  return {
    isCurrent: () => {
      const startedAtMs = elapsed();
      if (knownRows !== undefined && file.isSettled(knownRows)) {
        lookedAtMs = startedAtMs;
        return settled;
      }
      lookedAtMs = Number.NEGATIVE_INFINITY;
      return file.use(read);
    },
    hasJustLooked: () => elapsed() - lookedAtMs < lookEveryMs,
  };
}

const settled: Outcome<boolean> = { value: true };

/** Even a defect must not fail a read that needs no key. */
function attempt<Value>(use: () => Outcome<Value>): Outcome<Value> {
  try {
    return use();
  } catch (error) {
    return { trouble: { fault: 'unreadable', error } };
  }
}

function judge(found: FoundKey | undefined): KeyCheck {
  if (found === undefined || !found.enabled) return invalid;
  return { status: 'valid', id: found.id, allowance: found.allowance };
}
