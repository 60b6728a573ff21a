import type { IncomingMessage, ServerResponse } from 'node:http';
import { upstream } from './listen.ts';

/** Request to the model. */
export interface ModelRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** Request to the fake model that the test answers. */
export interface ModelExchange {
  readonly request: ModelRequest;
  /** Resolves when the client has closed the connection or the response is complete. */
  readonly closed: Promise<void>;
  /** Streams words, one per event. */
  say(...words: readonly string[]): void;
  /** Streams raw bytes. */
  send(bytes: string | Uint8Array): void;
  /** Streams an object as an event. */
  sendChunk(payload: object): void;
  /** Ends the stream as real endpoints do. */
  finish(reason?: string, more?: object): void;
  /** Responds with a complete body. */
  reply(
    body: { readonly type: string; readonly text: string },
    status?: number,
    headers?: Headers,
  ): void;
  /** Resets the connection. */
  cut(): void;
}

type Headers = Readonly<Record<string, string>>;

/** Chat endpoint on loopback. */
export interface FakeModel {
  /** Base URL. */
  readonly url: string;
  /** Received requests. */
  readonly requests: readonly ModelRequest[];
  /** Resolves with the next request in order. Available without a script only. */
  next(): Promise<ModelExchange>;
}

/**
 * Starts an OpenAI-compatible endpoint on loopback that streams. It is closed at the end of the test. A
 * script answers each request; without one the test answers them with `next`.
 */
export async function fakeModel(script?: (exchange: ModelExchange) => void): Promise<FakeModel> {
  const requests: ModelRequest[] = [];
  const held: ModelExchange[] = [];
  const waiting: ((exchange: ModelExchange) => void)[] = [];
  const take = (exchange: ModelExchange) => {
    const next = script ?? waiting.shift();
    if (next === undefined) held.push(exchange);
    else next(exchange);
  };
  const { url } = await upstream((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      const exchange = createExchange(toRequest(request, body), response);
      requests.push(exchange.request);
      take(exchange);
    });
  });
  return {
    url: `${url}/v1`,
    requests,
    next: () =>
      new Promise((resolve) => {
        const exchange = held.shift();
        if (exchange === undefined) waiting.push(resolve);
        else resolve(exchange);
      }),
  };
}

function toRequest({ url = '', headers }: IncomingMessage, body: string): ModelRequest {
  return { ...JSON.parse(body), path: url, authorization: headers.authorization };
}

function createExchange(request: ModelRequest, response: ServerResponse): ModelExchange {
  const send = (bytes: string | Uint8Array) => {
    if (!response.headersSent) {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    }
    response.write(bytes);
  };
  const sendChunk = (payload: object) => send(`data: ${JSON.stringify(payload)}\n\n`);
  return {
    request,
    closed: new Promise((resolve) => response.on('close', resolve)),
    send,
    sendChunk,
    say: (...words) => {
      for (const content of words) sendChunk({ choices: [{ index: 0, delta: { content } }] });
    },
    finish: (reason = 'stop', more = {}) => {
      sendChunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }], ...more });
      send('data: [DONE]\n\n');
      response.end();
    },
    reply: ({ type, text }, status = 200, headers = {}) => {
      response.writeHead(status, { 'content-type': type, ...headers });
      response.end(text);
    },
    cut: () => response.destroy(),
  };
}

/** Returns the citation marker, such as `[2]`, of the passage that contains these words. */
export function markerOf({ messages }: ModelRequest, words: string): string {
  const last = messages.at(-1)?.content ?? '';
  for (const [, number, text = ''] of last.matchAll(
    /<passage number="(\d+)"([\s\S]*?)<\/passage>/g,
  )) {
    if (text.includes(words)) return `[${number}]`;
  }
  throw new Error(`No passage that was given holds “${words}”.`);
}
