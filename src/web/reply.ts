import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Headers, toNotModifiedHeaders } from './headers.ts';

/** Headers of a 200 and of a 304. */
interface Heads {
  readonly found: Headers;
  readonly notModified: Headers;
}

/** Reply that is ready to be sent, and can be sent again. */
export interface PreparedReply {
  readonly etag: string;
  /** For everybody. */
  readonly open: Heads;
  /** For callers who presented a key (docs/keys.md). */
  readonly private: Heads;
  readonly body: Buffer;
}

/** What belongs to one request. */
export interface ReplyOptions {
  readonly isPrivate: boolean;
  /** Headers beside those that are prepared. */
  readonly headers: Headers;
  /** Links beside the prepared one; `null` for none. */
  readonly link: string | null;
}

/** A reply that is the same for every request. */
export const nothingOfItsOwn: ReplyOptions = { isPrivate: false, headers: {}, link: null };

/** `Cache-Control` of every reply to a presented key. */
export const privateCaching = 'private, no-store';

/** Prepares a reply from a body and its headers. */
export function prepareReply(
  headers: Headers & { readonly etag: string },
  body: Buffer,
): PreparedReply {
  const sent = { 'x-content-type-options': 'nosniff', ...headers };
  return {
    etag: headers.etag,
    open: toHeads(sent),
    private: toHeads({ ...sent, 'cache-control': privateCaching }),
    body,
  };
}

function toHeads(headers: Headers): Heads {
  return { found: headers, notModified: toNotModifiedHeaders(headers) };
}

/** Sends a prepared reply, or 304 if the caller already has it (RFC 9110 §13.1.2). */
export function sendPrepared(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  prepared: PreparedReply,
  { isPrivate, headers, link }: ReplyOptions,
): FastifyReply {
  const { found, notModified } = isPrivate ? prepared.private : prepared.open;
  const known = request.headers['if-none-match'];
  const isKnown = known !== undefined && matchesEtag(known, prepared.etag);
  const sent = isKnown ? notModified : found;
  reply.header('x-request-id', request.id).headers(headers).headers(sent);
  if (link !== null) reply.header('link', joinLinks(sent.link, link));
  if (!isKnown) return reply.send(prepared.body);
  // Fastify gives the reply to a HEAD without a body a length of 0, which a 304 must not have (RFC 9110 §8.6).
  return reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined);
}

/** RFC 8288 §3: all links go into one header. */
function joinLinks(prepared: string | undefined, own: string): string {
  return prepared === undefined ? own : `${prepared}, ${own}`;
}

/** Compares weakly, as `If-None-Match` demands; `*` matches whatever there is. */
function matchesEtag(known: string, etag: string): boolean {
  if (known.trim() === '*') return true;
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
