import { renameSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { asAdmin, buildTestApp } from '../support/build-app.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

async function openRig() {
  const folder = temporaryFolder();
  const lines: string[] = [];
  const app = await buildTestApp({
    env: { PERCH_SESSIONS: 'on', PERCH_DATA_DIR: folder, PERCH_PROVIDERS: 'archive' },
    engine: createScriptedEngine(),
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
