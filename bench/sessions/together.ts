import { cpus } from 'node:os';
import { median } from '../interleave.ts';
import type { Target } from '../processes.ts';
import {
  type ClientSession,
  checkOneTurn,
  createSessionClient,
  type SessionClient,
} from './client.ts';
import { rounds, size, startPerch, withFolder, withTargets } from './servers.ts';

/** Number of sessions that run one after another before each load phase, and again after it. */
const singles = 25;

const goal = 5;

/** Number of measured load phases. In each phase, `size` sessions run at once. */
const loads = Math.min(rounds, 3);

/** Typical questions about the docs of Perch. */
const questions = [
  'How do I get a key?',
  'Where is the data directory configured?',
  'Which formats can a post have?',
  'What is the default of PERCH_CACHE_TTL_SECONDS?',
  'How do I page through followers?',
  'What does invalid_cursor mean?',
  'How long can a session be read after its end?',
  'How do I run it with Docker?',
  'Which MCP tools are there?',
  'What is the capital of Mongolia?',
];

/** Session with one answer. */
interface Answered {
  readonly session: ClientSession;
  /** Text of the event stream. */
  readonly body: string;
  /** Milliseconds from the request that starts the session to the first event. */
  readonly firstMs: number;
  /** Milliseconds from the request that starts the session to the end of the event stream. */
  readonly ms: number;
}

/**
 * Compares the duration of a session among many concurrent sessions with the duration of a session
 * alone. Returns the lines of a Markdown section.
 */
export async function benchTogether(): Promise<string[]> {
  const measured = await withFolder(async (folder) => {
    // Server and client share all CPU cores, because the goal depends on the number of cores.
    const target = await startPerch({ folder, cores: 'any' });
    return withTargets([target], () => measureRounds(target));
  });
  const share = (size / cpus().length) * median(measured.map(({ singleMs }) => singleMs));
  const rows = measured.map(({ singleMs, middleMs, p99Ms }) => {
    const ratio = p99Ms / ((singleMs * size) / cpus().length);
    const told = [singleMs, middleMs, p99Ms].map((ms) => `${ms.toFixed(1)} ms`).join(' | ');
    return `| ${told} | ${ratio.toFixed(2)} |`;
  });
  const worst = Math.max(...measured.map(({ p99Ms }) => p99Ms)) / share;
  return [
    `### ${size.toLocaleString('en')} sessions at once`,
    '',
    'Each is started and its stream read to the end, on the built server with its own docs. Every stream is',
    'parsed, and read again afterwards: no error, no event lost or repeated, the same bytes. The ratio is',
    `to the median of a session alone × ${size} ÷ ${cpus().length} cores. Goal: at most ${goal}; the worst here is ${worst.toFixed(2)}.`,
    '',
    '| alone, median | together, median | together, p99 | ratio of p99 |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

const few = { sessions: 50, rounds: 9, goalFirstMs: 50, goalMs: 100 } as const;

/** Measures the times of 50 sessions that start in the same moment. Returns the lines of a Markdown section. */
export async function benchFew(): Promise<string[]> {
  const measured = await withFolder(async (folder) => {
    const target = await startPerch({ folder, cores: 'any' });
    return withTargets([target], async () => {
      const client = createSessionClient(target);
      await askInTurn(client); // warms up
      const found: (readonly Answered[])[] = [];
      for (let round = 0; round < few.rounds; round += 1) {
        const at = Array.from({ length: few.sessions }, (_, index) => ask(client, index));
        found.push(await Promise.all(at));
      }
      client.close();
      return found;
    });
  });
  const middle = (of: 'firstMs' | 'ms') =>
    median(measured.map((round) => median(round.map((answered) => answered[of]))));
  const row = (name: string, ms: number, goalMs: number) =>
    `| ${name} | ${ms.toFixed(0)} ms${ms > goalMs ? ' †' : ''} | ${goalMs} ms |`;
  return [
    `### ${few.sessions} sessions at once`,
    '',
    'They start in the same moment, on the built server with its own docs; server and client share the cores. Median of a',
    `round, median over ${few.rounds} rounds. A dagger (†) marks a missed goal.`,
    '',
    '| from the request that starts the session | time | goal |',
    '| --- | --- | --- |',
    row('first event', middle('firstMs'), few.goalFirstMs),
    row('end of the stream', middle('ms'), few.goalMs),
    '',
  ];
}

interface Round {
  readonly singleMs: number;
  readonly middleMs: number;
  readonly p99Ms: number;
}

async function measureRounds(target: Target): Promise<readonly Round[]> {
  const measured: Round[] = [];
  const ids = new Set<string>();
  for (let round = 0; round <= loads; round += 1) {
    const client = createSessionClient(target);
    const alone = await askInTurn(client);
    const together = await Promise.all(Array.from({ length: size }, (_, at) => ask(client, at)));
    alone.push(...(await askInTurn(client)));
    for (const answered of [...alone, ...together]) await expectWhole(answered, client, ids);
    client.close();
    if (round > 0) measured.push(toRound(alone, together)); // the first one warms up
  }
  return measured;
}

async function ask(client: SessionClient, at: number): Promise<Answered> {
  const begin = performance.now();
  const session = await client.start(`${questions[at % questions.length]}`);
  let firstMs = Number.NaN;
  const body = await client.read(session, '', (part) => {
    // Spaces are heartbeats.
    if (Number.isNaN(firstMs) && part.trim() !== '') firstMs = performance.now() - begin;
  });
  return { session, body, firstMs, ms: performance.now() - begin };
}

async function askInTurn(client: SessionClient): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (let at = 0; at < singles; at += 1) answered.push(await ask(client, at));
  return answered;
}

/** Checks a session's event stream. @throws Error if the stream is incomplete or changes between two reads */
async function expectWhole(
  { session, body }: Answered,
  client: SessionClient,
  ids: Set<string>,
): Promise<void> {
  for (const id of checkOneTurn(body)) {
    if (ids.has(id)) throw new Error(`The id ${id} occurs twice.`);
    ids.add(id);
  }
  const again = await client.read(session, '?follow=false');
  // Spaces before a line are heartbeats.
  if (again !== body.replaceAll(/^ +/gm, '')) throw new Error('A stream differs when read again.');
}

function toRound(alone: readonly Answered[], together: readonly Answered[]): Round {
  const sorted = together.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    singleMs: median(alone.map(({ ms }) => ms)),
    middleMs: median(sorted),
    p99Ms: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN,
  };
}
