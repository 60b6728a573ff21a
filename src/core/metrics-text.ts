import { performance } from 'node:perf_hooks';

export interface MetricSample {
  /** For histograms. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Metrics of one name. */
export interface MetricFamily {
  /** With its unit at the end, and `_total` where it only grows. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly MetricSample[];
}

/** The media type of the text (Prometheus text format 0.0.4). */
export const metricsMediaType = 'text/plain; version=0.0.4; charset=utf-8';

/** Writes metrics in the Prometheus text format 0.0.4. A family without samples is left out. */
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
  const of = written.length === 0 ? '' : `{${written.join(',')}}`;
  return `${name}${suffix ?? ''}${of} ${String(value).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf')}`;
}

/** Measures this process, under the names that dashboards know. */
export function measureProcess(): readonly MetricFamily[] {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
  const startedAt = performance.timeOrigin / 1000;
  return [
    one('process_resident_memory_bytes', 'Resident memory.', 'gauge', rss),
    one('nodejs_heap_size_used_bytes', 'Memory of JavaScript objects.', 'gauge', heapUsed),
    one('nodejs_external_memory_bytes', 'Memory of buffers and native objects.', 'gauge', external),
    one('process_cpu_seconds_total', 'Time on a processor.', 'counter', cpuSeconds),
    one(
      'process_start_time_seconds',
      'When the process started, in Unix seconds.',
      'gauge',
      startedAt,
    ),
    one(
      'nodejs_eventloop_utilization_ratio',
      'The share of time since the start in which the event loop was busy.',
      'gauge',
      performance.eventLoopUtilization().utilization,
    ),
  ];
}

/** Returns a family of one value without labels. */
export function one(name: string, help: string, type: 'counter' | 'gauge', value: number) {
  return { name, help, type, samples: [{ value }] };
}
