import { setMaxListeners } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fill } from './fill.ts';
import { collector } from './large-archive.ts';

/** Server under attack, and the loopback address of the attacker. */
export interface AttackTarget {
  readonly port: number;
  readonly localAddress: string;
  /** Signal that is aborted when the attack ends. */
  readonly signal: AbortSignal;
}

type Attack = (target: AttackTarget) => Promise<void>;

let number = 0;
/** Returns a string of digits that is unique among the requests of all attackers. */
const fresh = () => `${process.pid}${number++}`;

/** Opens a connection and sends text, but does not read the response. */
function stall({ port, localAddress, signal }: AttackTarget, text: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, signal, allowHalfOpen: true });
    socket.pause();
    socket.on('error', () => resolve(socket)).on('close', () => resolve(socket));
    socket.once('connect', () => socket.write(text, () => resolve(socket)));
  });
}

/** Milliseconds until a closed connection is replaced. The delay prevents a flood of new connections. */
const betweenMs = 1000;

/** Opens `count` connections that send `text()` and never read a response. Replaces closed connections. */
async function keepStalled(target: AttackTarget, count: number, text: () => string): Promise<void> {
  const keepOne = async () => {
    while (!target.signal.aborted) {
      const socket = await stall(target, text());
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

/** Sends requests until the signal is aborted, with `count` requests in flight at a time. */
async function keepRequesting(
  target: AttackTarget,
  count: number,
  nextRequest: () => RequestOptions,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  // A refused connection is reset after the response, when the request has no error listener any more.
  agent.createConnection = (options) =>
    connect(options as NetConnectOpts).on('error', () => undefined);
  const one = async () => {
    while (!target.signal.aborted) {
      const isAnswered = await send(target, agent, nextRequest());
      await wait(isAnswered ? 1 : betweenMs);
    }
  };
  await Promise.all(Array.from({ length: count }, one));
  agent.destroy();
}

interface RequestOptions {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function send(
  { port, localAddress, signal }: AttackTarget,
  agent: Agent,
  asked: RequestOptions,
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

/** Returns the API path to read a post of the given Mastodon server. */
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

/** Attacks by name. Each attack runs from one client address until its signal is aborted. */
export const attacks = {
  patterns: (target) => {
    const shapes = [
      '?key'.repeat(1900),
      '&key='.repeat(1500),
      '?a=%2'.repeat(1500),
      '%'.repeat(7900),
    ];
    let next = 0;
    return keepRequesting(target, 4, () => ({ path: `/api/${shapes[next++ % shapes.length]}` }));
  },
  payloads: (target) => {
    let next = 0;
    return keepRequesting(target, 16, () => ({
      path: readOf(`${kinds[next++ % kinds.length]}-${fresh()}.example.org`),
    }));
  },
  batches: (target) =>
    keepStalled(target, 64, () => postOf('/mcp', mcpHeaders, batchOf(10)).repeat(8)),
  documents: (target) => {
    const params = { uri: 'http://localhost:8080/openapi.json' };
    const read = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params });
    return keepStalled(target, 64, () => postOf('/mcp', mcpHeaders, read).repeat(8));
  },
  pipelines: (target) => keepStalled(target, 250, () => head('/ada.example').repeat(1000)),
  slots: (target) =>
    keepRequesting(target, 300, () => ({ path: readOf(`hang-${fresh()}.example.org`) })),
  drips: (target) =>
    keepRequesting(target, 100, () => ({ path: readOf(`drip-${fresh()}.example.org`) })),
  slow: (target) => keepStalled(target, 1200, () => 'GET /ada.example HTTP/1.1\r\nHost: x\r\nA: b'),
  starts: (target) =>
    keepRequesting(target, 32, () => ({
      path: '/svc/v1/session',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer made-up-${fresh()}` },
      body: message,
    })),
  questions: (target) =>
    keepRequesting(target, 16, () => ({
      path: `/docs/ask?q=${fill('how%20read%20', 3000)}${fresh()}`,
    })),
  histories: (target) =>
    Promise.all([
      keepStalled(target, 8, () =>
        head(
          `/api/v1/profiles/wren@large-${fresh()}.example.org/posts?max_posts=5000&format=ndjson`,
        ),
      ),
      keepRequesting(target, 8, () => ({
        path: `/api/v1/profiles/wren@items-${fresh()}.example.org/posts?max_posts=5000`,
      })),
    ]).then(() => undefined),
  bodies: (target) =>
    keepRequesting(target, 32, () => ({
      path: `/mira_holm/status/8000000?nocache=true&n=${fresh()}`,
    })),
  misses: (target) =>
    keepRequesting(target, 32, () => ({
      path: `/mira_holm/status/${20_000_000 + number++}`,
    })),
  archives: (target) => {
    const profile = `/api/v1/profiles/${collector}`;
    const phrase = encodeURIComponent(`"${fill('the heron and the gate of the river and ', 280)}"`);
    const paths = [
      () => `${profile}/posts?only_replies=true&max_posts=${1000 + (number++ % 4000)}`,
      () => `${profile}?only_media=true&with_reposts=true&limit=${1 + (number++ % 100)}`,
      () => `/api/v1/search?platform=archive&q=${phrase}${fresh()}`,
      () =>
        `/api/v1/search?platform=archive&q=${encodeURIComponent(`"${fill('the ', 32)}"`)}${fresh()}`,
      () => `${profile}/followers?limit=100&page=${2 + (number++ % 50)}`,
    ];
    return keepRequesting(target, 16, () => ({ path: paths[number++ % paths.length]?.() ?? '/' }));
  },
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;

/** Runs one attack as a separate process until SIGTERM: `attacks.ts NAME PORT ADDRESS`. */
if (process.argv[1] === import.meta.filename) {
  const [, , name, port, localAddress = ''] = process.argv;
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  process.once('SIGTERM', () => over.abort());
  await attacks[name as AttackName]({ port: Number(port), localAddress, signal: over.signal });
  process.exit(0);
}
