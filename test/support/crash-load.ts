import { request as httpRequest } from 'node:http';
import {
  type ClientSession,
  postTo,
  readText,
  startSession,
  wholeLines,
} from './session-client.ts';

/** A message that was acknowledged. */
export interface Acknowledged {
  readonly deliveryId: string;
  readonly text: string;
}

/** What one reader of a session got before its connection broke. */
export interface Seen {
  /** The index of the event that it began with. */
  readonly from: number;
  /** Whether it has shown the token, so that it is told the token too. */
  readonly isProven: boolean;
  /** All that came, also half a line at its end. */
  text: string;
}

/** A message whose reply never came. */
export interface Unanswered {
  readonly text: string;
  /** With which it can be sent again. */
  readonly key: string;
}

/** What a client and its readers were told of a session before a crash. */
export interface Witness {
  readonly session: ClientSession;
  readonly acknowledged: Acknowledged[];
  readonly seen: Seen[];
  unanswered: Unanswered | null;
}

/** The bearer of everybody: keys of messages count with one only. */
const bearer = { authorization: 'Bearer crash' };

/** A client, by its name, and who is told of each session that it has started. */
export interface Talker {
  readonly name: string;
  readonly onStarted: (witness: Witness) => void;
}

/**
 * Talks in sessions, one after the other, until the server is gone: bursts of messages that have to
 * wait, cancelled turns, a reader that follows from the first event, and others that begin anywhere.
 */
export async function talkUntilGone(base: string, { name, onStarted }: Talker): Promise<void> {
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

/** Tells whether an error is the end of the server, and not an answer of it. */
function isGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE';
}

async function begin(base: string, name: string): Promise<Witness> {
  const text = `question ${name}`;
  const session = await startSession(base, text);
  const acknowledged = [{ deliveryId: session.deliveryId, text }];
  return { session, acknowledged, seen: [], unanswered: null };
}

/** Says some messages, one after the other, and reads while they are answered. */
async function talk(base: string, witness: Witness, name: string): Promise<void> {
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

async function say(base: string, witness: Witness, text: string): Promise<'taken' | 'full'> {
  witness.unanswered = { text, key: `the key of ${text}` };
  const { status, body } = await sayAgain(base, witness.session, witness.unanswered);
  witness.unanswered = null;
  if (body.code === 'turn_queue_full') return 'full';
  if (status !== 202) throw new Error(`a message was answered ${status}`);
  witness.acknowledged.push({ deliveryId: String(body.deliveryId), text });
  return 'taken';
}

/** Sends a message with its key: however often, it is accepted once. */
export function sayAgain(base: string, { id, token }: ClientSession, { text, key }: Unanswered) {
  const headers = { ...bearer, 'idempotency-key': key };
  return postTo(base, `session/${id}`, { token, headers, body: { message: text } });
}

interface Reading {
  readonly from: number;
  readonly query?: string;
}

/** The index of an event that is there, or of one that will be. */
function anywhere({ seen }: Witness): Reading {
  const known = seen.flatMap(({ from, text }) => from + wholeLines(text).length);
  const from = Math.floor(Math.random() * (Math.max(0, ...known) + 3));
  return { from, query: `?startIndex=${from}` };
}

/** Reads a stream, and keeps what comes; ends when the stream does, or rejects when it breaks. */
function keepReading(base: string, witness: Witness, { from, query = '' }: Reading) {
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
      // Beyond the last event it begins with the next one.
      const tail = Number(reply.headers['x-stream-tail-index']);
      const seen: Seen = { from: Math.min(from, tail + 1), isProven, text: '' };
      witness.seen.push(seen);
      reply.setEncoding('utf8').on('data', (chunk) => {
        seen.text += chunk;
      });
      reply.on('end', () => settle());
      reply.on('error', settle);
    });
    call.end();
  });
  ended.catch(() => undefined); // whoever waits is told
  return {
    ended,
    leave: () => {
      hasLeft = true;
      call.destroy();
    },
  };
}

/** Reads what is recorded from an index on, as a reader did who has shown the token, or has not. */
export function readFrom(
  base: string,
  { id, token }: ClientSession,
  { from, isProven }: Pick<Seen, 'from' | 'isProven'>,
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
