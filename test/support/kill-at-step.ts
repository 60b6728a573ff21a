import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Module that a test loads before a command (`node --import`). It kills the process before its Nth change of the file
 * system, where N is KILL_AT_STEP, and otherwise prints the number of changes.
 */
const last = Number(process.env.KILL_AT_STEP);
let steps = 0;

const changes = [
  'chownSync',
  'closeSync',
  'fsyncSync',
  'mkdirSync',
  'openSync',
  'renameSync',
  'rmdirSync',
  'rmSync',
  'writeSync',
] as const;

for (const name of changes) {
  const original: unknown = fs[name];
  if (typeof original !== 'function') throw new Error(`node:fs has no ${name}.`);
  const counted = (...args: unknown[]): unknown => {
    steps += 1;
    if (steps === last) process.kill(process.pid, 'SIGKILL');
    return Reflect.apply(original, fs, args);
  };
  Object.assign(fs, { [name]: counted });
}
syncBuiltinESMExports();
process.on('exit', () => process.stderr.write(`steps: ${steps}\n`));
