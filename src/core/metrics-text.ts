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
