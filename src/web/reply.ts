import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Compression } from './compression.ts';
import { type Coding, isCompressible, matchesEtag, toCodedEtag } from './content-coding.ts';
import { type Headers, toNotModifiedHeaders, varyByCoding } from './headers.ts';

type HeaderList = readonly string[];

interface PreparedHeaders {
  readonly ok: HeaderList;
  readonly notModified: HeaderList;
  /** Headers of the last 200 reply (or `null`), reused with a new id if `own` is the same array. */
  last: {
    /** Headers that depend on the caller. */
    readonly own: HeaderList;
    /** All headers: the request id, those in `own`, and the prepared ones in `ok`. */
    readonly all: string[];
  } | null;
}

/** Reply that is built once and reused for many requests. */
export interface PreparedReply {
  readonly headers: TaggedHeaders;
  readonly public: PreparedHeaders;
  /** Headers of the reply to a caller with an API key. */
  readonly private: PreparedHeaders;
  readonly body: Buffer;
  /** Compressed replies, each made at its first request; `null` if never compressed. */
  readonly coded: Map<Coding, PreparedReply | Promise<PreparedReply>> | null;
  /** Called with the size of each compressed body that is kept. */
  readonly onCoded?: ((bytes: number) => void) | undefined;
}

type TaggedHeaders = Headers & { readonly etag: string };

/** Parts of a reply that differ between requests. */
export interface ReplyOptions {
  readonly isPrivate: boolean;
  readonly headers: HeaderList;
  /** Links to add to the header `Link` of the reply; `null` to add none. */
  readonly link: string | null;
}

export const defaultReplyOptions: ReplyOptions = { isPrivate: false, headers: [], link: null };

/** Value of `Cache-Control` in every reply to a request with an API key. */
export const privateCaching = 'private, no-store';

/** Prepares a reply. Calls `onCoded` with the size of each compressed body that the reply keeps. */
export function prepareReply(
  headers: TaggedHeaders,
  body: Buffer,
  onCoded?: (bytes: number) => void,
): PreparedReply {
  if (!isCompressible(headers['content-type'], body.length)) return toPrepared(headers, body);
  const varied = { ...headers, vary: varyByCoding(headers.vary) };
  return { ...toPrepared(varied, body), coded: new Map(), onCoded };
}

function toPrepared(headers: TaggedHeaders, body: Buffer): PreparedReply {
  const sent = { 'x-content-type-options': 'nosniff', ...headers };
  return {
    headers,
    public: toPreparedHeaders(sent),
    private: toPreparedHeaders({ ...sent, 'cache-control': privateCaching }),
    body,
    coded: null,
  };
}

async function encode(
  reply: PreparedReply,
  coding: Coding,
  compress: Compression['compress'],
): Promise<PreparedReply> {
  const body = await compress(reply.body, coding);
  if (body === null) {
    reply.coded?.delete(coding);
    return reply;
  }
  const headers = {
    ...reply.headers,
    etag: toCodedEtag(reply.headers.etag, coding),
    'content-encoding': coding,
    'content-length': String(body.length),
  };
  const coded = toPrepared(headers, body);
  reply.coded?.set(coding, coded);
  reply.onCoded?.(body.length);
  return coded;
}

function findCoded(
  reply: PreparedReply,
  coding: Coding,
  compress: Compression['compress'],
): PreparedReply | Promise<PreparedReply> {
  const known = reply.coded?.get(coding);
  if (known !== undefined) return known;
  const coded = encode(reply, coding, compress);
  reply.coded?.set(coding, coded);
  return coded;
}

function toPreparedHeaders(headers: Headers): PreparedHeaders {
  return {
    ok: Object.entries(headers).flat(),
    notModified: Object.entries(toNotModifiedHeaders(headers)).flat(),
    last: null,
  };
}

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Sends a prepared reply in the coding that the client prefers, or 304 for the same ETag (RFC 9110
 * §13.1.2). Bypasses Fastify (docs/decisions/0004). If the reply must be compressed first, sends it
 * afterwards.
 * @throws Problem `overloaded` if the limit on bytes that clients have not read yet is reached
 */
export function sendPrepared(
  { request, reply }: Exchange,
  prepared: PreparedReply,
  options: ReplyOptions,
): void {
  const { raw } = reply;
  const { compression, unreadBodies } = reply.server;
  const coding = prepared.coded && compression.choose(request.headers['accept-encoding']);
  const known = request.headers['if-none-match'];
  if (known !== undefined && matchesEtag(known, prepared.headers.etag)) {
    reply.hijack();
    raw.writeHead(304, listNotModified(prepared, coding, { request, options })).end();
    return;
  }
  const ready = coding === null ? prepared : prepared.coded?.get(coding);
  const { body } = ready === undefined || ready instanceof Promise ? prepared : ready;
  const release = unreadBodies.reserve(reply, body);
  reply.hijack();
  const send = (sent: PreparedReply) => {
    if (sent.body !== body) {
      release();
      unreadBodies.reserve(reply, sent.body);
    }
    raw.writeHead(200, listHeaders(selectHeaders(sent, options), options.headers, request.id));
    raw.end(sent.body);
    unreadBodies.noteSent(reply, sent.body);
  };
  const sent = coding === null ? prepared : findCoded(prepared, coding, compression.compress);
  if (!(sent instanceof Promise)) {
    send(sent);
    return;
  }
  const recover = (err: unknown): PreparedReply => {
    reply.log.error({ request_id: request.id, err }, 'a reply could not be compressed');
    if (coding !== null) prepared.coded?.delete(coding);
    return prepared;
  };
  // An error while sending must not become an unhandled rejection, which would end the process.
  sent
    .catch(recover)
    .then(send)
    .catch((error: Error) => raw.destroy(error));
}

const selectHeaders = (reply: PreparedReply, { isPrivate, link }: ReplyOptions): PreparedHeaders =>
  withLink(isPrivate ? reply.private : reply.public, link);

function listNotModified(
  prepared: PreparedReply,
  coding: Coding | null,
  { request, options }: { readonly request: FastifyRequest; readonly options: ReplyOptions },
): string[] {
  const { notModified } = selectHeaders(prepared, options);
  const { etag } = prepared.headers;
  const tagged =
    coding === null
      ? notModified
      : notModified.with(notModified.indexOf(etag), toCodedEtag(etag, coding));
  return ['x-request-id', request.id, ...options.headers, ...tagged];
}

function listHeaders(prepared: PreparedHeaders, own: HeaderList, id: string): string[] {
  if (prepared.last?.own === own) {
    prepared.last.all[1] = id;
    return prepared.last.all;
  }
  const all = ['x-request-id', id, ...own, ...prepared.ok];
  prepared.last = { own, all };
  return all;
}

/** Returns headers with a link added to `Link`, which may contain several (RFC 8288 §3). */
function withLink(prepared: PreparedHeaders, link: string | null): PreparedHeaders {
  if (link === null) return prepared;
  const add = (headers: HeaderList): HeaderList => {
    const at = headers.indexOf('link');
    if (at === -1) return [...headers, 'link', link];
    return headers.with(at + 1, `${link}, ${headers[at + 1]}`);
  };
  return { ok: add(prepared.ok), notModified: add(prepared.notModified), last: null };
}

/** Starts a streamed response with the headers in `headers` and those set on `reply`. */
export function beginStream(reply: FastifyReply, headers: Headers): ServerResponse {
  const { raw } = reply.hijack();
  const all = { ...Object.fromEntries(Object.entries(reply.getHeaders())), ...headers };
  const id = reply.request.id;
  raw.writeHead(200, { ...all, 'x-request-id': id, 'x-content-type-options': 'nosniff' });
  raw.flushHeaders();
  // Without a listener, a write after the end of the response would end the process.
  raw.on('error', (err) => reply.log.error({ request_id: id, err }, 'a stream failed'));
  return raw;
}
