import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from '../../core/caller.ts';
import { Problem } from '../../core/problem.ts';
import type { Hold, Ledger } from '../../core/scheduling/ledger.ts';

interface ReplyBytesOptions {
  readonly ledger: Ledger;
  readonly clientOf: (request: FastifyRequest) => Client;
}

/** Bounds the bytes of unread replies. Replies that skip Fastify's `send` share their bytes or follow their reader. */
export function boundReplies(app: FastifyInstance, { ledger, clientOf }: ReplyBytesOptions): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const size = sizeOf(payload);
    // A problem is small, and the client has to get it.
    if (size === 0 || reply.statusCode >= 400) return payload;
    const hold = ledger.open('replyBytes', clientOf(request));
    if (!hold.take(size)) throw overloadedByReplies();
    releaseWithReply(hold, reply);
    return payload;
  });
}

/** Releases a hold when the operating system has taken the reply, or the connection is closed. */
export function releaseWithReply(hold: Hold, { raw }: FastifyReply): void {
  raw.once('finish', hold.release);
  raw.once('close', hold.release);
}

export function overloadedByReplies(): Problem {
  return new Problem('overloaded', {
    detail: 'Too many bytes of replies wait to be read, in all or by this client address.',
  });
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return Buffer.isBuffer(payload) ? payload.length : 0;
}
