import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Client } from '../../core/caller.ts';
import { Problem } from '../../core/problem.ts';
import type { Quotas } from '../../core/scheduling/quotas.ts';

interface ConnectionsOptions {
  readonly ledger: Quotas;
  /** Returns the client of a connection; `null` for a trusted proxy, which has no client limit. */
  readonly clientOf: (socket: Socket) => Client | null;
  readonly refuse: (problem: Problem, socket: Socket) => void;
}

const maxPipelined = 16;

/** Milliseconds for which a connection closed for pipelining counts towards the client's limit. */
const penaltyMs = 10_000;

/**
 * Limits the connections per client and in total, and closes connections with too many pipelined
 * requests (RFC 9112 §9.3.2). Call it after all request listeners are registered.
 */
export function boundConnections(server: Server, options: ConnectionsOptions): void {
  const { ledger, clientOf, refuse } = options;
  const cut = new WeakSet<Socket>();
  const begin = takeListeners<[Socket]>(server, 'connection');
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket);
    const hold = ledger.open('connections', client);
    if (!hold.take(1)) {
      const detail = 'Too many connections are open, in total or from this client address.';
      return refuse(new Problem('overloaded', { detail }), socket);
    }
    socket.once('close', () => {
      if (cut.has(socket)) setTimeout(hold.release, penaltyMs).unref();
      else hold.release();
    });
    // Each pipelined reply may observe the socket, in addition to Node itself.
    socket.setMaxListeners(2 * maxPipelined);
    begin(socket);
    stopParsingWhenCut(socket);
  });
  const admit = createPipelineBound((socket) => {
    cut.add(socket);
    socket.destroy();
  });
  const handle = takeListeners<[IncomingMessage, ServerResponse]>(server, 'request');
  server.on('request', (request, response) => {
    if (admit(request, response)) handle(request, response);
  });
}

function takeListeners<Given extends readonly unknown[]>(server: Server, event: string) {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (...given: Given): void => {
    for (const listener of listeners) listener.call(server, ...given);
  };
}

interface Parser {
  onIncoming?: ((request: IncomingMessage, shouldKeepAlive: boolean) => number) | null;
}

function stopParsingWhenCut(socket: Socket & { readonly parser?: Parser }): void {
  const { parser } = socket;
  const { onIncoming } = parser ?? {};
  if (!parser || !onIncoming) return;
  // On a return value of 2, Node treats the remaining bytes as an upgraded protocol.
  parser.onIncoming = (request, shouldKeepAlive) =>
    socket.destroyed ? 2 : onIncoming(request, shouldKeepAlive);
}

function createPipelineBound(cutOff: (socket: Socket) => void) {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    if (socket.destroyed) return false;
    // Node assigns the socket to a response when all earlier responses of the connection have
    // ended.
    if (response.socket !== null) return true;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count >= maxPipelined) {
      cutOff(socket);
      return false;
    }
    waiting.set(socket, count);
    response.once('socket', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return true;
  };
}
