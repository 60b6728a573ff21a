import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { takeTurns } from '../../../../src/routes/admission/admission.ts';

type Hook = (request: unknown, reply: unknown, done: () => void) => void;

/** Opens the hook of an app in whose event loop a pass ends when `endPass` is called. */
function openHook() {
  let nowMs = 0;
  let ends: (() => void)[] = [];
  const hooks: Hook[] = [];
  const started: string[] = [];
  const app = { server: new EventEmitter(), addHook: (_: string, hook: Hook) => hooks.push(hook) };
  const nextPass = (end: () => void) => ends.push(end);
  const loop = { now: () => nowMs, nextPass, noteConnection: () => {} };
  takeTurns(app as never, loop as never, ({ ip }) => ip);
  /** Sends a request that takes `ms` milliseconds. */
  const ask = (ip: string, ms: number) => {
    const socket = Object.assign(new EventEmitter(), { destroyed: false });
    hooks[0]?.({ ip, raw: { socket } }, {}, () => {
      nowMs += ms;
      started.push(ip);
    });
    return socket;
  };
  const endPass = () => {
    const ended = ends;
    ends = [];
    for (const end of ended) end();
  };
  return { ask, endPass, takeStarted: () => started.splice(0) };
}

it('starts the requests of a client until they have taken a millisecond of a pass', () => {
  const { ask, endPass, takeStarted } = openHook();

  for (let sent = 0; sent < 10; sent += 1) ask('a', 0.25);
  expect(takeStarted()).toEqual(['a', 'a', 'a', 'a']);
  ask('b', 0.25);
  expect(takeStarted()).toEqual(['b']); // at once, although others wait

  endPass();
  expect(takeStarted()).toEqual(['a', 'a', 'a', 'a']);
  endPass();
  expect(takeStarted()).toEqual(['a', 'a']);
});

it('starts waiting requests of all clients by turns, while a pass takes less than 20 ms', () => {
  const { ask, endPass, takeStarted } = openHook();

  for (const client of ['a', 'b', 'c', 'd']) for (let n = 0; n < 2; n += 1) ask(client, 8);
  expect(takeStarted()).toEqual(['a', 'b', 'c']);

  endPass();
  expect(takeStarted()).toEqual(['a', 'b', 'c']);
  endPass();
  expect(takeStarted()).toEqual(['d']);
  endPass();
  expect(takeStarted()).toEqual(['d']);
});

it('forgets a request whose connection closes before its turn', () => {
  const { ask, endPass, takeStarted } = openHook();
  ask('a', 1);

  const closed = ask('a', 1);
  closed.emit('close');
  endPass();

  expect(closed.listenerCount('close')).toBe(0);
  expect(takeStarted()).toEqual(['a']);
});
