import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ownCorpus, walkCorpus } from '../../src/answers/corpus/corpus.ts';
import { writeMetrics } from '../../src/lib/metrics-text.ts';
import { problemKinds } from '../../src/lib/problem.ts';
import { toSlug } from '../../src/lib/text.ts';
import { openLoadGauge } from '../../src/routes/monitoring/load.ts';
import { measureEngine } from '../../src/server/operator-surface.ts';
import { asAdmin, buildTestApp } from '../support/build-app.ts';
import { parsePromQl } from '../support/promql.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';

// Files for operators in docs/operations. Prometheus adds `up`, and the labels `job` and `instance`.

/** Exposed metrics: the values of each label, by metric and label. */
type Exposed = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const targetLabels = ['job', 'instance'];

function readExposed(text: string): Exposed {
  const exposed = new Map<string, Map<string, Set<string>>>([['up', new Map()]]);
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^([a-z_]+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const known = exposed.get(name) ?? new Map<string, Set<string>>();
    exposed.set(name, known);
    for (const [, label = '', value = ''] of labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value));
    }
  }
  return exposed;
}

async function expose(): Promise<Exposed> {
  const engine = createScriptedEngine();
  const env = { PERCH_SESSIONS: 'on' };
  const app = await buildTestApp({ engine, env, load: openLoadGauge(60_000) });
  await app.request('/api/v1/profiles/ada.example');
  await app.request('/api/v1/profiles/ada.example');
  await app.request('/no/such/route/here');
  const { body } = await app.request('/metrics', { headers: asAdmin });
  const shared = measureEngine({ state: { isUp: true, fault: null, instances: 1 } });
  return readExposed(body + writeMetrics(shared));
}

/** Returns the faults of a PromQL expression: metrics, labels and values that the server does not expose. */
function faultsOf(expression: string, exposed: Exposed): readonly string[] {
  const { selected, grouped } = parsePromQl(expression);
  const labels = new Set(targetLabels);
  const faults = selected.flatMap(({ metric, matchers }) => {
    const known = exposed.get(metric);
    if (known === undefined) return [`unknown metric ${metric}`];
    for (const label of known.keys()) labels.add(label);
    return matchers
      .filter(({ label }) => !targetLabels.includes(label))
      .flatMap(({ label, value }) => {
        const values = label === 'code' ? new Set(Object.keys(problemKinds)) : known.get(label);
        if (values === undefined) return [`${metric} has no label ${label}`];
        const unknown = value.split('|').filter((one) => !values.has(one));
        return unknown.map((one) => `${metric} has no ${label}="${one}"`);
      });
  });
  const ungrouped = grouped.filter((label) => !labels.has(label));
  return [...faults, ...ungrouped.map((label) => `no metric has the label ${label}`)];
}

/** Returns the labels that a text names: `{{label}}` in Grafana, `{{ $labels.label }}` in Prometheus. */
const labelsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}/g)].map(([, label = '']) => label);

/** Labels of the result of an expression, if it aggregates; `null` if all labels of the metric are kept. */
function resultLabels(expression: string, exposed: Exposed): readonly string[] {
  const { selected, grouped } = parsePromQl(expression);
  if (/\b(?:sum|max|min|count|histogram_quantile)\b/.test(expression)) return grouped;
  const own = selected.flatMap(({ metric }) => [...(exposed.get(metric)?.keys() ?? [])]);
  return [...own, ...targetLabels];
}

const alerts = z.strictObject({
  groups: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        rules: z.array(
          z.strictObject({
            alert: z.string().regex(/^Perch[A-Za-z]+$/),
            expr: z.string(),
            for: z
              .string()
              .regex(/^\d+[smh]$/)
              .optional(),
            labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
            annotations: z.strictObject({
              summary: z.string().regex(/\.$/),
              description: z.string().regex(/\.$/),
              runbook_url: z
                .string()
                .regex(/^http:\/\/\{\{ \$labels\.instance \}\}\/docs\/[a-z]+(?:#[\w-]+)?$/),
            }),
          }),
        ),
      }),
    )
    .length(1),
});

const readRules = () =>
  alerts
    .parse(parse(readFileSync('docs/operations/alerts.yaml', 'utf8')))
    .groups.flatMap(({ rules }) => rules);

const target = z.looseObject({ refId: z.string(), expr: z.string(), legendFormat: z.string() });
const place = z.strictObject({ h: z.int(), w: z.int(), x: z.int(), y: z.int() });
const shown = { id: z.int(), title: z.string().min(1), gridPos: place };
const source = z.strictObject({
  type: z.literal('prometheus'),
  uid: z.literal('$' + '{datasource}'),
});
const panel = z.discriminatedUnion('type', [
  z.looseObject({ ...shown, type: z.literal('row') }),
  ...(['stat', 'timeseries'] as const).map((type) =>
    z.looseObject({
      ...shown,
      type: z.literal(type),
      description: z.string().regex(/\.$/),
      datasource: source,
      targets: z.array(target.extend({ datasource: source })).min(1),
    }),
  ),
]);
const dashboard = z.looseObject({
  title: z.literal('Perch'),
  uid: z.literal('perch'),
  schemaVersion: z.int(),
  templating: z.strictObject({ list: z.array(z.looseObject({ name: z.string() })) }),
  panels: z.array(panel),
});

const readDashboard = () =>
  dashboard.parse(JSON.parse(readFileSync('docs/operations/grafana-dashboard.json', 'utf8')));

/** Returns the queries of the dashboard, with Grafana's variable for a duration replaced by a duration. */
function readQueries() {
  return readDashboard().panels.flatMap(({ title, ...rest }) => {
    const targets = 'targets' in rest ? z.array(target).parse(rest.targets) : [];
    return targets.map(({ expr, legendFormat }) => {
      return { title, legendFormat, expr: expr.replaceAll('$__rate_interval', '5m') };
    });
  });
}

describe('docs/operations', () => {
  it('names only metrics, labels and values that the server exposes', async () => {
    const exposed = await expose();
    const named = [
      ...readRules().map(({ alert, expr, annotations }) => {
        return { title: alert, expr, text: Object.values(annotations).join(' ') };
      }),
      ...readQueries().map(({ legendFormat, ...query }) => ({ ...query, text: legendFormat })),
    ];

    const faults = named.flatMap(({ title, expr, text }) => {
      const known = resultLabels(expr, exposed);
      const unknown = labelsIn(text).filter((label) => !known.includes(label));
      return [
        ...faultsOf(expr, exposed),
        ...unknown.map((label) => `the text names ${label}, which the result lacks`),
      ].map((fault) => `${title}: ${fault}`);
    });

    expect(faults).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  it.each([
    ['rate(perch_read_total[5m])', ['unknown metric perch_read_total']],
    ['perch_reads_total{state="hit"}', ['perch_reads_total has no label state']],
    ['perch_reads_total{cache="hits"}', ['perch_reads_total has no cache="hits"']],
    ['sum by (origin) (perch_reads_total)', ['no metric has the label origin']],
    ['perch_problems_total{code=~"overloaded|busy"}', ['perch_problems_total has no code="busy"']],
    ['sum by (cache) (rate(perch_reads_total{cache="hit"}[5m]))', []],
  ])('is checked for faults such as those of %s', async (expression, faults) => {
    expect(faultsOf(expression, await expose())).toEqual(faults);
  });

  it('refuses invalid PromQL', () => {
    expect(() => parsePromQl('sum by (rate(x[5m])')).toThrow('Invalid PromQL');
  });

  it('has alerts that the page about monitoring lists, with links to headings of pages', () => {
    const page = readFileSync('docs/monitoring.md', 'utf8');
    const listed = [...page.matchAll(/^\| `(Perch[A-Za-z]+)` \|/gm)].map(([, name]) => name);
    const lost = readRules().filter(({ annotations: { runbook_url: url } }) => {
      const [, name = '', fragment] = /\/docs\/([a-z]+)(?:#([\w-]+))?$/.exec(url) ?? [];
      const headings = readFileSync(`docs/${name}.md`, 'utf8').matchAll(/^#+ (.+)$/gm);
      const slugs = [...headings].map(([, heading = '']) => toSlug(heading));
      return fragment !== undefined && !slugs.includes(fragment);
    });

    expect(lost).toEqual([]);
    expect(listed).toEqual(readRules().map(({ alert }) => alert));
  });

  it('has a dashboard whose panels have their own ids and places', () => {
    const { panels, templating } = readDashboard();
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );

    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.filter((cell) => Number(cell.split(',')[0]) >= 24)).toEqual([]);
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance']);
  });

  it('is packed, but neither a page nor a document for answers', async () => {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
    const app = await buildTestApp();
    const page = await app.request('/docs/operations');
    const read = [...walkCorpus(ownCorpus())].map(({ path }) => path);

    expect(files).toContain('docs');
    expect(page.statusCode).toBe(404);
    expect(read.filter((path) => path.includes('operations'))).toEqual([]);
    expect(read).toContain('docs/monitoring.md');
  });
});
