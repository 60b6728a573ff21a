import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request, WebSocket } from 'undici';
import { startTarget } from './processes.ts';

const inspectorPort = 18_284;
const base = 'http://127.0.0.1:18283';
const post = `${base}/ada.example/status/1900000000000000001`;

/** Requests, each repeated: the count is that of a server that is warm. */
const cases = [
  { name: '`/health/live`', goal: 25, url: `${base}/health/live` },
  { name: 'a cached post', goal: 70, url: post },
  { name: 'a post that misses the cache', goal: 350, url: `${post}?nocache=true` },
] as const;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
}

type Range = Readonly<{ startOffset: number; count: number }>;

/** Connects to the inspector of the server (Chrome DevTools Protocol). */
async function connect() {
  const { body } = await request(`http://127.0.0.1:${inspectorPort}/json`);
  const [{ webSocketDebuggerUrl }] = (await body.json()) as [{ webSocketDebuggerUrl: string }];
  const socket = new WebSocket(webSocketDebuggerUrl);
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const send = async (method: string, params: object = {}): Promise<Coverage> => {
    const answer = new Promise<string>((resolve) => {
      socket.addEventListener('message', ({ data }) => resolve(String(data)), { once: true });
    });
    socket.send(JSON.stringify({ id: 1, method: `Profiler.${method}`, params })); // one at a time
    return JSON.parse(await answer).result;
  };
  return { send, close: () => socket.close() };
}

const bundles = new Map<string, { readonly starts: readonly number[]; readonly map: SourceMap }>();

/** Returns whether a function belongs to `src`, by the source map of the bundle. */
function isOwn(url: string, offset: number): boolean {
  if (!url.includes('/dist/')) return false;
  const file = fileURLToPath(url);
  const read = () => ({
    starts: [0, ...[...readFileSync(file, 'utf8').matchAll(/\n/g)].map(({ index }) => index + 1)],
    map: new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8'))),
  });
  const { starts, map } = bundles.get(url) ?? read();
  bundles.set(url, { starts, map });
  const line = starts.findLastIndex((start) => start <= offset);
  const entry = map.findEntry(line, offset - (starts[line] ?? 0));
  return 'originalSource' in entry && entry.originalSource.startsWith('../src/');
}

const main = join(import.meta.dirname, '../dist/main.js');
const args = [`--inspect=127.0.0.1:${inspectorPort}`, main, 'serve'];
const env = { PORT: new URL(base).port, PERCH_DATA_DIR: ':memory:' };
const target = await startTarget({ name: 'perch', args, env, url: cases[0].url, cores: 'any' });
const { send, close } = await connect();
await send('enable');
await send('startPreciseCoverage', { callCount: true, detailed: false });
console.log('| request | functions of `src` | of the process | goal |\n| --- | --- | --- | --- |');
for (const { name, goal, url } of cases) {
  const counts: (readonly [number, number])[] = [];
  for (let round = 0; round < 8; round += 1) {
    await send('takePreciseCoverage'); // resets the counts
    await (await request(url)).body.dump();
    const { result } = await send('takePreciseCoverage');
    const called = result.flatMap(({ url: script, functions }) =>
      functions.flatMap(({ ranges: [range] }) => (range?.count ? { script, ...range } : [])),
    );
    const own = called.filter(({ script, startOffset }) => isOwn(script, startOffset));
    counts.push([own.length, called.length]);
  }
  // The round with the fewest, because timers of the server add some.
  const least = ([0, 1] as const).map((at) => Math.min(...counts.map((row) => row[at])));
  console.log(`| ${name} | ${least.join(' | ')} | ${goal} |`);
}
close();
await target.stop();
