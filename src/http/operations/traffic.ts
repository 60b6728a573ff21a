import type { MetricFamily, MetricSample } from '../../core/metrics-text.ts';
import type { Fetcher } from '../../fetching/fetch.ts';
import type { Answer, CacheState, Plan } from '../../fetching/plan.ts';
import type { AccessLog } from '../../web/access-log.ts';

/** Counts what was asked for and how it was answered, for the operator's metrics. */
export interface Traffic {
  /** Gives the same fetcher, which counts its answers: reads of every surface. */
  countAnswers(fetcher: Fetcher): Fetcher;
  /** Gives the same log, which counts the problems and the replies that had to wait. */
  countReplies(log: AccessLog): AccessLog;
  /** What was counted since the start. */
  families(): readonly MetricFamily[];
}

type StateCounts = Record<CacheState, number>;

/** Upper bounds of the buckets of waiting times, in seconds. */
const waitBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Creates counts of nothing. A hit costs two lookups. */
export function createTraffic(): Traffic {
  const reads = new Map<string, Map<string, StateCounts>>();
  const problems = new Map<string, number>();
  const waits = new Map<string, WaitCounts>();
  const countAnswer = ({ source, cache }: Answer, { freshness }: Plan): void => {
    const counts = reads.get(source)?.get(freshness) ?? openCounts(reads, source, freshness);
    counts[cache] += 1;
  };
  return {
    countAnswers: (fetcher) => ({
      ...fetcher,
      recall: (plan) => {
        const answer = fetcher.recall(plan);
        if (answer !== undefined) countAnswer(answer, plan);
        return answer;
      },
      fetch: async (plan, waiting) => {
        const answer = await fetcher.fetch(plan, waiting);
        countAnswer(answer, plan);
        return answer;
      },
    }),
    countReplies: (log) => ({
      notice: (request, reply, status) => {
        const { problemCode, elapsedTime } = reply;
        if (problemCode !== null) problems.set(problemCode, (problems.get(problemCode) ?? 0) + 1);
        countWait(waits, request.routeOptions.url ?? 'none', elapsedTime / 1000);
        log.notice(request, reply, status);
      },
    }),
    families: () => [
      {
        name: 'perch_reads_total',
        help: 'Reads that were answered: posts, lists and searches, by source and by what the cache did.',
        type: 'counter',
        samples: [...reads].flatMap(([source, kinds]) =>
          [...kinds].flatMap(([kind, counts]) => toReadSamples({ source, kind }, counts)),
        ),
      },
      {
        name: 'perch_problems_total',
        help: 'Problem documents that were sent, by their code.',
        type: 'counter',
        samples: [...problems].map(([code, value]) => ({ labels: { code }, value })),
      },
      {
        name: 'perch_wait_seconds',
        help: 'Time until problems and reads that no cache answered, by route.',
        type: 'histogram',
        samples: [...waits].flatMap(([route, counts]) => toWaitSamples(route, counts)),
      },
    ],
  };
}

function openCounts(
  reads: Map<string, Map<string, StateCounts>>,
  source: string,
  kind: string,
): StateCounts {
  const counts = { hit: 0, miss: 0, stale: 0, bypass: 0 };
  const kinds = reads.get(source) ?? new Map<string, StateCounts>();
  reads.set(source, kinds.set(kind, counts));
  return counts;
}

function toReadSamples(
  labels: Readonly<Record<string, string>>,
  counts: StateCounts,
): readonly MetricSample[] {
  return Object.entries(counts).map(([cache, value]) => ({ labels: { ...labels, cache }, value }));
}

/** How many waits were within each bound, and not within the one before; the last has none. */
interface WaitCounts {
  readonly within: number[];
  sum: number;
}

/** Routes are as many as were registered, so the map is bounded. */
function countWait(waits: Map<string, WaitCounts>, route: string, seconds: number): void {
  const counts = waits.get(route) ?? { within: Array(waitBounds.length + 1).fill(0), sum: 0 };
  waits.set(route, counts);
  const bound = waitBounds.findIndex((one) => seconds <= one);
  const at = bound === -1 ? waitBounds.length : bound;
  counts.within[at] = (counts.within[at] ?? 0) + 1;
  counts.sum += seconds;
}

function toWaitSamples(route: string, { within, sum }: WaitCounts): readonly MetricSample[] {
  let total = 0;
  const buckets = within.map((count, at): MetricSample => {
    total += count;
    const le = at < waitBounds.length ? String(waitBounds[at]) : '+Inf';
    return { suffix: '_bucket', labels: { route, le }, value: total };
  });
  return [
    ...buckets,
    { suffix: '_sum', labels: { route }, value: sum },
    { suffix: '_count', labels: { route }, value: total },
  ];
}
