import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { Problem, type ProblemCode, problemKinds } from '../../core/problem.ts';
import { createContinuationTokens } from '../../sessions/http/tokens.ts';
import { followUpReply, startReply } from '../../sessions/schemas.ts';
import { type SessionReach, toOperatorBearer, UnreachableError } from './reach.ts';

/** How a server is reached. */
export interface RemoteReachOptions {
  /** Where its session routes are, without a trailing slash: `http://127.0.0.1:8080/svc/v1`. */
  readonly url: string;
  /** Its secret: it lets this process speak in every session that is not bound to a bearer. */
  readonly secret: Buffer;
  readonly clock: Clock;
}

/** The most milliseconds until a server has answered, and between two pieces of a stream. */
const patienceMs = 30_000;

/** Gives the way to the sessions of a server, over HTTP. */
export function createRemoteReach({ url, secret, clock }: RemoteReachOptions): SessionReach {
  const tokens = createContinuationTokens(secret);
  const call = createCalls({ url, bearer: toOperatorBearer(secret), clock });
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
      const stream = await call(`/session/${sessionId}/stream?startIndex=${fromIndex}`);
      await readPieces(stream, clock, onText);
    },
    close: async () => undefined,
  };
}

type Call = (path: string, body?: object) => Promise<Response>;

interface Calling {
  readonly url: string;
  readonly bearer: string;
  readonly clock: Clock;
}

/** Creates what sends a request, as GET without a body. Throws the Problem that it is refused with. */
function createCalls({ url, bearer, clock }: Calling): Call {
  return async (path, body) => {
    const response = await send(clock, `${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    throw toProblem(await readJson(response), url);
  };
}

async function send(clock: Clock, url: string, init: RequestInit): Promise<Response> {
  const late = new AbortController();
  const stopWaiting = afterPatience(clock, () => late.abort());
  try {
    return await fetch(url, { ...init, signal: late.signal, redirect: 'error' });
  } catch (cause) {
    throw new UnreachableError(`the server at ${new URL(url).origin} does not answer`, { cause });
  } finally {
    stopWaiting();
  }
}

/** Calls back when patience is over, unless it is stopped before. */
function afterPatience(clock: Clock, onLate: () => void): () => void {
  const over = new AbortController();
  clock.sleep(patienceMs, over.signal).then(onLate, () => undefined); // stopped
  return () => over.abort();
}

/** Gives the JSON of a body; nothing where it is none. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined; // whoever parses it says what is wrong
  }
}

const problemBody = z.object({
  code: z.enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]]), // the catalogue has some
  detail: z.string(),
});

function toProblem(body: unknown, url: string): Error {
  const { success, data } = problemBody.safeParse(body);
  return success
    ? new Problem(data.code, { detail: data.detail })
    : new UnreachableError(`what answers at ${new URL(url).origin} has no sessions`);
}

async function readPieces(
  response: Response,
  clock: Clock,
  onText: (piece: string) => void,
): Promise<void> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  while (reader !== undefined) {
    const { done, value } = await nextPiece(reader, clock);
    if (done) return;
    onText(decoder.decode(value, { stream: true }));
  }
}

/** A silent stream has its heartbeats; one without is broken. */
async function nextPiece(reader: ReadableStreamDefaultReader<Uint8Array>, clock: Clock) {
  const stopWaiting = afterPatience(clock, () => void reader.cancel().catch(() => undefined)); // broken
  try {
    return await reader.read();
  } catch (cause) {
    throw new UnreachableError('the stream of the session broke off', { cause });
  } finally {
    stopWaiting();
  }
}
