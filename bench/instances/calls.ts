import { createClient } from '@redis/client';
import { pino } from 'pino';
import { createSharedRateLimiter } from '../../src/access/shared-rate-limits.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { defineScript, type Engine, openEngine } from '../../src/lib/redis/engine.ts';
import { parseEngineUrl } from '../../src/lib/redis/engine-url.ts';
import { createHeavyTurns, createServerLoop } from '../../src/lib/scheduling/fair-queue.ts';
import { allReads } from '../../src/reads/index.ts';
import type { ParsedRead } from '../../src/reads/read.ts';
import { openFetching } from '../../src/server/wiring/fetching.ts';
import { openQuotas } from '../../test/support/quotas.ts';
import { median } from '../interleave.ts';
import { type Served, unlimited } from './servers.ts';

const prefix = 'bench:';
const rounds = 30;
const callsInRound = 300;
/** Numbers of calls in progress at the same time. Every comparison is made once for each of these numbers. */
const widths = [1, 32] as const;

/** Function whose duration is measured. `index` is the number of the call within its round. */
type Call = (index: number) => Promise<unknown>;

/**
 * Comparison of an operation of Perch with a plain Redis command. `ownUs`: median duration of the
 * operation in microseconds. `bareUs`: median duration of the command in microseconds.
 */
export interface ComparedCalls {
  readonly width: (typeof widths)[number];
  readonly ownUs: number;
  readonly bareUs: number;
  /** Duration of Perch's operation divided by the duration of the Redis command; median over all rounds. */
  readonly ratio: number;
}

/**
 * Compares the durations of two functions, `own` and `bare`, in alternating rounds: first with one
 * call at a time, then with several concurrent calls.
 */
async function compare(own: Call, bare: Call): Promise<readonly ComparedCalls[]> {
  const compared: ComparedCalls[] = [];
  for (const width of widths) {
    const pairs: (readonly [number, number])[] = [];
    for (let round = -3; round < rounds; round += 1) {
      const pair = [await time(own, width), await time(bare, width)] as const;
      if (round >= 0) pairs.push(pair);
    }
    compared.push({
      width,
      ownUs: median(pairs.map(([a]) => a)),
      bareUs: median(pairs.map(([, b]) => b)),
      ratio: median(pairs.map(([a, b]) => a / b)),
    });
  }
  return compared;
}

/** Returns the microseconds per call, averaged over a round with `width` calls at a time. */
async function time(call: Call, width: number): Promise<number> {
  let next = 0;
  const begun = performance.now();
  const run = async () => {
    while (next < callsInRound) {
      const index = next;
      next += 1;
      await call(index);
    }
  };
  await Promise.all(Array.from({ length: width }, run));
  return ((performance.now() - begun) * 1000) / callsInRound;
}

async function openBenchEngine(url: string): Promise<Engine> {
  const address = parseEngineUrl(url);
  if (address === null) throw new Error(`${url} is no URL of an engine.`);
  const engine = await openEngine({
    address,
    prefix,
    instance: systemRandom.bytes(9).toString('base64url'),
    timeoutMs: 10_000,
    clock: systemClock,
    onChange: () => {},
  });
  await engine.waitUntilUp(10_000);
  return engine;
}

async function openBare(url: string) {
  const client = createClient({ url });
  await client.connect();
  return client;
}

/**
 * Compares the durations of two operations: a read of a post list that is only in the shared cache, and a plain
 * Redis `GET` command for the same cache entry.
 */
export async function benchSharedHits(
  { url }: Served,
  upstream: Served,
): Promise<readonly ComparedCalls[]> {
  const engine = await openBenchEngine(url);
  const bare = await openBare(url);
  const [writer, reader] = [await openReader(engine, upstream), await openReader(engine, upstream)];
  const entries: { parsed: ParsedRead; name: string }[] = [];
  for (let index = 0; index < callsInRound; index += 1) {
    const parsed = reader.parse(`u${index}`);
    await writer.fetch(parsed);
    const before = reader.asked.length;
    await reader.fetch(parsed);
    entries.push({ parsed, name: `${prefix}${reader.asked[before]}` });
  }
  const [first] = entries;
  if (first === undefined) throw new Error('There are no entries.');
  const compared = await compare(
    async (index) => {
      const { answer } = await reader.fetch((entries[index] ?? first).parsed);
      if (answer.cache !== 'hit') throw new Error('The read is not in the shared cache.');
    },
    async (index) => {
      const text = await bare.get((entries[index] ?? first).name);
      if (text === null) throw new Error('The entry is missing.');
    },
  );
  await Promise.all([writer.close(), reader.close(), bare.close()]);
  engine.close();
  return compared;
}

/**
 * Opens a reader of profiles that uses a local cache of one entry and the shared Valkey or Redis server. Its member
 * `asked` lists the first keys that it requested from the shared server, up to 2 * `callsInRound` keys.
 */
async function openReader(engine: Engine, upstream: Served) {
  const asked: string[] = [];
  const redis: Engine = {
    ...engine,
    get state() {
      return engine.state;
    },
    run: (send, deadlineMs) =>
      engine.run((client) => {
        const get = (key: string) => {
          if (asked.length < 2 * callsInRound) asked.push(key);
          return client.get(key);
        };
        return send(Object.assign(Object.create(client), { get }));
      }, deadlineMs),
  };
  const loaded = loadConfig({
    ...unlimited,
    PERCH_PROVIDERS: 'fxtwitter',
    PERCH_FXTWITTER_URL: upstream.url,
    PERCH_CACHE_ENTRIES: '1',
  });
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  const fetching = await openFetching({
    config: loaded.config,
    clock: systemClock,
    random: systemRandom,
    logger: pino({ level: 'silent' }),
    quotas: openQuotas(),
    heavyTurns: createHeavyTurns(createServerLoop()),
    redis,
    tracing: null,
  });
  const { parse, fetch } = fetching.reader;
  return {
    asked,
    parse: (handle: string) => parse(allReads.getProfile, { handle }),
    fetch,
    close: fetching.close,
  };
}

/**
 * Redis script for comparison with the rate limiter of Perch. It counts the members of the sorted set `KEYS[1]`, and
 * adds a member if the count is below the limit. Arguments: limit, time, name of the member.
 */
const bareScript = defineScript(`
local spent = redis.call('ZCARD', KEYS[1])
if spent < tonumber(ARGV[1]) then redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3]) end
return spent
`);

/** Number of simulated clients. Each client has its own rate limit and makes the same number of calls. */
const accounts = 100;

/**
 * Compares the duration of the shared rate limiter's `spend` method with the duration of the
 * minimal Redis script `bareScript`.
 */
export async function benchSpends({ url }: Served): Promise<readonly ComparedCalls[]> {
  const engine = await openBenchEngine(url);
  const bare = await openBare(url);
  await bare.scriptLoad(bareScript.text);
  const windowMs = 600_000;
  const limiter = createSharedRateLimiter({
    ...{ engine, clock: systemClock, secret: Buffer.alloc(32) },
    tagOf: (charges) => charges.at(-1)?.account ?? '',
  });
  const limit = 1_000_000;
  let unit = 0;
  const compared = await compare(
    (index) => limiter.spend([{ account: `public 10.0.0.${index % accounts}`, limit, windowMs }]),
    (index) => {
      unit += 1;
      const keys = [`${prefix}bare:{public 10.0.0.${index % accounts}}`];
      const args = [`${limit}`, `${Date.now()}`, `${engine.instance}:${unit}`];
      return bare.evalSha(bareScript.sha1, { keys, arguments: args });
    },
  );
  await bare.close();
  engine.close();
  return compared;
}
