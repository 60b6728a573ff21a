import type { EngineReport } from '../../../core/engine/engine-report.ts';
import type { QueryHold } from '../../../fetching/chain/provider-chain.ts';
import type { ProviderRecord } from '../../../fetching/chain/provider-records.ts';
import type { Platform } from '../../../model/reference.ts';
import type { EventLoopDelay } from '../../operations/load.ts';
import type { Period } from '../../operations/minute-history.ts';
import type { TrafficTotals } from '../../operations/traffic.ts';

/** Names of the counters: all requests, reads by cache state, and error responses. */
export type TrafficName = 'requests' | keyof TrafficTotals;

export type TrafficPeriod = Period<TrafficName>;

/** Data of one server instance for the page *Overview*. Times are epoch milliseconds. */
export interface OverviewFigures {
  readonly version: string;
  readonly nowMs: number;
  readonly startedMs: number;
  /**
   * Name of this server instance, and state of the Redis or Valkey server that the instances share;
   * `null` if there is only one instance.
   */
  readonly shared: { readonly instance: string; readonly engine: EngineReport } | null;
  /** Numbers of requests, reads and error responses in each of the last 60 minutes, oldest first. */
  readonly hour: readonly TrafficPeriod[];
  /** Numbers of requests, reads and error responses in each of the last 96 periods of 15 minutes, oldest first. */
  readonly day: readonly TrafficPeriod[];
  readonly cache: Readonly<Record<'entries' | 'bytes' | 'maxBytes', number>>;
  readonly pool: Readonly<Record<'used' | 'limit' | 'windowSeconds', number>>;
  readonly providers: readonly ProviderFigures[];
  readonly readsInFlight: number;
  /** Counts of the question sessions; `null` if sessions are turned off, `unavailable` if the session store fails. */
  readonly sessions: SessionFigures | 'unavailable' | null;
  readonly memory: Readonly<Record<'resident' | 'heap', number>>;
  readonly isOverloaded: boolean;
  /** Delay of the event loop; `null` if it is not measured. */
  readonly eventLoop: EventLoopDelay | null;
  /** Number of faults and warnings that the page *Configuration* shows. */
  readonly notices: number;
}

export interface ProviderFigures {
  readonly name: string;
  readonly platforms: readonly Platform[];
  /**
   * Kinds of query, such as post searches, for which Perch sends no requests to the provider at the
   * moment, each with the reason.
   */
  readonly holds: readonly QueryHold[];
  readonly lastHour: Readonly<Record<'answered' | 'failed', number>>;
  readonly lastFailure: ProviderRecord['lastFailure'];
}

export type SessionFigures = Readonly<
  Record<
    | 'live'
    | 'turnsAtWork'
    | 'turnsAtOnce'
    | 'turnsWaiting'
    | 'maxWaiting'
    | 'streams'
    | 'storedBytes',
    number
  >
>;
