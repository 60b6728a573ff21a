import { Agent, type IncomingMessage, request } from 'node:http';
import type { Target } from '../processes.ts';

/** Session id with the continuation token, which is required to send further messages. */
export interface ClientSession {
  readonly id: string;
  readonly token: string;
}

/** HTTP client of the session service, with one connection for each concurrent request. */
export interface SessionClient {
  /** Starts a session with a message. Resolves when the server accepts the message; rejects if it is refused. */
  start(message: string): Promise<ClientSession>;
  /** Sends a message to a started session. Resolves when the server accepts the message; rejects if it is refused. */
  say(session: ClientSession, message: string): Promise<void>;
  /**
   * Reads a session's event stream to its end. `query` starts with `?`. Calls `onData` with each part. Rejects if the
   * connection breaks.
   */
  read(session: ClientSession, query?: string, onData?: (part: string) => void): Promise<string>;
  close(): void;
}

/** Creates an HTTP client of the session service. Callers must call `close`. */
export function createSessionClient({ url }: Pick<Target, 'url'>): SessionClient {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const base = url.replace('/health', '');
  const post = (path: string, message: string, token?: string): Promise<Started> => {
    const headers = {
      'content-type': 'application/json',
      authorization: 'Bearer bench',
      ...(token === undefined ? {} : { 'x-continuation-token': token }),
    };
    return exchange(`${base}/${path}`, {
      ...{ agent, method: 'POST', headers, status: 202 },
      body: JSON.stringify({ message }),
    }).then((body) => JSON.parse(body));
  };
  return {
    start: async (message) => {
      const { sessionId: id, continuationToken: token } = await post('session', message);
      return { id, token };
    },
    say: async ({ id, token }, message) => {
      await post(`session/${id}`, message, token);
    },
    read: ({ id }, query = '', onData = () => {}) =>
      exchange(`${base}/session/${id}/stream${query}`, {
        ...{ agent, method: 'GET', status: 200, onData },
      }),
    close: () => agent.destroy(),
  };
}

interface Started {
  readonly sessionId: string;
  readonly continuationToken: string;
}

interface Exchange {
  readonly agent: Agent;
  readonly method: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly onData?: (part: string) => void;
}

function exchange(
  url: string,
  { agent, method, headers = {}, status, body, onData }: Exchange,
): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const call = request(url, { agent, method, headers }, (reply) => {
      readText(reply).then((text) => {
        if (reply.statusCode === status) resolve(text);
        else reject(new Error(`${method} ${url}: ${reply.statusCode} ${text}`));
      }, reject);
      if (onData !== undefined) reply.on('data', (part: Buffer) => onData(part.toString()));
    });
    call.on('error', reject);
    call.end(body);
  });
}

function readText(reply: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    reply.on('data', (chunk) => chunks.push(chunk));
    reply.on('end', () => resolve(Buffer.concat(chunks).toString()));
    reply.on('error', reject);
    reply.on('close', () => reject(new Error('The connection broke within the response.')));
  });
}

/** Members of an event that are used to check a stream. */
interface Event {
  readonly type: string;
  readonly meta: { readonly id: string; readonly index: number };
}

/** Parses the events of an NDJSON stream. */
export function parseLines(body: string): readonly Event[] {
  return body
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
}

/**
 * Checks the event stream `body` of a session with one question and answer. Returns the ids of the events.
 * @throws Error if an event is missing or repeated, or the answer is incomplete
 */
export function checkOneTurn(body: string): readonly string[] {
  const events = parseLines(body);
  const types = events.map(({ type }) => type);
  const fault = (what: string) => new Error(`${what}: ${types.join(' ')}`);
  if (events.some(({ meta }, at) => meta.index !== at))
    throw fault('An event is missing or repeated');
  const count = (of: string) => types.filter((type) => type === of).length;
  for (const type of ['turn.started', 'message.completed', 'turn.completed', 'session.waiting']) {
    if (count(type) !== 1) throw fault(`${type} occurs ${count(type)} times`);
  }
  if (count('message.appended') === 0) throw fault('There is no text');
  if (types.at(-1) !== 'session.waiting') throw fault('The turn has no end');
  return events.map(({ meta }) => meta.id);
}
