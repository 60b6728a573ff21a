import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { openPostClient } from '../../src/lib/http/post-client.ts';
import { spanTable } from '../../src/lib/tracing/span-table.ts';
import { buildTestApp, type TestAppOptions, xOnly } from '../support/build-app.ts';
import { answerJson, type FakeHandler, type FakeUpstream, hang } from '../support/fake-upstream.ts';
import { listen, upstream } from '../support/listen.ts';
import { eras, sendMcp } from '../support/mcp.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';
import { createTraceRig, outline, type TracedSpan, type TraceRig } from '../support/traces.ts';
import { fxBody, fxStatus, syndicationPost } from '../support/x-payloads.ts';

const fails: FakeHandler = (_request, response) => answerJson(response, {}, { status: 500 });
const found: FakeHandler = (_request, response) => answerJson(response, syndicationPost('20'));
const foundAtFirst: FakeHandler = (_request, response) =>
  answerJson(response, fxBody(fxStatus('20'), { thread: [fxStatus('20')], replies: [] }));

interface Upstreams {
  readonly first: FakeUpstream;
  readonly second: FakeUpstream;
}

async function build(
  [first, second]: readonly [FakeHandler, FakeHandler],
  options: TestAppOptions = {},
) {
  const sources: Upstreams = { first: await upstream(first), second: await upstream(second) };
  const rig = createTraceRig();
  const app = await buildTestApp({
    ...options,
    tracing: rig.tracing,
    env: {
      ...xOnly,
      PERCH_BASE_URL: 'https://perch.example',
      PERCH_FXTWITTER_URL: sources.first.url,
      PERCH_SYNDICATION_URL: sources.second.url,
      ...options.env,
    },
  });
  return { app, rig, ...sources };
}

/** Returns the trees of spans once there are `count` of them. The span of a request can end after its response. */
async function rootsOf(rig: TraceRig, count: number): Promise<readonly TracedSpan[]> {
  await expect.poll(() => rig.roots().length).toBe(count);
  return rig.roots();
}

function findSpan(root: TracedSpan | undefined, name: string): TracedSpan | undefined {
  if (root === undefined || root.name === name) return root;
  return root.children.map((child) => findSpan(child, name)).find((span) => span !== undefined);
}

const post = '/api/v1/posts?handle=wren_test&id=20&replies=off';
const route = 'GET /api/v1/posts';
const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`;

describe('the trace of a read', () => {
  it('shows the whole way of a read that failed over', async () => {
    const { app, rig, first, second } = await build([fails, found]);

    const reply = await app.request(post, { headers: { traceparent } });

    expect(reply.statusCode).toBe(200);
    const [request] = await rootsOf(rig, 1);
    expect(request && outline(request)).toEqual([
      route,
      '  perch.cache',
      '  perch.chain',
      '    perch.provider',
      '      GET',
      '    perch.provider',
      '      GET',
      '  perch.render',
    ]);
    expect(request).toMatchObject({
      traceId: parent.traceId,
      failed: false,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/api/v1/posts',
        'http.response.status_code': 200,
        'url.scheme': 'https',
        'url.path': '/api/v1/posts',
        'server.address': 'perch.example',
        'server.port': 443,
        'network.protocol.version': '1.1',
        'perch.request_id': reply.headers['x-request-id'],
        'perch.cache.state': 'miss',
      },
    });
    const chain = findSpan(request, 'perch.chain');
    const [refused, answered] = chain?.children ?? [];
    expect(chain?.attributes).toEqual({
      'perch.query.kind': 'post',
      'perch.provider': 'syndication',
    });
    expect(refused).toMatchObject({
      failed: true,
      attributes: { 'perch.provider': 'fxtwitter', 'error.type': 'unavailable' },
    });
    expect(answered).toMatchObject({
      failed: false,
      attributes: { 'perch.provider': 'syndication' },
    });
    const toClientSpan = ({ url }: FakeUpstream, provider: string, status: number) => ({
      'http.request.method': 'GET',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(url).port),
      'http.response.status_code': status,
      'perch.provider': provider,
    });
    expect(refused?.children[0]).toMatchObject({
      kind: 2,
      failed: true,
      attributes: { ...toClientSpan(first, 'fxtwitter', 500), 'error.type': '500' },
    });
    expect(answered?.children[0]).toMatchObject({
      kind: 2,
      failed: false,
      attributes: toClientSpan(second, 'syndication', 200),
    });
  });

  it('shows a retry after a reset connection as a second request', async () => {
    let times = 0;
    const resetsOnce: FakeHandler = (request, response) => {
      times += 1;
      if (times === 1) request.socket.resetAndDestroy();
      else foundAtFirst(request, response);
    };
    const { app, rig } = await build([resetsOnce, fails]);
    const reading = app.request(post);
    await expect.poll(() => rig.spans().length).toBeGreaterThan(1);
    await app.advance(200);
    await reading;

    const [request] = await rootsOf(rig, 1);
    const attempts = findSpan(request, 'perch.provider')?.children ?? [];
    expect(attempts.map(({ attributes }) => attributes['error.type'])).toEqual([
      'reset',
      undefined,
    ]);
    expect(attempts.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([
      undefined,
      1,
    ]);
  });

  it('shows a cache hit, and a stale answer whose revalidation links to the request', async () => {
    const { app, rig } = await build([foundAtFirst, fails], {
      env: { PERCH_CACHE_TTL_SECONDS: '60', PERCH_STALE_WHILE_REVALIDATE_SECONDS: '300' },
    });

    await app.request(post);
    await app.request(post);
    await app.advance(61_000);
    const stale = await app.request(post);

    expect(stale.headers['x-cache']).toBe('stale');
    const roots = await rootsOf(rig, 4);
    // The revalidation can end before the request to which it links.
    const revalidation = roots.find(({ name }) => name === 'perch.revalidation');
    const [miss, hit, old] = roots.filter((root) => root !== revalidation);
    expect(
      [miss, hit, old].map((span) => [
        span?.attributes['perch.cache.state'],
        findSpan(span, 'perch.cache')?.attributes['perch.cache.state'],
      ]),
    ).toEqual([
      ['miss', 'miss'],
      ['hit', 'hit'],
      ['stale', 'stale'],
    ]);
    expect(hit && outline(hit)).toEqual([route, '  perch.cache']);
    expect(revalidation?.links).toEqual([old?.spanId]);
    expect(revalidation && outline(revalidation)).toEqual([
      'perch.revalidation',
      '  perch.chain',
      '    perch.provider',
      '      GET',
    ]);
    expect(revalidation?.traceId).not.toBe(old?.traceId);
  });

  it('shows that a read waits for the same read of another request', async () => {
    let answer: () => void = () => undefined;
    const hangs: FakeHandler = (request, response) => {
      answer = () => foundAtFirst(request, response);
    };
    const { app, rig, first } = await build([hangs, fails]);

    const leading = app.request(post);
    await expect.poll(() => first.requests.length).toBe(1);
    const waiting = app.request(post);
    await expect
      .poll(() => rig.spans().filter(({ name }) => name === 'perch.cache').length)
      .toBe(2);
    answer();
    await Promise.all([leading, waiting]);

    const [leader, follower] = await rootsOf(rig, 2);
    const wait = findSpan(follower, 'perch.wait');
    expect(findSpan(leader, 'perch.wait')).toBeUndefined();
    expect(findSpan(follower, 'perch.chain')).toBeUndefined();
    expect(wait?.attributes).toEqual({ 'perch.wait.for': 'request' });
    expect(wait?.links).toEqual([leader?.spanId]);
    expect(first.requests).toHaveLength(1);
  });

  it('shows a failed read, whose log lines have the ids of the trace', async () => {
    const lines: Record<string, unknown>[] = [];
    const { app, rig } = await build([fails, fails], {
      env: { PERCH_ACCESS_LOG: 'all' },
      onLog: (line) => lines.push(JSON.parse(line)),
    });

    const reply = await app.request(post);

    const [request] = await rootsOf(rig, 1);
    expect(reply.statusCode).toBe(503);
    expect(request).toMatchObject({
      failed: true,
      attributes: {
        'http.response.status_code': 503,
        'error.type': 'upstream_unavailable',
        'perch.problem.code': 'upstream_unavailable',
      },
    });
    const line = lines.find(({ msg }) => msg === 'request answered');
    expect(line).toMatchObject({ trace_id: request?.traceId, span_id: request?.spanId });
    const failure = lines.find(({ msg }) => msg === 'a request to a provider failed');
    const provider = findSpan(request, 'perch.provider');
    expect(failure).toMatchObject({ trace_id: request?.traceId, span_id: provider?.spanId });
  });

  it('names no path of an unknown route, and no error for a 404', async () => {
    const { app, rig } = await build([fails, fails]);

    await app.request('/no/such/route/here?key=1');

    const [request] = await rootsOf(rig, 1);
    // The route of addresses without a scheme, which this path is not.
    expect(request).toMatchObject({ name: 'GET /:handle/:id/*', failed: false });
    expect(request?.attributes).not.toHaveProperty('url.path');
    expect(request?.attributes['perch.problem.code']).toBe('route_not_found');
  });
});

describe('the span of a request', () => {
  it('ends when the client disconnects', async () => {
    const { url } = await upstream(hang);
    const rig = createTraceRig();
    const server = await listen(
      { ...xOnly, PERCH_FXTWITTER_URL: url, PERCH_SYNDICATION_URL: url },
      { tracing: rig.tracing },
    );
    const leaving = new AbortController();
    const left = fetch(`${server.url}${post}`, { signal: leaving.signal }).catch(() => 'left');
    await expect.poll(() => rig.spans().length).toBeGreaterThan(0);
    leaving.abort();

    expect(await left).toBe('left');
    const [request] = await rootsOf(rig, 1);
    expect(request?.failed).toBe(false);
    expect(request?.attributes['error.type']).toBe('aborted');
    expect(request?.attributes).not.toHaveProperty('http.response.status_code');
  });

  it('has a common name for uncommon methods', async () => {
    const { app, rig } = await build([fails, fails]);

    await app.request('/health/live', { method: 'MKCOL' });

    const [request] = await rootsOf(rig, 1);
    expect(request?.name).toMatch(/^HTTP/);
    expect(request?.attributes['http.request.method']).toBe('_OTHER');
  });
});

describe('the trace context of a request', () => {
  it.each([
    ['an invalid version', `ff${traceparent.slice(2)}`],
    ['an empty trace id', `00-${'0'.repeat(32)}-${parent.spanId}-01`],
    ['an empty span id', `00-${parent.traceId}-${'0'.repeat(16)}-01`],
    ['upper case', traceparent.toUpperCase()],
    ['two values', `${traceparent}, ${traceparent}`],
    ['a field that version 00 lacks', `${traceparent}-more`],
    ['a field that is too long', `01${traceparent.slice(2)}-${'a'.repeat(500)}`],
    ['no form', 'x'],
  ])('is ignored with %s', async (_, given) => {
    const { app, rig } = await build([foundAtFirst, fails]);

    await app.request(post, { headers: { traceparent: given } });

    const [request] = await rootsOf(rig, 1);
    expect(request?.traceId).not.toBe(parent.traceId);
    expect(rig.spans().at(-1)?.parentSpanContext).toBeUndefined();
  });

  it('is used in a later version, whose further fields are ignored', async () => {
    const { app, rig } = await build([foundAtFirst, fails]);

    await app.request(post, { headers: { traceparent: `01${traceparent.slice(2)}-more` } });

    expect((await rootsOf(rig, 1))[0]?.traceId).toBe(parent.traceId);
  });

  it.each([
    ['is kept', 'vendor=1,other=2', 'vendor=1,other=2'],
    ['is ignored if it is too long', `vendor=${'a'.repeat(600)}`, undefined],
    ['is ignored if it is invalid', '=,;', ''],
  ])('has a tracestate that %s', async (_, tracestate, kept) => {
    const { app, rig } = await build([foundAtFirst, fails]);

    await app.request(post, { headers: { traceparent, tracestate } });

    await rootsOf(rig, 1);
    expect(rig.spans().at(-1)?.parentSpanContext?.traceState?.serialize()).toBe(kept);
  });
});

describe('traces of other work', () => {
  it('link the turn of a session to the request that sent the message', async () => {
    const turns: string[] = [];
    const engine = createScriptedEngine(async ({ text }, { span }) => {
      turns.push(span?.spanContext.spanId ?? 'none');
      if (text === 'fail') throw new Error('The engine fails.');
      return { text: 'Yes.', citations: [], abstained: true, finishReason: 'stop' };
    });
    const { app, rig } = await build([fails, fails], { engine, env: { PERCH_SESSIONS: 'on' } });
    const headers = { 'content-type': 'application/json' };
    const say = async (message: string) => {
      const payload = JSON.stringify({ message });
      await app.request('/svc/v1/session', { method: 'POST', headers, payload });
    };

    await say('a secret question');
    await say('fail');

    const roots = await rootsOf(rig, 4);
    const requests = roots.filter(({ name }) => name === 'POST /svc/v1/session');
    const answers = roots.filter(({ name }) => name === 'perch.turn');
    expect(answers.map(({ links }) => links)).toEqual(requests.map(({ spanId }) => [spanId]));
    expect(answers.map(({ spanId }) => spanId)).toEqual(turns);
    expect(answers.map(({ attributes }) => attributes)).toEqual([
      { 'perch.turn.outcome': 'completed', 'perch.turn.abstained': true },
      {
        'perch.turn.outcome': 'failed',
        'perch.turn.failure': 'answer_failed',
        'error.type': 'answer_failed',
      },
    ]);
  });

  it('show the request to a language model, which receives no trace context', async () => {
    const { url, requests } = await upstream((_request, response) => answerJson(response, {}));
    const rig = createTraceRig();
    const client = openPostClient({
      connectTimeoutMs: 2000,
      userAgent: 'test',
      clock: systemClock,
    });
    onTestFinished(() => client.close());
    const turn = rig.tracing.start('turn');
    const { signal } = new AbortController();
    const message = { body: { text: 'secret' }, authorization: 'Bearer secret', accept: '*/*' };

    await client.post(new URL(`${url}/v1?key=secret`), {
      ...message,
      signal,
      span: turn,
      model: 'm',
    });
    turn.end();

    const [root] = rig.roots();
    expect(root && outline(root)).toEqual(['perch.turn', '  POST']);
    expect(root?.children[0]?.attributes).toEqual({
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(url).port),
      'http.response.status_code': 200,
      'gen_ai.request.model': 'm',
    });
    expect(Object.keys(requests[0]?.headers ?? {})).not.toContain('traceparent');
  });

  it.each(eras)('show a tool call over MCP and its read (%s)', async (era) => {
    const { app, rig } = await build([foundAtFirst, fails]);
    const call = (id: string) =>
      sendMcp(app, era, {
        method: 'tools/call',
        params: { name: 'get_post', arguments: { handle: 'wren_test', id, replies: 'off' } },
      });

    await call('20');
    await call('no id');

    const [request, refused] = await rootsOf(rig, 2);
    expect(request && outline(request)).toEqual([
      'POST /mcp',
      '  tools/call get_post',
      '    perch.cache',
      '    perch.chain',
      '      perch.provider',
      '        GET',
      '    perch.render',
    ]);
    expect(request?.children[0]).toMatchObject({
      kind: 1,
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'get_post',
        'perch.cache.state': 'miss',
      },
    });
    expect(findSpan(refused, 'tools/call get_post')).toMatchObject({
      failed: true,
      attributes: { 'error.type': 'invalid_params' },
    });
  });
});

describe('privacy', () => {
  it('keeps trace context, handles, ids, texts, keys and addresses out of spans and upstreams', async () => {
    const engine = createScriptedEngine();
    const { app, rig, first, second } = await build([fails, found], {
      engine,
      env: { PERCH_SESSIONS: 'on' },
    });
    const secrets = ['wren_test', 'heron', 'perch_', 'mira', '1234567', '192.0.2.77', 'a-bearer'];
    const { headers: keyed } = await app.createKey();
    const context = { traceparent, tracestate: 'vendor=1', baggage: 'user=heron' };
    const from = { remoteAddress: '192.0.2.77' };
    await app.request('/wren_test/status/1234567', { headers: context, ...from });
    await app.request('/api/v1/search?q=heron', { headers: { ...context, ...keyed }, ...from });
    await app.request('/api/v1/profiles/wren_test?token=heron', { headers: context, ...from });
    await app.request('/?q=heron', { headers: context, ...from });
    await app.request('/svc/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer a-bearer' },
      payload: JSON.stringify({ message: 'Where is heron?' }),
      ...from,
    });

    await expect.poll(() => rig.roots().length).toBeGreaterThanOrEqual(7);
    const shown = JSON.stringify(
      rig.spans().map(({ name, attributes, links, status, events }) => {
        return { name, attributes, links, status, events };
      }),
    );
    expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    const sent = [...first.requests, ...second.requests].map(({ headers }) => Object.keys(headers));
    expect(sent.length).toBeGreaterThan(2);
    for (const names of sent) {
      expect(names.filter((name) => /^(?:traceparent|tracestate|baggage|b3)/.test(name))).toEqual(
        [],
      );
    }
  });

  it('sets only attributes that the table of spans lists', async () => {
    const { app, rig } = await build([fails, found]);
    await app.request(post);
    await app.request(post);
    await app.request('/no/route');
    await rootsOf(rig, 3);

    const definitions = Object.values(spanTable);
    for (const { name, attributes } of rig.spans()) {
      const named = definitions.filter((one) => one.name === name);
      const known = (
        named.length > 0 ? named : definitions.filter((one) => one.name === null)
      ).flatMap((one): readonly string[] => one.attributes);
      expect(Object.keys(attributes).filter((key) => !known.includes(key))).toEqual([]);
    }
  });
});
