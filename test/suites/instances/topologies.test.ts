import { it } from 'vitest';
import { describeWithEngine } from '../../support/engine-server.ts';
import { startCluster, startSentinels } from '../../support/engine-topologies.ts';
import { expectReadsDuring, openObservedInstances } from '../../support/faulty-instances.ts';
import { openInstances } from '../../support/instances.ts';
import { isLongRun } from '../../support/long-run.ts';
import { behaveAsOne, type Start } from './read-suite.ts';

/** Starts instances on an engine of its own for each test. */
const startOn = (startServers: () => Promise<{ readonly url: string }>): Start => {
  return async (count, options = {}) => {
    const { url } = await startServers();
    return openInstances(Array(count).fill(url), () => options);
  };
};

describeWithEngine('instances on a cluster', () => {
  if (isLongRun) behaveAsOne(startOn(startCluster));

  it('go on with reads while a primary fails', async () => {
    const { url, primaries } = await startCluster();
    const [, , lost] = primaries;
    const instances = await openObservedInstances([url, url]);

    const fail = () => lost?.stop();
    const mend = () => lost?.start();
    await expectReadsDuring({ fail, mend, unseen: /^200 (?:unverified|valid)$/ }, instances);
  });
});

describeWithEngine('instances on sentinels', () => {
  if (isLongRun) behaveAsOne(startOn(startSentinels));

  it('go on with reads during a failover, also if a sentinel hangs', async () => {
    const { url, primary, sentinels } = await startSentinels();
    sentinels[0]?.pause();
    const instances = await openObservedInstances([url, url]);

    const fail = () => primary.stop();
    const mend = () => {};
    await expectReadsDuring({ fail, mend, unseen: /^200 (?:unverified|valid)$/ }, instances);
  });
});
