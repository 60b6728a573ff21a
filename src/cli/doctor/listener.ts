import { createServer, type IncomingMessage } from 'node:http';
import { createConnectionReader } from '../../access/client-address.ts';
import type { Config } from '../../config/config.ts';
import { codeOfFailure, getOnce, type OnceAnswer } from '../../core/http/get-once.ts';
import { toLocalUrl } from '../../core/http/local-url.ts';
import type { Random } from '../../core/random.ts';
import { withDeadline } from '../../core/scheduling/deadline.ts';
import {
  type ConnectionReport,
  forwardingHeaders,
  parseConnectionReport,
} from '../../http/admin/connection.ts';

/** Path that a running server answers without reading from a platform. */
export const livePath = '/health/live';

/** Maximum time in milliseconds for a request to the server on this machine. */
const localMs = 2000;

/** Server that listens on `HOST` and `PORT`, or the reason why Perch cannot listen there. */
export type Listener =
  | { readonly kind: 'perch'; readonly process: string }
  | { readonly kind: 'other' }
  /** Server that `perch doctor` has opened. It listens until `close` is called. */
  | ({ readonly kind: 'own' } & OwnServer)
  /** Port that cannot be used. `code` is the error code of `listen`. */
  | { readonly kind: 'unusable'; readonly code: string };

export interface OwnServer {
  /** Random text in the URL of a test request, which the temporary server answers with a report. */
  readonly nonce: string;
  /** Parses the temporary server's report; `null` if another server sent the body. */
  readReport(body: string): ConnectionReport | null;
  close(): void;
}

type Address = Pick<Config, 'HOST' | 'PORT' | 'PERCH_TRUST_PROXY'>;

/** Opens a temporary server, which callers must close, or returns the server on the port. */
export async function openListener(
  config: Address,
  random: Random,
  signal: AbortSignal,
): Promise<Listener> {
  const opened = await openOwnServer(config, random);
  if (typeof opened !== 'string') return { kind: 'own', ...opened };
  if (opened !== 'EADDRINUSE') return { kind: 'unusable', code: opened };
  try {
    const url = new URL(livePath, toLocalUrl(config.HOST, config.PORT));
    const ask = (deadline: AbortSignal) => getOnce(url, { signal: deadline });
    const process = processOf(await withDeadline(localMs, [signal], ask));
    return process === null ? { kind: 'other' } : { kind: 'perch', process };
  } catch {
    return { kind: 'other' };
  }
}

/** Returns the process id from `X-Request-Id`; `null` if the response is not from Perch. */
export function processOf({ status, headers, text }: OnceAnswer): string | null {
  const id = headers['x-request-id'];
  const [, prefix = null] = /^([\w-]{8})-[0-9a-z]+$/.exec(String(id)) ?? [];
  return status === 200 && text.trim() === '{"status":"ok"}' ? prefix : null;
}

const maxConnections = 64;

function openOwnServer(config: Address, random: Random): Promise<OwnServer | string> {
  const nonce = random.bytes(16).toString('hex');
  const proof = random.bytes(16).toString('hex'); // not part of the request, so no other server can send it
  const server = createServer({ requestTimeout: 5000 }, (request, response) => {
    const isOurs = request.url === `${livePath}?doctor=${nonce}`;
    response.writeHead(isOurs ? 200 : 503, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(JSON.stringify(isOurs ? { proof, ...report(request, config) } : {}));
  });
  server.maxConnections = maxConnections;
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(codeOfFailure(error)));
    server.listen({ host: config.HOST, port: config.PORT }, () => {
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      const readReport = (body: string) =>
        body.startsWith(`{"proof":"${proof}"`) ? parseConnectionReport(parseJson(body)) : null;
      resolve({ nonce, readReport, close });
    });
  });
}

function report(
  { socket, headers }: IncomingMessage,
  { PERCH_TRUST_PROXY: trusted }: Address,
): ConnectionReport {
  return {
    peer: socket.remoteAddress ?? null,
    is_trusted_proxy: createConnectionReader(trusted)(socket) === null,
    forwarding_headers: forwardingHeaders(headers),
  };
}

/** Parses JSON. Returns `null` if the text is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
