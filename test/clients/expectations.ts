import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { EveEvent, EveResult } from './eve.ts';

/** Event types of an answered turn. `message.appended` can occur several times (protocol 6.4). */
const answeredTurn = [
  'turn.started',
  'message.received',
  'step.started',
  'message.appended',
  'message.completed',
  'step.completed',
  'turn.completed',
  'session.waiting',
];

/** Asserts the events of one or several answered turns. */
export function expectTurns(events: readonly EveEvent[], turns: number): void {
  const types = events.map(({ type }) => type);
  const once = types.filter((type, at) => type !== 'message.appended' || types[at - 1] !== type);
  assert.deepEqual(
    once.filter((type) => type !== 'session.started'),
    Array.from({ length: turns }, () => answeredTurn).flat(),
  );
}

/** Asserts that the turn has the question and an answer from the docs of this folder. Returns the answer. */
export function expectAnswer({ events, message, status }: EveResult, question: string): string {
  expectTurns(events, 1);
  assert.equal(status, 'waiting');
  assert.equal(dataOf(events, 'message.received')?.message, question);
  const completed = dataOf(events, 'message.completed');
  assert.equal(completed?.message, message);
  assert.equal(piecesOf(events), message, 'the pieces are not the answer');
  assert.equal(completed?.finishReason, 'stop');
  assert.equal(completed?.abstained, false, 'it was declined');
  // Perch adds this member (protocol 6.1). Its value is checked below.
  const citations = completed?.citations as readonly Citation[];
  assert.ok(citations.length > 0, 'nothing is cited');
  const text = message ?? '';
  for (const citation of citations) expectCited(text, citation);
  assert.ok(
    citations.some((citation) => quotes(text, citation)),
    'nothing of what it cites stands in the answer',
  );
  return text;
}

interface Citation {
  readonly path: string;
  readonly heading: string;
  readonly line: number;
  readonly endLine: number;
}

function expectCited(text: string, { path, heading, line, endLine }: Citation): void {
  const lines = readFileSync(path, 'utf8').split('\n');
  assert.ok(line >= 1 && line <= endLine && endLine <= lines.length, `no such lines in ${path}`);
  // The heading of an operation combines text from several parts of its description.
  const words = new Set(['', ...wordsOf(lines.join('\n')).split(' ')]);
  const missing = wordsOf(heading)
    .split(' ')
    .filter((word) => !words.has(word));
  assert.deepEqual(missing, [], `${path} has no heading “${heading}”`);
  assert.match(text, new RegExp(`${path.replaceAll('.', '\\.')}#[^\\s:]*:\\d+`));
}

function quotes(text: string, { path, line, endLine }: Citation): boolean {
  const lines = readFileSync(path, 'utf8').split('\n');
  const words = wordsOf(lines.slice(line - 1, endLine).join('\n')).split(' ');
  const said = ` ${wordsOf(text)} `;
  return words.some((_, at) => said.includes(` ${words.slice(at, at + 5).join(' ')} `));
}

const wordsOf = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');

/** Returns the data of the last event of a type. */
export function dataOf(events: readonly EveEvent[], type: string): EveEvent['data'] | undefined {
  return events.findLast((event) => event.type === type)?.data;
}

function piecesOf(events: readonly EveEvent[]): string {
  const pieces = events.filter(({ type }) => type === 'message.appended');
  return pieces.map(({ data }) => String(data.messageDelta)).join('');
}

/** Reads events until the given number of turns has ended. */
export async function readTurns(events: AsyncIterable<EveEvent>, turns: number) {
  const read: EveEvent[] = [];
  for await (const event of events) {
    read.push(event);
    if (read.filter(({ type }) => type === 'session.waiting').length === turns) break;
  }
  return read;
}

/** Asserts the events of a turn that was cancelled before any output. */
export function expectCancelled(events: readonly EveEvent[]): void {
  assert.deepEqual(
    events.map(({ type }) => type).filter((type) => type !== 'session.started'),
    ['turn.started', 'message.received', 'step.started', 'turn.cancelled', 'session.waiting'],
  );
}

/** Asserts that a request is refused, and that the error message of the client contains the problem. */
export async function expectRefused(
  asked: Promise<unknown>,
  { status, code }: { readonly status: number; readonly code: string },
): Promise<void> {
  const error = await asked.then(
    () => assert.fail('the request was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error && 'body' in error && 'status' in error, String(error));
  const problem = JSON.parse(String(error.body));
  assert.deepEqual([error.status, problem.code], [status, code]);
  assert.equal(error.message, problem.detail);
}
