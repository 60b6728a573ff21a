import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { linesOf, runHere } from '../support/run-here.ts';
import { createManualEngine } from '../support/scripted-engine.ts';
import { buildSessionRig, type SessionRig, untilIdle } from '../support/session-rig.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

async function perch(folder: string, ...args: string[]) {
  const { code, stdout: out, stderr: err } = await runHere(args, { PERCH_DATA_DIR: folder });
  return { code, out, err };
}

async function openFolder(options: Parameters<typeof buildSessionRig>[0] = {}) {
  const folder = `${temporaryFolder()}/data`;
  const rig: SessionRig = await buildSessionRig({
    ...options,
    env: { PERCH_DATA_DIR: folder, ...options.env },
  });
  return { folder, rig };
}

const unknown = 'ses_01KA3V9Z7T0123456789ABCDEF';

describe('perch sessions', () => {
  it('lists the sessions while the server runs', async () => {
    const { folder, rig } = await openFolder();
    const [first, second] = [await rig.start('one'), await rig.start('two')];
    await rig.read(first);
    await rig.read(second);

    const table = await perch(folder, 'sessions', 'list');
    const lines = await perch(folder, 'sessions', 'list', '--json');

    expect([table.code, lines.code]).toEqual([0, 0]);
    expect(table.out).toBe(
      [
        'ID                              STATE    TURNS  STARTED               LAST ACTIVE',
        `${first.id}  waiting  1      2026-11-21T00:00:00Z  2026-11-21T00:00:00Z`,
        `${second.id}  waiting  1      2026-11-21T00:00:00Z  2026-11-21T00:00:00Z`,
        '',
      ].join('\n'),
    );
    const records = linesOf(lines.out);
    expect(records[0]).toEqual({
      id: first.id,
      state: 'waiting',
      turns: 1,
      waiting: 0,
      events: 9,
      created_at: '2026-11-21T00:00:00Z',
      last_active_at: '2026-11-21T00:00:00Z',
      ended_at: null,
    });
    expect(records).toHaveLength(2);
  });

  it('prints a transcript without control characters', async () => {
    const engine = createManualEngine();
    const { folder, rig } = await openFolder({ engine });
    const session = await rig.start('one\n\u001b[31mred');
    (await engine.next()).answer();
    await rig.read(session);
    await rig.say(session, 'two');
    await engine.next();
    await rig.request(`session/${session.id}/cancel`, { method: 'POST' });
    await rig.say(session, 'three');
    await engine.next();
    await rig.say(session, 'four');

    const shown = await perch(folder, 'sessions', 'show', session.id);
    const events = await perch(folder, 'sessions', 'show', session.id, '--json');

    expect(shown.code).toBe(0);
    expect(shown.out.split('\n').slice(1).join('\n')).toBe(`
> one
> \ufffd[31mred

The answer to “one
\ufffd[31mred”.

> two

(cancelled)

> three

> four

(waiting)
`);
    expect(shown.out.split('\n')[0]).toMatch(/^ses_\w+: running, 4 turns, started 2026-/);
    const { body } = await rig.request(`session/${session.id}/stream?follow=false`);
    expect(events.out).toBe(body);
  });

  it('deletes a session permanently, also while a server runs', async () => {
    const engine = createManualEngine();
    const { folder, rig } = await openFolder({ engine });
    const session = await rig.start('one');
    const held = await engine.next();
    const reading = rig.read(session, '?follow=true');
    await untilIdle();

    const removed = await perch(folder, 'sessions', 'remove', session.id);
    const again = await perch(folder, 'sessions', 'remove', session.id);
    held.say('x'.repeat(100));
    await untilIdle();
    for (let second = 0; second <= 10; second += 1) await rig.clock.advance(1000);
    await untilIdle();

    expect([removed.code, again.code]).toEqual([0, 1]);
    expect((await reading).at(-1)?.type).toBe('step.started');
    expect(held.signal.aborted).toBe(true);
    expect((await rig.request(`session/${session.id}/stream`)).statusCode).toBe(410);
    expect(rig.app.inFlight).toBe(0);
  });

  it('finds no sessions in an empty folder', async () => {
    const folder = temporaryFolder();

    const list = await perch(folder, 'sessions', 'list');
    const show = await perch(folder, 'sessions', 'show', unknown);

    expect([list.code, list.out]).toEqual([0, 'There are no sessions.\n']);
    expect([show.code, show.out]).toEqual([1, '']);
  });

  it.each([
    [[], 'The subcommands of perch sessions are'],
    [['drop'], 'The subcommands of perch sessions are'],
    [['list', 'x'], 'list takes no arguments'],
    [['show'], 'Give one session ID'],
    [['remove', 'nonsense'], 'Give one session ID'],
    [['remove', unknown, unknown], 'Give one session ID'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await perch(temporaryFolder(), 'sessions', ...args);

    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it('reports that sessions in memory cannot be read, and that a file is damaged', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/sessions.db`, 'this is no database'.repeat(100));

    const damaged = await perch(folder, 'sessions', 'list');
    const memory = await perch(':memory:', 'sessions', 'list');

    expect([damaged.code, memory.code]).toEqual([3, 2]);
    expect(damaged.err).toContain('The sessions cannot be read');
  });
});
