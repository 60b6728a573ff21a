import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem, toProblemDocument } from '../core/problem.ts';
import { toProblemHeaders } from './errors.ts';
import type { Headers } from './headers.ts';
import { maxUrlBytes } from './limits.ts';

/** What Node's HTTP parser reports; `rawPacket` is the piece of input at fault, a Buffer. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

/** A socket as Node's HTTP server keeps it: with the response that is under way, if any. */
interface ServerSocket extends Socket {
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
}

/** Handlers for what never becomes a request. Each writes a problem document and closes. */
export interface Refusals {
  /** What Node's HTTP parser refuses (decisions section 5). */
  onClientError(error: ParserError, socket: Socket): void;
  /** The method CONNECT, which Node keeps from its routers. */
  onConnect(request: unknown, socket: Socket): void;
}

/** What refusals are made of. */
export interface RefusalOptions {
  readonly baseUrl: string;
  readonly requestId: () => string;
  /** Gives the headers that every reply to a path and query has, where the parser got that far. */
  readonly describe: (url: string) => Headers;
}

/** Creates the handlers. */
export function createRefusals({ baseUrl, requestId, describe }: RefusalOptions): Refusals {
  const refuse = (problem: Problem, socket: ServerSocket, url: string | null = null): void => {
    // A peer that is gone, or a reply that has begun: nothing can be said any more. Node's own
    // handler looks at the same member.
    if (!socket.writable || socket._httpMessage?.headersSent === true) {
      socket.destroy();
      return;
    }
    const body = JSON.stringify(toProblemDocument(problem, { baseUrl }));
    const headers = {
      ...(url === null ? {} : describe(url)),
      ...toProblemHeaders(problem),
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': requestId(),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n`;
    socket.end(`${start}${lines.join('')}\r\n${body}`);
  };
  return {
    onClientError: (error, socket) => {
      if (error.code === 'ECONNRESET') socket.destroy();
      else refuse(toProblem(error), socket, targetOf(error.rawPacket));
    },
    onConnect: (_request, socket) => {
      const detail = 'This server is no proxy; it answers GET and HEAD.';
      refuse(new Problem('method_not_allowed', { detail, allow: ['GET', 'HEAD'] }), socket);
    },
  };
}

function toProblem(error: ParserError): Problem {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('request_timeout', { detail: 'The request did not arrive in time.' });
  }
  if (error.code !== 'HPE_HEADER_OVERFLOW') {
    return new Problem('malformed_request', { detail: 'This is not an HTTP/1.1 request.' });
  }
  return isOneLongLine(error.rawPacket)
    ? new Problem('uri_too_long', { detail: `The URL is over ${maxUrlBytes} bytes.` })
    : new Problem('headers_too_large', { detail: 'The headers are over 16 KiB.' });
}

/** Gives the path and query that the input begins with; null where it begins in the middle. */
function targetOf(packet: unknown): string | null {
  if (!Buffer.isBuffer(packet)) return null;
  return /^[A-Z-]+ ([!-~]+) HTTP\//.exec(packet.toString('latin1', 0, maxUrlBytes))?.[1] ?? null;
}

/** Tells whether the input begins with a request line that is over the limit of a URL. */
function isOneLongLine(packet: unknown): boolean {
  if (!Buffer.isBuffer(packet) || !/^[A-Z]+ /.test(packet.toString('latin1', 0, 20))) return false;
  const end = packet.indexOf('\r\n');
  return end === -1 || end > maxUrlBytes;
}
