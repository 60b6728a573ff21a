import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Client } from '../../lib/caller.ts';
import { Problem } from '../../lib/problem.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';

interface ConnectionsOptions {
  readonly ledger: Quotas;
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

/** Milliseconds for which a connection closed for pipelining counts towards the client's limit. */
const penaltyMs = 10_000;

/**
 * Creates a server that limits the connections per client and in total, and closes connections with
 * too many pipelined requests (RFC 9112 §9.3.2).
 */
export function createBoundServer(
  options: ServerOptions,
  handle: RequestListener,
  { ledger, clientOf, refuse, queues }: ConnectionsOptions,
): Server {
  const refused = new WeakSet<Socket>();
  const cut = new WeakSet<Socket>();
  const server = createServer(options, (request, response) => {
    const { socket } = request;
    // Node still parses the bytes that it has already received.
    if (socket.destroyed || refused.has(socket)) return;
    const queue = queues.of(socket);
    queue.push(response);
    if (queue.length <= maxPipelined) return handle(request, response);
    cut.add(socket);
    socket.destroy();
  });
  server.on('connection', (socket: Socket) => {
    const hold = ledger.open('connections', clientOf(socket));
    if (!hold.take(1)) {
      refused.add(socket);
      const detail = 'Too many connections are open, in total or from this client address.';
      return refuse(new Problem('overloaded', { detail }), socket);
    }
    // Each pipelined reply may observe the socket, in addition to Node itself.
    socket.setMaxListeners(2 * maxPipelined);
    socket.once('close', () => {
      if (cut.has(socket)) setTimeout(hold.release, penaltyMs).unref();
      else hold.release();
    });
  });
  return server;
}
