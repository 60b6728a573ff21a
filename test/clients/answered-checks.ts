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

/** What a release can do that others cannot. */
export interface Abilities {
  /** It tells answers apart by their delivery (0.52.3). */
  readonly matchesDeliveries: boolean;
}

const questions = {
  first: 'How do I get a key?',
  second: 'How long is a cursor of a list valid?',
  third: 'How do I change the prefix of the session service?',
  fourth: 'Which formats are there?',
} as const;

/** Lets a client do with the built server what people do with it. */
export async function checkAnswered(
  eve: Eve,
  { check }: Report,
  abilities: Abilities,
): Promise<void> {
  await check('is told that the server is ready', async () => {
    const health = await eve.health();
    assert.deepEqual(health, { ok: true, status: 'ready', workflowId: 'perch-session-1' });
  });
  await check('is told what is wrong with a message', () =>
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
  await check('goes on from its kept state', async () => {
    const resumed = eve.resume(JSON.parse(JSON.stringify(session.state)));
    expectAnswer(await ask(resumed, questions.third), questions.third);
  });
  if (abilities.matchesDeliveries) await checkConcurrent(eve, { check });
  await checkReset(eve, { check });
}

async function ask(session: EveSession, question: string): Promise<EveResult> {
  return (await session.send(question)).result();
}

/** A bounded read: the events so far, then the end. */
async function checkSnapshot(session: EveSession, { check }: Report): Promise<void> {
  await check('reads what there is, and no further', async () => {
    const snapshot = await session.snapshot?.();
    expectTurns(snapshot?.events ?? [], 2);
  });
}

async function checkIdleCancel(session: EveSession, { check }: Report): Promise<void> {
  await check('cancels where nothing runs, which does nothing', async () => {
    const { sessionId } = session.state;
    assert.deepEqual(await session.cancel?.(), { sessionId, status: 'accepted' });
  });
}

/** How many sessions keep the server busy, which works at one turn at a time here. */
const crowd = 30;

/** A turn that waits behind others is the running one of its session, so it can be cancelled for certain. */
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

/** Sends that are not read in between: each gets its own answer, also the one that is read last. */
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

/** Only clients that address sessions by id have a reset that Perch serves. */
async function checkReset(eve: Eve, { check }: Report): Promise<void> {
  const { session, response } = await eve.start(questions.first);
  await response.result();
  const { sessionId = '' } = session.state;
  if (session.reset === undefined) return;
  if (eve.keepsToken) {
    // It posts to `…/session/reset`, which is the path of a session of that name.
    await check('is told that its kind of reset is not served', () =>
      expectRefused(reset(session), { status: 404, code: 'session_not_found' }),
    );
    return;
  }
  await check('resets a session, which has ended then', async () => {
    assert.deepEqual(await reset(session), { previousSessionId: sessionId, status: 'reset' });
    await expectRefused(session.send('more'), { status: 409, code: 'session_not_active' });
    assert.deepEqual(await session.cancel?.(), { status: 'no_active_turn' });
    assert.deepEqual(await reset(session), { status: 'no_active_session' });
  });
}

async function reset(session: EveSession): Promise<unknown> {
  return session.reset?.();
}
