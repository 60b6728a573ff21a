import type { QueryHold } from '../../../fetching/chain/provider-chain.ts';
import type { ProviderRecord } from '../../../fetching/chain/provider-records.ts';
import type { EngineReport } from '../../../lib/redis/engine-report.ts';
import type { Platform } from '../../../model/reference.ts';
import type { EventLoopDelay } from '../../monitoring/load.ts';
import type { Period } from '../../monitoring/minute-history.ts';
import type { TrafficTotals } from '../../monitoring/traffic.ts';

export type TrafficName = 'requests' | keyof TrafficTotals;

export type TrafficPeriod = Period<TrafficName>;

/** Data of one server instance. Times are epoch milliseconds. */
export interface OverviewFigures {
  readonly version: string;
  readonly nowMs: number;
  readonly startedMs: number;
  /** Instance name and state of the shared Redis or Valkey server; `null` for a single instance. */
  readonly shared: { readonly instance: string; readonly engine: EngineReport } | null;
  /** Counts in each of the last 60 minutes, oldest first. */
  readonly hour: readonly TrafficPeriod[];
  /** Counts in each of the last 96 periods of 15 minutes, oldest first. */
  readonly day: readonly TrafficPeriod[];
  readonly cache: Readonly<Record<'entries' | 'bytes' | 'maxBytes', number>>;
  readonly pool: Readonly<Record<'used' | 'limit' | 'windowSeconds', number>>;
  readonly providers: readonly ProviderFigures[];
  readonly readsInFlight: number;
  /** Session counts; `null` if sessions are turned off, `unavailable` if the store fails. */
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
  /** Kinds of query for which Perch currently sends no requests to the provider, with reasons. */
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
