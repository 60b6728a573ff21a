import { corpusCases } from './linear/corpus-cases.ts';
import { exportCases } from './linear/export-cases.ts';
import { fediverseCases } from './linear/fediverse-cases.ts';
import type { Case } from './linear/upstreams.ts';
import { xCases } from './linear/x-cases.ts';

/**
 * Maximum factor of the CPU time when an input doubles. Linear work has the factor 2, quadratic work the factor 4.
 *
 * It is the mean factor of three doublings. One doubling alone can multiply the CPU time of linear work by 4: the one
 * whose larger input makes the garbage collector move objects, or no longer fits into the caches of the CPU.
 */
const maxRatio = 2.5;

/** CPU time in milliseconds below which a run is too short to judge. */
const floorMs = 100;

/** CPU time in milliseconds. If an input takes longer, no larger inputs are tested. */
const enoughMs = 1000;

/** Number of times that an input and an eighth of it are each measured. The shortest CPU times are compared. */
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

interface Growth {
  readonly bytes: number;
  readonly ms: number;
  readonly ratio: number;
}

console.log(
  `CPU time of reads of random responses and of files, seed ${seed}: for twice the input, at most ${maxRatio} times.`,
);
const failed: string[] = [];
for (const one of [...xCases, ...fediverseCases, ...exportCases, ...corpusCases]) {
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
 * Returns the input whose CPU time grew by the largest factor.
 */
async function findWorst(one: Case): Promise<Growth> {
  let worst: Growth = { bytes: 0, ms: 0, ratio: 0 };
  const times: number[] = [];
  await warmUp(one);
  for (const part of parts) {
    const bytes = one.maxBytes / part;
    const ms = await measure(one.prepare(seed, bytes));
    const eighth = times.at(-3);
    const isShort = eighth === undefined || ms < floorMs;
    const ratio = isShort ? 0 : await confirm(one, bytes, perDoubling(ms, eighth));
    if (ratio > worst.ratio) worst = { bytes, ms, ratio };
    if (ms > enoughMs && eighth !== undefined) break;
    times.push(ms);
  }
  return worst;
}

function perDoubling(whole: number, eighth: number): number {
  return Math.cbrt(whole / eighth);
}

/** Runs a case with its smallest input until the code is compiled, so that compilation does not affect measurements. */
async function warmUp(one: Case): Promise<void> {
  const run = one.prepare(seed, one.maxBytes / parts[0]);
  for (let at = 0; at < repeats; at += 1) await run();
}

/**
 * Returns `ratio` if it is `maxRatio` or less. Otherwise measures the input and an eighth of it again, up to `rounds`
 * times, and returns the lowest ratio.
 */
async function confirm(one: Case, bytes: number, ratio: number): Promise<number> {
  let least = ratio;
  for (let round = 0; round < rounds && least > maxRatio; round += 1) {
    least = Math.min(least, await measureAgain(one, bytes, `${seed}-${round}`));
  }
  return least;
}

/** Measures an input and an eighth of it alternately, and compares their shortest CPU times. */
async function measureAgain(one: Case, bytes: number, roundSeed: string): Promise<number> {
  const [eighth, whole] = [one.prepare(roundSeed, bytes / 8), one.prepare(roundSeed, bytes)];
  const times: { readonly eighth: number; readonly whole: number }[] = [];
  for (let run = 0; run < repeats; run += 1) {
    times.push({ eighth: await measure(eighth), whole: await measure(whole) });
  }
  const shortest = (size: 'eighth' | 'whole') => Math.min(...times.map((time) => time[size]));
  return perDoubling(shortest('whole'), shortest('eighth'));
}

/** Returns the CPU time of a run in milliseconds. Collects garbage before the run. */
async function measure(run: () => Promise<void>): Promise<number> {
  gc?.();
  const start = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
