import { describeWithEngine } from '../../support/engine-server.ts';
import { startInstances } from '../../support/instances.ts';
import { behaveAsOne } from './read-suite.ts';

describeWithEngine('several instances on one engine', () => {
  behaveAsOne(startInstances);
});
