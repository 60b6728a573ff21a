import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { takeTurns } from '../../../../src/routes/admission/admission.ts';

type Hook = (request: unknown, reply: unknown, done: () => void) => void;

/** Opens the hook of an app whose event loop stands still. */
function openHook() {
  const ends: (() => void)[] = [];
  const hooks: Hook[] = [];
  const app = { server: new EventEmitter(), addHook: (_: string, hook: Hook) => hooks.push(hook) };
  const loop = { nextPass: (end: () => void) => ends.push(end), noteConnection: () => {} };
  takeTurns(app as never, loop as never, () => '127.0.0.2');
  let started = 0;
  const ask = () => {
    const socket = Object.assign(new EventEmitter(), { destroyed: false });
    hooks[0]?.({ raw: { socket } }, {}, () => {
      started += 1;
    });
    return socket;
  };
  return { ask, ends, started: () => started };
}

it('forgets a request whose connection closes before its turn', () => {
  const { ask, ends, started } = openHook();
  const sockets = Array.from({ length: 33 }, ask);
  expect(started()).toBe(32); // 16 at once, and 16 in the queue until the pass ends

  const last = sockets.at(-1);
  last?.emit('close');
  ends[0]?.(); // the pass in which the first 16 started

  expect(last?.listenerCount('close')).toBe(0);
  ask();
  expect(started()).toBe(33); // at once, because nothing waits
});
