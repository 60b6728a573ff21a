import { connect, createServer, type Socket } from 'node:net';
import { systemClock } from '../../src/lib/clock.ts';

/** Faults of a network. Connections that a fault has broken stay broken after it. */
export const faults = ['cut', 'delay', 'drop', 'half-open'] as const;

/**
 * `cut`: connections are reset. `delay`: each piece arrives 0 to 500 ms late. `drop`: bytes vanish in both directions,
 * and the connections stay open. `half-open`: the engine receives commands, but its replies vanish.
 */
export type Fault = (typeof faults)[number];

/** TCP proxy between Perch and an engine. */
export interface FaultyProxy {
  /** URL of the engine through the proxy. */
  readonly url: string;
  /** Time spans in which the engine answered late. */
  readonly late: readonly Span[];
  /** Applies a fault to the present and later connections, until the next call. `null` ends the fault. */
  set(fault: Fault | null): void;
  close(): void;
}

/** Time span in milliseconds, as of `performance.now()`. */
export type Span = Readonly<{ fromMs: number; toMs: number }>;

const maxDelayMs = 500;
/** Milliseconds after which an answer is late. It is far below the timeout of the engine, of which this is a part. */
const lateMs = 10;

/** Connection through the proxy, and whether its bytes vanish from now on. */
interface Link {
  readonly client: Socket;
  readonly engine: Socket;
  losesCommands: boolean;
  losesReplies: boolean;
  /** Time of the oldest command without a reply. */
  askedMs: number | null;
}

/** Opens a proxy to a port of the loopback interface. */
export async function openFaultyProxy(port: number): Promise<FaultyProxy> {
  const links = new Set<Link>();
  const late: Span[] = [];
  let current: Fault | null = null;
  const afflict = (link: Link): void => {
    if (current === 'cut') link.client.resetAndDestroy();
    if (current === 'drop') link.losesCommands = true;
    if (current === 'drop' || current === 'half-open') link.losesReplies = true;
  };
  const lateness = () => (current === 'delay' ? Math.random() * maxDelayMs : 0);
  const server = createServer({ noDelay: true }, (client) => {
    const engine = connect({ port, host: '127.0.0.1', noDelay: true });
    const sound = { losesCommands: false, losesReplies: false, askedMs: null };
    const link: Link = { client, engine, ...sound };
    links.add(link);
    client.on('data', () => {
      link.askedMs ??= performance.now();
    });
    engine.on('data', () => {
      const [fromMs, toMs] = [link.askedMs ?? Number.POSITIVE_INFINITY, performance.now()];
      if (toMs - fromMs > lateMs) late.push({ fromMs, toMs });
      link.askedMs = null;
    });
    const toEngine = pass(client, engine, { lateness, isLost: () => link.losesCommands });
    const toClient = pass(engine, client, { lateness, isLost: () => link.losesReplies });
    client.on('close', () => {
      links.delete(link);
      toEngine(() => void engine.destroy());
    });
    engine.on('close', () => {
      if (!link.losesReplies) toClient(() => void client.destroy());
    });
    afflict(link);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    late,
    set: (fault) => {
      current = fault;
      for (const link of links) afflict(link);
    },
    close: () => {
      server.close();
      for (const { client, engine } of links) {
        client.destroy();
        engine.destroy();
      }
    },
  };
}

interface PassOptions {
  readonly lateness: () => number;
  readonly isLost: () => boolean;
}

/** Passes the bytes of one direction on. Returns a function that runs a step after the bytes received so far. */
function pass(from: Socket, to: Socket, { lateness, isLost }: PassOptions) {
  let last = Promise.resolve();
  const later = (step: () => void): void => {
    const ms = lateness();
    const wait = ms > 0 ? systemClock.sleep(ms) : undefined;
    last = Promise.all([last, wait]).then(step);
  };
  from.on('data', (bytes) => {
    if (!isLost()) later(() => void to.write(bytes));
  });
  from.on('error', () => {});
  return later;
}

/**
 * Applies random faults to random proxies, with pauses between them, for `ms` milliseconds. Returns the time spans in
 * which there was a fault.
 */
export async function shake(proxies: readonly FaultyProxy[], ms: number): Promise<Span[]> {
  const spans: Span[] = [];
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) {
    const fromMs = performance.now();
    const steps = 1 + Math.floor(Math.random() * 4);
    for (let step = 0; step < steps; step += 1) {
      for (const proxy of proxies) proxy.set(pick([...faults, null, null]));
      await systemClock.sleep(Math.random() * 1000);
    }
    for (const proxy of proxies) proxy.set(null);
    spans.push({ fromMs, toMs: performance.now() });
    await systemClock.sleep(Math.random() * pick([500, 2000, 15_000]));
  }
  return spans;
}

function pick<Value>(values: readonly Value[]): Value {
  // The index is less than the length.
  return values[Math.floor(Math.random() * values.length)] as Value;
}
