import { it } from 'vitest';
import {
  describeWithEngine,
  type EngineServer,
  runEngineCli,
} from '../../support/engine-server.ts';
import { expectReadsDuring, startFaultyInstances } from '../../support/faulty-instances.ts';

const configure = ({ port }: EngineServer, ...words: readonly string[]): void => {
  runEngineCli('-p', `${port}`, ...words);
};

/** Failures of an engine. */
const outages = [
  {
    name: 'crashes and starts again',
    fail: (engine: EngineServer) => engine.stop('SIGKILL'),
    mend: (engine: EngineServer) => engine.start(),
    unseen: /^200 unverified$/,
  },
  {
    name: 'is paused',
    fail: (engine: EngineServer) => engine.pause(),
    mend: (engine: EngineServer) => engine.resume(),
    unseen: /^200 unverified$/,
  },
  {
    name: 'is read-only',
    fail: (engine: EngineServer) => configure(engine, 'replicaof', '127.0.0.1', '1'),
    mend: (engine: EngineServer) => configure(engine, 'replicaof', 'no', 'one'),
    unseen: /^200 (?:unverified|valid)$/, // it becomes known at the next write
  },
  {
    name: 'is out of memory',
    fail: (engine: EngineServer) => configure(engine, 'config', 'set', 'maxmemory', '1'),
    mend: (engine: EngineServer) => configure(engine, 'config', 'set', 'maxmemory', '0'),
    unseen: /^200 (?:unverified|valid)$/, // it can still be read, if it answers in time
  },
] as const;

describeWithEngine('reads while the engine', () => {
  it.each(outages)('$name', async ({ fail, mend, unseen }) => {
    const instances = await startFaultyInstances(2);
    const { engine } = instances;

    const outage = { fail: () => fail(engine), mend: () => mend(engine), unseen };
    await expectReadsDuring(outage, instances);
  });
});
