import { connect, createServer, type Socket } from 'node:net';

/** What happens to one request or to its response. */
export type HttpFault =
  | { readonly kind: 'none' }
  /** The connection is reset before the server receives the request. */
  | { readonly kind: 'refuse' }
  /** The proxy answers with a problem document and `Retry-After: 1`. */
  | { readonly kind: 'status'; readonly status: 429 | 503 }
  /** The connection is closed or reset after a number of bytes of the response. */
  | { readonly kind: 'end' | 'reset'; readonly bytes: number }
  /** Nothing follows after a number of bytes of the response, and the connection stays open. */
  | { readonly kind: 'stall'; readonly bytes: number };

/** TCP proxy between an HTTP client and a server. */
export interface FaultyHttp {
  readonly url: string;
  /** Number of bytes of the last response. */
  readonly lastBytes: number;
  /** Number of faults of each kind that reached a client. */
  readonly counts: Readonly<Record<HttpFault['kind'], number>>;
  close(): Promise<void>;
}

/** Opens a proxy to a port of the loopback interface. `next` is called for each request. */
export async function openFaultyHttp(port: number, next: () => HttpFault): Promise<FaultyHttp> {
  const counts = { none: 0, refuse: 0, status: 0, end: 0, reset: 0, stall: 0 };
  const sockets = new Set<Socket>();
  let lastBytes = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const count = (fault: HttpFault) => {
    counts[fault.kind] += 1;
    return true;
  };
  const server = createServer({ noDelay: true }, (client) => {
    keep(client);
    const upstream = keep(connect({ port, host: '127.0.0.1', noDelay: true }));
    let fault: HttpFault = { kind: 'none' };
    let sent = 0;
    let isOver = false;
    client.on('data', (bytes) => {
      if (isOver) return;
      if (/^(?:GET|POST) /.test(bytes.toString('latin1', 0, 5))) {
        fault = next();
        sent = 0;
        isOver = refuse(client, fault) && count(fault);
      }
      if (!isOver) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (isOver) return;
      isOver = pass(client, bytes, { fault, sent }) && count(fault);
      sent += bytes.length;
      lastBytes = sent;
      if (isOver) upstream.destroy();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => {
      if (!isOver) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    get lastBytes() {
      return lastBytes;
    },
    counts,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Ends the connection, if the fault says so before the server receives the request. Returns whether it has ended. */
function refuse(client: Socket, fault: HttpFault): boolean {
  if (fault.kind === 'refuse') client.resetAndDestroy();
  else if (fault.kind === 'status') client.end(toRefusal(fault.status));
  else return false;
  return true;
}

/** Passes a part of a response on, as far as the fault allows it. Returns whether the response has ended. */
function pass(
  client: Socket,
  bytes: Buffer,
  { fault, sent }: { readonly fault: HttpFault; readonly sent: number },
): boolean {
  const rest = 'bytes' in fault ? fault.bytes - sent : Number.POSITIVE_INFINITY;
  const part = bytes.subarray(0, Math.min(rest, bytes.length));
  if (rest > bytes.length || fault.kind === 'stall') client.write(part);
  else if (fault.kind === 'end') client.end(part);
  else client.write(part, () => client.resetAndDestroy());
  return rest <= bytes.length;
}

function toRefusal(status: 429 | 503): string {
  const body = JSON.stringify({
    type: 'http://localhost:8080/docs/errors',
    title: 'Refused',
    status,
    detail: 'The request was refused.',
    code: status === 429 ? 'rate_limited' : 'overloaded',
    resolution: 'Wait, then retry.',
    retry_after: 1,
  });
  return [
    `HTTP/1.1 ${status} Refused`,
    'Content-Type: application/problem+json',
    `Content-Length: ${body.length}`,
    'Retry-After: 1',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
