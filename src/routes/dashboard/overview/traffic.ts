import { escapeHtml } from '../../../render/html/markup.ts';
import type { Period } from '../../monitoring/minute-history.ts';
import type { TrafficTotals } from '../../monitoring/traffic.ts';
import { countOf, formatClock, formatCount, formatShare } from '../numbers.ts';

export type TrafficName = 'requests' | keyof TrafficTotals;

export type TrafficPeriod = Period<TrafficName>;

/** Counts in the last 60 minutes, and in the last 96 periods of 15 minutes; oldest first. */
export type TrafficFigures = Readonly<Record<'hour' | 'day', readonly TrafficPeriod[]>>;

const requestSeries: readonly Series[] = [{ name: 'requests', text: 'requests' }];

const errorSeries: readonly Series[] = [
  { name: 'server-errors', text: 'with a 5xx status' },
  { name: 'client-errors', text: 'with a 4xx status' },
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
export function renderTraffic({ hour, day }: TrafficFigures): string {
  return `<section aria-labelledby="traffic">
<h2 id="traffic">Requests and errors</h2>
<div class="charts">
${renderSpan(spans.hour, hour)}
${renderSpan(spans.day, day)}
</div>
</section>`;
}

function renderSpan(span: Span, periods: readonly TrafficPeriod[]): string {
  const { periodMs } = span;
  const requests = periods.map(({ startMs, counts }) => ({ startMs, counts: [counts.requests] }));
  const errors = periods.map(({ startMs, counts }) => {
    return { startMs, counts: [counts.serverErrors, counts.clientErrors] };
  });
  return `<div class="span">
${renderBarChart({
  title: `Requests per ${span.period}`,
  summary: describeRequests(span, periods),
  series: requestSeries,
  bars: requests,
  periodMs,
})}
${renderBarChart({
  title: `Error responses per ${span.period}`,
  summary: describeErrors(span, periods),
  series: errorSeries,
  bars: errors,
  periodMs,
})}
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

function renderTable({ id, text, period }: Span, periods: readonly TrafficPeriod[]): string {
  const rows = periods
    .filter(({ counts }) => counts.requests + counts.clientErrors + counts.serverErrors > 0)
    .reverse()
    .map(({ startMs, counts }) => {
      const cells = [counts.requests, counts.clientErrors, counts.serverErrors];
      const { fromCache, reads } = cacheUse([{ startMs, counts }]);
      const last = reads === 0 ? '' : `${formatShare(fromCache, reads)}`;
      return `<tr><th scope="row">${formatClock(startMs)}</th>${cells.map((cell) => `<td>${formatCount(cell)}</td>`).join('')}<td>${last}</td></tr>`;
    });
  if (rows.length === 0) return '';
  return `<details id="table-${id}">
<summary>The ${escapeHtml(text)} as a table</summary>
<table class="numbers">
<caption class="visually-hidden">Requests and error responses in the ${escapeHtml(text)}, by ${escapeHtml(period)}. Periods without requests are left out.</caption>
<thead><tr><th scope="col">From (UTC)</th><th scope="col">Requests</th><th scope="col">4xx</th><th scope="col">5xx</th><th scope="col">Cached</th></tr></thead>
<tbody>${rows.join('')}</tbody>
</table>
</details>`;
}

/** Series of counts in a chart. `name` is also the CSS class, which sets the colour. */
type Series = Readonly<{
  name: 'requests' | 'client-errors' | 'server-errors';
  text: string;
}>;

export interface Bar {
  readonly startMs: number;
  /** Count of each series in the period. The first count is drawn at the bottom of the bar. */
  readonly counts: readonly number[];
}

interface BarChart {
  readonly title: string;
  /** Summary of the chart as text, which screen readers read in place of the picture. */
  readonly summary: string;
  readonly series: readonly Series[];
  /** Bars, oldest first, one for each period. All periods have the same length. */
  readonly bars: readonly Bar[];
  readonly periodMs: number;
}

const height = 100;
const slot = 10; // width of a period in the picture
const gap = 2;

/** Renders an SVG chart; HTML labels do not stretch, and CSP forbids inline styles for sizes. */
export function renderBarChart({ title, summary, series, bars, periodMs }: BarChart): string {
  const top = topOf(Math.max(...bars.map(({ counts }) => sumOf(counts))));
  const width = bars.length * slot;
  const pillars = bars.map((bar, at) => renderBar({ bar, series, top, at }));
  return `<figure class="chart">
<figcaption><strong>${escapeHtml(title)}</strong> <span>${escapeHtml(summary)}</span></figcaption>
${series.length > 1 ? renderLegend(series) : ''}
<div class="plot">
<div class="y-axis" aria-hidden="true"><span>${formatCount(top)}</span><span>${formatCount(top / 2)}</span><span>0</span></div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(`${title}. ${summary}`)}">
${renderGrid(width)}
${pillars.join('')}
</svg>
${renderTimes(bars, periodMs)}
</div>
</figure>`;
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

/** Returns the smallest of 2, 4, 6, 8, 10, 20, 40, … that is `highest` or more. */
export function topOf(highest: number): number {
  let unit = 1;
  while (highest > 10 * unit) unit *= 10;
  const steps = [2, 4, 6, 8, 10].map((step) => step * unit);
  return steps.find((step) => step >= highest) ?? 10 * unit;
}

interface Placed {
  readonly bar: Bar;
  readonly series: readonly Series[];
  readonly top: number;
  readonly at: number;
}

function renderBar({ bar, series, top, at }: Placed): string {
  if (sumOf(bar.counts) === 0) return '';
  const texts = series.map(({ text }, index) => `${formatCount(bar.counts[index] ?? 0)} ${text}`);
  let y = height;
  const rects = series.map(({ name }, index) => {
    const size = (height * (bar.counts[index] ?? 0)) / top;
    y -= size;
    if (size === 0) return '';
    return `<rect class="${name}" x="${at * slot + gap / 2}" y="${round(y)}" width="${slot - gap}" height="${round(size)}"/>`;
  });
  return `<g><title>${escapeHtml(`${formatClock(bar.startMs)} UTC: ${texts.join(', ')}`)}</title><rect class="hit" x="${at * slot}" y="0" width="${slot}" height="${height}"/>${rects.join('')}</g>`;
}

const round = (number: number): number => Math.round(number * 100) / 100;

function renderGrid(width: number): string {
  const across = [0, height / 2, height].map((y) => `M0 ${y}H${width}`);
  const down = [0, 1, 2, 3, 4].map((part) => `M${(width * part) / 4} 0V${height}`);
  return `<path class="grid" vector-effect="non-scaling-stroke" d="${[...across, ...down].join('')}"/>`;
}

function renderTimes(bars: readonly Bar[], periodMs: number): string {
  const firstMs = bars[0]?.startMs ?? 0;
  const quarterMs = (bars.length * periodMs) / 4;
  const labels = [0, 1, 2, 3].map(
    (part) => `<span>${formatClock(firstMs + part * quarterMs)}</span>`,
  );
  return `<div class="x-axis" aria-hidden="true">${labels.join('')}<span class="now">now</span></div>`;
}

function renderLegend(series: readonly Series[]): string {
  const items = series.map(
    ({ name, text }) =>
      `<li><svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true"><rect class="${name}" width="10" height="10"/></svg> ${escapeHtml(text)}</li>`,
  );
  return `<ul class="legend">${items.join('')}</ul>`;
}
