import { type Html, html } from '../../../render/html/markup.ts';
import type { Period } from '../../monitoring/minute-history.ts';
import type { TrafficTotals } from '../../monitoring/traffic.ts';
import { renderSection } from '../layout.ts';
import { countOf, formatClock, formatCount, formatShare } from '../numbers.ts';

export type TrafficName = 'requests' | keyof TrafficTotals;

export type TrafficPeriod = Period<TrafficName>;

/** Counts in the last 60 minutes, and in the last 96 periods of 15 minutes; oldest first. */
export type TrafficFigures = Readonly<Record<'hour' | 'day', readonly TrafficPeriod[]>>;

const requestSeries: readonly Series[] = [
  { counter: 'requests', style: 'requests', text: 'requests' },
];

const errorSeries: readonly Series[] = [
  { counter: 'serverErrors', style: 'server-errors', text: 'with a 5xx status' },
  { counter: 'clientErrors', style: 'client-errors', text: 'with a 4xx status' },
];

const spans = {
  hour: { id: 'hour', text: 'last hour', period: 'minute', periodMs: 60_000 },
  day: { id: 'day', text: 'last 24 hours', period: '15 minutes', periodMs: 900_000 },
} as const;

type Span = (typeof spans)[keyof typeof spans];

export const total = (periods: readonly TrafficPeriod[], name: TrafficName): number =>
  periods.reduce((sum, { counts }) => sum + counts[name], 0);

/** Returns the number of reads, and how many of them the cache answered (`fromCache`). */
export function cacheUse(periods: readonly TrafficPeriod[]) {
  const fromCache = total(periods, 'hit') + total(periods, 'stale');
  return { fromCache, reads: fromCache + total(periods, 'miss') + total(periods, 'bypass') };
}

/** Renders charts of requests and errors and a table for the last hour, then for 24 hours. */
export const renderTraffic = ({ hour, day }: TrafficFigures): Html =>
  renderSection(
    'traffic',
    'Requests and errors',
    html`<div class="charts">
${renderSpan(spans.hour, hour)}
${renderSpan(spans.day, day)}
</div>`,
  );

function renderSpan(span: Span, periods: readonly TrafficPeriod[]): Html {
  const { period, periodMs } = span;
  const requests = { title: `Requests per ${period}`, summary: describeRequests(span, periods) };
  const errors = { title: `Error responses per ${period}`, summary: describeErrors(span, periods) };
  return html`<div class="span">
${renderBarChart({ ...requests, series: requestSeries, periods, periodMs })}
${renderBarChart({ ...errors, series: errorSeries, periods, periodMs })}
${renderTable(span, periods)}
</div>`;
}

function describeRequests({ text, period }: Span, periods: readonly TrafficPeriod[]): string {
  const sum = total(periods, 'requests');
  if (sum === 0) return `No requests in the ${text}.`;
  const most = periods.reduce((a, b) => (b.counts.requests > a.counts.requests ? b : a));
  const peak = `${formatCount(most.counts.requests)} in the ${period === 'minute' ? 'minute' : '15 minutes'} from ${formatClock(most.startMs)} UTC`;
  return `${countOf(sum, 'request')} in the ${text}, at most ${peak}.`;
}

function describeErrors({ text }: Span, periods: readonly TrafficPeriod[]): string {
  const [server, client] = [total(periods, 'serverErrors'), total(periods, 'clientErrors')];
  if (server + client === 0) return `No error responses in the ${text}.`;
  const share = formatShare(server + client, total(periods, 'requests'));
  const ofAll = share === null ? '' : ` (${share} of the requests)`;
  return `${countOf(server + client, 'error response')} in the ${text}${ofAll}: ${formatCount(client)} with a 4xx status, ${formatCount(server)} with a 5xx status.`;
}

function renderTable({ id, text, period }: Span, periods: readonly TrafficPeriod[]): Html | null {
  const rows = periods
    .filter(({ counts }) => counts.requests + counts.clientErrors + counts.serverErrors > 0)
    .reverse()
    .map((one) => {
      const { requests, clientErrors, serverErrors } = one.counts;
      const { fromCache, reads } = cacheUse([one]);
      const cells = [requests, clientErrors, serverErrors].map(formatCount);
      return html`<tr><th scope="row">${formatClock(one.startMs)}</th>${[...cells, formatShare(fromCache, reads)].map((cell) => html`<td>${cell}</td>`)}</tr>`;
    });
  if (rows.length === 0) return null;
  return html`<details id="table-${id}">
<summary>The ${text} as a table</summary>
<table class="numbers">
<caption class="visually-hidden">Requests and error responses in the ${text}, by ${period}. Periods without requests are left out.</caption>
<thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table>
</details>`;
}

const columns = ['From (UTC)', 'Requests', '4xx', '5xx', 'Cached'];

/** Counter in a chart. `style` is the CSS class, which sets the colour. */
type Series = Readonly<Record<'counter' | 'style' | 'text', string>>;

interface BarChart {
  readonly title: string;
  /** Summary of the chart as text, which screen readers read in place of the picture. */
  readonly summary: string;
  /** Counters. The first one is drawn at the bottom of each bar. */
  readonly series: readonly Series[];
  /** Periods of the same length, oldest first. Each one has a bar. */
  readonly periods: readonly Period<string>[];
  readonly periodMs: number;
}

const height = 100;
const slot = 10; // width of a period in the picture
const gap = 2;

/** Renders an SVG chart; HTML labels do not stretch, and CSP forbids inline styles for sizes. */
export function renderBarChart({ title, summary, series, periods, periodMs }: BarChart): Html {
  const bars = periods.map(({ startMs, counts }, at) => ({
    startMs,
    x: at * slot,
    parts: series.map(({ counter, ...one }) => ({ ...one, count: counts[counter] ?? 0 })),
  }));
  const sums = bars.map(({ parts }) => parts.reduce((sum, { count }) => sum + count, 0));
  const top = topOf(Math.max(...sums));
  const width = bars.length * slot;
  return html`<figure class="chart">
<figcaption><strong>${title}</strong> <span>${summary}</span></figcaption>
${series.length > 1 && renderLegend(series)}
<div class="plot">
<div class="y-axis" aria-hidden="true"><span>${formatCount(top)}</span><span>${formatCount(top / 2)}</span><span>0</span></div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${title}. ${summary}">
${renderGrid(width)}
${bars.map((bar, at) => sums[at] !== 0 && renderBar(bar, top))}
</svg>
${renderTimes(bars[0]?.startMs ?? 0, (bars.length * periodMs) / 4)}
</div>
</figure>`;
}

interface Bar {
  readonly startMs: number;
  readonly x: number;
  readonly parts: readonly { readonly style: string; text: string; count: number }[];
}

/** Returns the smallest of 2, 4, 6, 8, 10, 20, 40, … that is `highest` or more. */
export function topOf(highest: number): number {
  let unit = 1;
  while (highest > 10 * unit) unit *= 10;
  const steps = [2, 4, 6, 8, 10].map((step) => step * unit);
  return steps.find((step) => step >= highest) ?? 10 * unit;
}

function renderBar({ startMs, x, parts }: Bar, top: number): Html {
  const texts = parts.map(({ count, text }) => `${formatCount(count)} ${text}`);
  let y = height;
  const rects = parts.map(({ style, count }) => {
    const size = (height * count) / top;
    y -= size;
    if (size === 0) return null;
    return html`<rect class="${style}" x="${x + gap / 2}" y="${round(y)}" width="${slot - gap}" height="${round(size)}"/>`;
  });
  return html`<g><title>${formatClock(startMs)} UTC: ${texts.join(', ')}</title><rect class="hit" x="${x}" y="0" width="${slot}" height="${height}"/>${rects}</g>`;
}

const round = (number: number): number => Math.round(number * 100) / 100;

function renderGrid(width: number): Html {
  const across = [0, height / 2, height].map((y) => `M0 ${y}H${width}`);
  const down = [0, 1, 2, 3, 4].map((part) => `M${(width * part) / 4} 0V${height}`);
  return html`<path class="grid" vector-effect="non-scaling-stroke" d="${across}${down}"/>`;
}

const renderTimes = (firstMs: number, quarterMs: number) =>
  html`<div class="x-axis" aria-hidden="true">${[0, 1, 2, 3].map(
    (part) => html`<span>${formatClock(firstMs + part * quarterMs)}</span>`,
  )}<span class="now">now</span></div>`;

const renderLegend = (series: readonly Series[]) =>
  html`<ul class="legend">${series.map(
    ({ style, text }) =>
      html`<li><svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true"><rect class="${style}" width="10" height="10"/></svg> ${text}</li>`,
  )}</ul>`;
