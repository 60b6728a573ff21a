import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectSqlite, openSqlite } from '../../src/lib/files/sqlite.ts';
import { Problem } from '../../src/lib/problem.ts';
import type { Commit, KeyedRequest, SessionStore } from '../../src/sessions/store/session-store.ts';
import { sessionMigrations } from '../../src/sessions/store/sqlite-schema.ts';
import { openSqliteSessions } from '../../src/sessions/store/sqlite-store.ts';
import { appendText, beginTurn, endSession } from '../../src/sessions/store/state.ts';
import { describeWithEngine } from '../support/engine-server.ts';
import { openQuotas } from '../support/quotas.ts';
import { answerTo } from '../support/scripted-engine.ts';
import {
  accept,
  answerFront,
  idsOf,
  readAll,
  recordOf,
  toStart,
} from '../support/session-steps.ts';
import { createStamp, openSharedStore } from '../support/session-stores.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

interface StoreRig {
  readonly store: SessionStore;
  readonly path: string;
  /** Ends the turn of the event loop, if the test controls it. */
  endTurnOfLoop(): void;
}

type Bounds = Parameters<typeof openQuotas>[0];

interface StoreRigOptions {
  readonly path?: string;
  /** Whether commits wait for `endTurnOfLoop`. */
  readonly isHeld?: boolean;
  readonly bounds?: Bounds | undefined;
}

const modes = { 'a file': () => `${temporaryFolder()}/data/sessions.db`, memory: () => ':memory:' };

function openRig({ path = ':memory:', isHeld = false, bounds }: StoreRigOptions): StoreRig {
  const held: (() => void)[] = [];
  const store = openSqliteSessions({
    path,
    stamp: createStamp(),
    quotas: openQuotas(bounds),
    ...(isHeld ? { onTurnEnd: (callback: () => void) => void held.push(callback) } : {}),
  });
  onTestFinished(() => store.close());
  return {
    store,
    path,
    endTurnOfLoop: () => {
      for (const callback of held.splice(0)) callback();
    },
  };
}

const problem = (code: string) => expect.objectContaining({ name: 'Problem', code });

it('creates a file that only its owner can read', () => {
  const { path } = openRig({ path: `${temporaryFolder()}/data/sessions.db` });

  const files = readdirSync(dirname(path));

  expect(files).toContain('sessions.db-wal');
  for (const file of files) {
    expect(statSync(join(dirname(path), file)).mode & 0o777, file).toBe(0o600);
  }
});

/** Tests for every session store. */
function behave(open: (bounds?: Bounds) => Promise<SessionStore>): void {
  it('stores a session, its messages and its events', async () => {
    const store = await open();

    await store.start(...toStart('ses_a'));
    await answerFront(store, 'ses_a', 7);

    expect(await recordOf(store, 'ses_a')).toEqual({
      id: 'ses_a',
      state: 'waiting',
      owner: null,
      client: null,
      createdMs: 0,
      activeMs: 7,
      endedMs: null,
      accepted: 1,
      pending: [],
      events: 8,
      storedBytes: expect.any(Number),
    });
    expect(await store.readText('ses_a', 0)).toBe('question of ses_a');
    const lines = (await readAll(store, 'ses_a')).map((line) => JSON.parse(line));
    expect(lines.map(({ meta }) => meta.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(new Set(lines.map(({ meta }) => meta.id)).size).toBe(8);
  });

  it('returns answered turns with their answers, oldest first', async () => {
    const store = await open();
    await store.start(...toStart('ses_a', { text: 'one' }));
    await answerFront(store, 'ses_a');
    for (const text of ['two', 'three']) {
      await accept(store, 'ses_a', text);
      await answerFront(store, 'ses_a');
    }

    const answered = await store.readAnswered('ses_a', { before: 2, count: 5 });

    const texts = answered.map(({ question, line }) => [question, JSON.parse(line).data.message]);
    expect(texts).toEqual([
      ['one', answerTo('one').text],
      ['two', answerTo('two').text],
    ]);
    expect(await store.readAnswered('ses_a', { before: 2, count: 1 })).toEqual([answered[1]]);
  });

  it('stores any text unchanged', async () => {
    const store = await open();
    const texts = ['\u0000\u0001\u2028"\\\n', '🦤'.repeat(20_000), 'x'.repeat(65_536)];

    for (const [index, text] of texts.entries()) {
      await store.start(...toStart(`ses_${index}`, { text }));
      await answerFront(store, `ses_${index}`);
    }

    for (const [index, text] of texts.entries()) {
      expect(await store.readText(`ses_${index}`, 0)).toBe(text);
      const received = JSON.parse((await readAll(store, `ses_${index}`))[2] ?? '');
      expect(received.data.message).toBe(text);
    }
  });

  it('evicts the session that has been idle longest at the limit', async () => {
    const store = await open({ sessions: { perAddress: 3 } });
    const client = { address: 'here', network: null };
    for (const [index, id] of ['ses_a', 'ses_b', 'ses_c'].entries()) {
      await store.start(...toStart(id, { nowMs: index, client }));
    }
    await answerFront(store, 'ses_b', 20);
    await answerFront(store, 'ses_a', 30);

    await store.start(...toStart('ses_d', { nowMs: 90_000, client }));

    expect(await recordOf(store, 'ses_b')).toMatchObject({ state: 'ended', endedMs: 90_000 });
    expect(await store.countLive()).toBe(3);
    const last = JSON.parse((await readAll(store, 'ses_b')).at(-1) ?? '');
    expect(last).toMatchObject({ type: 'session.completed', data: { reason: 'evicted' } });
  });

  it('refuses a start if all sessions are running', async () => {
    const store = await open({ sessions: { total: 1 } });
    await store.start(...toStart('ses_a'));

    const refused = store.start(...toStart('ses_b'));

    await expect(refused).rejects.toEqual(problem('overloaded'));
    expect(await store.find('ses_b')).toEqual({ kind: 'unknown' });
  });

  it('executes a request with an idempotency key once for a day', async () => {
    const store = await open();
    const day = 86_400_000;
    const once: KeyedRequest = { key: 'k', fingerprint: 'f', nowMs: 0 };

    const first = await store.start(...toStart('ses_a', { once }));
    const second = await store.start(...toStart('ses_b', { once: { ...once, nowMs: day - 1 } }));
    const other = store.start(...toStart('ses_c', { once: { ...once, fingerprint: 'g' } }));
    await expect(other).rejects.toEqual(problem('idempotency_conflict'));
    const later = await store.start(...toStart('ses_d', { once: { ...once, nowMs: day } }));

    expect(second).toEqual(first);
    expect(later).toMatchObject({ sessionId: 'ses_d' });
    expect(await idsOf(store, 'all')).toEqual(['ses_a', 'ses_d']);
  });

  it('deletes a purged session except its id, until the id is forgotten', async () => {
    const store = await open();
    await store.start(...toStart('ses_a', { once: { key: 'k', fingerprint: 'f', nowMs: 0 } }));
    await answerFront(store, 'ses_a');

    expect(await store.purge('ses_a', 10)).toBe(true);
    expect(await store.purge('ses_a', 10)).toBe(false);

    expect(await store.find('ses_a')).toEqual({ kind: 'purged' });
    expect(await store.readEvents('ses_a', 0)).toEqual([]);
    expect(await store.readText('ses_a', 0)).toBeUndefined();
    expect(await store.countLive()).toBe(0);
    await store.forget({ purgedMs: 9, idempotencyMs: 0 });
    expect(await store.find('ses_a')).toEqual({ kind: 'purged' });
    await store.forget({ purgedMs: 10, idempotencyMs: 0 });
    expect(await store.find('ses_a')).toEqual({ kind: 'unknown' });
  });

  it('executes a request again if its session was deleted', async () => {
    const store = await open();
    const once: KeyedRequest = { key: 'k', fingerprint: 'f', nowMs: 0 };
    await store.start(...toStart('ses_a', { once }));
    await store.purge('ses_a', 1);

    const again = await store.start(...toStart('ses_b', { once: { ...once, fingerprint: 'g' } }));

    expect(again).toMatchObject({ sessionId: 'ses_b' });
    expect(await store.recall({ ...once, fingerprint: 'g' })).toEqual(again);
  });

  it('lists due sessions', async () => {
    const store = await open();
    for (const [index, id] of ['ses_idle', 'ses_old', 'ses_busy', 'ses_done'].entries()) {
      await store.start(...toStart(id, { nowMs: index * 10 }));
    }
    await answerFront(store, 'ses_idle', 5);
    await answerFront(store, 'ses_old', 90);
    await answerFront(store, 'ses_done', 50);
    await store.change('ses_done', (record) => endSession(record, 'reset', 60));

    const before = { idleMs: 50, createdMs: 10 };

    expect([...(await store.listExpired(before))].sort()).toEqual(['ses_idle', 'ses_old']);
    expect(await store.listStale(60)).toEqual(['ses_done']);
    expect(await store.listStale(59)).toEqual([]);
  });

  it('lists sessions in pages', async () => {
    const store = await open();
    const ids = Array.from({ length: 230 }, (_, index) => `ses_${1000 + index}`);
    await Promise.all(ids.map((id) => store.start(...toStart(id))));
    await answerFront(store, ids[100] ?? '');

    const listed = await idsOf(store, 'all');
    const running = await idsOf(store, 'running');

    expect(listed).toEqual(ids);
    expect(running).toEqual(ids.filter((id) => id !== ids[100]));
  });

  it('reads a long event whole', async () => {
    const store = await open();
    const text = '\u0001é🦤'.repeat(9000);
    await store.start(...toStart('ses_a', { text }));
    await answerFront(store, 'ses_a');

    const [event, ...more] = await store.readEvents('ses_a', 2);

    expect(JSON.parse(event?.line ?? '').data.message).toBe(text);
    expect(more).toEqual([]);
  });

  it('reads long logs in chunks of limited size', async () => {
    const store = await open();
    await store.start(...toStart('ses_a', { text: 'x'.repeat(60_000) }));
    await answerFront(store, 'ses_a');
    for (let turn = 0; turn < 6; turn += 1) {
      await accept(store, 'ses_a', 'y'.repeat(60_000));
      await answerFront(store, 'ses_a');
    }

    const { events } = await recordOf(store, 'ses_a');
    const piece = await store.readEvents('ses_a', 0);

    expect(piece.reduce((sum, { line }) => sum + line.length, 0)).toBeLessThan(260_000);
    expect(await readAll(store, 'ses_a')).toHaveLength(events);
  });
}

describe.each(Object.entries(modes))('a session store in %s', (_mode, pathOf) => {
  behave(async (bounds) => openRig({ path: pathOf(), bounds }).store);

  it('publishes changes once they are durable, in order', async () => {
    const rig = openRig({ path: pathOf(), isHeld: true });
    const commits: Commit[] = [];
    rig.store.onCommit((commit) => commits.push(commit));
    const order: string[] = [];

    const started = rig.store.start(...toStart('ses_a')).then(() => order.push('started'));
    const begun = rig.store
      .change('ses_a', (record) => beginTurn(record, 0, { text: 'q', modelId: 'm' }))
      .then(() => order.push('begun'));
    const found = rig.store.find('ses_a').then(({ kind }) => order.push(kind));
    await Promise.resolve();
    expect([commits, order]).toEqual([[], []]);
    rig.endTurnOfLoop();
    await Promise.all([started, begun, found]);

    expect(order).toEqual(['started', 'begun', 'known']);
    expect(commits).toHaveLength(1);
    const commit = commits[0]?.get('ses_a');
    expect(commit).toMatchObject({ events: 4, pending: [{ isBegun: true }] });
  });

  it('rejects a single change without affecting the others', async () => {
    const rig = openRig({
      path: pathOf(),
      isHeld: true,
      bounds: { queuedTurns: { perAddress: 1 } },
    });
    const client = { address: 'here', network: null };

    const results = Promise.allSettled([
      rig.store.start(...toStart('ses_a', { client })),
      rig.store.start(...toStart('ses_b', { client })),
      rig.store.start(...toStart('ses_c')),
    ]);
    rig.endTurnOfLoop();

    expect((await results).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await idsOf(rig.store, 'all')).toEqual(['ses_a', 'ses_c']);
  });

  it('rolls back a whole group if a write fails, and continues', async () => {
    const rig = openRig({ path: pathOf(), isHeld: true });
    const commits: Commit[] = [];
    rig.store.onCommit((commit) => commits.push(commit));

    const results = Promise.allSettled([
      rig.store.start(...toStart('ses_a')),
      rig.store.start(...toStart('ses_b')),
      rig.store.start(...toStart('ses_b')), // the same id again
    ]);
    rig.endTurnOfLoop();
    const again = rig.store.start(...toStart('ses_a'));
    rig.endTurnOfLoop();

    for (const result of await results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'not_ready' } });
    }
    await again;
    expect(await idsOf(rig.store, 'all')).toEqual(['ses_a']);
    expect(commits).toHaveLength(1);
    expect(await rig.store.countLive()).toBe(1);
  });
});

describeWithEngine('a session store in an engine', () => {
  behave(openSharedStore);
});

describe('a session store in a file', () => {
  it('has the same content when it is opened again', async () => {
    const path = modes['a file']();
    const first = openRig({ path });
    await first.store.start(...toStart('ses_a'));
    await answerFront(first.store, 'ses_a');
    await first.store.start(...toStart('ses_b'));
    const lines = await readAll(first.store, 'ses_a');
    await first.store.close();

    const { store } = openRig({ path });

    expect(await readAll(store, 'ses_a')).toEqual(lines);
    expect(await recordOf(store, 'ses_b')).toMatchObject({ state: 'running' });
    expect(await store.countLive()).toBe(2);
  });

  it('reports an unavailable file as not ready', async () => {
    const { store, path } = openRig({ path: modes['a file']() });
    await store.start(...toStart('ses_a'));
    const database = openSqlite({ path, migrations: sessionMigrations });
    onTestFinished(() => void database.close());
    database.exec('DROP TABLE events');

    const refused = store.change('ses_a', (record) => endSession(record, 'reset', 1));

    await expect(refused).rejects.toEqual(problem('not_ready'));
    await expect(refused).rejects.toBeInstanceOf(Problem);
  });
});

describe('a session file that another process has locked', () => {
  it('does not block this process, and is written in order when the lock ends', async () => {
    const { store, path } = openRig({ path: `${temporaryFolder()}/sessions.db` });
    await store.start(...toStart('ses_a'));
    const other = connectSqlite({ path });
    onTestFinished(() => void other.close());
    other.exec('BEGIN IMMEDIATE');

    const settled: string[] = [];
    const begun = store
      .change('ses_a', (record) => beginTurn(record, 0, { text: 'q', modelId: 'm' }))
      .then(() => settled.push('begin'));
    const said = store
      .change('ses_a', (record) => appendText(record, 0, { delta: 'a', soFar: 'a' }))
      .then(() => settled.push('text'));
    await setTimeout(100); // at least one attempt fails
    const record = await recordOf(store, 'ses_a');
    other.exec('COMMIT');
    await Promise.all([begun, said]);

    expect(record.pending).toMatchObject([{ isBegun: false }]);
    expect(settled).toEqual(['begin', 'text']);
    expect(JSON.parse((await readAll(store, 'ses_a')).at(-1) ?? '')).toMatchObject({
      type: 'message.appended',
    });
  });

  it('fails with not_ready if the lock does not end', async () => {
    const faults: unknown[] = [];
    const path = `${temporaryFolder()}/sessions.db`;
    const watch = { failed: (cause: unknown) => faults.push(cause), worked: () => {} };
    const store = openSqliteSessions({ path, stamp: createStamp(), watch });
    const other = connectSqlite({ path });
    onTestFinished(() => {
      other.close();
      return store.close();
    });
    other.exec('BEGIN IMMEDIATE');

    const started = Promise.all([
      store.start(...toStart('ses_a')),
      store.start(...toStart('ses_b')),
    ]);

    await expect(started).rejects.toEqual(problem('not_ready'));
    expect(faults).toContainEqual(expect.objectContaining({ code: 'SQLITE_BUSY' }));
  });
});
