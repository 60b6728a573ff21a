import { EventEmitter } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import {
  createRestartingThread,
  type StartThread,
  ThreadEndedError,
  ThreadError,
  type ThreadReply,
  type ThreadRequest,
} from '../../../../src/answers/worker/thread-client.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

type Reply = (request: ThreadRequest) => readonly ThreadReply[] | 'end';

/** A restarting thread over fake threads, each of which replies or ends as `reply` returns. */
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
      postMessage: (request: ThreadRequest) => {
        if (request.kind === 'close') return end();
        const replies = reply(request);
        if (replies === 'end') return end();
        for (const message of replies) setImmediate(() => events.emit('message', message));
      },
      terminate: async () => {
        end();
        return 0;
      },
    };
  };
  const thread = createRestartingThread({
    threadOptions: { corpora: [], path: ':memory:' },
    startThread,
    clock,
    onLost: (why) => lost.push(why),
  });
  onTestFinished(() => thread.close());
  const ask = () => thread.call('answer', { text: 'q', earlier: [] });
  return { thread, clock, started, lost, ask };
}

const doneWith =
  (result: unknown): Reply =>
  (request) =>
    'id' in request ? [{ kind: 'done', id: request.id, result }] : [];

it('starts the thread with the first task, and keeps it', async () => {
  const { started, thread, ask } = createRig(doneWith(true));
  expect(started).toHaveLength(0);

  expect(await thread.call('open', null)).toBe(true);
  await ask();

  expect(started).toHaveLength(1);
});

it('fails the tasks of a thread that ends, and starts another thread for the next task', async () => {
  let isBroken = true;
  const { started, lost, ask } = createRig((request) => (isBroken ? 'end' : doneWith(1)(request)));

  const asked = await Promise.allSettled([ask(), ask()]);
  isBroken = false;

  expect(asked.map((one) => one.status)).toEqual(['rejected', 'rejected']);
  expect(asked[0]).toMatchObject({ reason: expect.any(ThreadEndedError) });
  expect(lost).toHaveLength(1);
  expect(await ask()).toBe(1);
  expect(started).toHaveLength(2);
});

it('waits before it restarts a thread that ends again and again', async () => {
  const { started, clock, ask } = createRig(() => 'end');

  for (let time = 0; time < 10; time += 1) await expect(ask()).rejects.toThrow(ThreadEndedError);
  expect(started).toHaveLength(2);

  await clock.advance(2000);
  for (let time = 0; time < 10; time += 1) await expect(ask()).rejects.toThrow(ThreadEndedError);
  expect(started).toHaveLength(3);
});

it('passes on the reports of a task in order, and fails the task if the listener throws', async () => {
  const { thread, ask } = createRig((request) => {
    if (!('id' in request)) return [];
    const { id } = request;
    return [
      { kind: 'report', id, report: 'a' },
      { kind: 'report', id, report: 'b' },
      { kind: 'done', id, result: 1 },
    ];
  });
  const reports: string[] = [];
  const question = { text: 'q', earlier: [] };

  await thread.call('answer', question, { onReport: (piece) => reports.push(piece) });
  const deaf = thread.call('answer', question, {
    onReport: () => {
      throw new Error('deaf');
    },
  });

  expect(reports).toEqual(['a', 'b']);
  await expect(deaf).rejects.toThrow('deaf');
  expect(await ask()).toBe(1);
});

it('rejects with the error code of a failed task', async () => {
  const failure = { message: 'database disk image is malformed', code: 'SQLITE_CORRUPT' };
  const { ask } = createRig((request) =>
    'id' in request ? [{ kind: 'failed', id: request.id, failure }] : [],
  );

  const error = await ask().catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(ThreadError);
  expect(error).toMatchObject(failure);
});

it('stops a task at once when its signal is aborted, and notifies the thread', async () => {
  const requests: ThreadRequest[] = [];
  const { thread } = createRig((request) => {
    requests.push(request);
    return [];
  });
  const stop = new AbortController();
  const asked = thread.call('answer', { text: 'q', earlier: [] }, { signal: stop.signal });

  stop.abort(new Error('cancelled'));

  await expect(asked).rejects.toThrow('cancelled');
  expect(requests.map(({ kind }) => kind)).toEqual(['answer', 'stop']);
});

it('rejects tasks after it was closed', async () => {
  const { thread, ask, started } = createRig(doneWith(1));
  await ask();

  await thread.close();

  await expect(ask()).rejects.toThrow(ThreadEndedError);
  expect(started).toHaveLength(1);
});
