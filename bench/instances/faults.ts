import { Pool } from 'undici';
import { openFaultyProxy, shake } from '../../test/support/faulty-proxy.ts';
import { type Served, sleep, startPerch } from './servers.ts';

/** Total duration in milliseconds of the phases with faults, which alternate with phases without faults. */
const shakenMs = Number(process.env.BENCH_FAULT_SECONDS ?? 60) * 1000;
const rounds = 3;
/** Mean milliseconds between two requests. */
const paceMs = 10;
/** Milliseconds without measurements after each phase with faults. */
const recoveryMs = 3000;

const path = '/api/v1/profiles/ada.example';
const adminToken = 'an-admin-token-for-the-bench-of-40-letters';

/**
 * Share (0 to 1) of each kind of profile request. A `hit` requests a profile that Perch has cached, a `miss` a
 * profile that it has not cached. `with a key` means that the request contains an API key.
 */
const kinds = {
  hit: 0.4,
  'hit with a key': 0.3,
  miss: 0.15,
  'miss with a key': 0.15,
} as const;

type Kind = keyof typeof kinds;

/** Durations in milliseconds, by the kind of read, such as a cache hit with an API key. */
type Durations = Readonly<Record<Kind, number[]>>;

const noDurations = (): Durations => ({
  hit: [],
  'hit with a key': [],
  miss: [],
  'miss with a key': [],
});

/**
 * Measures how much longer reads take while connections to the shared Valkey or Redis server fail.
 * Returns Markdown lines.
 */
export async function benchFaults(engine: Served, upstream: Served): Promise<string[]> {
  const proxies = [await openFaultyProxy(engine.port), await openFaultyProxy(engine.port)];
  const targets = await Promise.all(
    proxies.map(({ url }, at) =>
      startPerch({
        index: 4 + at,
        path,
        env: {
          PERCH_REDIS_URL: url,
          PERCH_REDIS_PREFIX: 'faults:',
          PERCH_ADMIN_TOKEN: adminToken,
          PERCH_PROVIDERS: 'archive,fxtwitter',
          PERCH_FXTWITTER_URL: upstream.url,
        },
      }),
    ),
  );
  const pools = targets.map(({ url }) => new Pool(new URL(url).origin, { connections: 64 }));
  const load = createLoad(pools, await createKey(pools));
  await load.run(noDurations(), () => sleep(3000)); // compiles the code
  const [calm, shaken] = [noDurations(), noDurations()];
  for (let round = 0; round < rounds; round += 1) {
    await load.run(calm, () => sleep(shakenMs / rounds));
    await load.run(shaken, () => shake(proxies, shakenMs / rounds));
    await sleep(recoveryMs);
  }
  await Promise.all(pools.map((pool) => pool.close()));
  await Promise.all(targets.map((target) => target.stop()));
  for (const proxy of proxies) proxy.close();
  return [
    '### Faults between the instances and the engine',
    '',
    'Two instances with a proxy each, which cuts connections, delays bytes by up to 500 ms, drops them, or drops only',
    'the replies, at random. Milliseconds of a read without and with faults. Goal: at most 200 ms more.',
    '',
    '| read | reads | median | with faults | 99% | with faults | longest | with faults |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...Object.keys(kinds).map((kind) => toRow(kind as Kind, calm, shaken)), // the keys are kinds
    '',
    `Reads that did not answer 200: ${load.failures}`,
    '',
  ];
}

function toRow(kind: Kind, calm: Durations, shaken: Durations): string {
  const cells = [0.5, 0.99, 1].flatMap((share) =>
    [calm[kind], shaken[kind]].map((all) => quantile(all, share).toFixed(1)),
  );
  return `| ${kind} | ${shaken[kind].length} | ${cells.join(' | ')} |`;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function createKey([pool]: readonly Pool[]): Promise<string> {
  const reply = await pool?.request({
    method: 'POST',
    path: '/api/admin/keys',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: '{"label":"bench"}',
  });
  const created = (await reply?.body.json()) as { readonly key: string }; // as the API describes it
  return created.key;
}

function createLoad(pools: readonly Pool[], key: string) {
  let [misses, failures] = [0, 0];
  const read = async (durations: Durations): Promise<void> => {
    const kind = pickKind();
    misses += 1;
    const headers = kind.endsWith('key') ? { authorization: `Bearer ${key}` } : {};
    const request = {
      method: 'GET',
      path: kind.startsWith('hit') ? path : `/api/v1/profiles/f${misses}`,
      headers,
    } as const;
    const begun = performance.now();
    const reply = await pools[misses % pools.length]?.request(request);
    await reply?.body.dump();
    durations[kind].push(performance.now() - begun);
    if (reply?.statusCode !== 200) failures += 1;
  };
  return {
    get failures() {
      return failures;
    },
    /**
     * Sends a read every `paceMs` milliseconds on average until `phase` has ended, without waiting
     * for responses. Adds the response time of each read to `durations`.
     */
    run: async (durations: Durations, phase: () => Promise<unknown>): Promise<void> => {
      let isOver = false;
      const reads: Promise<void>[] = [];
      const ended = phase().then(() => {
        isOver = true;
      });
      while (!isOver) {
        reads.push(read(durations));
        await sleep(Math.random() * 2 * paceMs);
      }
      await Promise.all([ended, ...reads]);
    },
  };
}

function pickKind(): Kind {
  let rest = Math.random();
  for (const [kind, share] of Object.entries(kinds)) {
    rest -= share;
    if (rest < 0) return kind as Kind; // an entry of `kinds`
  }
  return 'hit';
}
