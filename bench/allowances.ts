import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRateLimiter } from '../src/access/rate-limits.ts';
import { systemClock } from '../src/lib/clock.ts';

const floodSize = 100_000;
/** Number of rate-limited requests from each simulated address: 1 in the first simulation, 60 in the second. */
const floods = [1, 60];
const windowMs = 60_000;
/**
 * Length of the rate-limit window in milliseconds. The simulation is shorter, so the rate limiter
 * forgets no request during the simulation.
 */
const floodWindowMs = 3_600_000;
const goalMiB = 64;
const rounds = Number(process.env.BENCH_ALLOWANCES_ROUNDS ?? 30);
const callsInRound = 20_000;
const callers = Array.from({ length: 10_000 }, (_, index) => addressAt(index * 97));

/**
 * Operation to measure. `call` runs it for one client. `account` is the name of the client in the rate limiter, such
 * as `public 10.0.0.1`.
 */
interface Case {
  readonly name: string;
  call(account: string): unknown;
}

/**
 * Measures the memory that the rate limits of 100,000 client addresses use, and the time of
 * rate-limit operations relative to a `Map` lookup. @returns The lines of a Markdown section.
 */
export async function benchAllowances(): Promise<string[]> {
  const rows: string[] = [];
  for (const units of floods) rows.push(await benchFlood(units));
  return [
    '## Allowances',
    '',
    `${floodSize.toLocaleString('en')} addresses spend units. Goal: the heap grows by less than ${goalMiB} MiB.`,
    '',
    '| units per address | heap growth, MiB | addresses stored | time per unit |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    `Medians of ${rounds} rounds of ${callsInRound.toLocaleString('en')} calls in turn, with`,
    `${callers.length.toLocaleString('en')} addresses. Ratios are relative to \`Map.get\`.`,
    '',
    '| call | time | ratio |',
    '| --- | --- | --- |',
    ...(await benchCalls()),
    '',
  ];
}

/**
 * Simulates `units` rate-limited requests from each of 100,000 client addresses. Returns a table
 * row with the growth of the heap and the time of a request.
 */
async function benchFlood(units: number): Promise<string> {
  const before = heapMiB();
  const limiter = createRateLimiter({ clock: systemClock });
  const toCharge = (index: number) => ({
    account: addressAt(index),
    limit: units,
    windowMs: floodWindowMs,
  });
  const begun = performance.now();
  for (let unit = 0; unit < floodSize * units; unit++) {
    await limiter.spend([toCharge(Math.floor(unit / units))]);
  }
  const ns = ((performance.now() - begun) / (floodSize * units)) * 1e6;
  const growth = heapMiB() - before;
  let known = 0;
  for (let index = 0; index < floodSize; index++) known += limiter.stateOf(toCharge(index)).spent;
  const cells = [
    `${units}`,
    `${growth.toFixed(1)}${growth < goalMiB ? '' : ' (missed)'}`,
    (known / units).toLocaleString('en'),
    `${ns.toFixed(0)} ns`,
  ];
  return `| ${cells.join(' | ')} |`;
}

async function benchCalls(): Promise<string[]> {
  const cases = createCases();
  const times = cases.map((each) => ({ each, ns: [] as number[] }));
  for (let round = -3; round < rounds; round++) {
    for (const { each, ns } of times) {
      const taken = await timeRound(each);
      if (round >= 0) ns.push(taken);
    }
  }
  const medians = times.map(({ each, ns }) => ({ name: each.name, ns: median(ns) }));
  const base = medians[0]?.ns ?? 1;
  return medians.map(
    ({ name, ns }) => `| ${name} | ${ns.toFixed(0)} ns | ${(ns / base).toFixed(1)} |`,
  );
}

function createCases(): readonly Case[] {
  const open = () => createRateLimiter({ clock: systemClock });
  const [known, unknown, spending, exhausted] = [open(), open(), open(), open()] as const;
  const one = (account: string) => ({ account, limit: 1, windowMs });
  const many = (account: string) => ({ account, limit: 1_000_000, windowMs: 50 });
  const plain = new Map(callers.map((account) => [account, { spent: 1 }]));
  for (const account of callers) {
    void known.spend([one(account)]);
    void exhausted.spend([one(account)]);
  }
  return [
    { name: '`Map.get`', call: (account) => plain.get(account) },
    { name: '`Date.now`', call: () => systemClock.now() },
    { name: '`stateOf`, nothing spent', call: (account) => unknown.stateOf(one(account)) },
    { name: '`stateOf`, a unit spent', call: (account) => known.stateOf(one(account)) },
    { name: '`spend`', call: (account) => spending.spend([many(account)]) },
    { name: '`spend`, refused', call: (account) => exhausted.spend([one(account)]) },
    {
      name: '`spend` of three',
      call: (account) => spending.spend([account, 'pool', 'pool anonymous'].map(many)),
    },
  ];
}

/** Returns the mean time of a call in nanoseconds, without the time until returned promises resolve. */
async function timeRound({ call }: Case): Promise<number> {
  let last: unknown;
  const begun = process.hrtime.bigint();
  for (let index = 0; index < callsInRound; index++) {
    last = call(callers[(index * 7919) % callers.length] ?? '');
  }
  const taken = Number(process.hrtime.bigint() - begun) / callsInRound;
  await last;
  return taken;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function heapMiB(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  gc();
  gc();
}

/** Returns the name that the rate limiter uses for simulated address `index`: IPv4 if `index` is even, else IPv6. */
function addressAt(index: number): string {
  return index % 2 === 0
    ? `public 10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}`
    : `public 2001:db8:${(index >>> 8).toString(16)}:${(index & 255).toString(16)}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log((await benchAllowances()).join('\n'));
}
