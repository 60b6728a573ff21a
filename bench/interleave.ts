import { type Measured, measure } from './load.ts';
import type { Target } from './processes.ts';

/** Rounds of an interleaved run; each asks every server once, in turn. */
export const rounds = Number(process.env.BENCH_ROUNDS ?? 5);

/** What each server is asked in a round. */
export const load = { seconds: Number(process.env.BENCH_SECONDS ?? 3), connections: 32 };

/** Loads servers in turn, so that what changes on the machine meets them alike; gives the medians. */
export async function interleave(targets: readonly Target[]): Promise<Measured[]> {
  for (const target of targets) await measure(target, { ...load, seconds: 1 });
  const all: Measured[][] = targets.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, target] of targets.entries()) all[index]?.push(await measure(target, load));
  }
  return all.map(toMedians);
}

/** The same with a fresh start of each server in every round, where processes differ by themselves. */
export async function measureStarts<Case>(
  cases: readonly Case[],
  start: (of: Case) => Promise<Target>,
): Promise<Measured[]> {
  const all: Measured[][] = cases.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, of] of cases.entries()) {
      const target = await start(of);
      await measure(target, { ...load, seconds: 1 });
      all[index]?.push(await measure(target, load));
      await target.stop();
    }
  }
  return all.map(toMedians);
}

function toMedians(of: readonly Measured[]): Measured {
  return {
    requestsPerSecond: median(of.map((one) => one.requestsPerSecond)),
    cpuMicroseconds: median(of.map((one) => one.cpuMicroseconds)),
  };
}

/** Gives the middle one of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
