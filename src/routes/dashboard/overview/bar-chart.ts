import { escapeHtml } from '../../../render/html/markup.ts';
import { formatClock, formatCount } from '../numbers.ts';

/** Series of counts in a chart. `name` is also the CSS class, which sets the colour. */
export type Series = Readonly<{
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
