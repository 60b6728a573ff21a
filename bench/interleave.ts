import { type Measured, measure } from './load.ts';
import type { Target } from './processes.ts';

/** Number of rounds of `interleave`. In each round, every server is measured once. */
export const rounds = Number(process.env.BENCH_ROUNDS ?? 15);

/** Load on each server in a round. Rounds are short, because the speed of a shared machine changes within seconds. */
export const load = { seconds: Number(process.env.BENCH_SECONDS ?? 1), connections: 32 };

/** Medians of a server's measurements. */
export interface Interleaved extends Measured {
  /**
   * Measurements of the first compared server, divided by the measurements of this server in the same round. Each
   * value is the median of the ratios of all rounds.
   */
  readonly ratios: Measured;
}

/**
 * Measures servers under load in turn, so that changes of the machine's speed affect all servers
 * equally. Returns the medians of each server.
 */
export async function interleave(targets: readonly Target[]): Promise<Interleaved[]> {
  for (const target of targets) await measure(target, { ...load, seconds: 3 });
  const all: Measured[][] = targets.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, target] of targets.entries()) all[index]?.push(await measure(target, load));
  }
  return all.map((own) => ({ ...toMedians(own), ratios: toMedians(divide(all[0] ?? [], own)) }));
}

function divide(first: readonly Measured[], second: readonly Measured[]): Measured[] {
  return first.map((of, round) => ({
    requestsPerSecond: of.requestsPerSecond / (second[round]?.requestsPerSecond ?? 0),
    cpuMicroseconds: of.cpuMicroseconds / (second[round]?.cpuMicroseconds ?? 0),
  }));
}

/** Median measurements of two servers. `ratio` is the second server's request rate divided by the first server's. */
export interface Compared {
  readonly measured: readonly Measured[];
  readonly ratio: number;
}

/** Default number of rounds of `comparePair`. Both servers are started anew for each round. */
const restarts = 5;

/** Number of times that `comparePair` measures each server in a round. */
const turns = 6;

/**
 * Compares two servers by measuring them alternately for one second each. Restarts both servers for each round, because
 * two processes of the same server can differ by 10% in speed, and the machine can be slow for some seconds.
 */
export async function comparePair(
  start: readonly [() => Promise<Target>, () => Promise<Target>],
  { rounds: starts }: { readonly rounds: number } = { rounds: restarts },
): Promise<Compared> {
  const pairs: (readonly [Measured, Measured])[] = [];
  for (let round = 0; round < starts; round += 1) {
    const first = await start[0]();
    const second = await start[1]();
    for (const target of [first, second]) await measure(target, turn);
    for (let taken = 0; taken < turns; taken += 1) {
      pairs.push([await measure(first, turn), await measure(second, turn)]);
    }
    await first.stop();
    await second.stop();
  }
  const ratios = pairs.map(([a, b]) => b.requestsPerSecond / a.requestsPerSecond);
  const measured = [pairs.map(([a]) => a), pairs.map(([, b]) => b)].map(toMedians);
  return { measured, ratio: median(ratios) };
}

const turn = { ...load, seconds: 1 };

function toMedians(of: readonly Measured[]): Measured {
  return {
    requestsPerSecond: median(of.map((one) => one.requestsPerSecond)),
    cpuMicroseconds: median(of.map((one) => one.cpuMicroseconds)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
