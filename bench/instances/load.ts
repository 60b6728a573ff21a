import { Pool } from 'undici';
import { comparePair, median } from '../interleave.ts';
import { measure } from '../load.ts';
import { cpuSeconds, type Target } from '../processes.ts';
import { type Served, startPerch } from './servers.ts';

/** Path of a typical request: a profile with twenty posts as Markdown. */
const sample = '/api/v1/profiles/ada.example';
const twoPorts = [0, 1] as const;

/**
 * Measures the request rate and CPU time for cached profiles with two Perch servers. One server uses the shared
 * Valkey or Redis server at `url`, the other does not. Returns the comparison as lines of Markdown.
 */
export async function benchLocalHits({ url }: Served): Promise<string[]> {
  const [embedded, shared] = twoPorts.map(
    (index) => () =>
      startPerch({ index, path: sample, env: index === 0 ? {} : { PERCH_REDIS_URL: url } }),
  ) as [() => Promise<Target>, () => Promise<Target>]; // as many as ports
  const { measured, ratio } = await comparePair([embedded, shared]);
  const [one, other] = measured.map(({ requestsPerSecond, cpuMicroseconds }) => ({
    rate: Math.round(requestsPerSecond).toLocaleString('en-US'),
    cpu: cpuMicroseconds.toFixed(1),
  }));
  return [
    '### Hits in the cache of an instance',
    '',
    'A cached profile without a key, from a server with a shared engine, compared with a server without it. The',
    'servers take turns of one second, and the ratio is the median over the turns.',
    '',
    '| requests/s, embedded | requests/s, shared | ratio | goal | CPU µs/request, embedded | shared |',
    '| --- | --- | --- | --- | --- | --- |',
    `| ${one?.rate} | ${other?.rate} | ${ratio.toFixed(2)} | 0.95 | ${one?.cpu} | ${other?.cpu} |`,
    '',
  ];
}

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
/** Number of unmeasured rounds at the start, during which Node.js optimizes the code of the servers. */
const warmRounds = 4;
const turnSeconds = 1;
const connections = 32;

/** Function that sends requests to a server for some seconds, and returns their number. */
type Load = (target: Target, seconds: number) => Promise<number>;

const loads: Readonly<Record<string, Load>> = { hits: sendHits, misses: sendMisses };

/**
 * Compares the CPU time per request of servers with and without a shared Valkey or Redis server.
 * Returns Markdown lines.
 */
export async function benchCpuTime({ url }: Served, upstream: Served): Promise<string[]> {
  const env = { PERCH_PROVIDERS: 'archive,fxtwitter', PERCH_FXTWITTER_URL: upstream.url };
  const start = (index: number, more = {}) =>
    startPerch({ index, path: sample, env: { ...env, ...more } });
  const shared = { PERCH_REDIS_URL: url };
  const groups = [
    [await start(0)],
    [await start(1, { ...shared, PERCH_REDIS_PREFIX: 'one:' })],
    [await start(2, shared), await start(3, shared)],
  ];
  const rows: string[] = [];
  for (const [name, load] of Object.entries(loads)) rows.push(await compareCpu(name, load, groups));
  await Promise.all(groups.flat().map((target) => target.stop()));
  return [
    '### CPU time of two instances',
    '',
    'CPU time for a request in microseconds: of one server without an engine, of one with an engine, and of two',
    'servers with an engine. A miss is a profile that an upstream on loopback answers at once. The four servers take',
    `turns of ${turnSeconds} s, as if each had its own machine; the CPU time of the idle one of the two counts too. The`,
    'ratios are medians over the rounds.',
    '',
    '| load | embedded | one with an engine | two with an engine | one / embedded | two / embedded | goal |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

async function compareCpu(
  name: string,
  load: Load,
  groups: readonly (readonly Target[])[],
): Promise<string> {
  const used = groups.map((): number[] => []);
  for (let round = -warmRounds; round < rounds; round += 1) {
    for (const [at, group] of groups.entries()) {
      const readCpu = () => group.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
      const before = readCpu();
      let requests = 0;
      for (const target of group) requests += await load(target, turnSeconds);
      if (round >= 0) used[at]?.push(((readCpu() - before) * 1e6) / requests);
    }
  }
  const [embedded = [], ...shared] = used;
  const medians = used.map((us) => median(us).toFixed(1));
  const ratios = shared.map((us) => median(us.map((one, round) => one / (embedded[round] ?? 0))));
  return `| ${name} | ${medians.join(' | ')} | ${ratios.map((one) => one.toFixed(2)).join(' | ')} | 1.15 |`;
}

/** Requests a cached profile as fast as the server responds, for the given time. Returns the number of requests. */
async function sendHits(target: Target, seconds: number): Promise<number> {
  const { requestsPerSecond } = await measure(target, { seconds, connections });
  return requestsPerSecond * seconds;
}

/** Number of the last requested account. Each request is for a new account, which no cache contains. */
let nextMiss = 0;

/** Requests accounts that no cache contains, for the given time. Returns the number of requests. */
async function sendMisses({ url }: Target, seconds: number): Promise<number> {
  const pool = new Pool(new URL(url).origin, { connections });
  const end = performance.now() + seconds * 1000;
  let requests = 0;
  const ask = async () => {
    while (performance.now() < end) {
      nextMiss += 1;
      const path = `/api/v1/profiles/m${nextMiss}`;
      const reply = await pool.request({ method: 'GET', path });
      await reply.body.dump();
      if (reply.statusCode !== 200) throw new Error(`${path}: ${reply.statusCode}`);
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, ask));
  await pool.close();
  return requests;
}
