import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onCore } from '../processes.ts';
import type { Reading, Said } from './readers.ts';

const script = join(import.meta.dirname, 'readers.ts');

/** Result of many readers. */
export interface Taken {
  readonly ms: number;
  /** Text that each reader received. */
  readonly text: string;
}

/**
 * Runs many readers of a stream in a separate process on its own core. The time counts from the opening of the streams,
 * or from the call of `begin`, until the last reader has everything.
 *
 * @param begin makes the server write once all readers are waiting; without it, the stored events are read
 */
export async function readTogether(
  reading: Reading,
  begin?: () => Promise<unknown>,
): Promise<Taken> {
  const [command, args] = onCore(1, process.execPath, [
    ...['--import', 'tsx', script],
    JSON.stringify(reading),
  ]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const told = listenTo(child);
  await told.of('ready');
  let since = performance.now();
  child.send('begin');
  await told.of('open');
  if (begin !== undefined) since = performance.now();
  const begun = begin?.();
  await told.of('done');
  const ms = performance.now() - since;
  await begun;
  const { text = '' } = await told.of('read');
  return { ms, text };
}

/** Buffers the messages of a process until they are awaited. */
function listenTo(child: ChildProcess) {
  const said = new Map<Said['kind'], Said>();
  const heard = new Map<Said['kind'], (said: Said) => void>();
  child.on('message', (message: Said) => {
    said.set(message.kind, message);
    heard.get(message.kind)?.(message);
  });
  const ended = once(child, 'disconnect').then((): never => {
    throw new Error('The process of the readers has ended.');
  });
  ended.catch(() => undefined); // `of` reports the error
  return {
    of: (kind: Said['kind']): Promise<Said> => {
      const there = said.get(kind);
      if (there !== undefined) return Promise.resolve(there);
      return Promise.race([new Promise<Said>((resolve) => heard.set(kind, resolve)), ended]);
    },
  };
}
