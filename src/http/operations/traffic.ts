import type { MetricFamily, MetricSample } from '../../core/metrics-text.ts';
import { type ProblemCode, problemKinds } from '../../core/problem.ts';
import type { Fetcher } from '../../fetching/fetch.ts';
import type { Answer, CacheState, Plan } from '../../fetching/plan.ts';
import type { AccessLog } from '../../web/access-log.ts';

export type Traffic = ReturnType<typeof createTraffic>;

type StateCounts = Record<CacheState, number>;

/** Counts since the start of the process: reads by cache state, and error responses by the class of their status. */
export type TrafficTotals = Readonly<StateCounts & Record<'clientErrors' | 'serverErrors', number>>;

const waitBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Creates counters of replies, problems and response times for the server's metrics. */
export function createTraffic() {
  const reads = new Map<string, Map<string, StateCounts>>();
  const problems = new Map<ProblemCode, number>();
  const waits = new Map<string, WaitCounts>();
  const countAnswer = ({ source, cache }: Answer, { freshness }: Plan): void => {
    const kinds = reads.get(source) ?? new Map<string, StateCounts>();
    const counts = kinds.get(freshness) ?? { hit: 0, miss: 0, stale: 0, bypass: 0 };
    counts[cache] += 1;
    reads.set(source, kinds.set(freshness, counts));
  };
  return {
    countAnswers: (fetcher: Fetcher): Fetcher => ({
      ...fetcher,
      getFresh: (plan) => {
        const answer = fetcher.getFresh(plan);
        if (answer !== undefined) countAnswer(answer, plan);
        return answer;
      },
      fetch: async (plan, requester) => {
        const answer = await fetcher.fetch(plan, requester);
        countAnswer(answer, plan);
        return answer;
      },
    }),
    countReplies: (log: AccessLog): AccessLog => ({
      logIfNotable: (request, reply, status) => {
        const { problemCode, elapsedTime } = reply;
        if (problemCode !== null) problems.set(problemCode, (problems.get(problemCode) ?? 0) + 1);
        countWait(waits, request.routeOptions.url ?? 'none', elapsedTime / 1000);
        log.logIfNotable(request, reply, status);
      },
    }),
    totals: (): TrafficTotals => ({ ...sumReads(reads), ...sumProblems(problems) }),
    families: (): readonly MetricFamily[] => [
      {
        name: 'perch_reads_total',
        help: 'Answered reads of posts, lists and searches, by source and cache state.',
        type: 'counter',
        samples: [...reads].flatMap(([source, kinds]) =>
          [...kinds].flatMap(([kind, counts]) =>
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
      {
        name: 'perch_wait_seconds',
        help: 'Response time of problems and of reads that the cache did not answer, by route.',
        type: 'histogram',
        samples: [...waits].flatMap(([route, counts]) => toWaitSamples(route, counts)),
      },
    ],
  };
}

function sumReads(reads: ReadonlyMap<string, ReadonlyMap<string, StateCounts>>): StateCounts {
  const sum = { hit: 0, miss: 0, stale: 0, bypass: 0 };
  for (const kinds of reads.values()) {
    for (const counts of kinds.values()) {
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

interface WaitCounts {
  /** Number of response times in each histogram bucket. The last bucket has no upper bound. */
  readonly within: number[];
  sum: number;
}

/** Adds the response time of a request to the histogram of the route. */
function countWait(waits: Map<string, WaitCounts>, route: string, seconds: number): void {
  const none = Array<number>(waitBounds.length + 1).fill(0);
  const counts = waits.get(route) ?? { within: none, sum: 0 };
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
    const le = String(waitBounds[at] ?? '+Inf');
    return { suffix: '_bucket', labels: { route, le }, value: total };
  });
  return [
    ...buckets,
    { suffix: '_sum', labels: { route }, value: sum },
    { suffix: '_count', labels: { route }, value: total },
  ];
}
