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
  /** Told of a key that was found valid, once a turn. */
  readonly onUsed: (id: string) => void;
}

const invalid: KeyCheck = { status: 'invalid' };
const unverified: KeyCheck = { status: 'unverified' };

/** The most keys whose verdicts are remembered. */
const maxVerdicts = 1000;

/** What was found of a key, and the turn in which that was last made sure of. */
interface Verdict {
  readonly check: KeyCheck;
  turn: number;
}

/**
 * Creates the check of presented keys. The store is read once a turn: requests that one turn takes in
 * had begun to arrive before it, so none of them comes after a change that the read did not see
 * (docs/decisions/0019). What the keys are worth is read again when the store has changed.
 */
export function createKeyChecks({ file, outage, onTurnEnd, onUsed }: KeyCheckOptions): KeyChecks {
  const verdicts = new Map<string, Verdict>();
  const isCurrent = createVersionWatch(file);
  let turn = 0;
  let sureOf = -1;
  const endTurn = () => {
    turn += 1;
  };
  const fail = (trouble: KeyFileTrouble): KeyCheck => {
    outage.fail(trouble);
    return unverified;
  };
  const judgeKey = (key: string): KeyCheck => {
    const known = verdicts.get(key);
    if (known !== undefined) {
      known.turn = turn;
      return known.check;
    }
    const outcome = attempt(() => file.use((rows) => rows.find(hashKey(key))));
    if ('trouble' in outcome) return fail(outcome.trouble);
    const check = judge(outcome.value);
    if (verdicts.size >= maxVerdicts) verdicts.clear();
    verdicts.set(key, { check, turn });
    return check;
  };
  const makeSure = (): KeyFileTrouble | undefined => {
    if (sureOf === turn) return undefined;
    const outcome = attempt(isCurrent);
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
      return known?.turn === turn ? known.check : ask(key);
    },
    forget: () => verdicts.clear(),
  };
}

/** Creates the test whether the store is what it was at the last test. */
function createVersionWatch(file: KeyFile): () => Outcome<boolean> {
  let knownRows: KeyRows | undefined;
  let knownVersion = -1;
  const look = (rows: KeyRows): boolean => {
    const version = rows.version();
    const isSame = rows === knownRows && version === knownVersion;
    knownRows = rows;
    knownVersion = version;
    return isSame;
  };
  return () => {
    if (knownRows !== undefined && file.isSettled(knownRows)) return settled;
    return file.use(look);
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
