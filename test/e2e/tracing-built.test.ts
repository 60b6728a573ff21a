import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, inject, it, onTestFinished } from 'vitest';
import { packagePath } from '../../src/lib/files/package-path.ts';
import { xOnly } from '../support/build-app.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { toMessage } from '../support/mcp.ts';
import { startCollector } from '../support/otlp-collector.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';
import { syndicationPost } from '../support/x-payloads.ts';

function readDocumentedSetup(): string {
  const page = readFileSync(packagePath('docs/tracing.md'), 'utf8');
  const block = /^ {3}```js\n([\s\S]*?)^ {3}```$/m.exec(page)?.[1];
  return (block ?? '').replaceAll(/^ {3}/gm, '');
}

/** Loads instrumentation of HTTP clients, which adds `traceparent` to requests unless they are marked. */
const instrumented = `
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
const undici = new UndiciInstrumentation();
undici.setTracerProvider(provider);
undici.enable();
`;

/** Writes a module that can import the packages of the tests. Its folder is deleted at the end of the test. */
function writeSetup(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'perch-test-otel-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(packagePath('node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'otel.mjs');
  writeFileSync(path, text);
  return path;
}

const fails: FakeHandler = (_request, response) => answerJson(response, {}, { status: 500 });
const found: FakeHandler = (_request, response) => answerJson(response, syndicationPost('20'));

const traceId = '0af7651916cd43dd8448eb211c80319c';
const context = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, baggage: 'user=wren' };

it.each([
  ['--import', '--import', ''],
  ['NODE_OPTIONS', 'NODE_OPTIONS', ''],
  ['instrumentation of HTTP clients', '--import', instrumented],
])('sends traces with the lines of docs/tracing.md (%s)', async (_, way, more) => {
  const collector = await startCollector();
  const [first, second] = [await upstream(fails), await upstream(found)];
  const path = writeSetup(readDocumentedSetup() + more);
  const perch = spawnPerch(
    ['serve'],
    {
      ...xOnly,
      PORT: '0',
      PERCH_SESSIONS: 'off',
      PERCH_FXTWITTER_URL: first.url,
      PERCH_SYNDICATION_URL: second.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50', // milliseconds until spans are sent
      ...(way === 'NODE_OPTIONS' ? { NODE_OPTIONS: `--import ${pathToFileURL(path)}` } : {}),
    },
    { nodeArgs: way === '--import' ? ['--import', path] : [] },
  );
  const [, url] = await perch.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
  const reply = await fetch(`${url}/api/v1/posts?handle=wren_test&id=20&replies=off`, {
    headers: context,
  });
  await reply.text();
  const ofRequest = () => collector.spans.filter((span) => span.traceId === traceId);
  await expect.poll(() => ofRequest().length).toBe(8);
  perch.kill('SIGTERM');
  const { code } = await perch.ended;

  expect([reply.status, code]).toEqual([200, 0]);
  expect([...collector.services]).toEqual(['perch']);
  const traced = ofRequest();
  const nameOf = (id: string | undefined) => traced.find(({ spanId }) => spanId === id)?.name;
  expect(
    traced.map(({ name, parentSpanId }) => [name, nameOf(parentSpanId) ?? 'caller']).sort(),
  ).toEqual(
    [
      ['GET /api/v1/posts', 'caller'],
      ['perch.cache', 'GET /api/v1/posts'],
      ['perch.chain', 'GET /api/v1/posts'],
      ['perch.provider', 'perch.chain'],
      ['GET', 'perch.provider'],
      ['perch.provider', 'perch.chain'],
      ['GET', 'perch.provider'],
      ['perch.render', 'GET /api/v1/posts'],
    ].sort(),
  );
  const sent = [...first.requests, ...second.requests].flatMap(({ headers }) =>
    Object.keys(headers),
  );
  expect(sent).toContain('user-agent');
  expect(sent.filter((name) => /^(?:trace|baggage)/.test(name))).toEqual([]);
});

it('sends traces of tool calls over stdio', async () => {
  const collector = await startCollector();
  const path = writeSetup(readDocumentedSetup());
  const child = spawn(process.execPath, ['--import', path, inject('perchMain'), 'mcp'], {
    cwd: temporaryFolder(),
    env: {
      PATH: process.env.PATH ?? '',
      PERCH_DATA_DIR: ':memory:',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const call = { name: 'get_profile', arguments: { handle: 'ada.example' } };
  child.stdin.end(`${toMessage('modern', { method: 'tools/call', params: call }).body}\n`);
  await once(child, 'exit');

  const [root] = collector.spans.filter(({ parentSpanId }) => !parentSpanId);
  expect(root?.name).toBe('tools/call get_profile');
  expect(new Set(collector.spans.map(({ traceId: id }) => id)).size).toBe(1);
  expect(collector.spans.map(({ name }) => name)).toContain('perch.chain');
});

it('finds that the instrumentation of the test above does add headers to requests that are not marked', async () => {
  const { url, requests } = await upstream(found);
  const path = writeSetup(`${readDocumentedSetup()}${instrumented}
await fetch('${url}/');
process.exit(0);
`);
  const perch = spawnPerch(['--version'], {}, { nodeArgs: ['--import', path] });
  await perch.ended;

  expect(requests.map(({ headers }) => headers.traceparent)).toEqual([
    expect.stringMatching(/^00-[\da-f]{32}-/),
  ]);
});
