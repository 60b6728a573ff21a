import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openKeyStore } from '../../src/access/keys/key-store.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { clause } from '../support/clause.ts';
import { lockFromOutside, openKeyRig } from '../support/key-rig.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const keyShape = /^perch_[\w-]{43}\n$/;

const keysHere = (folder: string, ...args: readonly string[]) =>
  runHere(['keys', ...args], { PERCH_DATA_DIR: folder });

function openServerStore(folder: string) {
  return openKeyRig({ path: `${folder}/perch.db`, whenMissing: 'wait' });
}

describe('perch keys', () => {
  clause(
    'read.key.created_by_hand',
    'read.key_moves.issue_makes_active',
    'read.key_moves.issue_shows_key_once',
  )('creates a key, prints only the key, and never shows it again', async () => {
    const folder = `${temporaryFolder()}/data`;
    const keys = (...args: readonly string[]) => keysHere(folder, ...args);

    const options = ['--label', 'Weather bot', '--allowance', '1200', '--notes', 'issue 7\ndaily'];
    const made = await keys('create', ...options);
    const [json, table] = await Promise.all([keys('list', '--json'), keys('list')]);

    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(keyShape);
    expect(made.stderr).toMatch(
      /^perch: Key [0-9a-f]{12} "Weather bot" is enabled\. Store the key now: Perch keeps only its hash .*\n$/,
    );
    expect(JSON.parse(json.stdout)).toEqual({
      id: /Key ([0-9a-f]{12})/.exec(made.stderr)?.[1],
      label: 'Weather bot',
      enabled: true,
      allowance: 1200,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      last_used_at: null,
      notes: 'issue 7\ndaily',
    });
    expect(table.stdout).toMatch(
      /^ID {12}LABEL {8}STATE {4}ALLOWANCE {2}CREATED {15}LAST USED {2}NOTES\n[0-9a-f]{12} {2}Weather bot {2}enabled {2}1200 {7}\S{20} {2}never {6}issue 7 daily\n$/,
    );
    for (const { stdout, stderr } of [json, table]) {
      expect(stdout + stderr).not.toContain(made.stdout.trim());
    }
    expect(readFileSync(`${folder}/perch.db`).includes(made.stdout.trim())).toBe(false);
    expect(openServerStore(folder).store.check(made.stdout.trim()).status).toBe('valid');
  });

  clause(
    'read.key_moves.disable_rejects_immediately',
    'read.key_moves.delete_rejects_immediately',
    'read.key_moves.rotation_rejects_old_key',
  )('disables, enables, changes, rotates and deletes a key while a server runs', async () => {
    const folder = temporaryFolder();
    const keys = (...args: readonly string[]) => keysHere(folder, ...args);
    const server = openKeyRig({ path: `${folder}/perch.db` });
    const { key, record } = await server.store.create({ label: 'a', allowance: 7 });
    expect(server.store.check(key).status).toBe('valid');

    const disabled = await keys('disable', record.id);
    expect(disabled).toMatchObject({ code: 0, stdout: '' });
    expect(disabled.stderr).toBe(`perch: Key ${record.id} "a" is disabled.\n`);
    expect(server.store.check(key).status).toBe('invalid');
    await keys('enable', record.id);
    expect(await server.checkNext(key)).toBe('valid');

    const changes = ['--label', 'b', '--allowance', 'default', '--notes', 'n'];
    expect((await keys('change', record.id, ...changes)).code).toBe(0);
    expect(await server.store.list()).toEqual([
      { ...record, label: 'b', allowance: null, notes: 'n' },
    ]);

    const rotated = await keys('rotate', record.id);
    expect(rotated.stdout).toMatch(keyShape);
    expect(await server.checkNext(key)).toBe('invalid');
    expect(await server.checkNext(rotated.stdout.trim())).toBe('valid');

    const [{ id } = { id: '' }] = await server.store.list();
    expect(await keys('delete', id)).toMatchObject({ code: 0, stdout: '' });
    expect(await server.checkNext(rotated.stdout.trim())).toBe('invalid');
    expect((await keys('list')).stdout).toBe('There are no keys.\n');
    expect((await keys('list', '--json')).stdout).toBe('');
  });

  const secret = `perch_${'s'.repeat(43)}`;

  it.each([
    [[], 2, 'create, list, change, disable, enable, rotate, delete'],
    [[secret], 2, 'The subcommands of perch keys are'],
    [['create'], 2, 'needs --label'],
    [['create', '--label', ' '], 2, '--label must not be empty'],
    [['create', '--label', 'a', secret], 2, 'takes only options'],
    [['create', '--label', 'a', '--allowance', '0'], 2, '--allowance must be a whole number'],
    [['create', '--label', 'a', '--allowance', '1e3'], 2, '--allowance must be a whole number'],
    [['list', 'all'], 2, 'takes no arguments'],
    [['disable'], 2, 'one key ID'],
    [['delete', secret], 2, 'one key ID'],
    [['rotate', 'a'.repeat(12), 'b'.repeat(12)], 2, 'one key ID'],
    [['change', 'a'.repeat(12)], 2, 'needs --label, --allowance or --notes'],
    [['enable', 'a'.repeat(12), '--label', 'a'], 2, '--label'],
  ] as const)('refuses %j with exit code %i', async (args, code, words) => {
    const ended = await keysHere(temporaryFolder(), ...args);

    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toContain(words);
    expect(ended.stderr).toContain('Usage: perch keys');
    expect(ended.stderr).not.toContain(secret);
  });

  it('exits with 1 if there is no such key', async () => {
    const folder = temporaryFolder();
    const store = openKeyStore({
      path: `${folder}/perch.db`,
      clock: systemClock,
      random: systemRandom,
    });
    store.close();

    const acts = [['disable'], ['delete'], ['rotate'], ['change', '--label', 'a']];
    const ends = await Promise.all(acts.map((args) => keysHere(folder, ...args, '0123456789ab')));

    for (const { code, stdout, stderr } of ends) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^perch: There is no key with this ID\. .*\n$/);
    }
  });

  it('exits with 3 and gives advice if the store cannot be used', async () => {
    const [none, broken, locked] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    writeFileSync(`${broken}/perch.db`, 'keys? no');
    openKeyRig({ path: `${locked}/perch.db` }).store.close();
    const release = await lockFromOutside(`${locked}/perch.db`);

    const ends = await Promise.all([
      keysHere(none, 'list'),
      keysHere(broken, 'create', '--label', 'a'),
      keysHere(locked, 'create', '--label', 'a'),
    ]);
    await release();

    const words = ['is missing', 'is damaged', 'has locked the key store'];
    for (const [index, { code, stdout, stderr }] of ends.entries()) {
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toContain(words[index]);
      expect(stderr).not.toContain('    at ');
    }
  });

  it('refuses a store in memory, and prints help', async () => {
    const [memory, help] = await Promise.all([
      keysHere(':memory:', 'create', '--label', 'a'),
      keysHere(temporaryFolder(), '--help'),
    ]);

    expect(memory).toMatchObject({ code: 2, stdout: '' });
    expect(memory.stderr).toContain('would be lost');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/^Usage: perch keys create \| list/);
  });
});
