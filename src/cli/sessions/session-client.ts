import { Writable } from 'node:stream';
import { z } from 'zod';
import { Problem, type ProblemCode, problemKinds } from '../../core/problem.ts';
import { type Deadline, openDeadline, withDeadline } from '../../core/scheduling/deadline.ts';
import { readMessage } from '../../sessions/http/requests.ts';
import { createContinuationTokens, keyedHash } from '../../sessions/http/tokens.ts';
import {
  expiredSession,
  refuseOtherOwner,
  sendFirstMessage,
  sendFurtherMessage,
  unknownSession,
} from '../../sessions/messages.ts';
import { followUpReply, startReply } from '../../sessions/schemas.ts';
import type { SessionService } from '../../sessions/service.ts';

export interface AcceptedQuestion {
  readonly sessionId: string;
  /** Id that all events for the question contain. */
  readonly deliveryId: string;
  /** Index of the question's first event within the session. */
  readonly fromIndex: number;
}

/** Error for a session service that cannot be reached. The message is written for users. */
export class UnreachableError extends Error {}

/** Callback for each chunk of an event stream. A chunk can end in the middle of a line. */
type OnText = (chunk: string) => void;

/** Client of the session service, in this process or on a server. Callers must call `close`. */
export interface SessionClient {
  /** Starts a session with a question. @throws Problem */
  start(question: string): Promise<AcceptedQuestion>;
  /** Sends a further question to a session. @throws Problem */
  followUp(sessionId: string, question: string): Promise<AcceptedQuestion>;
  /** Streams a session's events as JSON lines until all questions are answered. @throws UnreachableError, Problem */
  read(from: Pick<AcceptedQuestion, 'sessionId' | 'fromIndex'>, onText: OnText): Promise<void>;
  close(): Promise<void>;
}

/** Returns the operator's bearer token, derived from the server's secret. `perch ask` uses it to start sessions. */
function toOperatorBearer(secret: Buffer): string {
  return keyedHash(secret, 'operator', 'bearer');
}

interface LocalClientOptions extends Pick<SessionClient, 'close'> {
  readonly service: SessionService;
  /** Whether a session accepts only the bearer token that started it. */
  readonly bindBearer: boolean;
}

/** Creates a client for a session service in this process. */
export function createLocalClient({
  service,
  bindBearer,
  close,
}: LocalClientOptions): SessionClient {
  const owner = keyedHash(service.secret, 'owner', toOperatorBearer(service.secret));
  const toText = (message: string) => readMessage({ message }, service.limits.messageBytes).text;
  return {
    start: async (question) => {
      const message = { text: toText(question), owner, client: null, idempotency: null };
      return { ...(await sendFirstMessage(message, service)), fromIndex: 0 };
    },
    followUp: async (sessionId, question) => {
      const found = await service.store.find(sessionId);
      if (found.kind === 'unknown') throw unknownSession();
      if (found.kind === 'purged') throw expiredSession();
      if (bindBearer) refuseOtherOwner(found.record, owner);
      const message = { sessionId, text: toText(question), idempotency: null };
      return { ...(await sendFurtherMessage(message, service)), fromIndex: found.record.events };
    },
    read: async ({ sessionId, fromIndex }, onText) => {
      const request = { sessionId, startIndex: fromIndex, mode: 'automatic' } as const;
      const stream = await service.streams.openStream({ ...request, token: null, client: null });
      if (stream === undefined) throw expiredSession();
      const decoder = new TextDecoder();
      const write = (bytes: Buffer, _encoding: string, done: () => void) => {
        onText(decoder.decode(bytes, { stream: true }));
        done();
      };
      await stream.sendTo(new Writable({ write }));
    },
    close,
  };
}

/** Timeout in milliseconds for a response, and between two chunks of a stream. */
const timeoutMs = 30_000;

/**
 * Creates an HTTP client for the sessions of a server at `url`, such as `http://127.0.0.1:8080/svc/v1`. With the
 * server's secret, the client can continue every session that is not bound to another bearer token.
 */
export function createRemoteClient(url: string, secret: Buffer): SessionClient {
  const tokens = createContinuationTokens(secret);
  const send = createSend(url, toOperatorBearer(secret));
  const call = (path: string, body?: object) =>
    withDeadline(timeoutMs, [], (signal) => send(path, signal, body));
  return {
    start: async (message) => {
      const body = await readJson(await call('/session', { message }));
      return { ...startReply.parse(body), fromIndex: 0 };
    },
    followUp: async (sessionId, message) => {
      const path = `/session/${sessionId}`;
      const stream = await call(`${path}/stream?follow=false&startIndex=-1`);
      await stream.body?.cancel();
      const tail = Number(stream.headers.get('x-stream-tail-index') ?? -1);
      const body = { message, continuationToken: tokens.of(sessionId) };
      const accepted = followUpReply.parse(await readJson(await call(path, body)));
      return { ...accepted, fromIndex: tail + 1 };
    },
    read: async ({ sessionId, fromIndex }, onText) => {
      const deadline = openDeadline(timeoutMs, []);
      const path = `/session/${sessionId}/stream?startIndex=${fromIndex}`;
      try {
        await readChunks(await send(path, deadline.signal), deadline, onText);
      } finally {
        deadline.close();
      }
    },
    close: async () => undefined,
  };
}

async function readChunks({ body }: Response, deadline: Deadline, onText: OnText): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body ?? []) {
      deadline.restart(timeoutMs);
      onText(decoder.decode(bytes, { stream: true }));
    }
  } catch (cause) {
    // An open stream sends heartbeats, so a stream without any data is treated as ended.
    if (deadline.isExpired) return;
    const advice = 'Run `perch sessions show ID` to see the answer, or ask again.';
    throw new UnreachableError(`The connection to the session was lost. ${advice}`, { cause });
  }
}

/** Creates a function that sends a GET request, or POST if it has a body. The function throws a Problem for errors. */
function createSend(url: string, bearer: string) {
  const { origin } = new URL(url);
  return async (path: string, signal: AbortSignal, body?: object): Promise<Response> => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
      redirect: 'error',
    }).catch((cause) => {
      throw new UnreachableError(`The server at ${origin} does not respond.`, { cause });
    });
    if (response.ok) return response;
    const { success, data } = problemBody.safeParse(await readJson(response));
    if (success) throw new Problem(data.code, { detail: data.detail });
    throw new UnreachableError(`The server at ${origin} does not serve sessions.`);
  };
}

const problemBody = z.object({
  code: z.enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]]), // the list of keys is not empty
  detail: z.string(),
});

/** Returns the parsed JSON body; `undefined` if the body is not valid JSON. */
const readJson = (response: Response): Promise<unknown> => response.json().catch(() => undefined);
