import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import type { Client } from '../../lib/caller.ts';
import { Problem, quoteInput } from '../../lib/problem.ts';
import type { Quotas, Reservation } from '../../lib/scheduling/quotas.ts';

/** Bodies that clients have not read yet. A body shared by several replies counts once. */
export interface UnreadBodies {
  /** Counts a large body until the reply ends. Throws `overloaded`. */
  reserve(reply: FastifyReply, body: Buffer): void;
}

interface BodyLimits {
  readonly quotas: Quotas;
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
export function boundReplies(app: FastifyInstance, { quotas, clientOf }: BodyLimits): void {
  /** Replies that are sending each body. The first one holds the bytes of the body. */
  const sending = new Map<unknown, Map<FastifyReply, Reservation>>();
  const end = (reply: FastifyReply, body: unknown, size: number): void => {
    const senders = sending.get(body) ?? new Map<FastifyReply, Reservation>();
    const [[holder, hold] = []] = senders;
    senders.delete(reply);
    if (holder !== reply) return;
    hold?.release();
    const [[next, nextHold] = []] = senders;
    if (nextHold === undefined) sending.delete(body);
    else if (!nextHold.take(size)) next?.raw.socket?.destroy();
  };
  const begin = (reply: FastifyReply, body: unknown, size: number): boolean => {
    const senders = sending.get(body) ?? new Map<FastifyReply, Reservation>();
    if (senders.has(reply)) return true;
    const hold = quotas.open('replyBytes', clientOf(reply.request));
    if (senders.size === 0 && !hold.take(size)) return false;
    sending.set(body, senders.set(reply, hold));
    releaseAtEnd(reply, () => end(reply, body, size));
    return true;
  };
  const admit = (reply: FastifyReply, body: unknown, size: number): boolean =>
    size <= smallBytes || begin(reply, body, size);
  const noteSent = (reply: FastifyReply, body: unknown, size: number): void => {
    if (size === 0 || size > smallBytes || !isWaiting(reply)) return;
    if (!begin(reply, body, size)) reply.request.raw.socket.destroy();
  };
  app.decorate('unreadBodies', {
    reserve: (reply, body) => {
      if (!admit(reply, body, body.length)) throw overloadedByReplies();
    },
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    // Problem documents are small and must reach the client.
    const size = reply.statusCode >= 400 ? 0 : sizeOf(payload);
    const body = typeof payload === 'string' ? reply : payload;
    if (!admit(reply, body, size)) return done(overloadedByReplies());
    done(null, payload);
    noteSent(reply, body, size);
  });
}

export function overloadedByReplies(): Problem {
  const detail =
    'Too many bytes of responses are waiting to be read, in total or by this client address.';
  return new Problem('overloaded', { detail });
}

/** Whether a reply is not yet sent, or waits in the send buffer for the client to read it. */
const isWaiting = ({ raw }: FastifyReply): boolean => raw.writableLength > 0 || !raw.headersSent;

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return Buffer.isBuffer(payload) ? payload.length : 0;
}

/** Calls `release` at the end. Also listens to the socket: queued responses emit no `close`. */
export function releaseAtEnd(
  { raw, request }: Pick<FastifyReply, 'raw' | 'request'>,
  release: () => void,
): void {
  const { socket } = request.raw;
  const end = () => {
    socket.off('close', end);
    release();
  };
  raw.once('finish', end).once('close', end);
  socket.once('close', end);
  if (socket.destroyed) end();
}

const bodyless = ['GET', 'HEAD', 'OPTIONS'];

/** Refuses compressed bodies with 415, and bodies beyond the limits on bytes (`overloaded`). */
export function boundBodies(app: FastifyInstance, limits: BodyLimits): void {
  const count = createCount(limits);
  app.addHook('onRoute', (route) => {
    if ([route.method].flat().every((method) => bodyless.includes(method))) return;
    route.preParsing = [refuseCodedBody, count, route.preParsing ?? []].flat();
  });
}

function createCount({ quotas, clientOf }: BodyLimits): preParsingHookHandler {
  return (request, reply, payload, done) => {
    const { 'transfer-encoding': transferCoding, 'content-length': length } = request.headers;
    const { bodyLimit } = request.routeOptions;
    // A chunked body can have any size up to the limit of the route.
    const size = transferCoding === undefined ? Number(length ?? 0) : bodyLimit;
    const hold = quotas.open('replyBytes', clientOf(request));
    if (!hold.take(Math.min(size, bodyLimit))) return done(overloadedByBodies());
    releaseAtEnd(reply, hold.release);
    done(null, payload);
  };
}

const overloadedByBodies = (): Problem =>
  new Problem('overloaded', {
    detail:
      'Too many bytes of requests and responses are being received or sent, in total or by this client address.',
  });

const refuseCodedBody: preParsingHookHandler = ({ headers }, reply, payload, done) => {
  const coding = headers['content-encoding'] ?? '';
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody || /^(?:identity)?$/i.test(coding)) return done(null, payload);
  // RFC 9110 §15.5.16: the header tells the client that the coding is at fault, and not the media
  // type.
  reply.header('accept-encoding', 'identity');
  done(
    new Problem('unsupported_media_type', {
      detail: `The header \`Content-Encoding\` is ${quoteInput(coding)}. This server reads only bodies without a coding.`,
    }),
  );
};
