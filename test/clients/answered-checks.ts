import assert from 'node:assert/strict';
import type { Eve, EveResult, EveSession } from './eve.ts';
import {
  expectAnswer,
  expectCancelled,
  expectRefused,
  expectTurns,
  readTurns,
} from './expectations.ts';
import type { Report } from './report.ts';

/** Features that only some releases have. */
export interface Abilities {
  /** Whether the client distinguishes answers by delivery id (from 0.52.3). */
  readonly matchesDeliveries: boolean;
}

const questions = {
  first: 'How do I get a key?',
  second: 'How long is a cursor of a list valid?',
  third: 'How do I change the prefix of the session service?',
  fourth: 'Which formats are there?',
} as const;

/** Checks typical uses of a client with the built server. */
export async function checkAnswered(
  eve: Eve,
  { check }: Report,
  abilities: Abilities,
): Promise<void> {
  await check('reads that the server is ready', async () => {
    const health = await eve.health();
    assert.deepEqual(health, { ok: true, status: 'ready', workflowId: 'perch-session-1' });
  });
  await check('receives the error for an invalid message', () =>
    expectRefused(eve.start('   '), { status: 400, code: 'missing_message' }),
  );
  const { session, first } = await check('starts and streams an answer from the docs', async () => {
    const { session, response } = await eve.start(questions.first);
    const events = await readTurns(response, 1);
    assert.match(response.sessionId, /^ses_/);
    assert.equal(session.state.sessionId, response.sessionId);
    assert.equal(events[0]?.type, 'session.started');
    const message = events.findLast(({ type }) => type === 'message.completed')?.data.message;
    const result = { status: 'waiting', message: String(message), events };
    return { session, first: expectAnswer(result, questions.first) };
  });
  await check('follows up, and gets the second answer', async () => {
    const second = await ask(session, questions.second);
    assert.equal(second.events[0]?.data.turnId, 'turn_1');
    assert.notEqual(expectAnswer(second, questions.second), first);
  });
  await check('reads both turns again from the beginning', async () => {
    const events = await readTurns(session.stream({ startIndex: 0 }), 2);
    expectTurns(events, 2);
    assert.deepEqual(
      events.map(({ meta }) => meta?.index),
      events.map((_, index) => index),
    );
    assert.equal(new Set(events.map(({ meta }) => meta?.id)).size, events.length);
  });
  if (session.snapshot !== undefined) await checkSnapshot(session, { check });
  if (session.cancel !== undefined) {
    await checkIdleCancel(session, { check });
    await checkCancel(eve, { check });
  }
  await check('continues from a saved state', async () => {
    const resumed = eve.resume(JSON.parse(JSON.stringify(session.state)));
    expectAnswer(await ask(resumed, questions.third), questions.third);
  });
  if (abilities.matchesDeliveries) await checkConcurrent(eve, { check });
  await checkReset(eve, { check });
}

async function ask(session: EveSession, question: string): Promise<EveResult> {
  return (await session.send(question)).result();
}

/** Checks a bounded read: the existing events, and then the end of the stream. */
async function checkSnapshot(session: EveSession, { check }: Report): Promise<void> {
  await check('reads the existing events, and then stops', async () => {
    const snapshot = await session.snapshot?.();
    expectTurns(snapshot?.events ?? [], 2);
  });
}

async function checkIdleCancel(session: EveSession, { check }: Report): Promise<void> {
  await check('cancels an idle session without effect', async () => {
    const { sessionId } = session.state;
    assert.deepEqual(await session.cancel?.(), { sessionId, status: 'accepted' });
  });
}

/** Number of sessions that keep the server busy. It runs one turn at a time in these checks. */
const crowd = 30;

/** Checks the cancellation of a turn. A turn that waits behind other sessions can be cancelled reliably. */
async function checkCancel(eve: Eve, { check }: Report): Promise<void> {
  await check('cancels its turn while the server is busy, and follows up', async () => {
    await Promise.all(Array.from({ length: crowd }, () => eve.start(questions.third)));
    const { session, response } = await eve.start(questions.first);
    const { sessionId } = session.state;
    assert.deepEqual(await session.cancel?.(), { sessionId, status: 'accepted' });
    expectCancelled(await readTurns(response, 1));
    expectAnswer(await ask(session, questions.second), questions.second);
  });
}

/** Checks concurrent messages: each gets its own answer, regardless of the order of reading. */
async function checkConcurrent(eve: Eve, { check }: Report): Promise<void> {
  await check('sends two messages at once, each with its own answer', async () => {
    const { session, response } = await eve.start(questions.first);
    const asked = [questions.second, questions.fourth] as const;
    const responses = await Promise.all(asked.map((question) => session.send(question)));
    const results = await Promise.all(responses.map((one) => one.result()));
    const answers = results.map((result, at) => expectAnswer(result, asked[at] ?? ''));
    answers.push(expectAnswer(await response.result(), questions.first));
    assert.equal(new Set(answers).size, 3);
  });
}

/** Checks the reset of a session. Perch supports only that of clients that address sessions by id. */
async function checkReset(eve: Eve, { check }: Report): Promise<void> {
  const { session, response } = await eve.start(questions.first);
  await response.result();
  const { sessionId = '' } = session.state;
  if (session.reset === undefined) return;
  if (eve.keepsToken) {
    // The client posts to `…/session/reset`, which is the path of a session with the id `reset`.
    await check('receives an error for the unsupported reset', () =>
      expectRefused(reset(session), { status: 404, code: 'session_not_found' }),
    );
    return;
  }
  await check('resets a session, which then has ended', async () => {
    assert.deepEqual(await reset(session), { previousSessionId: sessionId, status: 'reset' });
    await expectRefused(session.send('more'), { status: 409, code: 'session_not_active' });
    assert.deepEqual(await session.cancel?.(), { status: 'no_active_turn' });
    assert.deepEqual(await reset(session), { status: 'no_active_session' });
  });
}

async function reset(session: EveSession): Promise<unknown> {
  return session.reset?.();
}
