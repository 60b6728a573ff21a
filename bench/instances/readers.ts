import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { type Engine, openEngine } from '../../src/lib/redis/engine.ts';
import { parseEngineUrl } from '../../src/lib/redis/engine-url.ts';
import { createSessionIds } from '../../src/sessions/ids.ts';
import type { SessionStore } from '../../src/sessions/store/session-store.ts';
import { openSharedSessions } from '../../src/sessions/store/shared/shared-store.ts';
import { appendText, beginTurn, startSession } from '../../src/sessions/store/state.ts';
import { openQuotas } from '../../test/support/quotas.ts';
import type { Served } from './servers.ts';

const events = 2000;
/** Milliseconds between two events, similar to the output of a language model. */
const pauseMs = 5;

/** Milliseconds from the start of a change on one instance until another instance has read the resulting event. */
export interface ReaderDelays {
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Measures how soon an event stream on another instance receives the events of an answer. */
export async function benchLiveReaders({ url }: Served): Promise<ReaderDelays> {
  const engines = [await open(url), await open(url)] as const;
  const id = createSessionIds(systemClock, systemRandom).session();
  const [writer, reader] = [openStore(engines[0]), openStore(engines[1], new Set([id]))];
  try {
    await begin(writer, id);
    return summarize(await follow(writer, reader, id));
  } finally {
    await Promise.all([writer.close(), reader.close()]);
    for (const engine of engines) engine.close();
  }
}

async function open(url: string): Promise<Engine> {
  const address = parseEngineUrl(url);
  if (address === null) throw new Error(`${url} is no URL of an engine.`);
  const engine = await openEngine({
    address,
    prefix: 'bench:',
    instance: systemRandom.bytes(9).toString('base64url'),
    timeoutMs: 2000,
    clock: systemClock,
    onChange: () => {},
  });
  await engine.waitUntilUp(10_000);
  return engine;
}

function openStore(engine: Engine, followed?: ReadonlySet<string>): SessionStore {
  const ids = createSessionIds(systemClock, systemRandom);
  return openSharedSessions({
    engine,
    ...(followed && { followed, quotas: openQuotas() }),
    random: systemRandom,
    replicas: 0,
    stamp: (index) => ({ id: ids.event(), atMs: systemClock.now(), index }),
    onFault: (error) => {
      throw error;
    },
  });
}

/** Starts a session in which the answer to the first message is in progress. */
async function begin(store: SessionStore, id: string): Promise<void> {
  const delivery = { deliveryId: 'dlv_1', text: 'question', nowMs: systemClock.now() };
  const transition = startSession({ id, owner: null, client: null }, delivery);
  await store.start(
    { transition, receipt: { sessionId: id, deliveryId: 'dlv_1', queued: 0 } },
    null,
  );
  await store.change(id, (record) => beginTurn(record, 0, { text: 'question', modelId: 'bench' }));
}

/**
 * Appends events to a session on one Perch instance. Returns, for each event, the milliseconds
 * until another instance has read the event.
 */
async function follow(
  writer: SessionStore,
  reader: SessionStore,
  id: string,
): Promise<readonly number[]> {
  const begunMs = new Map<number, number>();
  const delays: number[] = [];
  let seen = 0;
  reader.onCommit((commit) => {
    const count = commit.get(id)?.events ?? 0;
    for (; seen < count; seen += 1) {
      const sentMs = begunMs.get(seen);
      if (sentMs === undefined) continue;
      const index = seen;
      void reader.readEvents(id, index).then(() => delays.push(performance.now() - sentMs));
    }
  });
  let index = 4; // the events of the start
  let soFar = '';
  for (let count = 0; count < events; count += 1) {
    soFar = `${soFar.slice(-1000)}word `;
    const text = soFar;
    begunMs.set(index, performance.now());
    index += 1;
    await writer.change(id, (record) => appendText(record, 0, { delta: 'word ', soFar: text }));
    await systemClock.sleep(pauseMs);
  }
  while (delays.length < events) await systemClock.sleep(10);
  return delays;
}

function summarize(delays: readonly number[]): ReaderDelays {
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
