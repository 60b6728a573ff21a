import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Headers, toNotModifiedHeaders } from './headers.ts';

/** A reply that is ready to be sent, and can be sent again. */
export interface PreparedReply {
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Sends a prepared reply, or 304 where the caller already has it (RFC 9110 §13.1.2). */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  prepared: PreparedReply,
) {
  const known = request.headers['if-none-match'];
  if (known !== undefined && matchesEtag(known, prepared.headers.etag ?? '')) {
    return reply.code(304).headers(toNotModifiedHeaders(prepared.headers)).send();
  }
  return reply.headers(prepared.headers).send(prepared.body);
}

/** Compares weakly, as `If-None-Match` demands; `*` matches whatever there is. */
function matchesEtag(known: string, etag: string): boolean {
  if (known.trim() === '*') return true;
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
