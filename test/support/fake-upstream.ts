import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Request that the fake upstream received. `url` is the path with query. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** Handles one request to a fake upstream. */
export type FakeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Upstream on loopback. */
export interface FakeUpstream {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Received requests, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Stops the upstream and closes all connections. */
  close(): Promise<void>;
}

/** Starts an upstream with `handler` on a free port. */
export async function startFakeUpstream(handler: FakeHandler): Promise<FakeUpstream> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers });
    handler(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // A TCP server has an address of this type (node:net, server.address()).
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

/** Status and headers of a response. */
export interface AnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Responds with text of a media type. */
export function answerText(
  response: ServerResponse,
  body: { readonly type: string; readonly text: string },
  options: AnswerOptions = {},
): void {
  response.writeHead(options.status ?? 200, { 'content-type': body.type, ...options.headers });
  response.end(body.text);
}

/** Responds with JSON. */
export function answerJson(
  response: ServerResponse,
  body: unknown,
  options: AnswerOptions = {},
): void {
  answerText(response, { type: 'application/json', text: JSON.stringify(body) }, options);
}

/** Responds with an HTML page. */
export function answerHtml(response: ServerResponse, options: AnswerOptions = {}): void {
  const text = '<!DOCTYPE html><html><body><h1>Secret page of the upstream</h1></body></html>';
  answerText(response, { type: 'text/html; charset=utf-8', text }, options);
}

/** Responds with truncated JSON in a complete HTTP message. */
export function answerTruncatedJson(response: ServerResponse): void {
  answerText(response, { type: 'application/json', text: '{"status": {"type": "sta' });
}

/** Responds with JSON of at least `size` bytes. */
export function answerBytes(response: ServerResponse, size: number): void {
  answerJson(response, { filler: 'x'.repeat(size) });
}

/** Responds with a redirect. */
export function answerRedirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location });
  response.end();
}

/** Resets the connection before the response. */
export function resetConnection(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

/** Sends the head and the first bytes of a body, then resets the connection. */
export function breakOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"code": 200, ', () => response.destroy());
}

/** Handler that never responds. */
export const hang: FakeHandler = () => {};
