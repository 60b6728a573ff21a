import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from '../core/caller.ts';
import { Problem } from '../core/problem.ts';
import type { Ledger, Reservation } from '../core/scheduling/ledger.ts';

/** Bodies of prepared replies that clients have not read yet. Several replies can share a body, which counts once. */
export interface UnreadBodies {
  /**
   * Counts a large body until the reply ends, and returns a function that ends the count earlier. Does nothing for a
   * small body. @throws Problem `overloaded` if a limit is reached
   */
  reserve(reply: SentReply, body: Buffer): () => void;
  /**
   * Counts a small body that the connection has not taken at once. Call this function after the body has been
   * written. Closes the connection if a limit is reached.
   */
  noteSent(reply: SentReply, body: Buffer): void;
}

type SentReply = Pick<FastifyReply, 'raw' | 'request'>;

export interface BodyLimits {
  readonly ledger: Ledger;
  readonly clientOf: (request: FastifyRequest) => Client;
}

declare module 'fastify' {
  interface FastifyInstance {
    unreadBodies: UnreadBodies;
  }
}

/**
 * Maximum size in bytes of a small body. An empty send buffer of a connection usually has room for it, so counting it
 * before it is sent would only slow down cache hits.
 */
const smallBytes = 16_384;

/**
 * Limits the bytes of replies that clients have not read yet, per client and in total. `ledger` counts these bytes.
 * Beyond the limit, the client gets the Problem `overloaded`. The limit does not apply to error replies that Fastify's
 * `send` sends, and to streams. Adds the decorator `unreadBodies`, which `sendPrepared` uses for prepared replies.
 */
export function boundReplies(app: FastifyInstance, limits: BodyLimits): void {
  app.decorate('unreadBodies', createUnreadBodies(limits));
  app.addHook('onSend', async (request, reply, payload) => {
    const size = sizeOf(payload);
    // Problem documents are small and must reach the client.
    if (size === 0 || reply.statusCode >= 400) return payload;
    const hold = limits.ledger.open('replyBytes', limits.clientOf(request));
    if (!hold.take(size)) throw overloadedByReplies();
    releaseAtEnd(reply, hold.release);
    return payload;
  });
}

interface Sender {
  readonly hold: Reservation;
  readonly socket: Socket;
}

function createUnreadBodies({ ledger, clientOf }: BodyLimits): UnreadBodies {
  /** Replies that are sending each body. The first one holds the bytes of the body. */
  const sending = new Map<Buffer, Set<Sender>>();
  const end = (sender: Sender, body: Buffer): void => {
    const senders = sending.get(body) ?? new Set();
    const [holder] = senders;
    senders.delete(sender);
    if (holder !== sender) return;
    sender.hold.release();
    const [next] = senders;
    if (next === undefined) sending.delete(body);
    else if (!next.hold.take(body.length)) next.socket.destroy();
  };
  /** Returns a function that ends the count; `null` if a limit is reached. */
  const begin = (reply: SentReply, body: Buffer): (() => void) | null => {
    const hold = ledger.open('replyBytes', clientOf(reply.request));
    const senders = sending.get(body) ?? new Set();
    if (senders.size === 0 && !hold.take(body.length)) return null;
    const sender = { hold, socket: reply.request.raw.socket };
    sending.set(body, senders.add(sender));
    const endOnce = () => end(sender, body);
    releaseAtEnd(reply, endOnce);
    return endOnce;
  };
  return {
    reserve: (reply, body) => {
      if (body.length <= smallBytes) return () => undefined;
      const release = begin(reply, body);
      if (release === null) throw overloadedByReplies();
      return release;
    },
    noteSent: (reply, body) => {
      if (body.length > smallBytes || reply.raw.writableLength === 0) return;
      if (begin(reply, body) === null) reply.request.raw.socket.destroy();
    },
  };
}

export function overloadedByReplies(): Problem {
  const detail =
    'Too many bytes of responses are waiting to be read, in total or by this client address.';
  return new Problem('overloaded', { detail });
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return Buffer.isBuffer(payload) ? payload.length : 0;
}

/**
 * Calls `release` when a response has been sent or its connection is closed. Also listens to the socket, because Node
 * emits no `close` for a response that waits for an earlier response on the same connection.
 */
export function releaseAtEnd({ raw, request }: SentReply, release: () => void): void {
  const { socket } = request.raw;
  const end = () => {
    socket.off('close', end);
    release();
  };
  raw.once('finish', end).once('close', end);
  socket.once('close', end);
  if (socket.destroyed) end();
}
