import type { Socket } from 'node:net';
import { Problem, toProblemDocument } from '../core/problem.ts';
import { maxUrlBytes } from './admission.ts';
import { toProblemHeaders } from './errors.ts';

/** What Node's HTTP parser reports; `rawPacket` is the piece of input at fault, a Buffer. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
};

/**
 * Makes the handler for what Node's HTTP parser refuses: it writes a problem document and closes
 * the connection (decisions section 5).
 */
export function createRefusals(baseUrl: string, requestId: () => string) {
  return (error: ParserError, socket: Socket): void => {
    // A peer that is gone, or a reply that has begun: nothing can be said any more.
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const problem = toProblem(error);
    const body = JSON.stringify(toProblemDocument(problem, { baseUrl }));
    const headers = {
      ...toProblemHeaders(problem),
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': requestId(),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `HTTP/1.1 ${problem.status} ${reasons[problem.status]}\r\n`;
    socket.end(`${start}${lines.join('')}\r\n${body}`);
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

/** Tells whether the input begins with a request line that is over the limit of a URL. */
function isOneLongLine(packet: unknown): boolean {
  if (!Buffer.isBuffer(packet) || !/^[A-Z]+ /.test(packet.toString('latin1', 0, 20))) return false;
  const end = packet.indexOf('\r\n');
  return end === -1 || end > maxUrlBytes;
}
