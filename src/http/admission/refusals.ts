import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem, type ProblemDocument, toProblemDocument } from '../../core/problem.ts';
import { toProblemHeaders } from '../../web/errors.ts';
import type { Headers } from '../../web/headers.ts';
import { maxUrlBytes } from '../../web/limits.ts';

/** What Node's HTTP parser reports; `rawPacket` is the piece of input at fault, a Buffer. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

/** A socket as Node's HTTP server keeps it: with the response that is under way, if any. */
interface ServerSocket extends Socket {
  readonly _httpMessage?: {
    readonly headersSent: boolean;
    readonly req: { readonly url?: string };
  } | null;
}

/** Handlers for what never becomes a request. Each writes a problem document and closes. */
export interface Refusals {
  /** A connection that is not accepted. */
  refuse(problem: Problem, socket: Socket): void;
  /** What Node's HTTP parser refuses. */
  onClientError(error: ParserError, socket: Socket): void;
  /** The method CONNECT, which Node keeps from its routers. */
  onConnect(request: unknown, socket: Socket): void;
}

/** What the refusals of a path have beside the problem. */
export interface RefusedPath {
  /** The headers that every reply to it has. */
  readonly headers: Headers;
  /** Gives the document as its surface tells it. Default: as it is. */
  readonly toDocument?: (document: ProblemDocument) => ProblemDocument;
}

/** What refusals are made of. */
export interface RefusalOptions {
  readonly baseUrl: string;
  readonly requestId: () => string;
  /** Describes a path and query, where the parser got that far. */
  readonly describe: (url: string) => RefusedPath;
}

/** Creates the handlers. */
export function createRefusals({ baseUrl, requestId, describe }: RefusalOptions): Refusals {
  const endSoon = createEnding();
  const refuse = (problem: Problem, socket: ServerSocket, url: string | null = null): void => {
    // A peer that is gone, or a reply that has begun: nothing can be said any more. Node's own
    // handler looks at the same member.
    if (!socket.writable || socket._httpMessage?.headersSent === true) {
      socket.destroy();
      return;
    }
    const path: RefusedPath = url === null ? { headers: {} } : describe(url);
    const document = toProblemDocument(problem, { baseUrl });
    const body = JSON.stringify(path.toDocument?.(document) ?? document);
    const headers = {
      ...path.headers,
      ...toProblemHeaders(problem),
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': requestId(),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n`;
    endSoon(socket, `${start}${lines.join('')}\r\n${body}`);
  };
  return {
    refuse,
    onClientError: (error, socket: ServerSocket) => {
      // Where a body is at fault its request is known, and the input begins in the middle.
      const url = socket._httpMessage?.req.url ?? targetOf(error.rawPacket);
      if (error.code === 'ECONNRESET') socket.destroy();
      else refuse(toProblem(error), socket, url);
    },
    onConnect: (_request, socket) => {
      const detail = 'This server is no proxy; it answers GET and HEAD.';
      refuse(new Problem('method_not_allowed', { detail, allow: ['GET', 'HEAD'] }), socket);
    },
  };
}

/** Milliseconds that a peer has to read the last bytes and close its side. */
const lingerMs = 1000;

/** Maximum number of connections that wait for their peers; each has a descriptor that others may need. */
const maxLingering = 64;

/**
 * Creates the function that sends the last bytes of a connection and closes it for good, whatever the peer
 * does. Until then what the peer still sends is read and dropped: closing at once could reset the connection
 * before the peer has read the bytes (RFC 9112 §9.6).
 */
function createEnding(): (socket: Socket, bytes: string) => void {
  let lingering = 0;
  return (socket, bytes) => {
    const close = () => socket.destroy();
    const timer = setTimeout(close, lingerMs).unref();
    // Nobody else listens to what was never a request, and a peer that resets it must not end the process.
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
    return new Problem('request_timeout', { detail: 'The request did not arrive in time.' });
  }
  if (error.code !== 'HPE_HEADER_OVERFLOW') {
    return new Problem('malformed_request', { detail: 'This is not an HTTP/1.1 request.' });
  }
  return isOneLongLine(error.rawPacket)
    ? new Problem('uri_too_long', { detail: `The URL is over ${maxUrlBytes} bytes.` })
    : new Problem('headers_too_large', { detail: 'The headers are over 16 KiB.' });
}

/**
 * Gives the path and query that the input begins with, the path alone where the line goes on beyond
 * the limit of a URL; null where it begins in the middle.
 */
function targetOf(packet: unknown): string | null {
  if (!Buffer.isBuffer(packet)) return null;
  const line = packet.toString('latin1', 0, maxUrlBytes);
  const [, target, path] = /^[A-Z-]+ (?:([!-~]+) HTTP\/|([!->@-~]+))/.exec(line) ?? [];
  return target ?? path ?? null;
}

/** Tells whether the input begins with a request line that is over the limit of a URL. */
function isOneLongLine(packet: unknown): boolean {
  if (!Buffer.isBuffer(packet) || !/^[A-Z]+ /.test(packet.toString('latin1', 0, 20))) return false;
  const end = packet.indexOf('\r\n');
  return end === -1 || end > maxUrlBytes;
}
