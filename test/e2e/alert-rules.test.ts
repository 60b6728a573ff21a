import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { requireProgram, run, save } from '../support/config-checkers.ts';

const rulesPath = resolve('docs/operations/alerts.yaml');

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const rules: readonly Rule[] = parse(readFileSync(rulesPath, 'utf8')).groups[0].rules;

/** Values of a metric, one each minute, in the notation of Prometheus. The labels of the scrape job are added. */
type Series = readonly [metric: string, values: string];

interface Case {
  /** Metrics of an instance whose alert fires after half an hour. */
  readonly fires: readonly Series[];
  /** Metrics of an instance whose alert does not fire in half an hour. */
  readonly quiet: readonly Series[];
  /** Labels of the alert besides those of the target and of the rule. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Value in the summary. */
  readonly value?: string;
}

const bucket = (le: string) => `perch_request_duration_seconds_bucket{cached="false",le="${le}"}`;
const problems = (code: string) => `perch_problems_total{code="${code}"}`;

const cases: Readonly<Record<string, Case>> = {
  PerchDown: { fires: [['up', '1x25 0x9']], quiet: [['up', '1x28 0x9']] },
  PerchRestarts: {
    fires: [['process_start_time_seconds', '100x9 200x9 300x5 400x9']],
    quiet: [['process_start_time_seconds', '100x9 200x9 300x20']],
    value: '3',
  },
  PerchDefect: {
    fires: [[problems('internal_error'), '0x25 1x9']],
    quiet: [[problems('internal_error'), '1x40']],
  },
  PerchProviderPaused: {
    fires: [['perch_provider_breaker_is_open{provider="fxtwitter"}', '0x9 1x25']],
    quiet: [['perch_provider_breaker_is_open{provider="fxtwitter"}', '0x9 1x9 0 1x15']],
    labels: { provider: 'fxtwitter' },
  },
  PerchResponsesUnusable: {
    fires: [[problems('upstream_error'), '0+1x35']],
    quiet: [[problems('upstream_error'), '0x20 1 2 3 4x20']],
  },
  PerchThrottled: {
    fires: [[problems('upstream_rate_limited'), '0+10x35']],
    quiet: [[problems('upstream_rate_limited'), '0+5x35']],
  },
  PerchReadsFail: {
    fires: [
      [problems('upstream_unavailable'), '0+2x35'],
      ['perch_reads_total{source="fxtwitter"}', '0+10x35'],
    ],
    quiet: [
      [problems('upstream_unavailable'), '0+2x35'],
      ['perch_reads_total{source="fxtwitter"}', '0+100x35'],
    ],
  },
  PerchOverloaded: {
    fires: [[problems('overloaded'), '0+120x35']],
    quiet: [
      [problems('overloaded'), '0+30x35'],
      ['perch_load_is_high', '0x20 1 0x20'],
    ],
  },
  PerchEventLoopDelayed: {
    fires: [['nodejs_eventloop_delay_seconds', '0.5x35']],
    quiet: [['nodejs_eventloop_delay_seconds', '0.01x35']],
    value: '500ms',
  },
  PerchReadsSlow: {
    fires: [
      [bucket('5'), '0+9x35'],
      [bucket('10'), '0+10x35'],
      [bucket('+Inf'), '0+10x35'],
    ],
    quiet: [
      [bucket('5'), '0+10x35'],
      [bucket('10'), '0+10x35'],
      [bucket('+Inf'), '0+10x35'],
    ],
  },
  PerchPoolUsedUp: {
    fires: [
      ['perch_pool_used', '95x35'],
      ['perch_pool_limit', '100x35'],
    ],
    quiet: [
      ['perch_pool_used', '80x35'],
      ['perch_pool_limit', '100x35'],
    ],
  },
  PerchLimitReached: {
    fires: [['perch_holds_refused_total{holding="reads"}', '0+10x35']],
    quiet: [['perch_holds_refused_total{holding="reads"}', '0+1x35']],
    labels: { holding: 'reads' },
  },
  PerchQuestionsWait: {
    fires: [['perch_turns_waiting', '30x35']],
    quiet: [['perch_turns_waiting', '10x35']],
    value: '30',
  },
  PerchSessionStoreDown: {
    fires: [['perch_session_store_is_usable', '1x25 0x9']],
    quiet: [['perch_session_store_is_usable', '1x35']],
  },
  PerchSharedEngineDown: {
    fires: [['perch_shared_engine_is_up', '1x25 0x9']],
    quiet: [['perch_shared_engine_is_up', '1x35']],
  },
  PerchMemoryHigh: {
    fires: [['process_resident_memory_bytes', '2147483648x35']],
    quiet: [['process_resident_memory_bytes', '1e9x35']],
    value: '2Gi',
  },
};

const instance = 'perch.example.org';

/** Returns a test for `promtool test rules`, with the alert at the end of half an hour, or without one. */
function toRuleTest(rule: Rule, series: readonly Series[], isFiring: boolean) {
  const { labels = {}, value = '' } = cases[rule.alert] ?? {};
  const known: Readonly<Record<string, string>> = { ...labels, instance };
  const fill = (text: string) =>
    text
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => known[label] ?? '')
      .replaceAll(/\{\{ \$value[^}]* \}\}/g, value);
  const texts = Object.entries(rule.annotations).map(([name, text]) => [name, fill(text)]);
  return {
    interval: '1m',
    input_series: series.map(([metric, values]) => ({ series: addTarget(metric), values })),
    alert_rule_test: [
      {
        eval_time: '30m',
        alertname: rule.alert,
        exp_alerts: isFiring
          ? [
              {
                exp_labels: { ...rule.labels, ...labels, job: 'perch', instance },
                exp_annotations: Object.fromEntries(texts),
              },
            ]
          : [],
      },
    ],
  };
}

function addTarget(metric: string): string {
  const [name = '', own = ''] = metric.replace('}', '').split('{');
  const labels = [...(own === '' ? [] : [own]), 'job="perch"', `instance="${instance}"`];
  return `${name}{${labels.join(',')}}`;
}

describe('docs/operations/alerts.yaml', () => {
  it('has a test for each alert', () => {
    expect(rules.map(({ alert }) => alert)).toEqual(Object.keys(cases));
  });

  it('is accepted by Prometheus', ({ skip }) => {
    requireProgram('promtool', skip);

    expect(run('promtool', 'check', 'rules', rulesPath)).toBe('');
  });

  it.for(rules)('$alert fires, and only if its condition holds', (rule, { skip }) => {
    requireProgram('promtool', skip);
    const { fires = [], quiet = [] } = cases[rule.alert] ?? {};
    const runTests = (...tests: readonly object[]) =>
      run(
        ...(['promtool', 'test', 'rules'] as const),
        save('tests.json', JSON.stringify({ rule_files: [rulesPath], tests })),
      );

    expect(runTests(toRuleTest(rule, fires, true), toRuleTest(rule, quiet, false))).toBe('');
    expect(runTests(toRuleTest(rule, quiet, true))).toContain('FAILED');
  });
});
