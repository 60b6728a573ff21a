import { performance } from 'node:perf_hooks';
import type { MetricFamily } from './metrics-text.ts';

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
export function one(
  name: string,
  help: string,
  type: 'counter' | 'gauge',
  value: number,
): MetricFamily {
  return { name, help, type, samples: [{ value }] };
}
