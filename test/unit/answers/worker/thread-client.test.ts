import { EventEmitter } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import {
  ThreadEndedError,
  ThreadError,
  type ThreadOrder,
  type ThreadReport,
} from '../../../../src/answers/worker/messages.ts';
import {
  createLastingThread,
  type StartThread,
} from '../../../../src/answers/worker/thread-client.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

type Reply = (order: ThreadOrder) => readonly ThreadReport[] | 'end';

/** A lasting thread over made-up ones, each of which replies, or ends, as it is told to. */
function createRig(reply: Reply) {
  const clock = createManualClock();
  const started: EventEmitter[] = [];
  const lost: unknown[] = [];
  const startThread: StartThread = () => {
    const events = new EventEmitter();
    started.push(events);
    const end = () => void setImmediate(() => events.emit('exit', 1));
    return {
      on: events.on.bind(events) as never,
      postMessage: (order: ThreadOrder) => {
        if (order.kind === 'close') return end();
        const reports = reply(order);
        if (reports === 'end') return end();
        for (const report of reports) setImmediate(() => events.emit('message', report));
      },
      terminate: async () => {
        end();
        return 0;
      },
    };
  };
  const thread = createLastingThread({
    setting: { corpora: [], path: ':memory:' },
    startThread,
    clock,
    onLost: (why) => lost.push(why),
  });
  onTestFinished(() => thread.close());
  const ask = () => thread.call('answer', { text: 'q', earlier: [] });
  return { thread, clock, started, lost, ask };
}

const doneWith =
  (get: unknown): Reply =>
  (order) =>
    'id' in order ? [{ kind: 'done', id: order.id, get }] : [];

it('starts with the first task, and keeps its thread', async () => {
  const { started, thread, ask } = createRig(doneWith(true));
  expect(started).toHaveLength(0);

  expect(await thread.call('open', null)).toBe(true);
  await ask();

  expect(started).toHaveLength(1);
});

it('fails the tasks of a thread that ends, and starts another for the next', async () => {
  let isBroken = true;
  const { started, lost, ask } = createRig((order) => (isBroken ? 'end' : doneWith(1)(order)));

  const asked = await Promise.allSettled([ask(), ask()]);
  isBroken = false;

  expect(asked.map((one) => one.status)).toEqual(['rejected', 'rejected']);
  expect(asked[0]).toMatchObject({ reason: expect.any(ThreadEndedError) });
  expect(lost).toHaveLength(1);
  expect(await ask()).toBe(1);
  expect(started).toHaveLength(2);
});

it('does not start threads that end again and again, until some time has passed', async () => {
  const { started, clock, ask } = createRig(() => 'end');

  for (let time = 0; time < 10; time += 1) await expect(ask()).rejects.toThrow(ThreadEndedError);
  expect(started).toHaveLength(2);

  await clock.advance(2000);
  for (let time = 0; time < 10; time += 1) await expect(ask()).rejects.toThrow(ThreadEndedError);
  expect(started).toHaveLength(3);
});

it('gives what a task tells in order, and fails it where nobody can hear', async () => {
  const { thread, ask } = createRig((order) => {
    if (!('id' in order)) return [];
    const { id } = order;
    return [
      { kind: 'told', id, told: 'a' },
      { kind: 'told', id, told: 'b' },
      { kind: 'done', id, get: 1 },
    ];
  });
  const told: string[] = [];
  const question = { text: 'q', earlier: [] };

  await thread.call('answer', question, { onTold: (piece) => told.push(piece) });
  const deaf = thread.call('answer', question, {
    onTold: () => {
      throw new Error('deaf');
    },
  });

  expect(told).toEqual(['a', 'b']);
  await expect(deaf).rejects.toThrow('deaf');
  expect(await ask()).toBe(1);
});

it('tells what a task failed with, by its code', async () => {
  const fault = { message: 'database disk image is malformed', code: 'SQLITE_CORRUPT' };
  const { ask } = createRig((order) =>
    'id' in order ? [{ kind: 'failed', id: order.id, fault }] : [],
  );

  const error = await ask().catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(ThreadError);
  expect(error).toMatchObject(fault);
});

it('stops a task at once when its signal is aborted, and tells the thread', async () => {
  const orders: ThreadOrder[] = [];
  const { thread } = createRig((order) => {
    orders.push(order);
    return [];
  });
  const stop = new AbortController();
  const asked = thread.call('answer', { text: 'q', earlier: [] }, { signal: stop.signal });

  stop.abort(new Error('cancelled'));

  await expect(asked).rejects.toThrow('cancelled');
  expect(orders.map(({ kind }) => kind)).toEqual(['answer', 'stop']);
});

it('takes no task after it was closed', async () => {
  const { thread, ask, started } = createRig(doneWith(1));
  await ask();

  await thread.close();

  await expect(ask()).rejects.toThrow(ThreadEndedError);
  expect(started).toHaveLength(1);
});
