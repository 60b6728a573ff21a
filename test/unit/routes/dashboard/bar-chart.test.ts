import { describe, expect, it } from 'vitest';
import { renderBarChart, topOf } from '../../../../src/routes/dashboard/overview/traffic.ts';

const startMs = Date.UTC(2026, 10, 21, 12);
const errors = [
  { counter: 'server', style: 'server-errors', text: 'with 5xx' },
  { counter: 'client', style: 'client-errors', text: 'with 4xx' },
] as const;

function render(counts: readonly (readonly number[])[]): string {
  return String(
    renderBarChart({
      title: 'Errors',
      summary: 'Some <errors> & more',
      series: errors,
      periods: counts.map(([server = 0, client = 0], at) => {
        return { startMs: startMs + at * 60_000, counts: { server, client } };
      }),
      periodMs: 60_000,
    }),
  );
}

/** Returns the attributes of the bars, without the legend. */
const barsOf = (html: string) =>
  [
    ...html.matchAll(
      /<rect class="((?:client|server)-errors)" x="([\d.]+)" y="([\d.]+)" width="8" height="([\d.]+)"/g,
    ),
  ].map(([, name, x, y, size]) => [name, Number(x), Number(y), Number(size)]);

describe('the bar chart', () => {
  it('stacks the counts of a period on each other, to scale', () => {
    const html = render([
      [0, 0],
      [1, 3],
      [0, 2],
      [4, 0],
    ]);

    expect(barsOf(html)).toEqual([
      ['server-errors', 11, 75, 25],
      ['client-errors', 11, 0, 75],
      ['client-errors', 21, 50, 50],
      ['server-errors', 31, 0, 100],
    ]);
    expect(html).toContain('<span>4</span><span>2</span><span>0</span>');
  });

  it('has the counts of each period as a tooltip, and its summary as a text alternative', () => {
    const html = render([[1234, 1]]);

    expect(html).toContain('<title>12:00 UTC: 1,234 with 5xx, 1 with 4xx</title>');
    expect(html).toContain('role="img" aria-label="Errors. Some &lt;errors&gt; &amp; more"');
  });

  it('has a scale without any counts, and no bars', () => {
    const html = render([
      [0, 0],
      [0, 0],
    ]);

    expect(barsOf(html)).toEqual([]);
    expect(html).toContain('<span>2</span><span>1</span><span>0</span>');
    expect(html).not.toContain('NaN');
  });

  it('labels the quarters of the time', () => {
    const html = render(Array.from({ length: 60 }, () => [0, 1]));

    const axis = /<div class="x-axis"[^>]*>(.*)<\/div>/
      .exec(html)?.[1]
      ?.replaceAll(/<[^>]+>/g, ' ');
    expect(axis?.split(/\s+/).filter(Boolean)).toEqual(['12:00', '12:15', '12:30', '12:45', 'now']);
  });

  it.each([
    [0, 2],
    [1, 2],
    [3, 4],
    [10, 10],
    [11, 20],
    [87, 100],
    [61_000, 80_000],
  ])('has the top %i → %i', (highest, top) => {
    expect(topOf(highest)).toBe(top);
  });

  it('uses no inline styles or scripts, which the content security policy forbids', () => {
    expect(render([[1, 1]])).not.toMatch(/\sstyle=|<script|\son\w+=/);
  });
});
