import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

/** `script` of util-linux runs a command in a terminal of its own. */
const hasTerminal = /util-linux/.test(spawnSync('script', ['--version']).stdout?.toString() ?? '');

/** Runs `perch serve` in a terminal until it has printed `lines` lines, and returns its output. */
async function serveInTerminal(lines: number, settings: Readonly<Record<string, string>> = {}) {
  const command = `${process.execPath} ${inject('perchMain')} serve`;
  const folder = temporaryFolder();
  const basics = { PATH: process.env.PATH, PORT: '0', PERCH_DATA_DIR: `${folder}/data` };
  const env = { ...basics, ...settings };
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, cwd: folder });
  onTestFinished(() => void terminal.kill());
  let printed = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await expect.poll(() => printed.split('\n').length).toBeGreaterThan(lines);
  return printed;
}

describe.skipIf(!hasTerminal)('perch serve in a terminal', () => {
  it('prints its address, and names the setting for web pages', async () => {
    expect(await serveInTerminal(2)).toMatch(
      /^Perch is ready: http:\/\/localhost:\d+\r\nSet PERCH_BROWSER_PAGES=true to open links .+\r\n$/,
    );
  });

  it.each(['true', 'false'])('prints only its address if the setting is %s', async (value) => {
    expect(await serveInTerminal(1, { PERCH_BROWSER_PAGES: value })).toMatch(
      /^Perch is ready: http:\/\/localhost:\d+\r\n$/,
    );
  });
});

it('names a command that makes an admin token if the token is too short', async () => {
  const { code, stderr } = await spawnPerch(['serve'], { PERCH_ADMIN_TOKEN: 'short' }).ended;

  expect(code).toBe(2);
  expect(stderr).toContain('such as the output of `openssl rand -hex 32`');
});
