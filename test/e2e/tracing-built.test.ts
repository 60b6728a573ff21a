import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { packagePath } from '../../src/core/files/package-path.ts';
import { xOnly } from '../support/build-app.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { startCollector } from '../support/otlp-collector.ts';
import { spawnPerch } from '../support/spawn-perch.ts';
import { syndicationPost } from '../support/x-payloads.ts';

/** Returns the lines of `otel.mjs` in docs/tracing.md. */
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

/** Writes a file that finds the packages of the tests, in a folder that is deleted at the end of the test. */
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
      ...(way === 'NODE_OPTIONS' ? { NODE_OPTIONS: `--import ${pathToFileURL(path)}` } : {}),
    },
    { nodeArgs: way === '--import' ? ['--import', path] : [] },
  );
  const [, url] = await perch.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
  const reply = await fetch(`${url}/api/v1/posts?handle=wren_test&id=20&replies=off`, {
    headers: context,
  });
  await reply.text();
  perch.kill('SIGTERM');
  const { code } = await perch.ended;

  expect([reply.status, code]).toEqual([200, 0]);
  expect([...collector.services]).toEqual(['perch']);
  const traced = collector.spans.filter((span) => span.traceId === traceId);
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
