import type { Clock } from '../../lib/clock.ts';
import type { QueryKind } from '../../model/queries.ts';
import { ProviderError, type ProviderErrorKind } from '../../normalize/provider-error.ts';

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

const outages: ReadonlySet<ProviderErrorKind> = new Set(['throttled', 'unavailable', 'malformed']);

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
  const countAnswer = ({ provider, kind }: WatchedQuery): void => {
    failing.delete(`${provider} ${kind}`);
    const record = records.get(provider);
    if (record !== undefined) record.answered += 1;
  };
  const countFailure = ({ provider, kind: query }: WatchedQuery, message: string): void => {
    const record = records.get(provider);
    if (record === undefined) return;
    record.failed += 1;
    record.lastFailure = { query, message, atMs: clock.now() };
  };
  const reportOutage = (query: WatchedQuery, error: ProviderError): void => {
    const key = `${query.provider} ${query.kind}`;
    if (!error.isProviderWide || failing.has(key)) return;
    failing.add(key);
    onOutage?.(query, error);
  };
  return {
    countAnswer,
    /** Counts a failure. A missing post or a refused search text counts as an answer. */
    countError: (query: WatchedQuery, error: unknown): void => {
      if (!(error instanceof ProviderError)) countFailure(query, defect);
      else if (outages.has(error.kind)) {
        countFailure(query, error.message);
        reportOutage(query, error);
      } else countAnswer(query);
    },
    of: (name: string): ProviderRecord | undefined => records.get(name),
    names,
  };
}

const defect = 'Perch could not read the response because of a defect. The log contains the error.';
