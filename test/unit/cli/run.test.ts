import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { defaultDataFolder } from '../../../src/cli/run.ts';
import { spawnPerch, temporaryFolder } from '../../support/spawn-perch.ts';

const home = '/home/someone';

it('is ./data in a checkout of Perch', () => {
  expect(defaultDataFolder({ cwd: process.cwd(), home, env: {} })).toBe('./data');
});

it('is ./data if it contains a key store', () => {
  const cwd = temporaryFolder();
  mkdirSync(`${cwd}/data`);
  writeFileSync(`${cwd}/data/perch.db`, '');

  expect(defaultDataFolder({ cwd, home, env: {} })).toBe('./data');
});

it.each([
  ['~/.local/share', {}, '/home/someone/.local/share/perch'],
  ['$XDG_DATA_HOME', { XDG_DATA_HOME: '/srv/share' }, '/srv/share/perch'],
  [
    '~, for a relative $XDG_DATA_HOME',
    { XDG_DATA_HOME: 'share' },
    '/home/someone/.local/share/perch',
  ],
  ['~, for an empty $XDG_DATA_HOME', { XDG_DATA_HOME: '' }, '/home/someone/.local/share/perch'],
])('is in %s otherwise', (_, env, folder) => {
  const cwd = temporaryFolder();
  mkdirSync(`${cwd}/data`);

  expect(defaultDataFolder({ cwd, home, env })).toBe(folder);
});

it('is used by commands without PERCH_DATA_DIR', async () => {
  const share = temporaryFolder();

  const { stderr } = await spawnPerch(['archive', 'export', '@x', '--output', '/dev/full'], {
    PERCH_DATA_DIR: '',
    XDG_DATA_HOME: share,
  }).ended;
  const listed = await spawnPerch(['keys', 'list'], { PERCH_DATA_DIR: '', XDG_DATA_HOME: share })
    .ended;

  expect(stderr + listed.stderr).toContain(`${share}/perch`);
});
