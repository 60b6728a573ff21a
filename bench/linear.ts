import { exportCases } from './linear/export-cases.ts';
import { fediverseCases } from './linear/fediverse-cases.ts';
import type { Case } from './linear/upstreams.ts';
import { xCases } from './linear/x-cases.ts';

/**
 * Maximum ratio of the CPU time for an input to the CPU time for half of the input. Quadratic work has the ratio 4.
 * Linear work can exceed 2 by much if the larger input no longer fits into the caches of the CPU: up to 3.0 was measured
 * on a machine with slow memory.
 */
const maxRatio = 3.3;

/** CPU time in milliseconds below which a run is too short to judge. */
const floorMs = 100;

/** CPU time in milliseconds. If an input takes longer, no larger inputs are tested. */
const enoughMs = 1000;

/** Number of times that an input and half the input are each measured. The shortest CPU times are compared. */
const repeats = 7;

/**
 * Maximum number of repetitions of a measurement whose ratio of CPU times is above `maxRatio`. Each repetition uses
 * different random data. A case fails only if the first measurement and all repetitions are above `maxRatio`.
 */
const rounds = 3;

/** Divisors of the maximum body size. The quotients are the tested input sizes, from small to large. */
const parts = [512, 256, 128, 64, 32, 16, 8, 4, 2, 1] as const;

const seed = process.env.BENCH_SEED ?? 'heron';
const [only = ''] = process.argv.slice(2);

interface Doubling {
  readonly bytes: number;
  readonly ms: number;
  readonly ratio: number;
}

console.log(
  `CPU time of reads of random responses and of files, seed ${seed}: for twice the input, at most ${maxRatio} times.`,
);
const failed: string[] = [];
for (const one of [...xCases, ...fediverseCases, ...exportCases]) {
  if (!one.name.includes(only)) continue;
  const worst = await findWorst(one);
  const isSlow = worst.ratio > maxRatio;
  if (isSlow) failed.push(one.name);
  const size = `${Math.round(worst.bytes / 1024)} KiB`.padStart(9);
  const time = `${Math.round(worst.ms)} ms`.padStart(8);
  console.log(
    `${one.name.padEnd(56)}${size}${time}${worst.ratio.toFixed(2).padStart(6)}${isSlow ? ' SLOW' : ''}`,
  );
}
for (const name of failed) console.log(`FAILED: ${name} takes more than linear time.`);
process.exitCode = failed.length === 0 ? 0 : 1;

/**
 * Measures inputs that double in size up to `maxBytes`. Stops early if an input takes longer than `enoughMs`.
 * Returns the doubling of the input that increased the CPU time by the largest factor.
 */
async function findWorst(one: Case): Promise<Doubling> {
  let worst: Doubling = { bytes: 0, ms: 0, ratio: 0 };
  let before = Number.POSITIVE_INFINITY;
  await warmUp(one);
  for (const part of parts) {
    const bytes = one.maxBytes / part;
    const ms = await measure(one.prepare(seed, bytes));
    const ratio = ms >= floorMs ? await confirm(one, bytes, ms / before) : 0;
    if (ratio > worst.ratio) worst = { bytes, ms, ratio };
    if (ms > enoughMs) break;
    before = ms;
  }
  return worst;
}

/** Runs a case with its smallest input until the code is compiled, so that compilation does not affect measurements. */
async function warmUp(one: Case): Promise<void> {
  const run = one.prepare(seed, one.maxBytes / parts[0]);
  for (let at = 0; at < repeats; at += 1) await run();
}

/**
 * Returns `ratio`, the CPU time for an input divided by the CPU time for half the input, if it is `maxRatio` or
 * less. Otherwise measures both inputs again, up to `rounds` times, and returns the lowest ratio.
 */
async function confirm(one: Case, bytes: number, ratio: number): Promise<number> {
  let least = ratio;
  for (let round = 0; round < rounds && least > maxRatio; round += 1) {
    least = Math.min(least, await measureAgain(one, bytes, `${seed}-${round}`));
  }
  return least;
}

/**
 * Measures an input and half the input alternately. Returns the shortest CPU time of the input
 * divided by the shortest CPU time of half the input.
 */
async function measureAgain(one: Case, bytes: number, roundSeed: string): Promise<number> {
  const [half, whole] = [one.prepare(roundSeed, bytes / 2), one.prepare(roundSeed, bytes)];
  const times: { readonly half: number; readonly whole: number }[] = [];
  for (let run = 0; run < repeats; run += 1) {
    times.push({ half: await measure(half), whole: await measure(whole) });
  }
  return Math.min(...times.map((time) => time.whole)) / Math.min(...times.map((time) => time.half));
}

/** Returns the CPU time of a run in milliseconds. Collects garbage before the run. */
async function measure(run: () => Promise<void>): Promise<number> {
  gc?.();
  const start = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
