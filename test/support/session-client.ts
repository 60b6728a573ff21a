import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';

/** Session with its token. */
export interface ClientSession {
  readonly id: string;
  readonly token: string;
}

/** Session whose first message was acknowledged. */
export interface StartedSession extends ClientSession {
  readonly deliveryId: string;
}

/** Options of a POST request. */
export interface Posted {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Loopback address to send the request from. Default: chosen by the system. */
  readonly from?: string;
}

/** Response to a POST request. */
export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a POST request to a session route. Rejects if the connection is lost. */
export function postTo(
  base: string,
  path: string,
  { token, headers: more = {}, body, from }: Posted = {},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...more,
      ...(token === undefined ? {} : { 'x-continuation-token': token }),
    };
    const options = { method: 'POST', headers, ...fromAddress(from) };
    const call = httpRequest(`${base}/svc/v1/${path}`, options, (reply) => {
      readText(reply).then(
        (text) => resolve({ status: reply.statusCode ?? 0, body: JSON.parse(text) }),
        reject,
      );
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Returns the options for a client address, which needs separate connections. */
function fromAddress(from: string | undefined): RequestOptions {
  return from === undefined ? {} : { localAddress: from, agent: false };
}

/** Starts a session. */
export async function startSession(
  base: string,
  message: string,
  posted: Posted = {},
): Promise<StartedSession> {
  const { status, body } = await postTo(base, 'session', { ...posted, body: { message } });
  if (status !== 202) throw new Error(`a start was answered ${status}`);
  return {
    id: String(body.sessionId),
    token: String(body.continuationToken),
    deliveryId: String(body.deliveryId),
  };
}

/** Open stream. */
export interface OpenStream {
  readonly reply: IncomingMessage;
  readonly call: ClientRequest;
}

/** Opens a stream, which the caller reads. */
export function openStream(
  base: string,
  id: string,
  { query = '', from }: { readonly query?: string; readonly from?: string } = {},
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const url = `${base}/svc/v1/session/${id}/stream${query}`;
    const options = { agent: false as const, ...fromAddress(from) };
    const call = httpRequest(url, options, (reply) => resolve({ reply, call }));
    call.on('error', reject);
    call.end();
  });
}

/** Reads the first line of a stream and closes the connection. */
export function takeLine({ reply, call }: OpenStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    reply.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const [line] = wholeLines(text);
      if (line === undefined) return;
      resolve(line);
      call.destroy();
    });
    reply.on('error', reject);
    reply.on('end', () => reject(new Error('the stream ended')));
  });
}

/** Reads a stream to its end. Rejects if the connection is lost. */
export async function readStream(base: string, id: string, query = ''): Promise<string> {
  return readText((await openStream(base, id, { query })).reply);
}

/** Reads a response to its end. Rejects if the connection is lost. */
export function readText(reply: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    reply.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    reply.on('end', () => resolve(text));
    reply.on('error', reject);
    reply.on('close', () => reject(new Error('the reply broke off')));
  });
}

/** Reads a number of bytes of a stream and closes the connection. */
export async function readBytes(
  base: string,
  id: string,
  { query, bytes }: { readonly query: string; readonly bytes: number },
): Promise<Buffer> {
  const { reply, call } = await openStream(base, id, { query });
  const chunks: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve) => {
    reply.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bytes) call.destroy();
    });
    reply.on('error', () => resolve());
    reply.on('close', () => resolve());
  });
  return Buffer.concat(chunks).subarray(0, bytes);
}

/** Returns the complete lines of a body. */
export function wholeLines(body: string): readonly string[] {
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
