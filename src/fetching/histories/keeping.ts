import type { HistoryKeep, KeptPart } from '../../archive/histories/history-keep.ts';
import type { Clock } from '../../core/clock.ts';
import type { Account } from '../../model/account.ts';
import type { HistoryQuery } from './history-query.ts';
import { nothingKept, readKept, timelineOf } from './kept-part.ts';
import type { Walked } from './walk.ts';

/** What one import keeps, and what it has from those before. */
export interface Keeping {
  /** Gives what is kept; where something is, only after the profile has shown that the account is there. */
  recall(reading: Promise<Account>): Promise<KeptPart>;
  /** Keeps what was read; absent where nothing is kept. */
  readonly store?: (walked: Walked) => Promise<void>;
}

/** What is known of who answers, as far as it has answered. */
export interface AnsweringSource {
  /** The profile; null until it is read. */
  readonly account: Account | null;
  /** Whether the archive answers, which need not keep a second time what it holds. */
  readonly isArchive: boolean;
}

/** What an import is kept with. */
export interface KeepingOptions {
  readonly query: HistoryQuery;
  readonly source: AnsweringSource;
  readonly clock: Clock;
  readonly keep?: HistoryKeep | undefined;
  readonly onKeepFailure?: ((error: unknown) => void) | undefined;
}

/** Creates what keeps one import. A keep that fails is told of, and the import goes on without it. */
export function createKeeping(options: KeepingOptions): Keeping {
  const { query, source, keep, clock, onKeepFailure } = options;
  if (keep === undefined) return { recall: async () => nothingKept };
  const carefully = <Result>(use: () => Result, otherwise: Result): Result => {
    try {
      return use();
    } catch (error) {
      onKeepFailure?.(error);
      return otherwise;
    }
  };
  return {
    recall: async (reading) => {
      if (!carefully(() => keep.holds(query.account), false)) return nothingKept;
      const account = await reading;
      if (account.protected) carefully(() => keep.drop(query.account), 0);
      if (!query.useKept || source.isArchive) return nothingKept;
      return carefully(() => readKept(keep, query, { account, nowMs: clock.now() }), nothingKept);
    },
    store: async ({ ranges, posts }) => {
      const { account } = source;
      if (account === null || account.protected || source.isArchive || ranges.length === 0) return;
      const part = { ...timelineOf(query, account), ranges, posts };
      await keep.put(part).catch((error) => onKeepFailure?.(error));
    },
  };
}
