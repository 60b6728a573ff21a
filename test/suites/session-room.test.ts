import { describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../../src/lib/caller.ts';
import { openSqlite } from '../../src/lib/files/sqlite.ts';
import { Problem } from '../../src/lib/problem.ts';
import type { SessionStore } from '../../src/sessions/store/session-store.ts';
import { sessionMigrations } from '../../src/sessions/store/sqlite-schema.ts';
import {
  acceptMessage,
  beginTurn,
  endSession,
  endTurn,
  type SessionRecord,
  startSession,
} from '../../src/sessions/store/state.ts';
import { describeWithEngine, openTestEngine, startEngine } from '../support/engine-server.ts';
import { fc, runs } from '../support/fast-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openQuotas } from '../support/quotas.ts';
import { answerTo } from '../support/scripted-engine.ts';
import {
  type OpenCountedStore,
  openCountedShared,
  openCountedSqlite,
  openFastEngine,
} from '../support/session-stores.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const modes = { 'a file': () => `${temporaryFolder()}/data/sessions.db`, memory: () => ':memory:' };

type Bounds = NonNullable<Parameters<typeof openQuotas>[0]>;

/** Resources whose use every store counts. */
const counted = ['sessions', 'sessionBytes', 'queuedTurns'] as const;

const limits = { queue: 8, turns: 500, sessionBytes: 16_777_216 };

/** A store with limits, and the actions of a client. */
async function openRig(open: OpenCountedStore, bounds: Bounds) {
  const clock = createManualClock(1_000_000);
  const quotas = openQuotas(bounds);
  const stamp = (index: number) => ({ id: `evt_${index}`, atMs: clock.now(), index });
  const { store, usedBy } = await open({ stamp, clock, quotas });
  let deliveries = 0;
  const nextDelivery = (text: string) => {
    deliveries += 1;
    return { deliveryId: `dlv_${deliveries}`, text, nowMs: clock.now() };
  };
  return {
    store,
    usedBy,
    clock,
    start: async (id: string, client: Client | null, text = 'question') => {
      const delivery = nextDelivery(text);
      const transition = startSession({ id, owner: null, client }, delivery);
      const receipt = { sessionId: id, deliveryId: delivery.deliveryId, queued: 0 };
      await store.start({ transition, receipt }, null);
    },
    say: (id: string, text = 'question') =>
      store.accept(id, null, (record) => ({
        transition: acceptMessage(record, nextDelivery(text), limits),
        receipt: { sessionId: id, deliveryId: 'dlv', queued: 0 },
      })),
    answer: (id: string, text = 'answer') => answerFront(store, id, { text, nowMs: clock.now() }),
    end: (id: string) => store.change(id, (record) => endSession(record, 'reset', clock.now())),
  };
}

type Rig = Awaited<ReturnType<typeof openRig>>;

async function answerFront(
  store: SessionStore,
  id: string,
  { text, nowMs }: { readonly text: string; readonly nowMs: number },
): Promise<void> {
  const record = await recordOf(store, id);
  const front = record?.pending[0];
  if (front === undefined) return;
  const { sequence } = front;
  await store.change(id, (now) => beginTurn(now, sequence, { text: 'q', modelId: 'm' }));
  const answer = answerTo('', { text });
  const end = { kind: 'completed', answer, unsent: null, nowMs } as const;
  await store.change(id, (now) => endTurn(now, { sequence, end }, limits));
}

async function recordOf(store: SessionStore, id: string): Promise<SessionRecord | undefined> {
  const found = await store.find(id);
  return found.kind === 'known' ? found.record : undefined;
}

async function statesOf({ store }: Rig, ids: readonly string[]): Promise<readonly string[]> {
  return Promise.all(ids.map(async (id) => (await recordOf(store, id))?.state ?? 'gone'));
}

/** The first hundred sessions. */
async function recordsOf({ store }: Rig): Promise<readonly SessionRecord[]> {
  for await (const records of store.list('all')) return records;
  return [];
}

const ipv4 = (address: string): Client => ({ address, network: null });

/** How every session store enforces the limits. */
function behave(openStore: () => Promise<OpenCountedStore>): void {
  const open = async (bounds: Bounds) => {
    const rig = await openRig(await openStore(), bounds);
    onTestFinished(() => rig.store.close());
    return rig;
  };

  it('evicts the least recently used session of an address that is at its limit', async () => {
    const rig = await open({ sessions: { perAddress: 2 } });
    await rig.start('ses_other', ipv4('other'));
    await rig.answer('ses_other');
    for (const id of ['ses_a', 'ses_b', 'ses_c']) {
      await rig.clock.advance(1000);
      await rig.start(id, ipv4('here'));
      await rig.answer(id);
    }

    expect(await statesOf(rig, ['ses_other', 'ses_a', 'ses_b', 'ses_c'])).toEqual([
      'waiting',
      'ended',
      'waiting',
      'waiting',
    ]);
  });

  it('refuses a start when the total limit is reached, and ends no session of anyone', async () => {
    const rig = await open({ sessions: { perAddress: 10, total: 3 } });
    for (const id of ['ses_a', 'ses_b', 'ses_c']) {
      await rig.start(id, ipv4(id === 'ses_a' ? 'light' : 'heavy'));
      await rig.answer(id);
    }
    await rig.clock.advance(100_000_000);

    for (const client of [ipv4('light'), ipv4('heavy'), ipv4('new'), null]) {
      await expect(rig.start('ses_d', client)).rejects.toMatchObject({ code: 'overloaded' });
    }

    const ids = ['ses_a', 'ses_b', 'ses_c', 'ses_d'];
    expect(await statesOf(rig, ids)).toEqual(['waiting', 'waiting', 'waiting', 'gone']);
    await rig.end('ses_a');
    await rig.start('ses_d', ipv4('new'));
    expect(await statesOf(rig, ids)).toEqual(['ended', 'waiting', 'waiting', 'running']);
  });

  it('accepts a client that is at its own limit when the total limit is reached', async () => {
    const rig = await open({ sessions: { perAddress: 1, total: 2 } });
    for (const id of ['ses_a', 'ses_b']) {
      await rig.start(id, ipv4(id));
      await rig.answer(id);
    }

    await rig.start('ses_c', ipv4('ses_a'));

    const states = await statesOf(rig, ['ses_a', 'ses_b', 'ses_c']);
    expect(states).toEqual(['ended', 'waiting', 'running']);
  });

  it('refuses a message when the total of bytes is reached, and deletes no session', async () => {
    const rig = await open({ sessionBytes: { total: 60_000 } });
    for (const id of ['ses_a', 'ses_b']) {
      await rig.start(id, ipv4(id), 'x'.repeat(4000));
      await rig.answer(id);
    }
    await rig.end('ses_a');

    const refused = [rig.start('ses_c', ipv4('c'), 'x'.repeat(9000))];
    refused.push(rig.start('ses_c', ipv4('ses_a'), 'x'.repeat(9000)));

    for (const one of refused) await expect(one).rejects.toMatchObject({ code: 'overloaded' });
    await expect(rig.say('ses_b', 'x'.repeat(9000))).rejects.toMatchObject({ code: 'overloaded' });
    expect(await statesOf(rig, ['ses_a', 'ses_b', 'ses_c'])).toEqual(['ended', 'waiting', 'gone']);
  });

  it('counts the addresses of an IPv6 network together', async () => {
    const rig = await open({ sessions: { perAddress: 2 } });
    const hostOf = (host: number) => ({ address: `a:b:c:${host}`, network: 'a:b:c/48' });
    for (let host = 0; host < 8; host += 1) {
      await rig.start(`ses_${host}`, hostOf(host));
      await rig.answer(`ses_${host}`);
    }

    await expect(rig.start('ses_8', hostOf(8))).rejects.toMatchObject({ code: 'overloaded' });
    await rig.start('ses_8', hostOf(3));

    const ids = Array.from({ length: 9 }, (_, at) => `ses_${at}`);
    expect(await statesOf(rig, ids)).toEqual(
      ids.map((id) => ({ ses_3: 'ended', ses_8: 'running' })[id] ?? 'waiting'),
    );
  });

  it('deletes ended sessions first, then unused ones, of the same address to free bytes', async () => {
    const rig = await open({ sessionBytes: { perAddress: 60_000 } });
    await rig.start('ses_other', ipv4('other'), 'x'.repeat(4000));
    await rig.end('ses_other');
    for (const id of ['ses_a', 'ses_b', 'ses_c']) {
      await rig.start(id, ipv4('here'), 'x'.repeat(4000));
      await rig.answer(id);
    }
    await rig.end('ses_b');

    await rig.start('ses_d', ipv4('here'), 'x'.repeat(4000));
    expect(await statesOf(rig, ['ses_other', 'ses_a', 'ses_b', 'ses_c', 'ses_d'])).toEqual([
      'ended',
      'waiting',
      'gone',
      'waiting',
      'running',
    ]);
    await rig.say('ses_a', 'x'.repeat(4000));
    expect(await statesOf(rig, ['ses_a', 'ses_c', 'ses_d'])).toEqual([
      'running',
      'gone',
      'running',
    ]);
    await expect(rig.say('ses_a', 'x'.repeat(9000))).rejects.toMatchObject({ code: 'overloaded' });
    expect((await rig.store.find('ses_b')).kind).toBe('purged');
  });

  it('frees bytes of the same address for an answer before it begins', async () => {
    const rig = await open({ sessionBytes: { perAddress: 60_000, total: 110_000 } });
    for (const id of ['ses_a', 'ses_b', 'ses_c']) {
      await rig.start(id, ipv4(id === 'ses_c' ? 'other' : 'here'));
      await rig.answer(id, 'x'.repeat(25_000));
    }
    await rig.start('ses_d', ipv4('here'));
    const room = [];

    room.push(await rig.store.makeRoom('ses_d', 0));
    expect(await statesOf(rig, ['ses_a', 'ses_b', 'ses_c'])).toEqual([
      'gone',
      'waiting',
      'waiting',
    ]);
    expect(await rig.usedBy('sessionBytes', 'here')).toBeLessThanOrEqual(60_000);
    await rig.answer('ses_d', 'x'.repeat(80_000));
    room.push(await rig.store.makeRoom('ses_d', 0), await rig.store.makeRoom('ses_c', 0));

    expect(room).toEqual([true, false, false]);
    expect(await statesOf(rig, ['ses_b', 'ses_c', 'ses_d'])).toEqual([
      'gone',
      'waiting',
      'waiting',
    ]);
    expect(await rig.store.makeRoom('ses_b', 0)).toBe(false);
  });

  it('refuses a turn beyond the limit of an address and the total limit', async () => {
    const rig = await open({ queuedTurns: { perAddress: 2, total: 5 } });
    await rig.start('ses_a', ipv4('a'));
    await rig.say('ses_a');
    for (const id of ['ses_b', 'ses_c', 'ses_d']) await rig.start(id, ipv4(id));

    await expect(rig.say('ses_a')).rejects.toMatchObject({ code: 'turn_queue_full' });
    await expect(rig.start('ses_e', ipv4('a'))).rejects.toMatchObject({ code: 'turn_queue_full' });
    await expect(rig.start('ses_e', ipv4('e'))).rejects.toMatchObject({ code: 'overloaded' });
    for (const id of ['ses_a', 'ses_b']) await rig.answer(id);
    await rig.start('ses_e', ipv4('e'));
    expect(await rig.usedBy('queuedTurns', '*')).toBe(4);
  });

  it('counts down to zero', async () => {
    const rig = await open({});
    const network = { address: 'a:b:c:d', network: 'a:b:c/48' };
    await rig.start('ses_a', network);
    await rig.start('ses_b', null);
    await rig.say('ses_a');
    expect(await rig.usedBy('queuedTurns', 'a:b:c/48')).toBe(2);

    for (const id of ['ses_a', 'ses_b']) await rig.store.purge(id, 0);

    for (const resource of counted) {
      const names = ['a:b:c:d', 'a:b:c/48', '-', '*'];
      const used = await Promise.all(names.map((name) => rig.usedBy(resource, name)));
      expect(used).toEqual([0, 0, 0, 0]);
    }
  });
}

describe.each(Object.entries(modes))('eviction of sessions in %s', (_mode, pathOf) => {
  behave(async () => openCountedSqlite(pathOf()));
});

describeWithEngine('eviction of sessions in an engine', () => {
  behave(async () => openCountedShared(await openFastEngine()));
});

it('restores the counts when the file is opened again', async () => {
  const path = modes['a file']();
  const first = await openRig(openCountedSqlite(path), {});
  await first.start('ses_a', ipv4('here'));
  await first.answer('ses_a');
  await first.start('ses_b', ipv4('here'));
  const used = ({ usedBy }: Rig) =>
    Promise.all(counted.map((resource) => usedBy(resource, 'here')));
  const before = await used(first);
  await first.store.close();

  const second = await openRig(openCountedSqlite(path), {});
  onTestFinished(() => second.store.close());

  expect(await used(second)).toEqual(before);
  expect([before[0], before[2]]).toEqual([2, 1]);
});

it('counts sessions from before addresses were stored', async () => {
  const path = modes['a file']();
  const old = openSqlite({ path, migrations: sessionMigrations.slice(0, 1) });
  old.exec(`
    INSERT INTO sessions VALUES (1, 'ses_a', 'waiting', NULL, 0, 0, NULL, 1, 9, 1000);
    INSERT INTO sessions VALUES (2, 'ses_b', 'running', NULL, 0, 0, NULL, 2, 9, 1000);
    INSERT INTO sessions VALUES (3, 'ses_c', 'ended', NULL, 0, 0, 5, 1, 9, 1000);
    INSERT INTO messages VALUES (2, 0, 'dlv_a', 'one', 'completed', 5);
    INSERT INTO messages VALUES (2, 1, 'dlv_b', 'two', 'queued', NULL);
  `);
  old.close();

  const rig = await openRig(openCountedSqlite(path), { sessions: { perAddress: 1, total: 3 } });
  onTestFinished(() => rig.store.close());

  expect(await recordOf(rig.store, 'ses_b')).toMatchObject({ client: null, storedBytes: 2012 });
  const totals = await Promise.all(counted.map((resource) => rig.usedBy(resource, '*')));
  expect(totals).toEqual([2, 6036, 1]);
  await rig.start('ses_d', ipv4('d'));
  await expect(rig.start('ses_e', ipv4('e'))).rejects.toMatchObject({ code: 'overloaded' });
  const ids = ['ses_a', 'ses_b', 'ses_c', 'ses_d'];
  expect(await statesOf(rig, ids)).toEqual(['waiting', 'running', 'ended', 'running']);
});

/** Many light clients, so that the total limit is reached more often than the limit of one client. */
const clients: readonly Client[] = [
  ...['a', 'b', 'c', 'd', 'e', 'f'].map(ipv4),
  { address: 'n:1', network: 'n/48' },
  { address: 'n:2', network: 'n/48' },
];

const random = {
  sessions: { perAddress: 3, total: 10 },
  sessionBytes: { perAddress: 60_000, total: 160_000 },
} as const;

const step = fc.record({
  kind: fc.constantFrom('start', 'ask', 'ask', 'say', 'answer', 'end', 'wait'),
  who: fc.nat(clients.length - 1),
  which: fc.nat(30),
  length: fc.constantFrom(10, 10, 10, 3000, 6000),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Runs a step. Returns its client, and whether it was refused. */
async function takeStep(rig: Rig, one: Step, id: string) {
  const records = await recordsOf(rig);
  const record = records[one.which % Math.max(1, records.length)];
  const isNew = one.kind === 'start' || one.kind === 'ask';
  const client = isNew ? clients[one.who] : record?.client;
  const chosen = record?.id ?? '';
  const text = 'x'.repeat(one.length);
  const acts: Readonly<Record<string, () => unknown>> = {
    start: () => rig.start(id, client ?? null, text),
    ask: async () => {
      await rig.start(id, client ?? null, text);
      await rig.answer(id, text);
    },
    say: () => (record?.state === 'waiting' ? rig.say(chosen, text) : undefined),
    answer: () => rig.answer(chosen, text),
    end: () => (record?.state === 'waiting' ? rig.end(chosen) : undefined),
    wait: () => rig.clock.advance(one.which * 3000),
  };
  try {
    await acts[one.kind]?.();
    return { client, isRefused: false };
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({ code: 'overloaded' });
    return { client, isRefused: true };
  }
}

const fairly = 'never evicts a running session, or one of another address';

/** Takes random steps in `count` stores, and checks each of them. */
const takeRandomSteps = (openStore: (run: number) => Promise<OpenCountedStore>, count: number) => {
  let run = 0;
  return fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      run += 1;
      const rig = await openRig(await openStore(run), random);
      try {
        for (const [index, one] of steps.entries()) await checkStep(rig, one, `ses_${index}`);
      } finally {
        await rig.store.close();
      }
    }),
    { numRuns: count },
  );
};

it(fairly, () => takeRandomSteps(async () => openCountedSqlite(':memory:'), runs(150)));

describeWithEngine('a session store in an engine', () => {
  it(fairly, async () => {
    const { url } = await startEngine('--appendonly', 'no');

    await takeRandomSteps(
      async (run) => openCountedShared(await openTestEngine(url, 10_000, `${run}:`)),
      runs(50),
    );
  });
});

async function checkStep(rig: Rig, one: Step, id: string): Promise<void> {
  const before = await recordsOf(rig);
  const stored = await rig.usedBy('sessionBytes', '*');
  const { client, isRefused } = await takeStep(rig, one, id);
  const after = await recordsOf(rig);
  await expectWithin(rig, after);
  if (isRefused) await expectFull(rig, { client, after, stored });
  if (one.kind === 'end') return;
  const lost = before.filter((record) => isLost(record, after));
  expect(lost.filter((record) => record.client?.address !== client?.address)).toEqual([]);
  expect(lost.filter(({ state }) => state === 'running')).toEqual([]);
}

function isLost({ id, state }: SessionRecord, after: readonly SessionRecord[]): boolean {
  const left = after.find((record) => record.id === id);
  return left === undefined || (state === 'waiting' && left.state === 'ended');
}

interface Refused {
  readonly client: Client | null | undefined;
  readonly after: readonly SessionRecord[];
  /** Number of stored bytes before the step. */
  readonly stored: number;
}

/** Checks that the store is full, or that the client has no session left except the one of the request. */
async function expectFull(rig: Rig, { client, after, stored }: Refused): Promise<void> {
  const { sessions, sessionBytes } = random;
  const live = await rig.usedBy('sessions', '*');
  // The largest message takes less than 30,000 bytes.
  if (live === sessions.total || stored > sessionBytes.total - 30_000) return;
  const own = after.filter((record) => record.client?.address === client?.address);
  expect(own.filter(({ state }) => state === 'waiting').length).toBeLessThanOrEqual(1);
}

/** Checks that the counts are right, and that the limits of numbers hold. */
async function expectWithin({ usedBy }: Rig, records: readonly SessionRecord[]): Promise<void> {
  const live = records.filter(({ state }) => state === 'running' || state === 'waiting');
  expect(await usedBy('sessions', '*')).toBe(live.length);
  expect(live.length).toBeLessThanOrEqual(random.sessions.total);
  const stored = records.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
  expect(await usedBy('sessionBytes', '*')).toBe(stored);
  for (const { address } of clients) {
    expect(await usedBy('sessions', address)).toBeLessThanOrEqual(random.sessions.perAddress);
  }
}
