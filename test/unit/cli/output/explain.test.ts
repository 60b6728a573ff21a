import { expect, it } from 'vitest';
import { explainOpenError } from '../../../../src/cli/output/explain.ts';
import { loadConfig } from '../../../../src/config/config.ts';

it.each([
  ['is missing', new Error('Could not locate the bindings file. Tried:\n → /opt/a.node')],
  [
    'belongs to another version of Node.js',
    Object.assign(new Error('NODE_MODULE_VERSION 115'), { code: 'ERR_DLOPEN_FAILED' }),
  ],
])('says how to install the SQLite module if it %s', (_, error) => {
  const loaded = loadConfig({ PERCH_DATA_DIR: '/srv/perch' });
  if (!loaded.ok) throw new Error(loaded.faults.join());

  const message = explainOpenError(error, loaded.config);

  expect(message).toMatch(/^The SQLite module better-sqlite3 is not installed for this version/);
  expect(message).toContain('npm rebuild better-sqlite3');
});
