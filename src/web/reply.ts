import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Headers, toNotModifiedHeaders } from './headers.ts';

/** Headers as Node's `writeHead` takes them: names and values in turn. */
type HeaderList = readonly string[];

interface Heads {
  readonly found: HeaderList;
  readonly notModified: HeaderList;
  /** Those of the last 200 that was sent: the next one has the same but for its id. */
  last: { readonly own: HeaderList; readonly all: string[] } | null;
}

export interface PreparedReply {
  readonly etag: string;
  readonly open: Heads;
  /** For a caller who presented a key. */
  readonly private: Heads;
  readonly body: Buffer;
}

/** The part of a reply that belongs to one request. */
export interface ReplyOptions {
  readonly isPrivate: boolean;
  readonly headers: HeaderList;
  /** Links beside the prepared one; `null` for none. */
  readonly link: string | null;
}

export const nothingOfItsOwn: ReplyOptions = { isPrivate: false, headers: [], link: null };

/** `Cache-Control` of every reply to a presented key. */
export const privateCaching = 'private, no-store';

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
  return {
    found: Object.entries(headers).flat(),
    notModified: Object.entries(toNotModifiedHeaders(headers)).flat(),
    last: null,
  };
}

/** Sends a prepared reply, or 304 (RFC 9110 §13.1.2). It bypasses Fastify, which would change nothing (docs/decisions/0004). */
export function sendPrepared(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  prepared: PreparedReply,
  { isPrivate, headers, link }: ReplyOptions,
): void {
  const { raw } = reply.hijack();
  const heads = withLink(isPrivate ? prepared.private : prepared.open, link);
  const known = request.headers['if-none-match'];
  if (known !== undefined && matchesEtag(known, prepared.etag)) {
    raw.writeHead(304, ['x-request-id', request.id, ...headers, ...heads.notModified]).end();
    return;
  }
  raw.writeHead(200, listHeaders(heads, headers, request.id)).end(prepared.body);
}

/** Node reads the list before it returns, so one list serves all replies that differ in their id alone. */
function listHeaders(heads: Heads, own: HeaderList, id: string): string[] {
  if (heads.last?.own === own) {
    heads.last.all[1] = id;
    return heads.last.all;
  }
  const all = ['x-request-id', id, ...own, ...heads.found];
  heads.last = { own, all };
  return all;
}

/** RFC 8288 §3: all links go into one header. */
function withLink(heads: Heads, link: string | null): Heads {
  if (link === null) return heads;
  const add = (headers: HeaderList): HeaderList => {
    const at = headers.indexOf('link');
    if (at === -1) return [...headers, 'link', link];
    return headers.with(at + 1, `${link}, ${headers[at + 1]}`);
  };
  return { found: add(heads.found), notModified: add(heads.notModified), last: null };
}

/** Takes over the socket of a reply to stream a body, and sends the headers, with those that are set on the reply. */
export function beginStream(reply: FastifyReply, headers: Headers): ServerResponse {
  const { raw } = reply.hijack();
  const all = { ...Object.fromEntries(Object.entries(reply.getHeaders())), ...headers };
  const id = reply.request.id;
  raw.writeHead(200, { ...all, 'x-request-id': id, 'x-content-type-options': 'nosniff' });
  raw.flushHeaders();
  return raw;
}

/** Compares weakly, as `If-None-Match` demands; `*` matches whatever there is. */
function matchesEtag(known: string, etag: string): boolean {
  if (known.trim() === '*') return true;
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
