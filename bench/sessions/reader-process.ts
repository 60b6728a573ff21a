import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onCore } from '../processes.ts';
import type { ReaderMessage, Reading } from './readers.ts';

const script = join(import.meta.dirname, 'readers.ts');

/** Time in milliseconds until all readers have read all answers, and the text that each reader received. */
export interface Taken {
  readonly ms: number;
  readonly text: string;
}

/**
 * Measures the time until many readers in a separate process have read all answers of a stream.
 * @param begin Makes the server send events. Called when all readers are connected; the measurement
 * starts then. Without `begin`, the readers read stored events, and the time to connect is
 * included.
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
  const messages = bufferMessages(child);
  await messages.of('ready');
  let since = performance.now();
  child.send('begin');
  await messages.of('open');
  if (begin !== undefined) since = performance.now();
  const begun = begin?.();
  await messages.of('done');
  const ms = performance.now() - since;
  await begun;
  const { text = '' } = await messages.of('read');
  return { ms, text };
}

/** Buffers the messages of a child process until the caller awaits them. */
function bufferMessages(child: ChildProcess) {
  const received = new Map<ReaderMessage['kind'], ReaderMessage>();
  const waiting = new Map<ReaderMessage['kind'], (received: ReaderMessage) => void>();
  child.on('message', (message: ReaderMessage) => {
    received.set(message.kind, message);
    waiting.get(message.kind)?.(message);
  });
  const ended = once(child, 'disconnect').then((): never => {
    throw new Error('The process of the readers has ended.');
  });
  ended.catch(() => undefined); // `of` reports the error
  return {
    of: (kind: ReaderMessage['kind']): Promise<ReaderMessage> => {
      const found = received.get(kind);
      if (found !== undefined) return Promise.resolve(found);
      return Promise.race([
        new Promise<ReaderMessage>((resolve) => waiting.set(kind, resolve)),
        ended,
      ]);
    },
  };
}
