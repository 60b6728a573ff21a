import { expect, it } from 'vitest';
import type { SessionRecording } from '../../support/crash-load.ts';
import { crash, expectAllKept, type ServerProcess, startServer } from '../../support/crash-rig.ts';
import { describeWithEngine, startEngine } from '../../support/engine-server.ts';
import { isLongRun } from '../../support/long-run.ts';
import { postTo, readStream, startSession, wholeLines } from '../../support/session-client.ts';
import { lastAnswer, parseEvents, typesOf } from '../../support/session-rig.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

/** Number of times that a random instance is killed. */
const kills = isLongRun ? 100 : 4;

function startInstance(url: string, env: Readonly<Record<string, string>> = {}): ServerProcess {
  return startServer(`${temporaryFolder()}/data`, { PERCH_REDIS_URL: url, ...env });
}

describeWithEngine('instances on one engine that are killed under load', () => {
  it('lose and double no event, and leave no session unanswered', {
    timeout: 60_000 + kills * 30_000,
  }, async () => {
    const engine = await startEngine();
    const servers = [1, 2, 3].map(() => startInstance(engine.url));
    const witnesses: SessionRecording[] = [];
    for (let round = 0; round < kills; round += 1) {
      const victim = Math.floor(Math.random() * servers.length);
      const server = servers[victim];
      const survivor = servers[(victim + 1) % servers.length];
      if (server === undefined || survivor === undefined) throw new Error('there is no instance');
      const fresh = await crash(server, round);
      servers[victim] = startInstance(engine.url);
      await expectAllKept(survivor, fresh);
      witnesses.push(...fresh);
    }

    const [last] = servers as [ServerProcess];
    const failures = await expectAllKept(last, witnesses);

    // The number of running turns at the time of a kill is random.
    expect(failures.filter((code) => code !== 'turn_interrupted')).toEqual([]);
  });
});

describeWithEngine('an instance that is killed during a turn', () => {
  it('leaves its session to another one, which fails the turn and answers the queued message', async () => {
    const engine = await startEngine();
    const silent = startInstance(engine.url, { SILENT_MS: '600000' });
    const other = await startInstance(engine.url).listening;
    const { id, token } = await startSession(await silent.listening, 'one');
    const said = await postTo(other, `session/${id}`, { token, body: { message: 'two' } });
    expect(said.status).toBe(202);

    await silent.kill();
    const events = parseEvents(`${wholeLines(await readStream(other, id)).join('\n')}\n`);

    expect(typesOf(events)).toContain('turn.failed');
    const failed = events.find(({ type }) => type === 'turn.failed');
    expect(failed?.data).toMatchObject({ code: 'turn_interrupted', terminal: false });
    expect(lastAnswer(events)).toMatch(/two$/);
    expect(events.map(({ meta }) => meta.index)).toEqual(events.map((_, index) => index));
  });
});

describeWithEngine('a turn that runs on one instance', () => {
  it('is cancelled by a request to another one, and read there while it runs', async () => {
    const engine = await startEngine();
    const one = await startInstance(engine.url, { SILENT_MS: '600000' }).listening;
    const two = await startInstance(engine.url).listening;
    const { id } = await startSession(one, 'one');
    const reading = readStream(two, id);
    await expect
      .poll(async () => (await readStream(two, id, '?follow=false')).includes('step.started'))
      .toBe(true);

    const cancelled = await postTo(two, `session/${id}/cancel`);

    expect(cancelled.status).toBe(202);
    expect(typesOf(parseEvents(await reading)).slice(-2)).toEqual([
      'turn.cancelled',
      'session.waiting',
    ]);
  });
});
