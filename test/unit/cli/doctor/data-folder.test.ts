import { expect, it } from 'vitest';
import { checkDataFolder } from '../../../../src/cli/doctor/data-folder.ts';
import { loadConfig } from '../../../../src/config/config.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

function configWith(folder: string) {
  const loaded = loadConfig({ PERCH_DATA_DIR: folder });
  if (!loaded.ok) throw new Error(loaded.faults.join());
  return loaded.config;
}

it.each([
  [10e6, 'fault', 'has only 10.0 MB of free space. Free some space, or set PERCH_DATA_DIR to'],
  [900e6, 'warning', 'has only 900.0 MB of free space. Free some space'],
  [4e9, 'ok', 'can be used; 4.0 GB are free. '],
])('judges %d bytes of free space', (free, status, text) => {
  const folder = temporaryFolder();

  const [result, ...others] = checkDataFolder(configWith(folder), () => free);

  expect(others).toEqual([]);
  expect(result?.status).toBe(status);
  expect(`${result?.message} ${result?.advice ?? ''}`).toContain(text);
});

it('does not create a missing folder', () => {
  const folder = `${temporaryFolder()}/a/b`;

  expect(checkDataFolder(configWith(folder), () => 4e9)).toEqual([
    expect.objectContaining({
      status: 'ok',
      message: `Perch will create ${folder} at the first start; 4.0 GB are free.`,
    }),
  ]);
});

it('needs no folder for :memory:', () => {
  expect(checkDataFolder(configWith(':memory:'))).toMatchObject([{ status: 'ok' }]);
});
