import { createConnection } from 'node:net';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from './build-app.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

/** App that listens on loopback. */
export interface ListeningApp {
  readonly app: TestApp;
  readonly url: string;
  readonly port: number;
}

/** Builds an app that listens on a free port. It is closed at the end of the test. */
export async function listen(
  env: Readonly<Record<string, string>> = {},
  options: Pick<TestAppOptions, 'engine' | 'providers' | 'tracing'> = {},
): Promise<ListeningApp> {
  const app = await buildTestApp({ ...options, env, clock: systemClock });
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
  return { app, url, port: Number(new URL(url).port) };
}

/** Starts a fake upstream. It is closed at the end of the test. */
export async function upstream(handler: FakeHandler): Promise<FakeUpstream> {
  const fake = await startFakeUpstream(handler);
  onTestFinished(() => fake.close());
  return fake;
}

/**
 * Sends chunks to a port, each after the response contains `between`, and returns everything received
 * until the connection closes.
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
