import { setImmediate } from 'node:timers/promises';
import { fediverseCases } from './linear/fediverse-cases.ts';
import type { Case } from './linear/upstreams.ts';
import { xCases } from './linear/x-cases.ts';

/** Maximum time in milliseconds for which parsing and rendering a response may block the event loop. */
const maxMs = 50;

/** Number of runs for each input size. The result is the median of the longest blocking times of the runs. */
const runs = 5;

/** Divisors of the maximum body size. The quotients are the tested body sizes. */
const parts = [64, 8, 1] as const;

const seed = process.env.BENCH_SEED ?? 'heron';
const [only = ''] = process.argv.slice(2);

console.log(
  `Longest event-loop block while random responses are read, seed ${seed}; maximum ${maxMs} ms.`,
);
const failed: string[] = [];
for (const one of [...xCases, ...fediverseCases]) {
  if (!one.name.includes(only)) continue;
  const lengths: number[] = [];
  await measureCase(one, one.maxBytes / parts[0]); // compiles the code
  for (const part of parts) lengths.push(await measureCase(one, one.maxBytes / part));
  const isLong = Math.max(...lengths) > maxMs;
  if (isLong) failed.push(one.name);
  const shown = lengths.map((ms) => `${ms.toFixed(1)} ms`.padStart(10)).join('');
  console.log(`${one.name.padEnd(56)}${shown}${isLong ? ' LONG' : ''}`);
}
for (const name of failed)
  console.log(`FAILED: ${name} blocks the event loop for more than ${maxMs} ms.`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function measureCase(one: Case, bytes: number): Promise<number> {
  const run = one.prepare(seed, bytes);
  const lengths: number[] = [];
  for (let at = 0; at < runs; at += 1) lengths.push(await longestBlock(run));
  return median(lengths);
}

/** Returns the longest time in milliseconds for which `run` blocks the event loop. */
async function longestBlock(run: () => Promise<void>): Promise<number> {
  gc?.();
  let isRunning = true;
  let longest = 0;
  const watch = async () => {
    while (isRunning) {
      const start = performance.now();
      await setImmediate();
      longest = Math.max(longest, performance.now() - start);
    }
  };
  const watching = watch();
  await run();
  isRunning = false;
  await watching;
  return longest;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
