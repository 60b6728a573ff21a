import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { KeyRecord } from '../../../src/access/keys/key-record.ts';
import { openSharedKeys } from '../../../src/access/keys/shared-keys.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { systemRandom } from '../../../src/lib/random.ts';
import { describeWithEngine, openTestEngine, startEngine } from '../../support/engine-server.ts';
import { openKeyRig } from '../../support/key-rig.ts';
import { spawnPerch, temporaryFolder } from '../../support/spawn-perch.ts';

const keyShape = /^perch_[\w-]{43}\n$/;

/** Sorts keys, which have the same time of creation here. */
const sortById = (records: readonly KeyRecord[]) =>
  records.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Starts an engine, opens the key store of an instance on it, and returns `perch keys` for both. */
async function startRig(folder = temporaryFolder()) {
  const server = await startEngine();
  const engine = await openTestEngine(server.url);
  const store = openSharedKeys({ engine, clock: systemClock, random: systemRandom });
  const env = {
    PERCH_DATA_DIR: folder,
    PERCH_REDIS_URL: server.url,
    PERCH_REDIS_PREFIX: 'test:',
    PERCH_REDIS_TIMEOUT_MS: '10000',
  };
  const keys = (...args: readonly string[]) => spawnPerch(['keys', ...args], env).ended;
  const check = async (key: string) => (await store.check(key.trim())).status;
  return { server, store, keys, check };
}

describeWithEngine('perch keys with a shared engine', () => {
  it('does not count as an instance', async () => {
    const { server, keys } = await startRig();

    await keys('list');

    const second = await openTestEngine(server.url);
    expect(second.state.instances).toBe(2);
  });

  it('creates a key that every instance accepts, and lists it', async () => {
    const folder = `${temporaryFolder()}/data`;
    const { keys, check } = await startRig(folder);

    const made = await keys('create', '--label', 'Weather bot', '--allowance', '1200');
    const [json, table] = await Promise.all([keys('list', '--json'), keys('list')]);

    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(keyShape) });
    expect(await check(made.stdout)).toBe('valid');
    expect(JSON.parse(json.stdout)).toEqual({
      id: /Key ([0-9a-f]{12})/.exec(made.stderr)?.[1],
      label: 'Weather bot',
      enabled: true,
      allowance: 1200,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      last_used_at: null,
      notes: null,
    });
    expect(table.stdout).toMatch(/\n[0-9a-f]{12} {2}Weather bot {2}enabled {2}1200 /);
    expect(json.stdout + table.stdout).not.toContain(made.stdout.trim());
    expect(existsSync(`${folder}/perch.db`)).toBe(false);
  });

  it('disables, enables, changes, rotates and deletes a key for the next request', async () => {
    const { store, keys, check } = await startRig();
    const { key, record } = await store.create({ label: 'a', allowance: 7 });
    expect(await check(key)).toBe('valid');

    expect((await keys('disable', record.id)).stderr).toBe(
      `perch: Key ${record.id} "a" is disabled.\n`,
    );
    expect(await check(key)).toBe('invalid');
    await keys('enable', record.id);
    expect(await check(key)).toBe('valid');
    await keys('change', record.id, '--label', 'b', '--allowance', 'default', '--notes', 'n');
    expect(await store.list()).toEqual([{ ...record, label: 'b', allowance: null, notes: 'n' }]);
    const rotated = await keys('rotate', record.id);
    expect([await check(key), await check(rotated.stdout)]).toEqual(['invalid', 'valid']);
    const [{ id } = { id: '' }] = await store.list();
    expect(await keys('delete', id)).toMatchObject({ code: 0, stdout: '' });
    expect(await check(rotated.stdout)).toBe('invalid');
    expect((await keys('list')).stdout).toBe('There are no keys.\n');
  });

  it('exits with 1 if there is no such key', async () => {
    const { keys } = await startRig();

    const acts = [['disable'], ['delete'], ['rotate'], ['change', '--label', 'a']];
    const ends = await Promise.all(acts.map((args) => keys(...args, '0123456789ab')));

    for (const { code, stderr } of ends) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/^perch: There is no key with this ID\. .*\n$/);
    }
  });
});

describeWithEngine('perch keys copy', () => {
  it('copies the keys of the data directory with their settings', async () => {
    const folder = temporaryFolder();
    const file = openKeyRig({ path: `${folder}/perch.db` }).store;
    const ada = await file.create({ label: 'Ada', allowance: 7, notes: 'n' });
    const ben = await file.create({ label: 'Ben' });
    await file.change(ben.record.id, { enabled: false });
    const { store, keys, check } = await startRig(folder);

    const copied = await keys('copy');

    expect(copied).toMatchObject({ code: 0, stdout: '' });
    expect(copied.stderr).toBe('perch: Copied 2 of 2 keys.\n');
    expect(sortById(await store.list())).toEqual(sortById(await file.list()));
    expect([await check(ada.key), await check(ben.key)]).toEqual(['valid', 'invalid']);
    expect(file.check(ada.key).status).toBe('valid');
  });

  it('leaves keys unchanged that are already there', async () => {
    const folder = temporaryFolder();
    const file = openKeyRig({ path: `${folder}/perch.db` }).store;
    const { key, record } = await file.create({ label: 'Ada' });
    const { store, keys, check } = await startRig(folder);
    await keys('copy');
    await store.change(record.id, { enabled: false });
    await file.create({ label: 'Ben' });

    const again = await keys('copy');

    expect(again.stderr).toBe('perch: Copied 1 of 2 keys. Already there: 1.\n');
    expect(await check(key)).toBe('invalid');
    expect((await store.list()).map(({ label }) => label).sort()).toEqual(['Ada', 'Ben']);
  });

  it('fails without a key store, without an engine, and with arguments', async () => {
    const folder = temporaryFolder();
    const { keys } = await startRig(folder);
    const missing = await keys('copy');
    openKeyRig({ path: `${folder}/perch.db` }).store.close();

    const [alone, surplus] = await Promise.all([
      spawnPerch(['keys', 'copy'], { PERCH_DATA_DIR: folder }).ended,
      keys('copy', 'all'),
    ]);

    expect(missing).toMatchObject({ code: 3, stdout: '' });
    expect(missing.stderr).toContain('is missing');
    expect(alone).toMatchObject({ code: 2, stdout: '' });
    expect(alone.stderr).toContain('copy needs PERCH_REDIS_URL');
    expect(surplus).toMatchObject({ code: 2, stdout: '' });
    expect(surplus.stderr).toContain('copy takes no arguments');
  });
});
