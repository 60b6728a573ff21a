import assert from 'node:assert/strict';
import type { Eve, EveEvent, StartedEve } from './eve.ts';
import { dataOf, expectCancelled, expectTurns } from './expectations.ts';
import type { Report } from './report.ts';

/** Milliseconds of silence, longer than the 15 seconds after which clients give up a stream without heartbeats. */
export const silentMs = 20_000;

/** Number of streams that this client has requested. */
export interface StreamCount {
  readonly opened: number;
}

/** Checks that a client can cancel a running turn, and waits for a silent one (check 4). */
export async function checkSilent(
  eve: Eve,
  { check }: Report,
  streams: StreamCount,
): Promise<void> {
  const { session, response } = await eve.start('one');
  if (session.cancel === undefined) await response.result();
  else {
    await check('cancels a running turn, and receives its end', () =>
      cancelRunning({ session, response }, async () => session.cancel?.()),
    );
  }
  if (response.cancel !== undefined) {
    const other = await session.send('two');
    await check('cancels the turn of a response, and receives its end', () =>
      cancelRunning({ session, response: other }, async () => other.cancel?.()),
    );
  }
  await check('waits for a turn without output for 20 seconds, without reconnecting', async () => {
    const before = streams.opened;
    const response = await session.send('three');
    const events: EveEvent[] = [];
    let silentSince = Number.NaN;
    let silence = 0;
    for await (const event of response) {
      events.push(event);
      if (event.type === 'step.started') silentSince = performance.now();
      if (event.type === 'message.appended') silence ||= performance.now() - silentSince;
    }
    assert.equal(streams.opened - before, 1, 'streams opened for the turn');
    assert.ok(silence > silentMs - 500, `the turn was silent for ${silence} ms only`);
    expectTurns(events, 1);
    assert.match(String(dataOf(events, 'message.completed')?.message), /three$/);
  });
}

async function cancelRunning(
  { session, response }: StartedEve,
  cancel: () => Promise<unknown>,
): Promise<void> {
  const events: EveEvent[] = [];
  for await (const event of response) {
    events.push(event);
    if (event.type !== 'step.started') continue;
    assert.deepEqual(await cancel(), { sessionId: session.state.sessionId, status: 'accepted' });
  }
  expectCancelled(events);
}
