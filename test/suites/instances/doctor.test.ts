import { expect, it } from 'vitest';
import { healthySettings, runDoctor } from '../../support/doctor-rig.ts';
import { describeWithEngine, startEngine } from '../../support/engine-server.ts';

describeWithEngine('perch doctor finds an engine', () => {
  const diagnose = async (options: readonly string[], more: Record<string, string> = {}) => {
    const [env, engine] = [await healthySettings(), await startEngine(...options)];
    const { of, code } = await runDoctor({ ...env, PERCH_REDIS_URL: engine.url, ...more });
    return `${code} ${of('engine')}`;
  };

  it('that is healthy', async () => {
    expect(await diagnose([])).toMatch(/^0 ok: .+ms, and its settings are safe\.$/);
  });

  it('that loses data when it restarts', async () => {
    expect(await diagnose(['--appendonly', 'no'])).toMatch(
      /^1 fault: .+append-only file is off.+Set `appendonly yes`/,
    );
  });

  it('that may lose data when it restarts', async () => {
    expect(await diagnose(['--appendonly', 'no'], { PERCH_REDIS_ALLOW_VOLATILE: 'true' })).toMatch(
      /^0 warning: Append-only persistence is off/,
    );
  });

  it('that deletes keys when it is full', async () => {
    const full = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'];

    expect(await diagnose(full)).toMatch(
      /^0 warning: .+not noeviction.+`maxmemory-policy noeviction`/,
    );
  });

  it('that refuses the password', async () => {
    const [env, engine] = [await healthySettings(), await startEngine()];
    const url = engine.url.replace('redis://', 'redis://ada:swordfish@');

    const { of, output } = await runDoctor({ ...env, PERCH_REDIS_URL: url });

    expect(of('engine')).toMatch(
      /^fault: .+ cannot be used\. The engine refuses the user name or the password\. Correct the/,
    );
    expect(output).not.toContain('swordfish');
  });
});
