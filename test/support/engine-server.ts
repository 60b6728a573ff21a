import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { describe, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { type Engine, openEngine } from '../../src/lib/redis/engine.ts';
import { parseEngineUrl } from '../../src/lib/redis/engine-url.ts';
import { temporaryFolder } from './spawn-perch.ts';

/** Path of a Valkey or Redis server, or `null` if neither is installed or PERCH_ENGINE is `absent`. */
const serverPath =
  process.env.PERCH_ENGINE === 'absent'
    ? null
    : (findOnPath('valkey-server') ?? findOnPath('redis-server'));

function findOnPath(name: string): string | null {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

/** Tests that need a Valkey or Redis server. They are skipped where none is installed, unless PERCH_ENGINE_REQUIRED is set. */
export function describeWithEngine(name: string, tests: () => void): void {
  const isSkipped = serverPath === null && process.env.PERCH_ENGINE_REQUIRED === undefined;
  const reason =
    ' (skipped: neither valkey-server nor redis-server is on PATH, or PERCH_ENGINE is `absent`)';
  describe.skipIf(isSkipped)(isSkipped ? name + reason : name, tests);
}

/** Running engine on a free port of the loopback interface. */
export interface EngineServer {
  readonly port: number;
  readonly url: string;
  /** Stops the server as a crash would, or with SIGTERM. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port, with its data. */
  start(): Promise<void>;
  /** Stops it from answering, without closing connections, and continues it. */
  pause(): void;
  resume(): void;
}

/** Returns a port of the loopback interface that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}

/** Starts a Valkey or Redis server with append-only persistence. It is stopped at the end of the test. */
export function startEngine(...options: readonly string[]): Promise<EngineServer> {
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  return startOnFreePort((port) => {
    const place = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', temporaryFolder()];
    return [...place, ...durable, ...options];
  });
}

/** Starts a server with the arguments for a free port. It is stopped at the end of the test. */
export async function startOnFreePort(
  toArguments: (port: number) => readonly string[],
): Promise<EngineServer> {
  for (;;) {
    const port = await freePort();
    const { server, tryToStart } = createServerProcess(port, toArguments(port));
    if (await tryToStart()) return server; // otherwise, another process has taken the port
  }
}

/** Creates a server that is not yet started. `tryToStart` returns `false` if its process ends at once. */
function createServerProcess(port: number, args: readonly string[]) {
  if (serverPath === null) throw new Error('Install redis-server or valkey-server.');
  const path = serverPath;
  let child: ChildProcess | undefined;
  const isRunning = () => child?.exitCode === null && child.signalCode === null;
  const tryToStart = async (): Promise<boolean> => {
    child = spawn(path, [...args], { stdio: 'ignore' });
    // The process id tells this server from another one that has taken the port.
    while (isRunning() && (await readProcessId(port)) !== child.pid) await systemClock.sleep(10);
    return isRunning();
  };
  const start = async (): Promise<void> => {
    while (!(await tryToStart())) await systemClock.sleep(100);
  };
  const stop = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    if (child === undefined || !isRunning()) return;
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill(signal);
    await ended;
  };
  onTestFinished(() => stop());
  const signal = (name: NodeJS.Signals) => () => void child?.kill(name);
  const url = `redis://127.0.0.1:${port}`;
  const server = { port, url, start, stop, pause: signal('SIGSTOP'), resume: signal('SIGCONT') };
  return { server, tryToStart };
}

/** Returns the process id of the server at a port; `undefined` if none answers. */
function readProcessId(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write('INFO server\r\n'));
    const end = () => {
      socket.destroy();
      const id = /^process_id:(\d+)/m.exec(text)?.[1];
      resolve(id === undefined ? undefined : Number(id));
    };
    socket.setTimeout(1000, end);
    socket.on('error', end).on('close', end);
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (/^process_id:\d+\r/m.test(text) || text.startsWith('-')) end();
    });
  });
}

/** Runs a command of `redis-cli` or `valkey-cli`, and returns what it prints. */
export function runEngineCli(...args: readonly string[]): string {
  const cli = serverPath?.replace(/server$/, 'cli') ?? 'redis-cli';
  return execFileSync(cli, [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Opens an engine as an instance does, and waits until it answers. It is closed at the end of the test. */
export async function openTestEngine(
  url: string,
  timeoutMs = 10_000,
  prefix = 'test:',
): Promise<Engine> {
  const address = parseEngineUrl(url);
  if (address === null) throw new Error(`${url} is no URL of an engine.`);
  const engine = await openEngine({
    address,
    prefix,
    timeoutMs,
    clock: systemClock,
    instance: systemRandom.bytes(9).toString('base64url'),
    onChange: () => {},
  });
  onTestFinished(engine.close);
  await engine.waitUntilUp(10_000);
  return engine;
}
