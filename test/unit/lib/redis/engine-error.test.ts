import { describe, expect, it } from 'vitest';
import {
  EngineError,
  toConnectionFault,
  toEngineError,
  toPermissionError,
} from '../../../../src/lib/redis/engine-error.ts';

/** Returns an error of the system, as Node.js throws it. */
const systemError = (syscall: string, code: string, message: string) =>
  Object.assign(new Error(message), { syscall, code });

const refused = systemError('connect', 'ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.5:6379');

describe('an error of a command', () => {
  it.each([
    ['an error of the system', refused, 'connect ECONNREFUSED', true],
    [
      'a lost connection',
      new Error('Socket closed unexpectedly'),
      'Socket closed unexpectedly',
      true,
    ],
    ['a full engine', new Error('OOM command not allowed'), 'OOM command not allowed', false],
    [
      'a full disk',
      new Error('MISCONF Errors writing to AOF'),
      'MISCONF Errors writing to AOF',
      false,
    ],
    ['a replica', new Error('READONLY You cannot write'), 'READONLY You cannot write', true],
    [
      'a wrong type',
      new Error('WRONGTYPE Operation against'),
      'WRONGTYPE Operation against',
      false,
    ],
    ['a fault of a script', new Error('ERR user_script:1'), 'ERR user_script:1', false],
    ['a value that is no error', 'gone', 'gone', true],
  ])('%s: %#', (_, error, message, isOutage) => {
    const converted = toEngineError(error);

    expect(converted).toBeInstanceOf(EngineError);
    expect({ message: converted.message, isOutage: converted.isOutage }).toEqual({
      message,
      isOutage,
    });
  });

  it('stays as it is if it is converted already', () => {
    const error = new EngineError('it did not answer within 50 ms', true);

    expect(toEngineError(error)).toBe(error);
  });
});

it.each([
  ['an error of the system', refused, 'connect ECONNREFUSED'],
  ['an error for each address', new AggregateError([refused, refused]), 'connect ECONNREFUSED'],
  [
    'a certificate',
    Object.assign(new Error('Host: valkey.internal. is not in the cert'), { code: 'ERR_TLS_X' }),
    'ERR_TLS_X',
  ],
  ['a wrong password', new Error('WRONGPASS invalid'), 'WRONGPASS invalid'],
  ['no reason', new Error('All the root nodes are unavailable'), null],
  ['no error', 'a message', null],
])('an error of the connection has a reason without addresses: %s', (_, error, expected) => {
  expect(toConnectionFault(error)).toBe(expected);
});

it('a command that the user of the engine may not run is no outage', () => {
  const denied = new Error('NOPERM this user has no permissions to run the INFO command');

  expect(toEngineError(denied).isOutage).toBe(true);
  expect(() => toPermissionError(denied)).toThrow(new EngineError(denied.message, false));
  expect(() => toPermissionError(refused)).toThrow(refused);
});
