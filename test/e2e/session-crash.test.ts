import { describe, expect, it } from 'vitest';
import type { SessionRecording } from '../support/crash-load.ts';
import { crash, crashAgain, expectAllKept, startServer } from '../support/crash-rig.ts';
import { isLongRun } from '../support/long-run.ts';
import {
  openStream,
  postTo,
  readStream,
  startSession,
  wholeLines,
} from '../support/session-client.ts';
import { lastAnswer, parseEvents, typesOf } from '../support/session-rig.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

/** Number of times that the server is killed. */
const rounds = isLongRun ? 50 : 2;

/** When the server is killed again after each round. */
const second = ['start', 'work', null, null] as const;

describe('a server that is killed under load', () => {
  it('keeps all acknowledged messages and all events seen', {
    timeout: 60_000 + rounds * 30_000,
  }, async () => {
    const folder = `${temporaryFolder()}/data`;
    const witnesses: SessionRecording[] = [];
    let server = startServer(folder);
    for (let round = 0; round < rounds; round += 1) {
      const fresh = await crash(server, round);
      const during = second[round % second.length] ?? null;
      if (during !== null) await crashAgain(folder, during);
      server = startServer(folder);
      await expectAllKept(server, fresh);
      witnesses.push(...fresh);
    }

    const failures = await expectAllKept(server, witnesses);
    await server.kill();

    // The number of running turns at the time of the kill is random.
    expect(failures.filter((code) => code !== 'turn_interrupted')).toEqual([]);
  });
});

describe('a server that is killed during a turn', () => {
  it('fails the turn on the next start, and answers the queued messages', async () => {
    const folder = `${temporaryFolder()}/data`;
    const silent = startServer(folder, { SILENT_MS: '600000' });
    const address = await silent.listening;
    const { id, token } = await startSession(address, 'one');
    const reading = readLive(address, id, 4);
    const said = await postTo(address, `session/${id}`, { token, body: { message: 'two' } });
    const seen = await reading;
    await silent.kill();

    const base = await startServer(folder).listening;
    const lines = wholeLines(await readStream(base, id));

    expect(lines.slice(0, 4)).toEqual(seen);
    const events = parseEvents(`${lines.join('\n')}\n`);
    expect(typesOf(events.slice(0, 8))).toEqual([
      'session.started',
      'turn.started',
      'message.received',
      'step.started',
      'message.completed',
      'step.failed',
      'turn.failed',
      'session.waiting',
    ]);
    expect(events[4]?.data).toMatchObject({ finishReason: 'error', abstained: false });
    expect(events[6]?.data).toMatchObject({ code: 'turn_interrupted', terminal: false });
    expect(events.map(({ meta }) => meta.index)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)).toMatchObject({
      type: 'session.waiting',
      meta: { deliveryIds: [said.body.deliveryId] },
    });
    expect(lastAnswer(events)).toMatch(/two$/);
  });
});

/** Returns the first lines of an open stream once they have arrived. */
async function readLive(base: string, id: string, count: number): Promise<readonly string[]> {
  const { reply, call } = await openStream(base, id);
  let text = '';
  for await (const chunk of reply.setEncoding('utf8')) {
    text += chunk;
    if (wholeLines(text).length >= count) break;
  }
  call.destroy();
  return wholeLines(text).slice(0, count);
}
