import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import {
  type EngineServer,
  freePort,
  runEngineCli,
  startEngine,
  startOnFreePort,
} from './engine-server.ts';
import { temporaryFolder } from './spawn-perch.ts';

/** Cluster of three primaries without replicas. */
export interface ClusterServers {
  readonly url: string;
  readonly primaries: readonly EngineServer[];
}

/** Starts a cluster. It is stopped at the end of the test. */
export async function startCluster(): Promise<ClusterServers> {
  const busPorts = await Promise.all([freePort(), freePort(), freePort()]);
  const primaries = await Promise.all(
    busPorts.map((port) =>
      startEngine(
        ...'--cluster-enabled yes --cluster-node-timeout 1000'.split(' '),
        ...['--cluster-port', `${port}`],
      ),
    ),
  );
  const addresses = primaries.map(({ port }, at) => `127.0.0.1:${port}@${busPorts[at]}`);
  runEngineCli('--cluster', 'create', ...addresses, '--cluster-yes');
  const readStates = () =>
    primaries.map(({ port }) => /cluster_state:\w+/.exec(ask(port, 'cluster', 'info'))?.[0]);
  await expect.poll(readStates).toEqual(primaries.map(() => 'cluster_state:ok'));
  const nodes = primaries.map(({ port }) => `127.0.0.1:${port}`);
  return { url: `redis+cluster://${nodes.join(',')}`, primaries };
}

/** Primary with replicas, and three sentinels that monitor them. */
export interface SentinelServers {
  readonly url: string;
  readonly primary: EngineServer;
  readonly sentinels: readonly EngineServer[];
}

const monitored = 'main';

/** Starts sentinels, which fail over within a few seconds. They are stopped at the end of the test. */
export async function startSentinels(replicaCount = 1): Promise<SentinelServers> {
  const primary = await startEngine();
  const follow = ['--replicaof', '127.0.0.1', `${primary.port}`];
  const replicas = await Promise.all(
    Array.from({ length: replicaCount }, () => startEngine(...follow)),
  );
  for (const { port } of replicas)
    await expect.poll(() => ask(port, 'role')).toContain('connected');
  const lines = [
    'bind 127.0.0.1',
    `sentinel monitor ${monitored} 127.0.0.1 ${primary.port} 2`,
    `sentinel down-after-milliseconds ${monitored} 1000`,
    `sentinel failover-timeout ${monitored} 3000`,
  ];
  const startSentinel = () =>
    startOnFreePort((port) => {
      const folder = temporaryFolder();
      const file = `${folder}/sentinel.conf`;
      writeFileSync(file, [`port ${port}`, `dir ${folder}`, ...lines, ''].join('\n'));
      return [file, '--sentinel'];
    });
  const sentinels = [await startSentinel(), await startSentinel(), await startSentinel()];
  const isReady = ({ port }: EngineServer) => {
    const known = ask(port, 'sentinel', 'replicas', monitored);
    return (
      ask(port, 'sentinel', 'ckquorum', monitored).startsWith('OK 3') &&
      replicas.every((replica) => known.includes(`${replica.port}`))
    );
  };
  await expect.poll(() => sentinels.every(isReady)).toBe(true);
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`);
  return { url: `redis+sentinel://${hosts.join(',')}/${monitored}`, primary, sentinels };
}

const ask = (port: number, ...words: readonly string[]) => runEngineCli('-p', `${port}`, ...words);
