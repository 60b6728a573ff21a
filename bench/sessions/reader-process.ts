import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onCore } from '../processes.ts';
import type { Reading, Said } from './readers.ts';

const script = join(import.meta.dirname, 'readers.ts');

/** What many readers took. */
export interface Taken {
  readonly ms: number;
  /** What each of them read. */
  readonly text: string;
}

/**
 * Has many readers read a stream, in a process of their own on a core of its own. The time is counted
 * from when they open it, or from when it is begun, to when the last one has all.
 *
 * @param begin makes the server write, when all readers wait; without it what is recorded is read
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

/** Keeps what a process says, until somebody wants to hear it. */
function listenTo(child: ChildProcess) {
  const said = new Map<Said['kind'], Said>();
  const heard = new Map<Said['kind'], (said: Said) => void>();
  child.on('message', (message: Said) => {
    said.set(message.kind, message);
    heard.get(message.kind)?.(message);
  });
  const ended = once(child, 'disconnect').then((): never => {
    throw new Error('the readers have ended');
  });
  ended.catch(() => undefined); // whoever waits is told
  return {
    of: (kind: Said['kind']): Promise<Said> => {
      const there = said.get(kind);
      if (there !== undefined) return Promise.resolve(there);
      return Promise.race([new Promise<Said>((resolve) => heard.set(kind, resolve)), ended]);
    },
  };
}
