import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from '../core/caller.ts';
import { Problem } from '../core/problem.ts';
import type { Quotas, Reservation } from '../core/scheduling/quotas.ts';

/** Bodies that clients have not read yet. A body shared by several replies counts once. */
export interface UnreadBodies {
  /** Counts a large body until the reply ends or the result is called. Throws `overloaded`. */
  reserve(reply: SentReply, body: Buffer): () => void;
  /** Counts a small body that is not yet sent. Closes the connection if a limit is reached. */
  noteSent(reply: SentReply, body: Buffer): void;
}

type SentReply = Pick<FastifyReply, 'raw' | 'request'>;

export interface BodyLimits {
  readonly ledger: Quotas;
  readonly clientOf: (request: FastifyRequest) => Client;
}

declare module 'fastify' {
  interface FastifyInstance {
    unreadBodies: UnreadBodies;
  }
}

/** Maximum bytes of a small body, which usually fits the send buffer and needs no early count. */
const smallBytes = 16_384;

/** Limits unread bytes of replies, except errors and streams. Beyond it: Problem `overloaded`. */
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

/** Calls `release` at the end. Also listens to the socket: queued responses emit no `close`. */
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
