import { isRecord, parseJson } from './bodies.ts';
import { ResponseError } from './errors.ts';
import type { Request } from './exchange.ts';
import { followEvents, type OpenEvents } from './follow.ts';
import type {
  SessionCancelAccepted,
  SessionEvent,
  SessionHealth,
  SessionNotRunning,
  SessionResetDone,
} from './generated.ts';
import type { CallOptions, PerchOptions } from './options.ts';
import { toBody } from './reads.ts';
import type { Reply, Transport } from './transport.ts';
import { createTurn, type Session, type Turn } from './turns.ts';

export interface AskOptions extends CallOptions {
  /** Session to continue. Default: a new session. */
  readonly session?: Session | undefined;
  /**
   * Behavior if the session is still answering another question: `queue` waits, and `reject` fails with
   * `turn_in_progress`. Has no effect without `session`.
   */
  readonly turnPolicy?: 'queue' | 'reject' | undefined;
  /**
   * Key of 16 to 255 characters. If a question is sent again with the same key and bearer token
   * within 24 hours, the server does not answer it again, and repeats the first response. Default:
   * a random key, so that a retry never starts a second answer.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface EventsOptions extends Pick<CallOptions, 'signal'> {
  /**
   * Index of the first event to read. To continue a stream, pass `meta.index` of the last received event, plus 1.
   * Default: 0.
   */
  readonly startIndex?: number | undefined;
}

/** Methods that ask questions and read answers in sessions. */
export interface Sessions {
  /** Sends a question. Resolves when the server has accepted it. @throws PerchError */
  ask(message: string, options?: AskOptions): Promise<Turn>;
  /** Iterates over the events of a session until all questions are answered. @throws PerchError */
  events(sessionId: string, options?: EventsOptions): AsyncIterable<SessionEvent>;
  /** Cancels the answer in progress. With `turnId`, cancels the answer only if its events have this `turnId`. */
  cancel(
    sessionId: string,
    options?: CallOptions & { readonly turnId?: string },
  ): Promise<SessionCancelAccepted | SessionNotRunning>;
  /** Ends a session. The server then accepts no further questions in it. */
  reset(session: Session, call?: CallOptions): Promise<SessionResetDone>;
  /** Returns the state of the session service. @throws ProblemError `not_ready` if the service accepts no questions */
  health(call?: CallOptions): Promise<SessionHealth>;
}

/** Creates the part of the client that asks questions in sessions, reads and cancels answers, and ends sessions. */
export function createSessions(transport: Transport, options: PerchOptions): Sessions {
  const toRequest = createToRequest(options);
  const send = (asked: SessionRequest, call?: CallOptions) =>
    transport.send(toRequest(asked), call);
  const sendJson = async <Body>(asked: SessionRequest, call?: CallOptions): Promise<Body> => {
    const { text, status } = await send(asked, call);
    return toBody(text, status);
  };
  const openEvents =
    (sessionId: string, signal?: AbortSignal): OpenEvents =>
    async (startIndex) => {
      const path = `${toPath(sessionId)}/stream?startIndex=${startIndex}`;
      const request = toRequest({ operation: 'streamSession', path });
      const { headers, parts } = await transport.open(request, { signal });
      return { tailIndex: toTailIndex(headers), parts };
    };
  const readNextIndex = async ({ id }: Session, call: CallOptions): Promise<number> => {
    const path = `${toPath(id)}/stream?follow=false&startIndex=-1`;
    const { headers } = await send({ operation: 'streamSession', path }, call);
    return toTailIndex(headers) + 1;
  };
  return {
    ask: async (message, { session, turnPolicy, idempotencyKey, ...call } = {}) => {
      const startIndex = session === undefined ? 0 : await readNextIndex(session, call);
      const once = { 'idempotency-key': idempotencyKey ?? randomToken() };
      const reply = await send(toQuestion({ message, session, turnPolicy }, once), call);
      const { deliveryId, ...started } = toAccepted(reply);
      const open = openEvents(started.id, call.signal);
      const { signal } = call;
      return createTurn({ ...transport, session: started, deliveryId, startIndex, open, signal });
    },
    events: (sessionId, { startIndex = 0, signal } = {}) =>
      followEvents({ ...transport, open: openEvents(sessionId, signal), startIndex, signal }),
    cancel: (sessionId, { turnId, ...call } = {}) => {
      const body = turnId === undefined ? {} : { turnId };
      return sendJson({ operation: 'cancelTurn', path: `${toPath(sessionId)}/cancel`, body }, call);
    },
    reset: (session, call) => {
      const path = `${toPath(session.id)}/reset`;
      const headers = toContinuationHeader(session);
      return sendJson({ operation: 'resetSession', path, body: {}, headers }, call);
    },
    health: (call) => sendJson({ operation: 'getSessionHealth', path: '/health' }, call),
  };
}

interface SessionRequest {
  readonly operation: string;
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the request that starts a session, or continues one. */
function toQuestion(
  { message, session, turnPolicy }: { readonly message: string } & AskOptions,
  once: Readonly<Record<string, string>>,
): SessionRequest {
  const body = { message, turnPolicy };
  if (session === undefined) {
    return { operation: 'startSession', path: '/session', body, headers: once };
  }
  const headers = { ...once, ...toContinuationHeader(session) };
  return { operation: 'continueSession', path: toPath(session.id), body, headers };
}

/** Creates a function that converts a session operation to an HTTP request. */
function createToRequest({ baseUrl, sessionsUrl, bearer = randomToken() }: PerchOptions) {
  const base = trimSlash(sessionsUrl ?? `${trimSlash(baseUrl)}/svc/v1`);
  const authorization = `Bearer ${bearer}`;
  return ({ operation, path, body, headers }: SessionRequest): Request => {
    const basics = { operation, url: `${base}${path}` };
    if (body === undefined) return { ...basics, headers: { authorization, ...headers } };
    return {
      ...basics,
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
  };
}

const trimSlash = (url: string | URL) => String(url).replace(/\/+$/, '');
const toPath = (sessionId: string) => `/session/${encodeURIComponent(sessionId)}`;
const toContinuationHeader = (session: Session) => ({
  'x-continuation-token': session.continuationToken,
});
const toTailIndex = (headers: Headers) => Number(headers.get('x-stream-tail-index') ?? -1);

/** Parses the response to a question. @throws ResponseError if members are missing */
function toAccepted({ text, status }: Reply): Session & { readonly deliveryId: string } {
  const body = parseJson(text);
  const { sessionId: id, continuationToken, deliveryId } = isRecord(body) ? body : {};
  if (isText(id) && isText(continuationToken) && isText(deliveryId)) {
    return { id, continuationToken, deliveryId };
  }
  const fault = 'The response to the question is not that of a Perch server.';
  throw new ResponseError('unexpected_response', fault, { status });
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns a random token of 32 hexadecimal digits. */
function randomToken(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
