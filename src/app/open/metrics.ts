import type { MetricFamily } from '../../core/metrics-text.ts';
import { measureProcess, one } from '../../core/process-metrics.ts';
import { type Holding, holdings, type Ledger } from '../../core/scheduling/ledger.ts';
import { version } from '../../core/version.ts';
import type { Load } from '../../http/operations/load.ts';
import type { Traffic } from '../../http/operations/traffic.ts';
import type { Work } from '../../http/operations/work.ts';
import type { SessionService } from '../../sessions/service.ts';
import type { Fetching } from './fetching.ts';

export interface MetricSources {
  readonly traffic: Traffic;
  readonly work: Work;
  readonly load: Load;
  readonly fetching: Pick<Fetching, 'chain' | 'cache'>;
  readonly ledger: Ledger;
  readonly sessions: Pick<SessionService, 'figures'> | null;
}

/** Measures the whole server now. */
export async function measureServer(sources: MetricSources): Promise<readonly MetricFamily[]> {
  const { traffic, work, load, fetching, ledger, sessions } = sources;
  const { cache, chain } = fetching;
  return [
    {
      name: 'perch_build_info',
      help: 'The version, as a label.',
      type: 'gauge',
      samples: [{ labels: { version }, value: 1 }],
    },
    ...traffic.families(),
    one('perch_reads_in_flight', 'Reads that have begun and not ended.', 'gauge', work.inFlight),
    one('perch_load_is_high', '1 while reads are refused for load.', 'gauge', Number(load.isHigh)),
    {
      name: 'perch_provider_breaker_is_open',
      help: '1 for a provider while any kind of query is not asked.',
      type: 'gauge',
      samples: chain.states().map(({ name, breaker }) => ({
        labels: { provider: name },
        value: Number(breaker === 'open'),
      })),
    },
    one('perch_cache_entries', 'Answers in the response cache.', 'gauge', cache.size),
    one('perch_cache_bytes', 'Bytes of the answers in the response cache.', 'gauge', cache.bytes),
    ...measureLedger(ledger),
    ...(sessions === null ? [] : await measureSessions(sessions)),
    ...measureProcess(),
  ];
}

function measureLedger(ledger: Ledger): readonly MetricFamily[] {
  const measure = (amountOf: (holding: Holding) => number) =>
    holdings.map((holding) => ({
      labels: { holding: holding.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) },
      value: amountOf(holding),
    }));
  return [
    {
      name: 'perch_held',
      help: 'Amount that all clients hold now: connections, reads, bytes and so on.',
      type: 'gauge',
      samples: measure(ledger.totalOf),
    },
    {
      name: 'perch_holds_refused_total',
      help: 'Times that a bound refused a client, or all of them, one more.',
      type: 'counter',
      samples: measure(ledger.refusedOf),
    },
  ];
}

async function measureSessions(
  service: Pick<SessionService, 'figures'>,
): Promise<readonly MetricFamily[]> {
  const { live, turnsAtWork, turnsWaiting, streams, storedBytes } = await service.figures();
  return [
    one('perch_sessions_live', 'Sessions that have not ended.', 'gauge', live),
    one('perch_turns_at_work', 'Turns that are being answered.', 'gauge', turnsAtWork),
    one('perch_session_bytes', 'Bytes that all stored sessions take.', 'gauge', storedBytes),
    one(
      'perch_turns_waiting',
      'Turns that wait for others, and questions on /docs/ask.',
      'gauge',
      turnsWaiting,
    ),
    one('perch_streams_open', 'Streams that are being read.', 'gauge', streams),
  ];
}
