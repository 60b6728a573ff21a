import { renameSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { connectSqlite } from '../../src/lib/files/sqlite.ts';
import { sessionEvent } from '../../src/sessions/events.ts';
import { asAdmin, buildTestApp } from '../support/build-app.ts';
import {
  createManualEngine,
  createScriptedEngine,
  type ScriptedEngine,
} from '../support/scripted-engine.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

async function openRig(engine: ScriptedEngine = createScriptedEngine()) {
  const folder = temporaryFolder();
  const lines: string[] = [];
  const app = await buildTestApp({
    env: {
      PERCH_SESSIONS: 'on',
      PERCH_DATA_DIR: folder,
      PERCH_PROVIDERS: 'archive',
      PERCH_SESSION_TURN_SECONDS: '5',
    },
    engine,
    onLog: (line) => lines.push(line),
  });
  const look = async () => {
    const health = await app.request('/svc/v1/health');
    const ready = await app.request('/health/ready');
    const metrics = await app.request('/metrics', { headers: asAdmin });
    return {
      health: health.statusCode,
      code: health.json().code,
      ready: ready.statusCode,
      store: ready.json().session_store,
      metric: /^perch_session_store_is_usable (\d)$/m.exec(metrics.body)?.[1],
    };
  };
  const logged = () =>
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes('session store'));
  return { app, path: `${folder}/sessions.db`, look, logged };
}

const usable = {
  health: 200,
  code: undefined,
  ready: 200,
  store: { state: 'up', fault: null },
  metric: '1',
};

it('reports a deleted session file everywhere, and once a minute in the log', async () => {
  const { app, path, look, logged } = await openRig();
  const before = await look();
  renameSync(path, `${path}.moved`);

  await app.advance(1000);
  const lost = await look();
  await app.advance(40_000);
  renameSync(`${path}.moved`, path);
  await app.advance(10_000);

  expect(before).toEqual(usable);
  expect(lost).toEqual({
    health: 503,
    code: 'not_ready',
    ready: 200,
    store: { state: 'down', fault: 'The database file was deleted or replaced.' },
    metric: '0',
  });
  expect(await look()).toEqual(usable);
  expect(logged()).toMatchObject([
    {
      level: 50,
      reason: `${path} was deleted or replaced.`,
      msg: 'the session store cannot be used',
    },
    { level: 30, msg: 'the session store works again' },
  ]);
  expect(logged()[0]).not.toHaveProperty('err');
});

it('notices a deleted session file without requests', async () => {
  const { app, path, logged } = await openRig();
  rmSync(path);

  await app.advance(60_000);

  await expect.poll(logged).toHaveLength(1);
});

it('ends the stream of a question with an error event if the answer cannot be stored in time', async () => {
  const engine = createManualEngine();
  const { app, path, look } = await openRig(engine);
  const started = await app.request('/svc/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ message: 'Why?' }),
  });
  const { sessionId, deliveryId } = started.json();
  const read = async () => {
    const { body } = await app.request(`/svc/v1/session/${sessionId}/stream`);
    return body.split('\n').flatMap((line) => {
      const text = line.trim();
      return text === '' ? [] : [sessionEvent.parse(JSON.parse(text))];
    });
  };
  await engine.next();
  const other = connectSqlite({ path });
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');

  const reading = read();
  await app.advance(5000);
  const events = await reading;
  const again = await read();
  const during = await look();
  other.exec('COMMIT');
  await expect
    .poll(async () => {
      await app.advance(1000);
      return (await read()).length;
    })
    .toBeGreaterThan(events.length);

  const last = events.slice(-2);
  expect(last).toMatchObject([
    { type: 'turn.failed', data: { code: 'storage_unavailable', terminal: false, sequence: 0 } },
    { type: 'session.waiting' },
  ]);
  for (const { meta } of last) expect(meta.deliveryIds).toEqual([deliveryId]);
  expect(events.map(({ meta }) => meta.index)).toEqual(events.map((_, index) => index));
  expect(again.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
  expect(during).toMatchObject({
    health: 503,
    store: { state: 'down', fault: 'Another process has locked the database file.' },
  });
  expect((await read()).at(-2)).toMatchObject({
    type: 'turn.failed',
    data: { code: 'turn_timeout' },
  });
});
