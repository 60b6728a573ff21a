import { expect, it, onTestFinished } from 'vitest';
import {
  createPerch,
  type Perch,
  type PerchOptions,
  type SessionEvent,
} from '../../clients/typescript/src/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type HttpFault, openFaultyHttp } from '../support/faulty-http.ts';
import { listen } from '../support/listen.ts';
import { isLongRun } from '../support/long-run.ts';
import { answerTo, createScriptedEngine } from '../support/scripted-engine.ts';

/** Number of runs with random faults, and of runs with one cut each. */
const runs = isLongRun ? { random: 6000, cut: 4000 } : { random: 80, cut: 75 };
/** The long form takes minutes. */
const timeout = isLongRun ? 3_600_000 : 180_000;
/** Number of runs at the same time. */
const lanes = 8;

/** Limits of the server that so many runs would reach. */
const unlimited = {
  PERCH_SESSIONS: 'on',
  PERCH_PROVIDERS: 'archive',
  PERCH_PUBLIC_ALLOWANCE: '1000000',
  PERCH_POST_ALLOWANCE: '1000000',
  PERCH_HISTORY_IMPORTS: '1000',
  PERCH_HISTORY_IMPORTS_PER_ADDRESS: '1000',
  PERCH_SESSION_STARTS_PER_MINUTE: '1000000',
  PERCH_SESSION_START_BURST: '1000000',
  PERCH_SESSION_TURNS_PER_MINUTE: '1000000',
  PERCH_SESSION_TURNS_PER_ADDRESS: '1000',
};

/** Options for tests: waits are a thousand times shorter, and nothing but success ends a call. */
const patient: Omit<PerchOptions, 'baseUrl'> = {
  clock: {
    now: () => systemClock.now(),
    sleep: (ms, signal) => systemClock.sleep(ms / 1000, signal),
  },
  stallMs: 100_000,
  deadlineMs: 3_600_000,
  retries: 1000,
};

/** Creates a random number generator with a seed (mulberry32), so that a failed run can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a random fault, or none in two of five cases. */
function pickFault(random: () => number): HttpFault {
  const chance = random();
  const bytes = Math.floor(random() ** 3 * 20_000);
  if (chance < 0.4) return { kind: 'none' };
  if (chance < 0.48) return { kind: 'status', status: random() < 0.5 ? 429 : 503 };
  if (chance < 0.55) return { kind: 'refuse' };
  if (chance < 0.6) return { kind: 'stall', bytes };
  return { kind: random() < 0.5 ? 'end' : 'reset', bytes };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const idsOf = (items: readonly { readonly id: string | null }[]) => items.map(({ id }) => id);

/** Starts a server whose engine streams three pieces of text. */
async function startServer() {
  const engine = createScriptedEngine(async ({ text }, { onText }) => {
    const answer = answerTo(text, { text: `${'word '.repeat(60)}${text}` });
    for (const piece of answer.text.match(/.{1,120}/gs) ?? []) {
      onText(piece);
      await systemClock.sleep(1);
    }
    return answer;
  });
  return { engine, ...(await listen(unlimited, { engine })) };
}

/** Runs `run` for each number below `count`, in `lanes` lanes. */
async function runAll(count: number, run: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) await run(index);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Reads that a run repeats with faults, each with a function that returns what identifies its items. */
const reads: readonly ((perch: Perch) => Promise<unknown>)[] = [
  async ({ search }) =>
    idsOf(await collect(search.posts('heron', { platform: 'sample', limit: 3 }))),
  async ({ profiles }) => idsOf(await collect(profiles.followers('ada.example', { limit: 4 }))),
  async ({ profiles }) => idsOf(await collect(profiles.history('ada.example'))),
  async ({ posts }) => {
    const post = { handle: 'ada.example', id: '1900000000000000001' };
    return idsOf((await posts.get(post)).posts);
  },
];

it(`loses and repeats nothing in ${runs.random} runs with random faults`, { timeout }, async () => {
  const { url, port, engine } = await startServer();
  const seed = 20_261_128;
  const random = createRandom(seed);
  const proxy = await openFaultyHttp(port, () => pickFault(random));
  onTestFinished(() => proxy.close());
  const direct = createPerch({ baseUrl: url });
  const faulty = createPerch({ ...patient, baseUrl: proxy.url });
  const expected = await Promise.all(reads.map((read) => read(direct)));
  const ask = async (index: number) => {
    const first = await faulty.sessions.ask(`question ${index}`);
    const received = await collect(first);
    const second = await faulty.sessions.ask(`follow-up ${index}`, { session: first.session });
    const answer = await second.answer();
    const all = await collect(direct.sessions.events(first.session.id));
    expect(received).toEqual(all.filter(hasDelivery(first.deliveryId)));
    expect(answer.message).toMatch(new RegExp(`follow-up ${index}$`));
    expect(all.filter(({ type }) => type === 'message.received')).toHaveLength(2);
  };

  await runAll(runs.random, async (index) => {
    const read = reads[index % (reads.length + 1)];
    if (read === undefined) return ask(index);
    expect(await read(faulty), `run ${index}, seed ${seed}`).toEqual(
      expected[index % (reads.length + 1)],
    );
  });

  const asked = engine.asked.map(({ text }) => text);
  expect(new Set(asked).size).toBe(asked.length);
  for (const [kind, count] of Object.entries(proxy.counts)) {
    if (kind !== 'none') expect(count, kind).toBeGreaterThan(0);
  }
});

const hasDelivery =
  (id: string) =>
  ({ meta }: SessionEvent): boolean =>
    meta.deliveryIds?.includes(id) === true;

it(`reads every event once in ${runs.cut} runs that cut the stream at another byte each`, {
  timeout,
}, async () => {
  const { url, port } = await startServer();
  let fault: HttpFault = { kind: 'none' };
  const proxy = await openFaultyHttp(port, () => {
    const now = fault;
    fault = { kind: 'none' };
    return now;
  });
  onTestFinished(() => proxy.close());
  const direct = createPerch({ baseUrl: url });
  const faulty = createPerch({ ...patient, baseUrl: proxy.url });
  const { session } = await direct.sessions.ask('one');
  const expected = await collect(direct.sessions.events(session.id));
  await collect(faulty.sessions.events(session.id));
  const size = proxy.lastBytes;
  const step = Math.max(1, Math.ceil(size / runs.cut));

  for (let bytes = 0, run = 0; run < runs.cut; bytes = (bytes + step) % size, run += 1) {
    fault = { kind: run % 2 === 0 ? 'end' : 'reset', bytes };
    const events = await collect(faulty.sessions.events(session.id));
    expect(events, `cut after ${bytes} bytes`).toEqual(expected);
  }

  expect(expected.map(({ meta }) => meta.index)).toEqual([...expected.keys()]);
  // A response can be a few bytes shorter than the first one, and a cut at its end is none.
  expect(proxy.counts.end + proxy.counts.reset).toBeGreaterThan(runs.cut * 0.95);
});
