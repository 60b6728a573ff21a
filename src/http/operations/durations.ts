import type { MetricFamily, MetricSample } from '../../core/metrics-text.ts';

/** Upper bounds of the buckets in milliseconds. Cache hits are nearly always in the first. */
const boundsMs = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

type DurationCounts = ReturnType<typeof createDurationCounts>;

/** Creates histograms of response times, by route and by cache hit. */
export function createDurations() {
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
