import { performance } from 'node:perf_hooks';

export interface MetricSample {
  /** Suffix of the metric name, for histograms only. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  /** Metric name, which ends in the unit or, for a counter, in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly MetricSample[];
}

/** Media type of the Prometheus text format 0.0.4. */
export const metricsMediaType = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns metrics as text in the Prometheus format 0.0.4. Metrics without samples are omitted. */
export function writeMetrics(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...samples.map((sample) => writeSample(name, sample)),
        '',
      ].join('\n'),
    )
    .join('');
}

function writeSample(name: string, { suffix, labels = {}, value }: MetricSample): string {
  const quote = (text: string) =>
    text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  const written = Object.entries(labels).map(([label, text]) => `${label}="${quote(text)}"`);
  const braced = written.length === 0 ? '' : `{${written.join(',')}}`;
  return `${name}${suffix ?? ''}${braced} ${String(value).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf')}`;
}

/** Measures memory, CPU time and event loop use, under the usual Prometheus names. */
export function measureProcess(): readonly MetricFamily[] {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
  const startedAt = performance.timeOrigin / 1000;
  return [
    metric('process_resident_memory_bytes', 'Resident memory.', 'gauge', rss),
    metric('nodejs_heap_size_used_bytes', 'Memory of JavaScript objects.', 'gauge', heapUsed),
    metric(
      'nodejs_external_memory_bytes',
      'Memory of buffers and native objects.',
      'gauge',
      external,
    ),
    metric('process_cpu_seconds_total', 'CPU time in seconds.', 'counter', cpuSeconds),
    metric(
      'process_start_time_seconds',
      'Start time of the process in Unix seconds.',
      'gauge',
      startedAt,
    ),
    metric(
      'nodejs_eventloop_utilization_ratio',
      'Share of time since the start in which the event loop was busy.',
      'gauge',
      performance.eventLoopUtilization().utilization,
    ),
  ];
}

/** Returns a metric family with a single sample without labels. */
export function metric(name: string, help: string, type: 'counter' | 'gauge', value: number) {
  return { name, help, type, samples: [{ value }] };
}
