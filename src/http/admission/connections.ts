import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Client } from '../../core/caller.ts';
import { Problem } from '../../core/problem.ts';
import type { Ledger } from '../../core/scheduling/ledger.ts';

interface ConnectionsOptions {
  readonly ledger: Ledger;
  /** Returns the client of a connection; `null` for a trusted proxy, which has no bound of its own. */
  readonly clientOf: (socket: Socket) => Client | null;
  readonly refuse: (problem: Problem, socket: Socket) => void;
}

const maxPipelined = 16;

/** Milliseconds for which a connection that was cut counts as open, so that cutting it costs its client something. */
const penaltyMs = 10_000;

/** Bounds connections, and requests sent ahead of replies (RFC 9112 §9.3.2). Call it once the request listeners are set. */
export function boundConnections(server: Server, options: ConnectionsOptions): void {
  const { ledger, clientOf, refuse } = options;
  const cut = new WeakSet<Socket>();
  const begin = takeListeners<[Socket]>(server, 'connection');
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket);
    const hold = ledger.open('connections', client);
    if (!hold.take(1)) {
      const detail = 'Too many connections are open, in all or from this client address.';
      return refuse(new Problem('overloaded', { detail }), socket);
    }
    socket.once('close', () => {
      if (cut.has(socket)) setTimeout(hold.release, penaltyMs).unref();
      else hold.release();
    });
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

/** Takes the listeners of an event from a server, and returns the function that calls them. */
function takeListeners<Given extends readonly unknown[]>(
  server: Server,
  event: string,
): (...given: Given) => void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (...given) => {
    for (const listener of listeners) listener.call(server, ...given);
  };
}

/** Return value of `onIncoming` that stops the parser: Node treats the remaining bytes as an upgraded protocol. */
const upgrade = 2;

/** The part of a connection's parser that Node has no public name for (lib/_http_common.js). */
interface Parser {
  onIncoming?: ((request: IncomingMessage, shouldKeepAlive: boolean) => number) | null;
}

/** Stops the parser of a cut connection; otherwise Node parses all buffered requests, which can take seconds. */
function stopParsingWhenCut(socket: Socket & { readonly parser?: Parser }): void {
  const { parser } = socket;
  const { onIncoming } = parser ?? {};
  if (!parser || !onIncoming) return;
  parser.onIncoming = (request, shouldKeepAlive) =>
    socket.destroyed ? upgrade : onIncoming(request, shouldKeepAlive);
}

/** Creates the function that tells whether a request may be handled; calls `cutOff` for a connection with too many. */
function createPipelineBound(cutOff: (socket: Socket) => void) {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    if (socket.destroyed) return false;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > maxPipelined) {
      cutOff(socket);
      return false;
    }
    waiting.set(socket, count);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return true;
  };
}
