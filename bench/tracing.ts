import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { bundle } from '../scripts/bundle.ts';
import { median } from './interleave.ts';
import { measure } from './load.ts';
import { startTarget } from './processes.ts';

// Compares cached reads of two builds: with tracing off, and without the code of tracing and its package.
//
//   npx tsx bench/tracing.ts      about three minutes; the exit code is 1 if the goal is missed

const root = join(import.meta.dirname, '..');
const ports = [18_085, 18_086] as const;
const path = '/ada.example/status/1900000000000000001';
const runs = 10;
/** Number of times that each server is measured in a run. The servers take turns. */
const turns = 4;
const load = { seconds: 1, connections: 32 };
const goal = 1.03;

/** Source code that replaces modules in the build without tracing. The keys are the ends of the module paths. */
const replaced = {
  'lib/tracing/tracing.ts': `
    export const openTracing = () => null;
    export const endWith = (_span, work) => work;
    export const toLogFields = () => ({});
    export const withoutPropagation = (send) => send();
    export const startUpstreamSpan = () => undefined;
    export const recordStatus = () => {};`,
  'server/request-tracing.ts': 'export const setRequestTracing = () => {};',
} as const;

const withoutTracing: Plugin = {
  name: 'without-tracing',
  setup: ({ onLoad }) => {
    for (const [end, contents] of Object.entries(replaced)) {
      const filter = new RegExp(`/src/${end.replaceAll('.', String.raw`\.`)}$`);
      onLoad({ filter }, () => ({ contents, loader: 'js' }));
    }
  },
};

/**
 * Compares the CPU time per request of a build without tracing code and of the normal build.
 * Returns the lines of a Markdown section.
 */
export async function benchTracing(): Promise<string[]> {
  const { ratio, microseconds } = await compareBuilds();
  return [
    '## Tracing that is off',
    '',
    `CPU time of a cached read, compared with a build without tracing and its package: median of ${runs} runs, for`,
    `which both servers are started anew and take turns of ${load.seconds} s. Goal: at most ${goal}.`,
    '',
    '| build | CPU µs/request | ratio |',
    '| --- | --- | --- |',
    `| without tracing | ${microseconds[0].toFixed(1)} |  |`,
    `| tracing off | ${microseconds[1].toFixed(1)} | ${ratio.toFixed(3)} |`,
    '',
  ];
}

async function compareBuilds() {
  // The packages that are not bundled are found from a folder within the repository.
  const folder = mkdtempSync(join(root, 'node_modules/.perch-bench-tracing-'));
  try {
    await bundle(join(folder, 'without'), { plugins: [withoutTracing] });
    await bundle(join(folder, 'off'));
    const pairs: (readonly [number, number])[] = [];
    for (let run = 0; run < runs; run += 1) pairs.push(await measurePair(folder, run));
    return {
      ratio: median(pairs.map(([without, off]) => off / without)),
      microseconds: [
        median(pairs.map(([one]) => one)),
        median(pairs.map(([, one]) => one)),
      ] as const,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the CPU time of a request in microseconds for two builds: first the build without tracing
 * code, then the normal build with tracing switched off.
 */
async function measurePair(folder: string, run: number): Promise<readonly [number, number]> {
  const start = (build: string, port: number) =>
    startTarget({
      name: build,
      args: [join(folder, build, 'main.js'), 'serve'],
      url: `http://127.0.0.1:${port}${path}`,
      env: {
        PORT: String(port),
        PERCH_DATA_DIR: ':memory:',
        PERCH_SESSIONS: 'off',
        PERCH_CACHE_TTL_SECONDS: '360000', // all requests are cache hits
      },
    });
  const without = await start('without', ports[0]);
  const off = await start('off', ports[1]);
  const sums: [number, number] = [0, 0];
  try {
    for (const target of [without, off]) await measure(target, { ...load, seconds: 2 });
    for (let turn = 0; turn < turns; turn += 1) {
      const measureOff = async () => {
        sums[1] += (await measure(off, load)).cpuMicroseconds;
      };
      if ((run + turn) % 2 === 1) await measureOff();
      sums[0] += (await measure(without, load)).cpuMicroseconds;
      if ((run + turn) % 2 === 0) await measureOff();
    }
  } finally {
    await Promise.all([without.stop(), off.stop()]);
  }
  return [sums[0] / turns, sums[1] / turns];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lines = await benchTracing();
  console.log(lines.join('\n'));
  const ratio = Number(/\| ([\d.]+) \|$/.exec(lines.at(-2) ?? '')?.[1]);
  process.exitCode = ratio <= goal ? 0 : 1;
}
