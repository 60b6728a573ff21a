import type { Clock } from '../../lib/clock.ts';
import type { QueryKind } from '../../model/queries.ts';
import type { ProviderError } from '../../normalize/provider-error.ts';
import type { JudgedFailure } from '../../providers/provider-breaker.ts';

/** Most recent failure of a provider, without the post, account or text of the query. */
export interface ProviderFailure {
  readonly query: QueryKind;
  /** Reason as a sentence, such as `The source did not answer in time.` */
  readonly message: string;
  readonly atMs: number;
}

/** Numbers of answered and failed queries of a provider since the start of the process. */
export interface ProviderRecord {
  readonly answered: number;
  readonly failed: number;
  readonly lastFailure: ProviderFailure | null;
}

export type ProviderRecords = ReturnType<typeof createProviderRecords>;

interface WatchedQuery {
  readonly provider: string;
  readonly kind: QueryKind;
}

interface RecordOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Called with the first failure of a kind of query, and with the first one after an answer. */
  readonly onOutage?: (query: WatchedQuery, error: ProviderError) => void;
}

/** Creates counters of the answers and failures of the providers `names`. */
export function createProviderRecords(
  names: readonly string[],
  { clock, onOutage }: RecordOptions,
) {
  const records = new Map<
    string,
    { -readonly [Name in keyof ProviderRecord]: ProviderRecord[Name] }
  >(names.map((name) => [name, { answered: 0, failed: 0, lastFailure: null }]));
  const failing = new Set<string>();
  const reportOutage = (query: WatchedQuery, error: ProviderError): void => {
    const key = `${query.provider} ${query.kind}`;
    if (!error.isProviderWide || failing.has(key)) return;
    failing.add(key);
    onOutage?.(query, error);
  };
  return {
    /** Counts a query. `failure`: `null` if it was answered. */
    count: (query: WatchedQuery, failure: JudgedFailure | null): void => {
      const record = records.get(query.provider);
      if (failure?.isOutage !== true) {
        failing.delete(`${query.provider} ${query.kind}`);
        if (record !== undefined) record.answered += 1;
        return;
      }
      const { error } = failure;
      if (record !== undefined) {
        record.failed += 1;
        const message = error?.message ?? defect;
        record.lastFailure = { query: query.kind, message, atMs: clock.now() };
      }
      if (error !== null) reportOutage(query, error);
    },
    of: (name: string): ProviderRecord | undefined => records.get(name),
    names,
  };
}

const defect = 'Perch could not read the response because of a defect. The log contains the error.';
