import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Headers, toNotModifiedHeaders } from './headers.ts';

/** A reply that is ready to be sent, and can be sent again. */
export interface PreparedReply {
  readonly etag: string;
  /** Names and values in turn, as Node's `writeHead` takes them; of a 200 and of a 304. */
  readonly found: readonly string[];
  readonly notModified: readonly string[];
  readonly body: Buffer;
}

/** Prepares a reply of a body and its headers. */
export function prepareReply(
  headers: Headers & { readonly etag: string },
  body: Buffer,
): PreparedReply {
  const sent = { 'x-content-type-options': 'nosniff', ...headers };
  return {
    etag: headers.etag,
    found: Object.entries(sent).flat(),
    notModified: Object.entries(toNotModifiedHeaders(sent)).flat(),
    body,
  };
}

/**
 * Sends a prepared reply, or 304 where the caller already has it (RFC 9110 §13.1.2).
 *
 * The bytes and headers are ready, so they go to Node's response as they are; what Fastify would do
 * to them changes nothing (docs/decisions/0004). Node leaves out the body of a HEAD.
 */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  prepared: PreparedReply,
): void {
  const { raw } = reply.hijack();
  const known = request.headers['if-none-match'];
  if (known !== undefined && matchesEtag(known, prepared.etag)) {
    raw.writeHead(304, ['x-request-id', request.id, ...prepared.notModified]).end();
    return;
  }
  raw.writeHead(200, ['x-request-id', request.id, ...prepared.found]).end(prepared.body);
}

/** Compares weakly, as `If-None-Match` demands; `*` matches whatever there is. */
function matchesEtag(known: string, etag: string): boolean {
  if (known.trim() === '*') return true;
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
