import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Client } from '../core/caller.ts';
import type { Ledger } from '../core/ledger.ts';
import { Problem } from '../core/problem.ts';

/** Options of `boundConnections`. */
export interface ConnectionsOptions {
  readonly ledger: Ledger;
  /** Returns the client of a connection; `null` for a trusted proxy, which has no bound of its own. */
  readonly clientOf: (socket: Socket) => Client | null;
  /** Answers a connection with a problem document and closes it. */
  readonly refuse: (problem: Problem, socket: Socket) => void;
}

/** Maximum number of requests of one connection that wait for their replies. */
const maxPipelined = 16;

/**
 * Bounds the connections of each client and of all, and the requests that one connection sends ahead of
 * their replies (RFC 9112 §9.3.2): beyond that the connection is cut, since its replies would pile up.
 */
export function boundConnections(server: Server, options: ConnectionsOptions): void {
  const { ledger, clientOf, refuse } = options;
  server.on('connection', (socket: Socket) => {
    const hold = ledger.open('connections', clientOf(socket));
    if (hold.take(1)) socket.once('close', hold.release);
    else refuse(tooMany(), socket);
  });
  const waiting = new WeakMap<Socket, number>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > maxPipelined) socket.destroy();
    else response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
  });
}

function tooMany(): Problem {
  return new Problem('overloaded', {
    detail: 'Too many connections are open, in all or from this client address.',
  });
}
