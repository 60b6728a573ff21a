import { describe, expect, it } from 'vitest';
import { spawnPerch } from '../support/spawn-perch.ts';
import { hasTerminal, runInTerminal } from '../support/terminal.ts';

/** Runs `perch serve` in a terminal until it has printed `lines` lines, and returns its output. */
async function serveInTerminal(lines: number, env: Readonly<Record<string, string>> = {}) {
  const { printed } = runInTerminal('serve', { PORT: '0', ...env });
  await expect.poll(() => printed().split('\n').length).toBeGreaterThan(lines);
  return printed();
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
