import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkDatabases } from '../../../../src/cli/doctor/data-folder.ts';
import { loadConfig } from '../../../../src/config/config.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

it('names the databases that it could not check in time', async () => {
  const folder = temporaryFolder();
  writeFileSync(`${folder}/archive.db`, '');
  const loaded = loadConfig({ PERCH_DATA_DIR: folder });
  if (!loaded.ok) throw new Error(loaded.faults.join());

  const results = await checkDatabases(loaded.config, 1);

  expect(results).toMatchObject([
    {
      status: 'warning',
      message: expect.stringContaining(`${folder}/archive.db could not be checked within 8 sec`),
      advice: expect.stringContaining('PRAGMA integrity_check'),
    },
  ]);
});
