import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Client } from '../../lib/caller.ts';
import type { HostCheck } from '../../lib/http/origins.ts';
import { Problem } from '../../lib/problem.ts';
import { createRotation, type ServerLoop } from '../../lib/scheduling/fair-queue.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import { maxUrlBytes, routeNotFound } from '../problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route works during shutdown; others answer 503 `shutting_down`. */
    decidesWhileDraining?: boolean;
  }
}

export type Readiness = { readonly draining: boolean };

/** Rejects invalid `Host` headers and overlong URLs. */
export function setAdmission(app: FastifyInstance, checkHost: HostCheck): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const fault = findFault(raw) ?? checkHost(raw.headers.host);
    if (fault?.code === 'malformed_request') reply.header('connection', 'close');
    done(fault ?? undefined);
  });
}

/** Rejects most requests during a shutdown, and requests for unknown paths. */
export function refuseRequests(app: FastifyInstance, readiness: Readiness): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { config, url } = request.routeOptions;
    if (readiness.draining && config.decidesWhileDraining !== true) {
      return done(new Problem('shutting_down', { detail: 'The server is shutting down.' }));
    }
    // Before the body is read. The plugin for CORS has a route for OPTIONS at all paths.
    done(request.is404 || url === '*' ? routeNotFound(request) : undefined);
  });
}

function findFault({ rawHeaders, httpVersion, url = '' }: IncomingMessage): Problem | null {
  // RFC 9112 §3.2 requires exactly one `Host` header. Node accepts several headers.
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    const detail = `The request has ${hosts === 0 ? 'no' : 'more than one'} \`Host\` header.`;
    return new Problem('malformed_request', { detail });
  }
  if (url.length <= maxUrlBytes) return null;
  return new Problem('uri_too_long', { detail: `The URL is longer than ${maxUrlBytes} bytes.` });
}

const maxPassMs = 20; // time that the start of requests takes in one pass of the event loop
const maxAddressMs = 1; // of which one client uses this much before its next request waits

/**
 * Schedules requests so that a client with many or slow requests does not delay the others. Their
 * time is that until they first wait, for example for a source.
 */
export function takeTurns(
  app: FastifyInstance,
  loop: ServerLoop,
  addressOf: (request: FastifyRequest) => string,
): void {
  const waiting = createRotation<{ client: Client; run: () => void }>();
  const usedMs = new Map<string, number>();
  let passMs = 0;
  let isInPass = false;
  const beginPass = (): void => {
    if (isInPass) return;
    isInPass = true;
    loop.nextPass(() => {
      isInPass = false;
      passMs = 0;
      usedMs.clear();
      startWaiting();
    });
  };
  const hasTime = (): boolean => {
    beginPass();
    return passMs < maxPassMs;
  };
  const hasShare = (address: string): boolean => (usedMs.get(address) ?? 0) < maxAddressMs;
  const start = (address: string, run: () => void): void => {
    const startedMs = loop.now();
    run();
    const tookMs = loop.now() - startedMs;
    passMs += tookMs;
    usedMs.set(address, (usedMs.get(address) ?? 0) + tookMs);
  };
  const startWaiting = (): void => {
    while (waiting.length > 0 && hasTime()) {
      const next = waiting.take(hasShare);
      if (next === undefined) return;
      start(next.client.address, next.run);
    }
  };
  app.server.on('connection', loop.noteConnection);
  app.addHook('onRequest', (request, _reply, done) => {
    const address = addressOf(request);
    if (hasShare(address) && hasTime()) return start(address, done);
    const { socket } = request.raw;
    const run = () => {
      socket.off('close', remove);
      if (!socket.destroyed) done();
    };
    const remove = waiting.add({ client: { address, network: null }, run });
    socket.once('close', remove); // a closed connection must not stay in memory until its turn
  });
}

interface ConnectionsOptions {
  readonly quotas: Quotas;
  /** Returns the client of a connection; `null` for a trusted proxy, which has no client limit. */
  readonly clientOf: (socket: Socket) => Client | null;
  readonly refuse: (problem: Problem, socket: Socket) => void;
  readonly queues: ReplyQueues;
}

/** Unfinished replies of each connection. The first one is being sent, the others are pipelined. */
export type ReplyQueues = ReturnType<typeof createReplyQueues>;

export function createReplyQueues() {
  const queues = new WeakMap<Socket, ServerResponse[]>();
  return {
    of: (socket: Socket): ServerResponse[] => {
      const queue = queues.get(socket) ?? [];
      while (queue[0]?.writableFinished === true) queue.shift();
      queues.set(socket, queue);
      return queue;
    },
  };
}

const maxPipelined = 16;

/** Milliseconds for which a client is remembered that had a connection closed for pipelining. */
const penaltyMs = 10_000;

/**
 * Creates a server that limits the connections per client and in total, and closes connections with
 * too many pipelined requests (RFC 9112 §9.3.2).
 */
export function createBoundServer(
  options: ServerOptions,
  handle: RequestListener,
  { quotas, clientOf, refuse, queues }: ConnectionsOptions,
): Server {
  const clients = new Map<Socket, Client | null>();
  const isExcluded = (client: Client | null) => quotas.findExcess('pipelines', client, 1) !== null;
  const cut = (socket: Socket): void => {
    const client = clients.get(socket) ?? null;
    const penalty = quotas.open('pipelines', client);
    if (penalty.take(1)) setTimeout(penalty.release, penaltyMs).unref();
    socket.destroy();
    if (!isExcluded(client)) return;
    // Before Node parses what the client has sent on its other connections.
    for (const [other, its] of clients) if (isExcluded(its)) other.destroy();
  };
  const server = createServer(options, (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return; // Node still parses the bytes that it has already received
    const queue = queues.of(socket);
    queue.push(response);
    if (queue.length <= maxPipelined) handle(request, response);
    else cut(socket);
  });
  const parsers = server.listeners('connection');
  for (const parse of parsers) server.off('connection', parse as RequestListener);
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket);
    const hold = quotas.open('connections', client);
    // The input of a refused connection is not parsed: it may hold thousands of requests.
    if (isExcluded(client)) return refuse(new Problem('overloaded', { detail: excluded }), socket);
    if (!hold.take(1)) return refuse(new Problem('overloaded', { detail: crowded }), socket);
    // Each pipelined reply may observe the socket, in addition to Node itself.
    socket.setMaxListeners(2 * maxPipelined);
    clients.set(socket, client);
    socket.once('close', () => {
      clients.delete(socket);
      hold.release();
    });
    for (const parse of parsers) parse.call(server, socket);
  });
  return server;
}

const excluded = `This client address sent more than ${maxPipelined} requests ahead on several connections.`;
const crowded = 'Too many connections are open, in total or from this client address.';
