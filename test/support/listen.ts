import { createConnection } from 'node:net';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from './build-app.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

/** An app that listens on loopback. */
export interface ListeningApp {
  readonly app: TestApp;
  readonly url: string;
  readonly port: number;
}

/** Builds an app and makes it listen on a free port; it is closed when the test has finished. */
export async function listen(
  env: Readonly<Record<string, string>> = {},
  options: Pick<TestAppOptions, 'engine'> = {},
): Promise<ListeningApp> {
  const app = await buildTestApp({ ...options, env, clock: systemClock });
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
  return { app, url, port: Number(new URL(url).port) };
}

/** Starts a fake upstream that is closed when the test has finished. */
export async function upstream(handler: FakeHandler): Promise<FakeUpstream> {
  const fake = await startFakeUpstream(handler);
  onTestFinished(() => fake.close());
  return fake;
}

/**
 * Sends pieces to a port, each after the first once the answer so far holds `between`, and gives
 * everything that comes back until the connection closes.
 */
export function exchange(
  port: number,
  pieces: readonly (string | Buffer)[],
  between = '',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const [first = '', ...rest] = pieces;
    let received = '';
    const socket = createConnection(port, '127.0.0.1', () => socket.write(first));
    socket.on('data', (chunk) => {
      received += chunk;
      if (received.includes(between)) for (const piece of rest.splice(0)) socket.write(piece);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(received));
  });
}
