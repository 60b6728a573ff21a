import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type AllowanceWindow, createAllowanceWindow } from '../src/access/allowance-window.ts';
import { systemClock } from '../src/core/clock.ts';
import { systemRandom } from '../src/core/random.ts';

const floodSize = 1_000_000;
const windowMs = 60_000;
const goalMiB = 64;
const rounds = Number(process.env.BENCH_ALLOWANCES_ROUNDS ?? 30);
const callsInRound = 20_000;
const callers = Array.from({ length: 10_000 }, (_, index) => addressAt(index * 97));

/** What is measured: one call, asked of many accounts in turn. */
interface Case {
  readonly name: string;
  call(account: string): unknown;
}

/**
 * Measures the memory of a flood of addresses, and what calls cost beside a look into a `Map`.
 *
 * @returns The lines of a Markdown section.
 */
export async function benchAllowances(): Promise<string[]> {
  return [
    '## Allowances',
    '',
    `${floodSize.toLocaleString('en')} addresses read once each. Goal: less than ${goalMiB} MiB.`,
    '',
    ...(await benchFlood()),
    '',
    `Medians of ${rounds} rounds of ${callsInRound.toLocaleString('en')} calls in turn, with`,
    `${callers.length.toLocaleString('en')} addresses; the ratio is to \`Map.get\`.`,
    '',
    '| call | time | ratio |',
    '| --- | --- | --- |',
    ...(await benchCalls()),
    '',
  ];
}

async function benchFlood(): Promise<string[]> {
  const before = memory();
  const store = createAllowanceWindow({ windowMs, clock: systemClock, random: systemRandom });
  const begun = performance.now();
  const peak = await flood(store);
  const seconds = (performance.now() - begun) / 1000;
  const now = process.memoryUsage();
  const after = memory();
  const held = store.bytes / 2 ** 20;
  const row = (name: string, [from, at, to]: readonly [number, number, number]) =>
    `| ${name} | ${[from, at, to].map((value) => value.toFixed(1)).join(' | ')} |`;
  return [
    `- ${store.units.toLocaleString('en')} units held in ${held.toFixed(1)} MiB${held < goalMiB ? '' : ' (missed)'}`,
    `- ${seconds.toFixed(1)} s, ${((seconds / floodSize) * 1e9).toFixed(0)} ns for each`,
    '',
    '| memory of the process, MiB | before | at the end | after a collection |',
    '| --- | --- | --- | --- |',
    row('arrays', [before.arrays, toMiB(now.arrayBuffers), after.arrays]),
    row('arrays, at most', [before.arrays, peak, after.arrays]),
    row('heap', [before.heap, toMiB(now.heapUsed), after.heap]),
    row('resident', [before.resident, toMiB(now.rss), after.resident]),
  ];
}

/** Gives the most that arrays took, in MiB. */
async function flood(store: AllowanceWindow): Promise<number> {
  let peak = 0;
  for (let index = 0; index < floodSize; index++) {
    const spent = await store.spend([{ account: addressAt(index), limit: 1 }]);
    if (!spent.ok) throw new Error(`${spent.account} was refused.`);
    if (index % 1000 === 0) peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  }
  return toMiB(peak);
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
  const options = { windowMs, clock: systemClock, random: systemRandom };
  const [known, unknown, spending, exhausted] = [
    createAllowanceWindow(options),
    createAllowanceWindow(options),
    createAllowanceWindow({ ...options, windowMs: 50 }),
    createAllowanceWindow(options),
  ] as const;
  const plain = new Map(callers.map((account) => [account, { spent: 1 }]));
  for (const account of callers) {
    void known.spend([{ account, limit: 1 }]);
    void exhausted.spend([{ account, limit: 1 }]);
  }
  return [
    { name: '`Map.get`', call: (account) => plain.get(account) },
    { name: '`Date.now`', call: () => systemClock.now() },
    { name: '`stateOf`, nothing spent', call: (account) => unknown.stateOf(account) },
    { name: '`stateOf`, a unit spent', call: (account) => known.stateOf(account) },
    { name: '`spend`', call: (account) => spending.spend([{ account, limit: 1_000_000 }]) },
    { name: '`spend`, refused', call: (account) => exhausted.spend([{ account, limit: 1 }]) },
    { name: '`spend` of three', call: (account) => spending.spend(chargesOf(account)) },
  ];
}

function chargesOf(account: string) {
  return [account, 'pool', 'pool anonymous'].map((name) => ({ account: name, limit: 1_000_000 }));
}

/** Gives nanoseconds for each call. Results are awaited all at once: what a call itself costs is what counts. */
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

/** Gives what the process has after garbage is collected, in MiB. */
function memory() {
  collect();
  const { arrayBuffers, heapUsed, rss } = process.memoryUsage();
  return { arrays: toMiB(arrayBuffers), heap: toMiB(heapUsed), resident: toMiB(rss) };
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  gc();
  gc();
}

function toMiB(bytes: number): number {
  return bytes / 2 ** 20;
}

/** Gives as many addresses as are asked for, of both kinds. */
function addressAt(index: number): string {
  return index % 2 === 0
    ? `public 10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}`
    : `public 2001:db8:${(index >>> 8).toString(16)}:${(index & 255).toString(16)}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log((await benchAllowances()).join('\n'));
}
