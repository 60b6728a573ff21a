import { expect, it, onTestFinished } from 'vitest';
import { createStoreFaults } from '../../../src/sessions/store/store-faults.ts';
import {
  describeWithEngine,
  openTestEngine,
  runEngineCli,
  startEngine,
} from '../../support/engine-server.ts';
import { createManualClock } from '../../support/manual-clock.ts';
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
