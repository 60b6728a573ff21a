import { escapeHtml } from '../../../render/html/markup.ts';
import { countOf, formatClock, formatCount, formatShare } from '../numbers.ts';
import { renderBarChart, type Series } from './bar-chart.ts';
import type { OverviewFigures, TrafficName, TrafficPeriod } from './figures.ts';

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
export function renderTraffic({ hour, day }: Pick<OverviewFigures, 'hour' | 'day'>): string {
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
