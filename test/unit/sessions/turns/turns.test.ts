import { describe, expect, it, onTestFinished } from 'vitest';
import { Problem } from '../../../../src/lib/problem.ts';
import { createFairQueue } from '../../../../src/lib/scheduling/fair-queue.ts';
import type { SessionStore } from '../../../../src/sessions/store/session-store.ts';
import { openSqliteSessions } from '../../../../src/sessions/store/sqlite-store.ts';
import { acceptMessage, startSession } from '../../../../src/sessions/store/state.ts';
import { createTurns } from '../../../../src/sessions/turns/turns.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { createManualEngine } from '../../../support/scripted-engine.ts';
import { untilIdle } from '../../../support/session-rig.ts';

/** Turns over a store that fails as often as the test sets. */
async function openRig() {
  const clock = createManualClock();
  const engine = createManualEngine();
  const store = openSqliteSessions({
    path: ':memory:',
    stamp: (index) => ({ id: `evt_${index}`, atMs: clock.now(), index }),
  });
  onTestFinished(() => store.close());
  const failing = { change: 0, find: 0, confirm: 0 };
  const fail = (name: keyof typeof failing): boolean => {
    if (failing[name] === 0) return false;
    failing[name] -= 1;
    return true;
  };
  const atChange = { resolve: () => {} }; // called after each change was requested
  const unusable = () => Promise.reject(new Problem('not_ready', { detail: 'It cannot be used.' }));
  const flaky: SessionStore = {
    ...store,
    change: (id, decide) => (fail('change') ? unusable() : store.change(id, decide)),
    changeOwn: async (id, decide) => {
      const changing = fail('change') ? unusable() : store.changeOwn(id, decide);
      atChange.resolve();
      const changed = await changing;
      return fail('confirm') ? unusable() : changed;
    },
    find: (id) => (fail('find') ? unusable() : store.find(id)),
  };
  const faults: string[] = [];
  const stalled: (string | null)[] = [];
  const scheduler = createFairQueue({ atOnce: 1, clock, isReady: () => true });
  const turns = createTurns({
    store: flaky,
    engine,
    clock,
    scheduler,
    limits: { queue: 8, turns: 500, sessionBytes: 16_777_216, turnMs: 120_000 },
    onFault: (_error, doing) => faults.push(doing),
    onStalled: (id, turn) => stalled.push(turn === null ? null : `${id} ${turn.sequence}`),
  });
  onTestFinished(() => turns.interrupt());
  const start = async (id: string) => {
    const delivery = { deliveryId: `dlv_${id}`, text: id, nowMs: clock.now() };
    const transition = startSession({ id, owner: null, client: null }, delivery);
    const receipt = { sessionId: id, deliveryId: delivery.deliveryId, queued: 0 };
    await store.start({ transition, receipt }, null);
    turns.schedule(transition.record);
  };
  const typesOf = async (id: string) =>
    (await store.readEvents(id, 0)).map(({ line }) => JSON.parse(line).type);
  const seen = { faults, stalled, typesOf };
  return { clock, engine, store, turns, scheduler, failing, atChange, start, ...seen };
}

describe('a turn over a store that is unavailable for a while', () => {
  it('begins as soon as the store is available', async () => {
    const { clock, engine, failing, faults, start, typesOf, turns, scheduler } = await openRig();
    failing.change = 2;
    failing.find = 1;
    await start('ses_a');

    for (let second = 0; second < 6; second += 1) {
      await untilIdle();
      await clock.advance(1000);
    }
    (await engine.next()).answer();
    await untilIdle();

    expect((await typesOf('ses_a')).at(-1)).toBe('session.waiting');
    expect(faults).toEqual(['beginning a turn', 'looking for the next turn', 'beginning a turn']);
    expect([turns.atWork, scheduler.waiting]).toEqual([0, 0]);
  });

  it('fails if its begin was stored, but not confirmed', async () => {
    const { clock, failing, faults, start, typesOf, turns } = await openRig();
    failing.confirm = 1;
    failing.find = 1;
    await start('ses_a');

    for (let second = 0; second < 3; second += 1) {
      await untilIdle();
      await clock.advance(1000);
    }

    expect((await typesOf('ses_a')).slice(-2)).toEqual(['turn.failed', 'session.waiting']);
    expect(faults).toEqual(['beginning a turn', 'looking for the next turn']);
    expect(turns.atWork).toBe(0);
  });

  it('records its end later, because readers wait for the event', async () => {
    const { clock, engine, failing, faults, start, typesOf } = await openRig();
    await start('ses_a');
    const held = await engine.next();
    failing.change = 3;
    held.answer();

    for (let second = 0; second < 4; second += 1) {
      await untilIdle();
      await clock.advance(1000);
    }
    await untilIdle();

    expect((await typesOf('ses_a')).slice(-2)).toEqual(['turn.completed', 'session.waiting']);
    expect(faults).toEqual(Array.from({ length: 3 }, () => 'recording the end of a turn'));
  });

  it('fails if its text cannot be recorded', async () => {
    const { engine, failing, faults, start, typesOf } = await openRig();
    await start('ses_a');
    const held = await engine.next();
    failing.change = 1;
    held.say('x'.repeat(64));
    await untilIdle();

    expect(await typesOf('ses_a')).toEqual(expect.arrayContaining(['turn.failed']));
    expect(held.signal.aborted).toBe(true);
    expect(faults).toEqual(['recording text']);
  });

  it('does not delay the stop of the server after a failure', async () => {
    const { engine, failing, faults, start, turns } = await openRig();
    await start('ses_a');
    const held = await engine.next();
    failing.change = Number.POSITIVE_INFINITY;
    held.say('x'.repeat(64));
    await untilIdle();
    expect(faults).toEqual(['recording text', 'recording the end of a turn']);

    await turns.interrupt();

    expect(turns.atWork).toBe(0);
  });

  it('stops without an event if its session is deleted', async () => {
    const { engine, store, start, turns } = await openRig();
    await start('ses_a');
    const held = await engine.next();
    await store.purge('ses_a', 0);
    held.say('x'.repeat(64));
    await untilIdle();

    expect(held.signal.aborted).toBe(true);
    expect(turns.atWork).toBe(0);
  });
});

it('begins if one commit stored the end of the turn before and then its message', async () => {
  const { clock, engine, store, turns, start, typesOf, atChange } = await openRig();
  store.onCommit((commit) => {
    for (const [, record] of commit) if (record !== undefined) turns.follow(record);
  });
  await start('ses_a');
  const first = await engine.next();
  const limits = { queue: 8, turns: 500, sessionBytes: 16_777_216 };
  const delivery = { deliveryId: 'dlv_2', text: 'two', nowMs: clock.now() };
  const receipt = { sessionId: 'ses_a', deliveryId: 'dlv_2', queued: 0 };
  const accepted = new Promise((resolve) => {
    atChange.resolve = () => {
      atChange.resolve = () => {};
      resolve(
        store.accept('ses_a', null, (record) => {
          expect(record.state).toBe('waiting');
          return { transition: acceptMessage(record, delivery, limits), receipt };
        }),
      );
    };
  });
  first.answer();

  await accepted;
  (await engine.next()).answer();
  await untilIdle();

  const types = await typesOf('ses_a');
  expect(types.filter((type) => type === 'turn.completed')).toHaveLength(2);
});

describe('a turn that cannot be stored within its time limit', () => {
  it('is reported once, and is still answered when the store is available', async () => {
    const { clock, engine, failing, stalled, start, typesOf } = await openRig();
    failing.change = 200;
    await start('ses_a');

    const wait = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await untilIdle();
        await clock.advance(1000);
      }
    };
    await wait(115);
    const before = [...stalled];
    await wait(60);
    const during = [...stalled];
    failing.change = 0;
    await wait(3);
    (await engine.next()).answer();
    await untilIdle();

    expect([before, during]).toEqual([[], ['ses_a 0']]);
    expect(stalled).toEqual(['ses_a 0', null]);
    expect((await typesOf('ses_a')).at(-1)).toBe('session.waiting');
  });

  it('is reported if only its end cannot be stored', async () => {
    const { clock, engine, failing, stalled, start } = await openRig();
    await start('ses_a');
    const turn = await engine.next();
    await untilIdle();
    failing.change = 200;
    turn.answer();

    for (let second = 0; second < 125; second += 1) {
      await untilIdle();
      await clock.advance(1000);
    }

    expect(stalled).toEqual(['ses_a 0']);
  });
});
