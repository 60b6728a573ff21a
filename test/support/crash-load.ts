import { request as httpRequest } from 'node:http';
import {
  type ClientSession,
  postTo,
  readText,
  startSession,
  wholeLines,
} from './session-client.ts';

/** Message that the server acknowledged. */
export interface Acknowledged {
  readonly deliveryId: string;
  readonly text: string;
}

/** Data that a reader of a session received before its connection was lost. */
export interface ReaderLog {
  /** Index of the first requested event. */
  readonly from: number;
  /** Whether the reader has sent the token, so that events contain it. */
  readonly isProven: boolean;
  /** Received text. Its last line can be incomplete. */
  text: string;
}

/** Message without a response. */
export interface Unanswered {
  readonly text: string;
  /** Idempotency key for sending the message again. */
  readonly key: string;
}

/** Responses and events of a session that its client and readers received before a crash. */
export interface SessionRecording {
  readonly session: ClientSession;
  readonly acknowledged: Acknowledged[];
  readonly seen: ReaderLog[];
  unanswered: Unanswered | null;
}

/** Bearer token of all clients. Idempotency keys require one. */
const bearer = { authorization: 'Bearer crash' };

/** Name of a client, and a callback for each session that it starts. */
export interface LoadClient {
  readonly name: string;
  readonly onStarted: (witness: SessionRecording) => void;
}

/**
 * Uses one session after another until the server is gone: bursts of messages that have to wait,
 * cancelled turns, a reader from the first event, and readers from random events.
 */
export async function loadUntilGone(base: string, { name, onStarted }: LoadClient): Promise<void> {
  try {
    for (let number = 0; ; number += 1) {
      const witness = await begin(base, `${name}.${number}`);
      onStarted(witness);
      const following = keepReading(base, witness, { from: 0, query: '?follow=true' });
      for (let burst = 0; burst < 4; burst += 1) {
        await talk(base, witness, `${name}.${number}.${burst}`);
      }
      following.leave();
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE';
}

async function begin(base: string, name: string): Promise<SessionRecording> {
  const text = `question ${name}`;
  const session = await startSession(base, text);
  const acknowledged = [{ deliveryId: session.deliveryId, text }];
  return { session, acknowledged, seen: [], unanswered: null };
}

async function talk(base: string, witness: SessionRecording, name: string): Promise<void> {
  const readers = [anywhere(witness), anywhere(witness)].map((reading) =>
    keepReading(base, witness, reading),
  );
  const messages = 1 + Math.floor(Math.random() * 4);
  for (let message = 0; message < messages; message += 1) {
    if ((await say(base, witness, `question ${name}.${message}`)) === 'full') break;
  }
  if (Math.random() < 0.25) await postTo(base, `session/${witness.session.id}/cancel`);
  await Promise.all(readers.map(({ ended }) => ended));
}

async function say(
  base: string,
  witness: SessionRecording,
  text: string,
): Promise<'taken' | 'full'> {
  witness.unanswered = { text, key: `the key of ${text}` };
  const { status, body } = await sayAgain(base, witness.session, witness.unanswered);
  witness.unanswered = null;
  if (body.code === 'turn_queue_full') return 'full';
  if (status !== 202) throw new Error(`a message was answered ${status}`);
  witness.acknowledged.push({ deliveryId: String(body.deliveryId), text });
  return 'taken';
}

/** Sends a message again with its idempotency key. The server accepts it only once. */
export function sayAgain(base: string, { id, token }: ClientSession, { text, key }: Unanswered) {
  const headers = { ...bearer, 'idempotency-key': key };
  return postTo(base, `session/${id}`, { token, headers, body: { message: text } });
}

interface Reading {
  readonly from: number;
  readonly query?: string;
}

/** Returns the index of an existing or a future event. */
function anywhere({ seen }: SessionRecording): Reading {
  const known = seen.flatMap(({ from, text }) => from + wholeLines(text).length);
  const from = Math.floor(Math.random() * (Math.max(0, ...known) + 3));
  return { from, query: `?startIndex=${from}` };
}

/** Reads a stream and records its text. Resolves at the end of the stream, rejects if the connection is lost. */
function keepReading(base: string, witness: SessionRecording, { from, query = '' }: Reading) {
  const isProven = Math.random() < 0.5;
  const { id, token } = witness.session;
  const headers = isProven ? { 'x-continuation-token': token } : {};
  const options = { agent: false as const, headers };
  let hasLeft = false;
  const call = httpRequest(`${base}/svc/v1/session/${id}/stream${query}`, options);
  const ended = new Promise<void>((resolve, reject) => {
    const settle = (error?: Error) => (hasLeft || error === undefined ? resolve() : reject(error));
    call.on('error', settle);
    call.on('response', (reply) => {
      // After the last event, the stream starts with the next one.
      const tail = Number(reply.headers['x-stream-tail-index']);
      const seen: ReaderLog = { from: Math.min(from, tail + 1), isProven, text: '' };
      witness.seen.push(seen);
      reply.setEncoding('utf8').on('data', (chunk) => {
        seen.text += chunk;
      });
      reply.on('end', () => settle());
      reply.on('error', settle);
    });
    call.end();
  });
  ended.catch(() => undefined); // reported to the waiting caller
  return {
    ended,
    leave: () => {
      hasLeft = true;
      call.destroy();
    },
  };
}

/** Reads the stored events from an index, with or without the token, as the reader did. */
export function readFrom(
  base: string,
  { id, token }: ClientSession,
  { from, isProven }: Pick<ReaderLog, 'from' | 'isProven'>,
): Promise<string> {
  const headers = isProven ? { 'x-continuation-token': token } : {};
  const url = `${base}/svc/v1/session/${id}/stream?startIndex=${from}`;
  return new Promise((resolve, reject) => {
    const call = httpRequest(url, { agent: false, headers }, (reply) => {
      readText(reply).then(resolve, reject);
    });
    call.on('error', reject);
    call.end();
  });
}
