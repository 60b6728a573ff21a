import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { createStoreFaults } from '../../../src/sessions/store/store-faults.ts';
import { asAdmin, buildTestApp } from '../../support/build-app.ts';
import {
  describeWithEngine,
  openTestEngine,
  runEngineCli,
  startEngine,
} from '../../support/engine-server.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createScriptedEngine } from '../../support/scripted-engine.ts';
import { toStart } from '../../support/session-steps.ts';
import { openStoreOn } from '../../support/session-stores.ts';

const faults = [
  {
    name: 'is out of memory',
    settings: ['config', 'set', 'maxmemory', '1'],
    reason: /^OOM /,
    fault: 'The engine has no memory left, so it refuses changes.',
  },
  {
    name: 'is read-only',
    settings: ['replicaof', '127.0.0.1', '1'],
    reason: /^READONLY /,
    fault: 'The engine is a replica, which refuses changes.',
  },
];

describeWithEngine('the session store while the engine', () => {
  it.each(faults)(
    '$name: callers get a fixed text, and the operator gets the reason',
    async ({ settings, reason, fault }) => {
      const server = await startEngine('--appendonly', 'no');
      const reasons: string[] = [];
      const watch = createStoreFaults({
        clock: createManualClock(0),
        onFault: (text) => reasons.push(text),
        onRecovered: () => {},
      });
      const store = openStoreOn(await openTestEngine(server.url), { watch });
      onTestFinished(() => store.close());
      await store.start(...toStart('ses_a'));
      runEngineCli('-p', `${server.port}`, ...settings);

      for (const id of ['ses_b', 'ses_c']) {
        await expect(store.start(...toStart(id))).rejects.toMatchObject({
          code: 'not_ready',
          message: 'The session store is unavailable.',
        });
      }

      expect(reasons).toEqual([expect.stringMatching(reason)]);
      expect(watch.fault).toBe(fault);
    },
  );
});

describeWithEngine('a server while its engine', () => {
  it.each(faults)(
    '$name: sessions are not ready, reads work, and the operator is told',
    async ({ settings, fault }) => {
      const server = await startEngine();
      const app = await buildTestApp({
        clock: systemClock,
        engine: createScriptedEngine(),
        env: {
          PERCH_REDIS_URL: server.url,
          PERCH_REDIS_TIMEOUT_MS: '10000',
          PERCH_PROVIDERS: 'archive',
          PERCH_SESSIONS: 'on',
        },
      });
      expect((await app.request('/svc/v1/health')).statusCode).toBe(200);
      runEngineCli('-p', `${server.port}`, ...settings);

      const healthOf = async () => (await app.request('/svc/v1/health')).statusCode;
      await expect.poll(healthOf, { timeout: 30_000 }).toBe(503);
      const ready = await app.request('/health/ready');
      const metrics = await app.request('/metrics', { headers: asAdmin });

      expect(ready.statusCode).toBe(200);
      expect(ready.json().session_store).toEqual({ state: 'down', fault });
      expect(metrics.body).toMatch(/^perch_session_store_is_usable 0$/m);
      expect((await app.request('/ada.example')).statusCode).toBe(200);
    },
  );
});
