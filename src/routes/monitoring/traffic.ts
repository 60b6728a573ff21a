import type { FastifyRequest } from 'fastify';
import type { Answer, CacheState, Freshness, Plan } from '../../fetching/plan.ts';
import type { MetricFamily, MetricSample } from '../../lib/metrics-text.ts';
import { type ProblemCode, problemKinds } from '../../lib/problem.ts';
import { type AccessLog, elapsedMs } from './access-log.ts';

export type Traffic = ReturnType<typeof createTraffic>;

type StateCounts = Record<CacheState, number>;
type ReadCounts = Readonly<Record<Freshness, StateCounts>>;

export type CountHit = (request: FastifyRequest) => void;

/** Counts since the start: reads by cache state, such as `hit`, and error responses (4xx, 5xx). */
export type TrafficTotals = Readonly<StateCounts & Record<'clientErrors' | 'serverErrors', number>>;

export function createTraffic() {
  const reads = new Map<string, ReadCounts>();
  const problems = createProblemCounts();
  const durations = createDurations();
  const countsOf = (source: string): ReadCounts => {
    const counts = reads.get(source) ?? createReadCounts();
    reads.set(source, counts);
    return counts;
  };
  return {
    countAnswer: ({ source, cache }: Answer, { freshness }: Plan): void => {
      countsOf(source)[freshness][cache] += 1;
    },
    countReplies: (log: AccessLog): AccessLog => ({
      logIfNotable: (request, reply, status) => {
        const { problemCode } = reply;
        if (problemCode !== null) problems.set(problemCode, (problems.get(problemCode) ?? 0) + 1);
        durations.of(request.routeOptions.url ?? 'none', false).add(elapsedMs(request));
        log.logIfNotable(request, reply, status);
      },
    }),
    /** Returns the counter of a route's cache hits. One lookup keeps cache hits fast. */
    countHits: (route: string): CountHit => {
      durations.of(route, false); // starts at 0
      const counts = durations.of(route, true);
      return (request) => counts.add(elapsedMs(request));
    },
    totals: (): TrafficTotals => ({ ...sumReads(reads), ...sumProblems(problems) }),
    /** Returns the metrics. Counters of the providers in `sources` exist from the start. */
    families: (sources: readonly string[]): readonly MetricFamily[] => [
      {
        name: 'perch_reads_total',
        help: 'Answered reads of posts, lists and searches, by source and cache state.',
        type: 'counter',
        samples: [...new Set([...sources, ...reads.keys()])].flatMap((source) =>
          Object.entries(countsOf(source)).flatMap(([kind, counts]) =>
            Object.entries(counts).map(([cache, value]) => {
              return { labels: { source, kind, cache }, value };
            }),
          ),
        ),
      },
      {
        name: 'perch_problems_total',
        help: 'Problem documents sent, by code.',
        type: 'counter',
        samples: [...problems].map(([code, value]) => ({ labels: { code }, value })),
      },
      durations.family(),
    ],
  };
}

/** Counters start at 0, or Prometheus' `increase()` would miss the first problem of a code. */
const createProblemCounts = (): Map<ProblemCode, number> =>
  new Map((Object.keys(problemKinds) as ProblemCode[]).map((code) => [code, 0]));

const createStateCounts = (): StateCounts => ({ hit: 0, miss: 0, stale: 0, bypass: 0 });

const createReadCounts = (): ReadCounts => ({
  post: createStateCounts(),
  list: createStateCounts(),
  search: createStateCounts(),
});

function sumReads(reads: ReadonlyMap<string, ReadCounts>): StateCounts {
  const sum = createStateCounts();
  for (const kinds of reads.values()) {
    for (const counts of Object.values(kinds)) {
      sum.hit += counts.hit;
      sum.miss += counts.miss;
      sum.stale += counts.stale;
      sum.bypass += counts.bypass;
    }
  }
  return sum;
}

function sumProblems(problems: ReadonlyMap<ProblemCode, number>) {
  const sum = { clientErrors: 0, serverErrors: 0 };
  for (const [code, count] of problems) {
    sum[problemKinds[code].status < 500 ? 'clientErrors' : 'serverErrors'] += count;
  }
  return sum;
}

/** Upper bounds of the buckets in milliseconds. Cache hits are nearly always in the first. */
const boundsMs = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

type DurationCounts = ReturnType<typeof createDurationCounts>;

function createDurations() {
  const hits = new Map<string, DurationCounts>();
  const others = new Map<string, DurationCounts>();
  const toSamples = (counts: ReadonlyMap<string, DurationCounts>, cached: boolean) =>
    [...counts].flatMap(([route, { samples }]) => samples({ route, cached: String(cached) }));
  return {
    /** Returns the histogram of a route for cache hits or for other replies, created if missing. */
    of: (route: string, isHit: boolean): DurationCounts => {
      const counts = isHit ? hits : others;
      const found = counts.get(route) ?? createDurationCounts();
      counts.set(route, found);
      return found;
    },
    family: (): MetricFamily => ({
      name: 'perch_request_duration_seconds',
      help: 'Response time of reads, tool calls and problems, by route.',
      type: 'histogram',
      samples: [...toSamples(hits, true), ...toSamples(others, false)],
    }),
  };
}

function createDurationCounts() {
  const within = Array<number>(boundsMs.length + 1).fill(0);
  let sumMs = 0;
  return {
    add: (ms: number): void => {
      let at = 0;
      while (ms > (boundsMs[at] ?? Number.POSITIVE_INFINITY)) at += 1;
      within[at] = (within[at] ?? 0) + 1;
      sumMs += ms;
    },
    samples: (labels: Readonly<Record<string, string>>): readonly MetricSample[] => {
      let total = 0;
      const buckets = within.map((count, at): MetricSample => {
        total += count;
        const bound = boundsMs[at];
        const le = bound === undefined ? '+Inf' : String(bound / 1000);
        return { suffix: '_bucket', labels: { ...labels, le }, value: total };
      });
      return [
        ...buckets,
        { suffix: '_sum', labels, value: sumMs / 1000 },
        { suffix: '_count', labels, value: total },
      ];
    },
  };
}
