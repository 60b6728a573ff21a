import { expect, it, onTestFinished } from 'vitest';
import type { Client } from '../../../src/lib/caller.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Engine } from '../../../src/lib/redis/engine.ts';
import { EngineError } from '../../../src/lib/redis/engine-error.ts';
import type {
  Commit,
  KeyedRequest,
  SessionStore,
} from '../../../src/sessions/store/session-store.ts';
import { commitScript } from '../../../src/sessions/store/shared/scripts.ts';
import { leaseMs } from '../../../src/sessions/store/shared/transactions.ts';
import {
  acceptMessage,
  appendText,
  beginTurn,
  endSession,
  type SessionRecord,
} from '../../../src/sessions/store/state.ts';
import {
  describeWithEngine,
  type EngineServer,
  openTestEngine,
  runEngineCli,
  startEngine,
} from '../../support/engine-server.ts';
import { type FaultyProxy, openFaultyProxy } from '../../support/faulty-proxy.ts';
import { openQuotas } from '../../support/quotas.ts';
import {
  accept,
  answerFront,
  idsOf,
  limits,
  readAll,
  recordOf,
  toStart,
} from '../../support/session-steps.ts';
import { openStoreOn } from '../../support/session-stores.ts';

/** Store of one instance, and what it has announced. */
interface Member {
  readonly store: SessionStore;
  readonly commits: Commit[];
  /** Sessions that were taken over. */
  readonly taken: SessionRecord[];
  /** Sessions with open streams. */
  readonly reading: Set<string>;
}

/** Opens a store as an instance does. It is closed at the end of the test. */
const join = async (url: string): Promise<Member> => openMember(await openTestEngine(url));

function openMember(engine: Engine): Member {
  const [commits, taken, reading]: [Commit[], SessionRecord[], Set<string>] = [[], [], new Set()];
  const store = openStoreOn(engine, { quotas: openQuotas(), followed: reading });
  store.onCommit((commit) => commits.push(commit));
  store.onTakeOver?.((record) => taken.push(record));
  onTestFinished(() => store.close());
  return { store, commits, taken, reading };
}

async function joinTwo(): Promise<{ server: EngineServer; one: Member; two: Member }> {
  const server = await startEngine('--appendonly', 'no');
  return { server, one: await join(server.url), two: await join(server.url) };
}

/** Starts an engine with two stores, of which the first one has a proxy before its engine. */
async function joinBehindProxy(): Promise<{ proxy: FaultyProxy; one: Member; two: Member }> {
  const server = await startEngine('--appendonly', 'no');
  const proxy = await openFaultyProxy(server.port);
  onTestFinished(proxy.close);
  return { proxy, one: await join(proxy.url), two: await join(server.url) };
}

const once: KeyedRequest = { key: 'k', fingerprint: 'f', nowMs: 0 };

const begin = (store: SessionStore, id: string) =>
  store.change(id, (record) => beginTurn(record, 0, { text: 'q', modelId: 'm' }));

const say = (store: SessionStore, id: string, delta: string) =>
  store.change(id, (record) => appendText(record, 0, { delta, soFar: delta }));

const sayOwn = (store: SessionStore, id: string, delta: string) =>
  store.changeOwn(id, (record) => appendText(record, 0, { delta, soFar: delta }));

const end = (store: SessionStore, id: string) =>
  store.change(id, (record) => (record.state === 'ended' ? null : endSession(record, 'reset', 1)));

/** Returns the texts that were appended to the answer of the first turn, in order. */
async function saidIn(store: SessionStore, id: string): Promise<readonly string[]> {
  const events = (await readAll(store, id)).map((line) => JSON.parse(line));
  expect(events.map(({ meta }) => meta.index)).toEqual(events.map((_, index) => index));
  return events.flatMap(({ data }) => data.messageDelta ?? []);
}

describeWithEngine('session stores on one engine', () => {
  it('announce the changes that another one makes to a session that is read', async () => {
    const { one, two } = await joinTwo();
    two.reading.add('ses_a');

    await one.store.start(...toStart('ses_a'));
    await one.store.start(...toStart('ses_unread'));
    await begin(one.store, 'ses_a');

    const last = () => two.commits.at(-1)?.get('ses_a');
    await expect.poll(last).toEqual(await recordOf(one.store, 'ses_a'));
    await one.store.purge('ses_a', 1);
    await expect.poll(() => two.commits.at(-1)?.has('ses_a') && last()).toBeUndefined();
    expect(two.commits.flatMap((commit) => [...commit.keys()])).not.toContain('ses_unread');
  });

  it('announce to the instance that runs a session what another one changes', async () => {
    const { one, two } = await joinTwo();
    await one.store.start(...toStart('ses_a'));
    expect([one.store.runs('ses_a'), two.store.runs('ses_a')]).toEqual([true, false]);

    await end(two.store, 'ses_a');

    await expect.poll(() => one.commits.at(-1)?.get('ses_a')?.state).toBe('ended');
    expect(one.store.runs('ses_a')).toBe(false);
  });

  it('announce versions of a session in order, and each once', async () => {
    const { one, two } = await joinTwo();
    for (const { reading } of [one, two]) reading.add('ses_a');
    await one.store.start(...toStart('ses_a'));
    await begin(one.store, 'ses_a');

    const words = Array.from({ length: 30 }, (_, at) => `${at}`);
    await Promise.all(
      words.map((word, at) => say((at % 2 === 0 ? one : two).store, 'ses_a', word)),
    );

    for (const { commits } of [one, two]) {
      const events = () => commits.map((commit) => commit.get('ses_a')?.events ?? 0);
      await expect.poll(() => events().at(-1)).toBe(34);
      expect(events()).toEqual(events().toSorted((a, b) => a - b));
    }
  });

  it('lose no concurrent change of a session, and keep the order of each store', async () => {
    const { one, two } = await joinTwo();
    await one.store.start(...toStart('ses_a'));
    await begin(one.store, 'ses_a');
    const wordsOf = (name: string) => Array.from({ length: 50 }, (_, at) => `${name}${at}`);

    await Promise.all([
      ...wordsOf('one').map((word) => say(one.store, 'ses_a', word)),
      ...wordsOf('two').map((word) => say(two.store, 'ses_a', word)),
    ]);

    const said = await saidIn(two.store, 'ses_a');
    expect(said).toHaveLength(100);
    for (const name of ['one', 'two']) {
      expect(said.filter((word) => word.startsWith(name))).toEqual(wordsOf(name));
    }
    expect((await recordOf(one.store, 'ses_a')).events).toBe(104);
  });

  it('accept messages of a session at the same time', async () => {
    const { one, two } = await joinTwo();
    await one.store.start(...toStart('ses_a', { text: '0' }));
    const texts = ['1', '2', '3', '4', '5', '6', '7', '8'];

    await Promise.all(
      texts.map((text, at) => accept((at % 2 === 0 ? one : two).store, 'ses_a', text)),
    );

    const { pending } = await recordOf(two.store, 'ses_a');
    expect(pending.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const read = pending.map(({ sequence }) => one.store.readText('ses_a', sequence));
    expect((await Promise.all(read)).sort()).toEqual(['0', ...texts]);
  });

  it('execute a request with an idempotency key once', async () => {
    const { one, two } = await joinTwo();
    const members = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? one : two));

    const receipts = await Promise.all(
      members.map(({ store }, at) => store.start(...toStart(`ses_${at}`, { once }))),
    );

    const [id = ''] = await idsOf(one.store, 'all');
    expect(new Set(receipts.map(({ sessionId }) => sessionId))).toEqual(new Set([id]));
    expect(await two.store.countLive()).toBe(1);
    const say = (fingerprint: string) => ({ key: 'l', fingerprint, nowMs: 0 });
    const toAcceptance = (record: SessionRecord) => {
      const deliveryId = `dlv_${record.accepted}`;
      const transition = acceptMessage(record, { deliveryId, text: 'x', nowMs: 0 }, limits);
      return { transition, receipt: { sessionId: id, deliveryId, queued: 0 } };
    };
    const said = await Promise.all(
      members.map(({ store }) => store.accept(id, say('f'), toAcceptance)),
    );
    expect(said).toEqual(Array(10).fill(said[0]));
    expect((await recordOf(one.store, id)).accepted).toBe(2);
    await expect(two.store.accept(id, say('g'), toAcceptance)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  it('count to zero, and leave nothing of deleted sessions', async () => {
    const { server, one, two } = await joinTwo();
    const clients: readonly (Client | null)[] = [
      { address: 'a', network: null },
      { address: 'n:1', network: 'n' },
      { address: 'n:2', network: 'n' },
      null,
    ];
    const ids = clients.flatMap((_, at) => [`ses_${at}_run`, `ses_${at}_wait`, `ses_${at}_end`]);
    const clientOf = (id: string) => clients[Number(id.charAt(4))] ?? null;
    await Promise.all(ids.map((id) => one.store.start(...toStart(id, { client: clientOf(id) }))));
    for (const id of ids) if (!id.endsWith('run')) await answerFront(two.store, id);
    for (const id of ids) if (id.endsWith('end')) await end(one.store, id);
    const cli = (...args: string[]) => runEngineCli('-p', `${server.port}`, ...args).trim();
    const useOf = (name: string) => cli('HGETALL', `test:{sessions}:use:${name}`).split('\n');
    expect(useOf('n')).toEqual(expect.arrayContaining(['live', '4', 'pending', '2']));

    // Both delete each session at the same time.
    await Promise.all(ids.flatMap((id) => [one.store.purge(id, 1), two.store.purge(id, 1)]));

    const kept = cli('--scan', '--pattern', 'test:{sessions}:*').split('\n').sort();
    expect(kept).toEqual(['test:{sessions}:purged', 'test:{sessions}:use:*']);
    expect(useOf('*').filter((_, at) => at % 2 === 1)).toEqual(['0', '0', '0']);
  });

  it('read long lines of characters of several bytes, from any store', async () => {
    const { one, two } = await joinTwo();
    await one.store.start(...toStart('ses_a', { text: 'short' }));
    await answerFront(one.store, 'ses_a');
    for (const start of ['', 'a', 'ab', 'abc']) {
      await accept(one.store, 'ses_a', start + '🦤é€'.repeat(8000));
      await answerFront(one.store, 'ses_a');
    }

    const lines = await readAll(two.store, 'ses_a');

    expect(lines).toHaveLength((await recordOf(two.store, 'ses_a')).events);
    expect(lines.join('')).not.toContain('\ufffd');
  });

  it('read many events in batches', async () => {
    const { one, two } = await joinTwo();
    await one.store.start(...toStart('ses_a'));
    await begin(one.store, 'ses_a');
    const words = Array.from({ length: 600 }, (_, at) => `${at}`);
    await Promise.all(words.map((word) => say(one.store, 'ses_a', word)));

    const [first, said] = [
      await two.store.readEvents('ses_a', 0),
      await saidIn(two.store, 'ses_a'),
    ];

    expect(first.length).toBeGreaterThan(16);
    expect(first.length).toBeLessThan(300);
    expect(said).toEqual(words);
    expect(await two.store.readEvents('ses_a', 604)).toEqual([]);
  });
});

describeWithEngine('leases of sessions', () => {
  it('let only the instance that runs a session change it as its own', async () => {
    const { one, two } = await joinTwo();
    await one.store.start(...toStart('ses_a'));
    await begin(one.store, 'ses_a');

    expect(await sayOwn(two.store, 'ses_a', 'foreign')).toBeUndefined();
    expect(await sayOwn(one.store, 'ses_a', 'own')).toMatchObject({ events: 5 });

    expect(await saidIn(one.store, 'ses_a')).toEqual(['own']);
  });

  it('end when a store is closed', async () => {
    const { server, one, two } = await joinTwo();
    await one.store.start(...toStart('ses_a'));
    await one.store.start(...toStart('ses_done'));
    await answerFront(one.store, 'ses_done');

    await one.store.close();

    const key = 'test:{sessions}:running';
    expect(runEngineCli('-p', `${server.port}`, 'ZRANGE', key, '0', '-1').trim()).toBe('ses_a');
    await expect.poll(() => two.taken.map(({ id }) => id)).toEqual(['ses_a']);
    expect(two.store.runs('ses_a')).toBe(true);
    expect(two.taken[0]).toEqual(await recordOf(two.store, 'ses_a'));
    await begin(two.store, 'ses_a');
    expect(await sayOwn(two.store, 'ses_a', 'next')).toMatchObject({ events: 5 });
  });

  it('stay while their instance answers, and pass on when it is cut off', async () => {
    const { proxy, one, two } = await joinBehindProxy();
    await one.store.start(...toStart('ses_a'));
    await begin(one.store, 'ses_a');
    await sayOwn(one.store, 'ses_a', 'before');
    await systemClock.sleep(leaseMs + 1500);
    expect(two.taken).toEqual([]);

    proxy.set('cut');
    await expect.poll(() => two.taken.map(({ id }) => id)).toEqual(['ses_a']);
    await sayOwn(two.store, 'ses_a', 'after');
    proxy.set(null);

    await expect.poll(() => sayLate(one.store)).toBeUndefined();
    await expect.poll(() => one.store.runs('ses_a')).toBe(false);
    expect(two.store.runs('ses_a')).toBe(true);
    expect(await saidIn(two.store, 'ses_a')).toEqual(['before', 'after']);
  });
});

/** Appends text to a session that the instance ran. Returns `down` if the engine cannot be reached. */
const sayLate = (store: SessionStore) => sayOwn(store, 'ses_a', 'late').catch(() => 'down');

/** Opens a store, and makes its engine lose the answer to a change if it is told to. */
async function joinForgetful() {
  const server = await startEngine('--appendonly', 'no');
  const engine = await openTestEngine(server.url);
  let isLosing = false;
  const evaluate: Engine['evaluate'] = async (script, call) => {
    const reply = await engine.evaluate(script, call);
    if (!isLosing || script !== commitScript) return reply;
    isLosing = false;
    throw new EngineError('the connection is lost', true);
  };
  const forgetful: Engine = Object.assign(Object.create(engine), { evaluate });
  const loseAnswer = () => {
    isLosing = true;
  };
  return { one: openMember(forgetful), two: await join(server.url), loseAnswer };
}

describeWithEngine('a session store that loses the answer of its engine', () => {
  it('starts a session once', async () => {
    const { one, two, loseAnswer } = await joinForgetful();

    loseAnswer();
    const receipt = await one.store.start(...toStart('ses_a', { once }));

    expect(receipt.sessionId).toBe('ses_a');
    expect(await idsOf(two.store, 'all')).toEqual(['ses_a']);
    expect(await two.store.countLive()).toBe(1);
    expect(await two.store.recall(once)).toEqual(receipt);
    expect(one.store.runs('ses_a')).toBe(true);
  });

  it('accepts a message once', async () => {
    const { one, two, loseAnswer } = await joinForgetful();
    await one.store.start(...toStart('ses_a'));

    loseAnswer();
    await accept(one.store, 'ses_a', 'more');

    const read = [0, 1, 2].map((sequence) => two.store.readText('ses_a', sequence));
    expect(await Promise.all(read)).toEqual(['question of ses_a', 'more', undefined]);
  });

  it('changes a session once, and announces it once', async () => {
    const { one, two, loseAnswer } = await joinForgetful();
    await one.store.start(...toStart('ses_a'));
    await begin(one.store, 'ses_a');

    loseAnswer();
    const after = await say(one.store, 'ses_a', 'word');
    await sayOwn(one.store, 'ses_a', 'next');

    expect(after?.events).toBe(5);
    expect(await saidIn(two.store, 'ses_a')).toEqual(['word', 'next']);
    expect(one.commits.map((commit) => commit.get('ses_a')?.events)).toEqual([1, 4, 5, 6]);
  });

  it('deletes a session, and announces it', async () => {
    const { one, two, loseAnswer } = await joinForgetful();
    await one.store.start(...toStart('ses_a'));

    loseAnswer();

    expect(await one.store.purge('ses_a', 1)).toBe(true);
    expect(lastOf(one, 'ses_a')).toBe('deleted');
    expect(await one.store.purge('ses_a', 1)).toBe(false);
    expect(await two.store.countLive()).toBe(0);
  });
});

describeWithEngine('a session store that loses its connection', () => {
  it('applies a change once if its answer is lost', async () => {
    const { proxy, one, two } = await joinBehindProxy();
    await one.store.start(...toStart('ses_a'));
    await begin(one.store, 'ses_a');
    const tried: string[] = [];

    // A busy machine may connect too late for the repetition.
    for (let isDone = false; !isDone; ) {
      tried.push(`word ${tried.length}`);
      const events = tried.length + 4;
      proxy.set('half-open');
      const said = say(one.store, 'ses_a', tried.at(-1) ?? '').then(
        (after) => after?.events,
        ({ code }) => code,
      );
      await expect.poll(async () => (await recordOf(two.store, 'ses_a')).events).toBe(events);
      reconnect(proxy);
      const result = await said;
      expect([events, 'not_ready']).toContain(result);
      isDone = result === events;
    }

    expect(await saidIn(two.store, 'ses_a')).toEqual(tried);
  });

  it('announces the changes that it has missed', async () => {
    const { proxy, one, two } = await joinBehindProxy();
    await two.store.start(...toStart('ses_a'));
    await two.store.start(...toStart('ses_b'));
    for (const id of ['ses_a', 'ses_b']) one.reading.add(id);
    await begin(two.store, 'ses_a');
    await expect.poll(() => lastOf(one, 'ses_a')).toMatchObject({ events: 4 });

    proxy.set('cut');
    await say(two.store, 'ses_a', 'missed');
    await two.store.purge('ses_b', 1);
    proxy.set(null);

    await expect.poll(() => lastOf(one, 'ses_a')).toMatchObject({ events: 5 });
    await expect.poll(() => lastOf(one, 'ses_b')).toBe('deleted');
  });

  it('refuses changes as not ready while the engine does not answer', async () => {
    const { proxy, one } = await joinBehindProxy();
    await one.store.start(...toStart('ses_a'));

    proxy.set('cut');

    await expect(begin(one.store, 'ses_a')).rejects.toMatchObject({ code: 'not_ready' });
    proxy.set(null);
    await expect.poll(() => begin(one.store, 'ses_a').catch(() => 'down')).not.toBe('down');
    expect((await recordOf(one.store, 'ses_a')).events).toBe(4);
  });
});

/** Replaces the connections. Answers to earlier commands are lost. */
function reconnect(proxy: FaultyProxy): void {
  proxy.set('cut');
  proxy.set(null);
}

function lastOf({ commits }: Member, id: string): SessionRecord | 'deleted' | undefined {
  const commit = commits.findLast((one) => one.has(id));
  return commit && (commit.get(id) ?? 'deleted');
}
