import { spawn, spawnSync } from 'node:child_process';
import { expect, inject, it, onTestFinished } from 'vitest';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

/** `script` of util-linux runs a command in a terminal of its own. */
const hasTerminal = /util-linux/.test(spawnSync('script', ['--version']).stdout?.toString() ?? '');

it.skipIf(!hasTerminal)('perch serve prints one line with its address in a terminal', async () => {
  const command = `${process.execPath} ${inject('perchMain')} serve`;
  const folder = temporaryFolder();
  const env = { PATH: process.env.PATH, PORT: '0', PERCH_DATA_DIR: `${folder}/data` };
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, cwd: folder });
  onTestFinished(() => void terminal.kill());
  let printed = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));

  await expect.poll(() => printed).toContain('\n');

  expect(printed).toMatch(/^Perch is ready: http:\/\/localhost:\d+\r\n$/);
});

it('names a command that makes an admin token if the token is too short', async () => {
  const { code, stderr } = await spawnPerch(['serve'], { PERCH_ADMIN_TOKEN: 'short' }).ended;

  expect(code).toBe(2);
  expect(stderr).toContain('such as the output of `openssl rand -hex 32`');
});
