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

/** A question that a session has accepted. */
export interface Taken {
  readonly sessionId: string;
  /** Part of every event of its turn. */
  readonly deliveryId: string;
  /** No event of its turn has a lower index. */
  readonly fromIndex: number;
}

/** The sessions cannot be reached; the message is for people. */
export class UnreachableError extends Error {}

/** Called with pieces of text that end anywhere. */
type OnText = (piece: string) => void;

/** A way to the sessions of the data directory. Close it with `close()`. */
export interface SessionReach {
  /** Starts a session with a question. @throws Problem */
  start(question: string): Promise<Taken>;
  /** Asks further in a session. @throws Problem */
  goOn(sessionId: string, question: string): Promise<Taken>;
  /** Reads events as lines, until nothing is left to answer. @throws UnreachableError, Problem */
  read(from: Pick<Taken, 'sessionId' | 'fromIndex'>, onText: OnText): Promise<void>;
  close(): Promise<void>;
}

/** Returns the bearer of whoever may read the server's secret: sessions that they start are theirs. */
function toOperatorBearer(secret: Buffer): string {
  return keyedHash(secret, 'operator', 'bearer');
}

interface OwnReachOptions extends Pick<SessionReach, 'close'> {
  readonly service: SessionService;
  /** Whether a session is its starter's alone. */
  readonly bindBearer: boolean;
}

/** Creates the way to a service in this process. */
export function createOwnReach({ service, bindBearer, close }: OwnReachOptions): SessionReach {
  const owner = keyedHash(service.secret, 'owner', toOperatorBearer(service.secret));
  const toText = (question: string) =>
    readMessage({ message: question }, service.limits.messageBytes).text;
  return {
    start: async (question) => {
      const message = { text: toText(question), owner, client: null, idempotency: null };
      return { ...(await sendFirstMessage(message, service)), fromIndex: 0 };
    },
    goOn: async (sessionId, question) => {
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

/** Maximum number of milliseconds until a server has answered, and between two pieces of a stream. */
const patienceMs = 30_000;

/**
 * Creates the way to the sessions of a server, over HTTP. Its secret lets this process speak in every session that is
 * not bound to a bearer.
 *
 * @param url Where its session routes are, without a trailing slash: `http://127.0.0.1:8080/svc/v1`.
 */
export function createRemoteReach(url: string, secret: Buffer): SessionReach {
  const tokens = createContinuationTokens(secret);
  const send = createSend(url, toOperatorBearer(secret));
  const call = (path: string, body?: object) =>
    withDeadline(patienceMs, [], (signal) => send(path, signal, body));
  return {
    start: async (message) => {
      const body = await readJson(await call('/session', { message }));
      return { ...startReply.parse(body), fromIndex: 0 };
    },
    goOn: async (sessionId, message) => {
      const path = `/session/${sessionId}`;
      const look = await call(`${path}/stream?follow=false&startIndex=-1`);
      await look.body?.cancel();
      const tail = Number(look.headers.get('x-stream-tail-index') ?? -1);
      const body = { message, continuationToken: tokens.of(sessionId) };
      const taken = followUpReply.parse(await readJson(await call(path, body)));
      return { ...taken, fromIndex: tail + 1 };
    },
    read: async ({ sessionId, fromIndex }, onText) => {
      const deadline = openDeadline(patienceMs, []);
      const path = `/session/${sessionId}/stream?startIndex=${fromIndex}`;
      try {
        await readPieces(await send(path, deadline.signal), deadline, onText);
      } finally {
        deadline.close();
      }
    },
    close: async () => undefined,
  };
}

async function readPieces({ body }: Response, deadline: Deadline, onText: OnText): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body ?? []) {
      deadline.restart(patienceMs);
      onText(decoder.decode(bytes, { stream: true }));
    }
  } catch (cause) {
    // A silent stream has its heartbeats; one without has ended.
    if (deadline.isLate) return;
    throw new UnreachableError('the stream of the session broke off', { cause });
  }
}

/** Creates the function that sends a request, as GET without a body. Throws the Problem that it is refused with. */
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
      throw new UnreachableError(`the server at ${origin} does not answer`, { cause });
    });
    if (response.ok) return response;
    const { success, data } = problemBody.safeParse(await readJson(response));
    if (success) throw new Problem(data.code, { detail: data.detail });
    throw new UnreachableError(`what answers at ${origin} has no sessions`);
  };
}

const problemBody = z.object({
  code: z.enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]]), // the catalogue has some
  detail: z.string(),
});

/** Returns the JSON of a body; `undefined` if it is none. */
const readJson = (response: Response): Promise<unknown> => response.json().catch(() => undefined);
