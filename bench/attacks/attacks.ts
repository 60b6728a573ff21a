import { setMaxListeners } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fill } from './fill.ts';

/** A server under attack, from one address of loopback. */
export interface Attacked {
  readonly port: number;
  readonly localAddress: string;
  /** Aborted when the attack is over. */
  readonly signal: AbortSignal;
}

type Attack = (attacked: Attacked) => Promise<void>;

let number = 0;
/** Returns a number that no other request has. */
const fresh = () => `${process.pid}${number++}`;

/** Opens a connection, sends text and reads nothing. */
function stall({ port, localAddress, signal }: Attacked, text: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, signal, allowHalfOpen: true });
    socket.pause();
    socket.on('error', () => resolve(socket)).on('close', () => resolve(socket));
    socket.once('connect', () => socket.write(text, () => resolve(socket)));
  });
}

/** Milliseconds before a connection that was closed is replaced. Floods of new connections are for a firewall. */
const betweenMs = 1000;

/** Keeps so many connections open that each send the same and read nothing; those that are closed are replaced. */
async function keepStalled(attacked: Attacked, count: number, text: () => string): Promise<void> {
  const keepOne = async () => {
    while (!attacked.signal.aborted) {
      const socket = await stall(attacked, text());
      await Promise.race([
        new Promise((resolve) =>
          socket.once('close', resolve).once('end', resolve).once('error', resolve),
        ),
        wait(20_000),
      ]);
      socket.destroy();
      await wait(betweenMs);
    }
  };
  await Promise.all(Array.from({ length: count }, keepOne));
}

/** Asks with so many requests at once, each anew as soon as the one before it has ended. */
async function keepAsking(attacked: Attacked, count: number, ask: () => Asked): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  // A refusal is answered and reset then, when its request no longer listens.
  agent.createConnection = (options) =>
    connect(options as NetConnectOpts).on('error', () => undefined);
  const one = async () => {
    while (!attacked.signal.aborted) {
      const isAnswered = await send(attacked, agent, ask());
      await wait(isAnswered ? 1 : betweenMs);
    }
  };
  await Promise.all(Array.from({ length: count }, one));
  agent.destroy();
}

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function send(
  { port, localAddress, signal }: Attacked,
  agent: Agent,
  asked: Asked,
): Promise<boolean> {
  const { path, method = 'GET', headers = {}, body } = asked;
  return new Promise((resolve) => {
    const sent = request({
      port,
      host: '127.0.0.1',
      localAddress,
      agent,
      path,
      method,
      headers,
      signal,
    });
    sent.on('error', () => resolve(false));
    sent.on('response', (response) => {
      const isKept = response.headers.connection !== 'close';
      response.on('error', () => resolve(false)).on('close', () => resolve(isKept));
      response.resume();
    });
    sent.end(body);
  });
}

const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** A read of a post on a server that the caller names. */
const readOf = (host: string) => `/api/v1/posts?url=https://${host}/@wren/113000000000000000`;

const kinds = ['pictures', 'items', 'ends', 'nested', 'spaces', 'links', 'markup', 'replies'];

const mcpHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

function batchOf(count: number): string {
  const call = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: {
      name: 'search',
      arguments: { q: 'the', platform: 'archive', limit: 100, full: true },
    },
  });
  return JSON.stringify(Array.from({ length: count }, (_, id) => call(id)));
}

function postOf(path: string, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${length}\r\n${body}`;
}

const message = JSON.stringify({ message: fill('how do I read a profile of heron? ', 65_000) });

/** Each attack by its name. Each runs until its signal is aborted, from one address. */
export const attacks = {
  patterns: (attacked) => {
    const shapes = [
      '?key'.repeat(1900),
      '&key='.repeat(1500),
      '?a=%2'.repeat(1500),
      '%'.repeat(7900),
    ];
    let next = 0;
    return keepAsking(attacked, 4, () => ({ path: `/api/${shapes[next++ % shapes.length]}` }));
  },
  payloads: (attacked) => {
    let next = 0;
    return keepAsking(attacked, 16, () => ({
      path: readOf(`${kinds[next++ % kinds.length]}-${fresh()}.example.org`),
    }));
  },
  batches: (attacked) =>
    keepStalled(attacked, 64, () => postOf('/mcp', mcpHeaders, batchOf(10)).repeat(8)),
  documents: (attacked) => {
    const params = { uri: 'http://localhost:8080/openapi.json' };
    const read = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params });
    return keepStalled(attacked, 64, () => postOf('/mcp', mcpHeaders, read).repeat(8));
  },
  pipelines: (attacked) => keepStalled(attacked, 250, () => head('/ada.example').repeat(1000)),
  slots: (attacked) =>
    keepAsking(attacked, 300, () => ({ path: readOf(`hang-${fresh()}.example.org`) })),
  drips: (attacked) =>
    keepAsking(attacked, 100, () => ({ path: readOf(`drip-${fresh()}.example.org`) })),
  slow: (attacked) =>
    keepStalled(attacked, 1200, () => 'GET /ada.example HTTP/1.1\r\nHost: x\r\nA: b'),
  starts: (attacked) =>
    keepAsking(attacked, 32, () => ({
      path: '/svc/v1/session',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer made-up-${fresh()}` },
      body: message,
    })),
  questions: (attacked) =>
    keepAsking(attacked, 16, () => ({
      path: `/docs/ask?q=${fill('how%20read%20', 3000)}${fresh()}`,
    })),
  histories: (attacked) =>
    Promise.all([
      keepStalled(attacked, 8, () =>
        head(
          `/api/v1/profiles/wren@large-${fresh()}.example.org/posts?max_posts=5000&format=ndjson`,
        ),
      ),
      keepAsking(attacked, 8, () => ({
        path: `/api/v1/profiles/wren@items-${fresh()}.example.org/posts?max_posts=5000`,
      })),
    ]).then(() => undefined),
  bodies: (attacked) =>
    keepAsking(attacked, 32, () => ({
      path: `/mira_holm/status/8000000?nocache=true&n=${fresh()}`,
    })),
  misses: (attacked) =>
    keepAsking(attacked, 32, () => ({
      path: `/mira_holm/status/${20_000_000 + number++}`,
    })),
} as const satisfies Readonly<Record<string, Attack>>;

/** The name of an attack. */
export type AttackName = keyof typeof attacks;

/** Runs one attack in a process of its own: `attacks.ts NAME PORT ADDRESS`, until SIGTERM. */
if (process.argv[1] === import.meta.filename) {
  const [, , name, port, localAddress = ''] = process.argv;
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  process.once('SIGTERM', () => over.abort());
  await attacks[name as AttackName]({ port: Number(port), localAddress, signal: over.signal });
  process.exit(0);
}
