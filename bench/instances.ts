import { benchSharedHits, benchSpends, type ComparedCalls } from './instances/calls.ts';
import { benchFaults } from './instances/faults.ts';
import { benchCpuTime, benchLocalHits } from './instances/load.ts';
import { benchLiveReaders } from './instances/readers.ts';
import { type Served, startEngine, startUpstream } from './instances/servers.ts';

const parts = {
  'local-hits': async (engine: Served) => benchLocalHits(engine),
  calls: benchCalls,
  cpu: benchCpuTime,
  readers: benchReaders,
  faults: benchFaults,
};

/**
 * Measures the effect of a shared Valkey or Redis server on Perch instances. Prints Markdown, each
 * part as soon as it is measured.
 *
 * @param names names of the parts to run; default: all
 */
async function benchInstances(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !(name in parts));
  if (unknown.length > 0) {
    throw new Error(
      `Unknown parts: ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}.`,
    );
  }
  console.log('## Several instances\n');
  const engine = await startEngine();
  const upstream = await startUpstream();
  try {
    for (const [name, bench] of Object.entries(parts)) {
      if (names.length === 0 || names.includes(name)) {
        console.log((await bench(engine, upstream)).join('\n'));
      }
    }
  } finally {
    upstream.stop();
    engine.stop();
  }
}

async function benchCalls(engine: Served, upstream: Served): Promise<string[]> {
  const toRow = (name: string, goal: string) => (one: ComparedCalls) => {
    const { width, ownUs, bareUs, ratio } = one;
    return `| ${name} | ${width} | ${ownUs.toFixed(0)} | ${bareUs.toFixed(0)} | ${ratio.toFixed(2)} | ${goal} |`;
  };
  return [
    '### Calls of the engine',
    '',
    'A read of a profile with twenty posts that only another instance has in its cache, compared with a bare `GET`',
    'of the same entry; and a spend of an allowance, compared with a bare script that counts and adds to a sorted',
    'set. The bare commands use the same client with its default settings. Microseconds for a call, with one call',
    'and with 32 calls at a time; medians over alternating rounds.',
    '',
    '| call | at a time | µs | bare µs | ratio | goal |',
    '| --- | --- | --- | --- | --- | --- |',
    ...(await benchSharedHits(engine, upstream)).map(toRow('hit in the shared cache', '3')),
    ...(await benchSpends(engine)).map(toRow('spend', '1.5')),
    '',
  ];
}

async function benchReaders(engine: Served): Promise<string[]> {
  const { medianMs, p99Ms, maxMs } = await benchLiveReaders(engine);
  return [
    '### Event streams at another instance',
    '',
    'Milliseconds from the start of a change at one instance until another one has read the event (goal: 100).',
    '',
    '| median | 99% | slowest |',
    '| --- | --- | --- |',
    `| ${medianMs.toFixed(1)} | ${p99Ms.toFixed(1)} | ${maxMs.toFixed(1)} |`,
    '',
  ];
}

await benchInstances(process.argv.slice(2));
