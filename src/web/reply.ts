import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Headers, toNotModifiedHeaders } from './headers.ts';

/** Headers in the form that Node's `writeHead` accepts: a list of alternating names and values. */
type HeaderList = readonly string[];

interface PreparedHeaders {
  readonly ok: HeaderList;
  readonly notModified: HeaderList;
  /**
   * Headers of the last reply with status 200, kept for reuse; `null` before the first reply. If the next reply has the
   * same array in `own`, the server replaces only the request id in `all`, and sends `all` again.
   */
  last: {
    /** Headers that depend on the caller. */
    readonly own: HeaderList;
    /** All headers of the reply: the request id, the headers in `own`, and the prepared headers in `ok`. */
    readonly all: string[];
  } | null;
}

/** Reply that is built once and reused for many requests. */
export interface PreparedReply {
  readonly etag: string;
  readonly public: PreparedHeaders;
  /** Headers of the reply to a caller with an API key. */
  readonly private: PreparedHeaders;
  readonly body: Buffer;
}

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

export function prepareReply(headers: Headers & { etag: string }, body: Buffer): PreparedReply {
  const sent = { 'x-content-type-options': 'nosniff', ...headers };
  return {
    etag: headers.etag,
    public: toPreparedHeaders(sent),
    private: toPreparedHeaders({ ...sent, 'cache-control': privateCaching }),
    body,
  };
}

function toPreparedHeaders(headers: Headers): PreparedHeaders {
  return {
    ok: Object.entries(headers).flat(),
    notModified: Object.entries(toNotModifiedHeaders(headers)).flat(),
    last: null,
  };
}

/**
 * Sends a prepared reply, or 304 if the client has the same ETag (RFC 9110 §13.1.2). Bypasses
 * Fastify (docs/decisions/0004).
 */
export function sendPrepared(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  prepared: PreparedReply,
  { isPrivate, headers, link }: ReplyOptions,
): void {
  const { raw } = reply.hijack();
  const selected = withLink(isPrivate ? prepared.private : prepared.public, link);
  const known = request.headers['if-none-match'];
  if (known !== undefined && matchesEtag(known, prepared.etag)) {
    raw.writeHead(304, ['x-request-id', request.id, ...headers, ...selected.notModified]).end();
    return;
  }
  raw.writeHead(200, listHeaders(selected, headers, request.id)).end(prepared.body);
}

/**
 * Returns all headers of a reply with status 200: the request id, the headers in `own`, and the prepared headers. If
 * `own` is the same array as in the previous call for `prepared`, returns the previous list with the new request id.
 */
function listHeaders(prepared: PreparedHeaders, own: HeaderList, id: string): string[] {
  if (prepared.last?.own === own) {
    prepared.last.all[1] = id;
    return prepared.last.all;
  }
  const all = ['x-request-id', id, ...own, ...prepared.ok];
  prepared.last = { own, all };
  return all;
}

/**
 * Returns a copy of prepared headers with a link added to the header `Link`. One header may contain
 * several links (RFC 8288 §3).
 */
function withLink(prepared: PreparedHeaders, link: string | null): PreparedHeaders {
  if (link === null) return prepared;
  const add = (headers: HeaderList): HeaderList => {
    const at = headers.indexOf('link');
    if (at === -1) return [...headers, 'link', link];
    return headers.with(at + 1, `${link}, ${headers[at + 1]}`);
  };
  return { ok: add(prepared.ok), notModified: add(prepared.notModified), last: null };
}

/**
 * Starts a streamed response with the headers in `headers` and the headers set on `reply`. Returns
 * Node's response object.
 */
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

/**
 * Calls `release` when a response has been sent or its connection is closed. Also listens to the socket, because Node
 * emits no `close` for a response that waits for an earlier response on the same connection.
 */
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

/** Returns whether a list of ETags contains `etag` by weak comparison (RFC 9110 §13.1.2). `*` matches every ETag. */
export function matchesEtag(known: string, etag: string): boolean {
  if (known.trim() === '*') return true;
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
