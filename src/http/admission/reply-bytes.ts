import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from '../../core/caller.ts';
import { Problem } from '../../core/problem.ts';
import type { Hold, Ledger } from '../../core/scheduling/ledger.ts';

/** Options of `boundReplies`. */
export interface ReplyBytesOptions {
  readonly ledger: Ledger;
  readonly clientOf: (request: FastifyRequest) => Client;
}

/**
 * Bounds the bytes of replies that their readers have not taken yet, for each client and for all. A reply
 * that would exceed it is answered `overloaded` instead.
 *
 * Replies that skip Fastify's `send` are not seen here: those out of a cache share their bytes, streams
 * write no more than their reader takes.
 */
export function boundReplies(app: FastifyInstance, { ledger, clientOf }: ReplyBytesOptions): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const size = sizeOf(payload);
    // A problem is small, and has to be told.
    if (size === 0 || reply.statusCode >= 400) return payload;
    const hold = ledger.open('replyBytes', clientOf(request));
    if (!hold.take(size)) throw overloadedByReplies();
    releaseWithReply(hold, reply);
    return payload;
  });
}

/** Releases a hold when the operating system has taken the reply, or the connection is gone. */
export function releaseWithReply(hold: Hold, { raw }: FastifyReply): void {
  raw.once('finish', hold.release);
  raw.once('close', hold.release);
}

/** Returns the problem of a client, or of a server, with too many bytes in replies that nobody reads. */
export function overloadedByReplies(): Problem {
  return new Problem('overloaded', {
    detail: 'Too many bytes of replies wait to be read, in all or by this client address.',
  });
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return Buffer.isBuffer(payload) ? payload.length : 0;
}
