import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '../../../src/lib/clock.ts';
import { findWarnings } from '../../../src/lib/redis/engine-report.ts';
import { asAdmin, buildTestApp, type TestApp } from '../../support/build-app.ts';
import { describeWithEngine, openTestEngine, startEngine } from '../../support/engine-server.ts';
import { startInstances } from '../../support/instances.ts';

const startInstance = (url: string): Promise<TestApp> =>
  buildTestApp({
    clock: systemClock,
    env: { PERCH_REDIS_URL: url, PERCH_REDIS_TIMEOUT_MS: '10000', PERCH_PROVIDERS: 'archive' },
  });

async function readReadiness(app: TestApp) {
  const reply = await app.request('/health/ready');
  return { code: reply.statusCode, ...reply.json() };
}

const readEngine = async (app: TestApp) => (await readReadiness(app)).shared_engine;

const readMetrics = async (app: TestApp): Promise<string> =>
  (await app.request('/metrics', { headers: asAdmin })).body;

describeWithEngine('/health/ready of an instance', () => {
  it('has the state of the engine and the number of instances', async () => {
    const { apps } = await startInstances(2);

    for (const app of apps) {
      await expect
        .poll(() => readEngine(app))
        .toEqual({ state: 'up', fault: null, instances: 2, warnings: [] });
    }
  });

  it('names a persistence and an eviction policy that can lose data', async () => {
    const evicting = ['--maxmemory', '512mb', '--maxmemory-policy', 'allkeys-lru'];
    const engine = await startEngine('--appendonly', 'no', ...evicting);
    const app = await startInstance(engine.url);

    await expect
      .poll(async () => (await readEngine(app)).warnings)
      .toEqual([
        'Append-only persistence is off, so a restart of the engine deletes keys and sessions. Set `appendonly yes` in its configuration.',
        'The eviction policy is not noeviction, so a full engine deletes keys and sessions. Set `maxmemory-policy noeviction` in its configuration.',
      ]);
  });

  it('has no warnings about the engine of compose.instances.yaml', async () => {
    const { services } = parse(readFileSync('compose.instances.yaml', 'utf8'));
    const [, ...options] = String(services.valkey.command).split(' ');
    const server = await startEngine('--appendonly', 'no', ...options);
    const engine = await openTestEngine(server.url);

    const infos = await Promise.all([engine.info('persistence'), engine.info('memory')]);

    const [persistence = '', memory = ''] = infos.flat();
    expect(memory).toContain('maxmemory:1073741824');
    expect(findWarnings([{ persistence, memory }])).toEqual([]);
  });

  it('stays up if the engine refuses INFO, and says so', async () => {
    const engine = await startEngine('--user', ...'perch on >secret ~* &* +@all -info'.split(' '));
    const app = await startInstance(engine.url.replace('//', '//perch:secret@'));

    await expect
      .poll(() => readEngine(app))
      .toMatchObject({
        state: 'up',
        warnings: [expect.stringMatching(/^Perch may not run the command INFO, /)],
      });
  });

  it('stays 200 while the engine is down, and describes the fault without its address', async () => {
    const engine = await startEngine();
    const app = await startInstance(engine.url);
    await engine.stop();
    await expect.poll(async () => (await readEngine(app)).state).toBe('down');
    await expect
      .poll(() => readReadiness(app))
      .toMatchObject({
        code: 200,
        shared_engine: { state: 'down', fault: 'The engine cannot be reached.', instances: 1 },
      });
    expect(await readMetrics(app)).toMatch(/^perch_shared_engine_is_up 0$/m);

    await engine.start();

    await expect.poll(() => readEngine(app)).toMatchObject({ state: 'up', fault: null });
  });
});

describeWithEngine('/metrics of an instance', () => {
  it('count the instances, and name this one', async () => {
    const { apps } = await startInstances(2);

    for (const app of apps) {
      await expect.poll(() => readMetrics(app)).toMatch(/^perch_instances 2$/m);
    }

    const texts = await Promise.all(apps.map(readMetrics));
    const names = texts.map(
      (text) => /^perch_build_info\{version="[^"]+",instance="([\w-]{12})"\} 1$/m.exec(text)?.[1],
    );
    expect(new Set(names).size).toBe(2);
    expect(names).not.toContain(undefined);
    for (const text of texts) expect(text).toMatch(/^perch_shared_engine_is_up 1$/m);
  });
});
