import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import { Problem, type ProblemDocument, toProblemDocument } from '../../lib/problem.ts';
import { isPermalinkHandle } from '../../reads/addresses/own-paths.ts';
import { corsHeaders } from '../cors.ts';
import { type Headers, toCommonHeaders } from '../headers.ts';
import type { Identification } from '../key-status/plugin.ts';
import { toLifecycleHeaders } from '../lifecycle/lifecycle.ts';
import { maxUrlBytes, toProblemHeaders } from '../problems.ts';
import {
  aliasRoutes,
  isClosedPath,
  type Route,
  routes,
  surfaceOf,
  toPath,
} from '../reads/routes.ts';
import { toCanonicalTarget } from '../route.ts';
import type { ReplyQueues } from './admission.ts';

interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

export interface RefusedPath {
  readonly headers: Headers;
  readonly toDocument?: (document: ProblemDocument) => ProblemDocument;
}

interface RefusalOptions {
  readonly baseUrl: string;
  readonly requestId: () => string;
  readonly describe: (url: string) => RefusedPath;
  readonly queues: ReplyQueues;
}

/** Creates handlers that answer invalid HTTP with an error and close the connection. */
export function createRefusals({ baseUrl, requestId, describe, queues }: RefusalOptions) {
  const endSoon = createEnding();
  const refuse = (problem: Problem, socket: Socket, url: string | null = null): void => {
    // The client has disconnected, or a reply has begun.
    if (!socket.writable || queues.of(socket)[0]?.headersSent === true) {
      socket.destroy();
      return;
    }
    const path = url === null ? null : describe(url);
    const document = toProblemDocument(problem, { baseUrl });
    const body = toJsonBody(path?.toDocument?.(document) ?? document);
    const headers = {
      ...path?.headers,
      ...toProblemHeaders(problem),
      'content-length': String(Buffer.byteLength(body)),
      ...toCommonHeaders(requestId()),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n`;
    endSoon(socket, `${start}${lines.join('')}\r\n${body}`);
  };
  return {
    refuse,
    onClientError: (error: ParserError, socket: Socket): void => {
      // After an error in a request body, `rawPacket` lacks the URL, but the parsed request has the
      // URL.
      const target = queues.of(socket)[0]?.req.url ?? targetOf(error.rawPacket);
      const url = target && toCanonicalTarget(target);
      if (error.code === 'ECONNRESET') socket.destroy();
      else refuse(toProblem(error), socket, url);
    },
    /** Refuses CONNECT requests, which Node does not pass to request listeners. */
    onConnect: (_request: unknown, socket: Socket): void => {
      const detail = 'This server is not a proxy. Use GET or HEAD.';
      refuse(new Problem('method_not_allowed', { detail, allow: ['GET', 'HEAD'] }), socket);
    },
  };
}

const maxLingering = 64;

/** Creates a function that sends last bytes, then discards input until close (RFC 9112 §9.6). */
function createEnding(): (socket: Socket, bytes: string) => void {
  let lingering = 0;
  return (socket, bytes) => {
    const close = () => socket.destroy();
    const timer = setTimeout(close, 1000).unref();
    // Without a listener, a peer that resets the connection would end the process.
    socket.on('error', close);
    if (lingering >= maxLingering) socket.once('finish', close);
    lingering += 1;
    socket.once('close', () => {
      lingering -= 1;
      clearTimeout(timer);
    });
    socket.end(bytes);
    socket.resume();
  };
}

function toProblem(error: ParserError): Problem {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const detail = 'The request did not arrive before the timeout.';
    return new Problem('request_timeout', { detail });
  }
  if (error.code !== 'HPE_HEADER_OVERFLOW') {
    const detail = 'The input is not a valid HTTP/1.1 request.';
    return new Problem('malformed_request', { detail });
  }
  return isOneLongLine(error.rawPacket)
    ? new Problem('uri_too_long', { detail: `The URL is longer than ${maxUrlBytes} bytes.` })
    : new Problem('headers_too_large', { detail: 'The headers are larger than 16 KiB.' });
}

function targetOf(packet: unknown): string | null {
  if (!Buffer.isBuffer(packet)) return null;
  const line = packet.toString('latin1', 0, maxUrlBytes);
  const [, target, path] = /^[A-Z-]+ (?:([!-~]+) HTTP\/|([!->@-~]+))/.exec(line) ?? [];
  return target ?? path ?? null;
}

function isOneLongLine(packet: unknown): boolean {
  if (!Buffer.isBuffer(packet) || !/^[A-Z]+ /.test(packet.toString('latin1', 0, 20))) return false;
  const end = packet.indexOf('\r\n');
  return end === -1 || end > maxUrlBytes;
}

/** Returns CORS and deprecation headers for the error response to a malformed request. */
export function describeRefused(url: string, baseUrl: string): Headers {
  const path = toPath(url);
  const route = aliasRoutes.find((row) => row.path === path);
  const lifecycle = route === undefined ? null : toLifecycleHeaders(route, url, baseUrl);
  return { ...(isClosedPath(url) ? {} : corsHeaders), ...lifecycle };
}

/** Creates a function for the headers of undecodable URLs, for which Fastify runs no hooks. */
export function createUnroutedHeaders(identification: Identification, baseUrl: string) {
  const rows = routes
    .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)
    .map((row) => ({ row, pattern: toPattern(row) }));
  return async (request: FastifyRequest): Promise<Headers> => {
    const { url = '' } = request.raw;
    const path = toPath(url);
    const row = rows.find(({ pattern }) => pattern.test(path))?.row;
    const isRead = path.startsWith('/api/') || isPermalinkHandle(path.split('/')[1] ?? '');
    if (row === undefined || !isRead) return isClosedPath(url) ? {} : corsHeaders;
    const identity = await identification.identify(request, surfaceOf(row));
    return {
      ...corsHeaders,
      ...(identity.variesByKey ? { vary: 'Accept, Authorization' } : {}),
      ...identity.headers(),
      ...toLifecycleHeaders(row, url, baseUrl),
    };
  };
}

function toPattern({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
