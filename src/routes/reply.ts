import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { type Coding, isCompressible, matchesEtag, toCodedEtag } from '../lib/http/accept.ts';
import type { Compression } from './compression.ts';
import { type Headers, toNotModifiedHeaders, varyByCoding } from './headers.ts';

/** Reply that is built once and reused for many requests. */
export interface PreparedReply {
  readonly headers: TaggedHeaders;
  readonly body: Buffer;
  /** Compressed replies, each made at its first request; `null` if never compressed. */
  readonly coded: Map<Coding, PreparedReply | Promise<PreparedReply>> | null;
  /** Called with the size of each compressed body that is kept. */
  readonly onCoded?: ((bytes: number) => void) | undefined;
}

type TaggedHeaders = Headers & { readonly etag: string };

/** Prepares a reply. Calls `onCoded` with the size of each compressed body that the reply keeps. */
export function prepareReply(
  headers: TaggedHeaders,
  body: Buffer,
  onCoded?: (bytes: number) => void,
): PreparedReply {
  if (!isCompressible(headers['content-type'], body.length)) return { headers, body, coded: null };
  const varied = { ...headers, vary: varyByCoding(headers.vary) };
  return { headers: varied, body, coded: new Map(), onCoded };
}

/**
 * Sends a prepared reply in the coding that the client prefers, or 304 for the same ETag (RFC 9110
 * §13.1.2). Returns a promise if the reply must be compressed first.
 * @throws Problem `overloaded` if the limit on bytes that clients have not read yet is reached
 */
export function sendPrepared(
  reply: FastifyReply,
  prepared: PreparedReply,
): FastifyReply | Promise<FastifyReply> {
  const { 'accept-encoding': accepted, 'if-none-match': known } = reply.request.headers;
  const { compression } = reply.server;
  const coding = prepared.coded && compression.choose(accepted);
  const { etag } = prepared.headers;
  if (matchesEtag(known, etag)) {
    const headers = toNotModifiedHeaders(prepared.headers);
    const sent = coding === null ? etag : toCodedEtag(etag, coding);
    return reply.code(304).headers(headers).header('etag', sent).send();
  }
  if (coding === null) return sendNow(reply, prepared);
  const coded = prepared.coded?.get(coding) ?? encode(prepared, coding, compression.compress);
  if (!(coded instanceof Promise)) return sendNow(reply, coded);
  const recover = (err: unknown): PreparedReply => {
    reply.log.error({ request_id: reply.request.id, err }, 'a reply could not be compressed');
    prepared.coded?.delete(coding);
    return prepared;
  };
  return coded.catch(recover).then((ready) => sendNow(reply, ready));
}

function sendNow(reply: FastifyReply, { headers, body }: PreparedReply): FastifyReply {
  reply.server.unreadBodies.reserve(reply, body);
  return reply.headers(headers).send(body);
}

function encode(
  prepared: PreparedReply,
  coding: Coding,
  compress: Compression['compress'],
): Promise<PreparedReply> {
  const coded = compress(prepared.body, coding).then((body): PreparedReply => {
    if (body === null) {
      prepared.coded?.delete(coding);
      return prepared;
    }
    const headers = {
      ...prepared.headers,
      etag: toCodedEtag(prepared.headers.etag, coding),
      'content-encoding': coding,
      'content-length': String(body.length),
    };
    const ready = { headers, body, coded: null };
    prepared.coded?.set(coding, ready);
    prepared.onCoded?.(body.length);
    return ready;
  });
  prepared.coded?.set(coding, coded);
  return coded;
}

/** Starts a streamed response with the headers in `headers` and those set on `reply`. */
export function beginStream(reply: FastifyReply, headers: Headers): ServerResponse {
  const { raw } = reply.headers(headers).hijack();
  raw.writeHead(200, reply.getHeaders() as Headers);
  raw.flushHeaders();
  // Without a listener, a write after the end of the response would end the process.
  raw.on('error', (err) =>
    reply.log.error({ request_id: reply.request.id, err }, 'a stream failed'),
  );
  return raw;
}
