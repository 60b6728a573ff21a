import { describe, expect, it } from 'vitest';
import { writeMetrics } from '../../src/lib/metrics-text.ts';
import { problemKinds } from '../../src/lib/problem.ts';
import { sourceNames } from '../../src/model/results.ts';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import { asAdmin, buildTestApp, type TestApp } from '../support/build-app.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

const profile = '/api/v1/profiles/ada.example?limit=2';

/** Reads the metrics as their format has it (Prometheus text format 0.0.4), refusing any other line. */
async function readMetrics(app: TestApp, headers: Readonly<Record<string, string>> = asAdmin) {
  const { body } = await app.request('/metrics', { headers });
  expect(body.endsWith('\n')).toBe(true);
  const lines = body.split('\n').slice(0, -1);
  const types = new Map<string, string>();
  for (const line of lines) {
    const [, name, type] = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (name !== undefined) types.set(name, type ?? '');
  }
  const values = new Map<string, number>();
  for (const line of lines.filter((one) => !/^# (?:HELP|TYPE) [a-z_]+ ./.test(one))) {
    const { name, key, value } = readSample(line);
    expect(types.has(name) || types.get(name.replace(/_(?:bucket|sum|count)$/, '')), line).toBe(
      types.has(name) ? true : 'histogram',
    );
    expect([values.has(key), value], line).toEqual([false, expect.any(Number)]);
    values.set(key, value);
  }
  return values;
}

function readSample(line: string) {
  const sample = /^([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})? ([\d.e+-]+)$/.exec(line);
  expect(sample, line).not.toBeNull();
  const [, name = '', labels = '', value] = sample ?? [];
  return { name, key: name + labels, value: Number(value) };
}

describe('/metrics', () => {
  it('requires the admin token unless PERCH_METRICS is open', async () => {
    const closed = await buildTestApp();
    const open = await buildTestApp({ env: { PERCH_METRICS: 'open' } });

    const refused = await closed.request('/metrics');
    const told = await closed.request('/metrics', { headers: asAdmin });
    const toAll = await open.request('/metrics');

    expect([refused.statusCode, refused.json().code]).toEqual([401, 'unauthorized']);
    for (const reply of [told, toAll]) {
      expect(reply.statusCode).toBe(200);
      expect(reply.headers).toMatchObject({
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'cache-control': 'no-store',
      });
    }
    expect((await readMetrics(open, {})).get('perch_reads_in_flight')).toBe(0);
  });

  it('has all counters as 0 from the start, so that increase() sees the first problem', async () => {
    const app = await buildTestApp();

    const metrics = await readMetrics(app);

    const zeros = (name: string) =>
      [...metrics].filter(([key, value]) => key.startsWith(name) && value === 0);
    const codes = Object.keys(problemKinds).map((code) => `perch_problems_total{code="${code}"}`);
    expect(zeros('perch_problems_total{').map(([key]) => key)).toEqual(codes);
    const providers = [...sourceNames];
    const reads = zeros('perch_reads_total{').map(([key]) => /source="(\w+)"/.exec(key)?.[1]);
    expect(reads.toSorted()).toEqual(providers.flatMap((name) => Array(12).fill(name)).toSorted());
    const route = 'perch_request_duration_seconds_count{route="/api/v1/posts",cached=';
    expect(zeros(route)).toHaveLength(2);
    expect(zeros('perch_holds_refused_total{').length).toBeGreaterThan(3);
  });

  it('counts reads of every surface by source and cache state', async () => {
    const app = await buildTestApp();

    await app.request(profile);
    await app.request(profile);
    await app.request('/ada.example?limit=2&format=json');
    await app.request(`${profile}&nocache=true`);

    const metrics = await readMetrics(app);
    const ofCache = (cache: string) =>
      metrics.get(`perch_reads_total{source="archive",kind="list",cache="${cache}"}`);
    expect([ofCache('miss'), ofCache('hit'), ofCache('bypass'), ofCache('stale')]).toEqual([
      1, 2, 1, 0,
    ]);
    expect(metrics.get('perch_cache_entries')).toBeGreaterThan(0);
    expect(metrics.get('perch_cache_bytes')).toBeGreaterThan(0);
  });

  it('counts problems by code, and the response times of problems, misses and hits', async () => {
    const app = await buildTestApp();

    await app.request(profile);
    await app.request(profile);
    await app.request(profile);
    await app.request('/api/v1/posts');
    await app.request('/no/route');
    await app.request('/no/route');

    const metrics = await readMetrics(app);
    expect(metrics.get('perch_problems_total{code="missing_url"}')).toBe(1);
    expect(metrics.get('perch_problems_total{code="route_not_found"}')).toBe(2);
    const route = '/api/v1/profiles/:handle';
    const valueFor = (suffix: string, cached: boolean, le = '') =>
      metrics.get(
        `perch_request_duration_seconds_${suffix}{route="${route}",cached="${cached}"${le}}`,
      );
    for (const [cached, count] of [
      [false, 1],
      [true, 2],
    ] as const) {
      expect(valueFor('count', cached)).toBe(count);
      expect(valueFor('bucket', cached, ',le="+Inf"')).toBe(count);
      expect(valueFor('bucket', cached, ',le="0.05"') ?? Number.NaN).toBeLessThanOrEqual(
        valueFor('bucket', cached, ',le="30"') ?? Number.NaN,
      );
      expect(valueFor('sum', cached)).toBeGreaterThan(0);
    }
  });

  it('has metrics of providers, sessions and the process', async () => {
    const app = await buildTestApp({
      env: { PERCH_SESSIONS: 'on' },
      engine: createScriptedEngine(),
    });
    await app.request('/svc/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ message: 'Where is X documented?' }),
    });

    const metrics = await readMetrics(app);

    expect(metrics.get('perch_sessions_live')).toBe(1);
    expect(metrics.get('perch_session_bytes')).toBeGreaterThan(1000);
    expect(metrics.get('perch_streams_open')).toBe(0);
    expect(metrics.get('perch_provider_breaker_is_open{provider="archive"}')).toBe(0);
    expect(metrics.get('perch_pool_used')).toBe(0);
    expect(metrics.get('perch_pool_limit')).toBeGreaterThan(0);
    expect(metrics.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect([...metrics.keys()]).toContainEqual(
      expect.stringMatching(/^perch_build_info\{version="\d/),
    );
  });

  it('shows a circuit breaker as open until a test request succeeds', async () => {
    let isDown = true;
    let answerTest = () => {};
    const testAnswered = new Promise<void>((resolve) => (answerTest = resolve));
    const provider = createStubProvider('stub', async () => {
      if (isDown) throw new ProviderError('unavailable', 'It is down.');
      await testAnswered;
      return stubFound(stubPost('30'));
    });
    const app = await buildTestApp({ providers: [provider] });
    const isOpen = async () =>
      (await readMetrics(app)).get('perch_provider_breaker_is_open{provider="stub"}');

    for (let id = 20; id < 25; id += 1) await app.request(`/jack/status/${id}`);
    const whileDown = await isOpen();
    isDown = false;
    await app.advance(5000);
    const tested = app.request('/jack/status/30');
    await expect.poll(() => provider.queries.length).toBe(6);
    const whileTested = await isOpen();
    answerTest();
    await tested;

    expect([whileDown, whileTested, await isOpen()]).toEqual([1, 1, 0]);
  });

  it('has no session metrics without sessions', async () => {
    const app = await buildTestApp();

    expect((await readMetrics(app)).has('perch_sessions_live')).toBe(false);
  });

  it('has no metrics of a shared engine without one, as /health/ready', async () => {
    const app = await buildTestApp();

    const names = [...(await readMetrics(app)).keys()];
    const readiness = (await app.request('/health/ready')).json();

    expect(names.filter((name) => /engine|instance/.test(name))).toEqual([]);
    expect(Object.keys(readiness)).toEqual(['status', 'providers']);
  });

  it('answers HEAD, and rejects other methods and origins', async () => {
    const app = await buildTestApp({ env: { PERCH_METRICS: 'open' } });

    const head = await app.request('/metrics', { method: 'HEAD' });
    const post = await app.request('/metrics', { method: 'POST' });

    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect([post.json().code, post.headers.allow]).toEqual(['method_not_allowed', 'GET, HEAD']);
  });
});

it('the text of metrics escapes labels and help texts, and omits metrics without samples', () => {
  const text = writeMetrics([
    {
      name: 'a_total',
      help: 'One\\two\nthree.',
      type: 'counter',
      samples: [{ labels: { name: 'a "b"\\\n' }, value: Number.POSITIVE_INFINITY }],
    },
    { name: 'b', help: 'None.', type: 'gauge', samples: [] },
  ]);

  expect(text).toBe(
    '# HELP a_total One\\\\two\\nthree.\n# TYPE a_total counter\na_total{name="a \\"b\\"\\\\\\n"} +Inf\n',
  );
});
