import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Client } from '../../core/caller.ts';
import { Problem } from '../../core/problem.ts';
import type { Ledger } from '../../core/scheduling/ledger.ts';
import type { Identification } from '../key-status/plugin.ts';

interface ConnectionsOptions {
  readonly ledger: Ledger;
  /** Returns the client of a connection; `null` for a trusted proxy, which has no bound of its own. */
  readonly clientOf: (socket: Socket) => Client | null;
  readonly refuse: (problem: Problem, socket: Socket) => void;
}

const maxPipelined = 16;

/** Milliseconds for which a connection that was cut counts as open, so that cutting it costs its client something. */
const penaltyMs = 10_000;

/**
 * Bounds the connections of each client and of all, and the requests that a connection sends ahead of their replies
 * (RFC 9112 §9.3.2), beyond which it is cut. Call it when the server has its request listeners.
 */
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

function takeListeners<Given extends readonly unknown[]>(server: Server, event: string) {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (...given: Given): void => {
    for (const listener of listeners) listener.call(server, ...given);
  };
}

/** The part of a connection's parser that Node has no public name for (lib/_http_common.js). */
interface Parser {
  onIncoming?: ((request: IncomingMessage, shouldKeepAlive: boolean) => number) | null;
}

/**
 * Stops the parser of a connection once the connection is cut, which would parse all requests in the buffer: seconds
 * for hundreds of connections. Does nothing on versions of Node without `onIncoming`.
 */
function stopParsingWhenCut(socket: Socket & { readonly parser?: Parser }): void {
  const { parser } = socket;
  const { onIncoming } = parser ?? {};
  if (!parser || !onIncoming) return;
  // After 2, Node treats the remaining bytes as an upgraded protocol.
  parser.onIncoming = (request, shouldKeepAlive) =>
    socket.destroyed ? 2 : onIncoming(request, shouldKeepAlive);
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

type ReplyBytesOptions = Pick<Identification, 'clientOf'> & { readonly ledger: Ledger };

/**
 * Bounds the bytes of unread replies, for each client and for all; a reply beyond it becomes `overloaded`. Replies that
 * skip Fastify's `send` are not counted: cached ones share their bytes, and streams write what their reader takes.
 */
export function boundReplies(app: FastifyInstance, { ledger, clientOf }: ReplyBytesOptions): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const size = sizeOf(payload);
    // A problem is small, and the client has to get it.
    if (size === 0 || reply.statusCode >= 400) return payload;
    const hold = ledger.open('replyBytes', clientOf(request));
    if (!hold.take(size)) throw overloadedByReplies();
    // The operating system has taken the reply, or the connection is closed.
    for (const event of ['finish', 'close']) reply.raw.once(event, hold.release);
    return payload;
  });
}

export function overloadedByReplies(): Problem {
  const detail = 'Too many bytes of replies wait to be read, in all or by this client address.';
  return new Problem('overloaded', { detail });
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return Buffer.isBuffer(payload) ? payload.length : 0;
}
