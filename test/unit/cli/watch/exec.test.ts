import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../../../src/cli/watch/delivery.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

/** Time in milliseconds for commands that end by themselves. */
const timeoutMs = 60_000;

it('passes a long input unchanged', async () => {
  const file = `${temporaryFolder()}/input`;
  const input = `$(touch hacked) \`touch hacked\` 'quoted' \u2028 ${'x'.repeat(500_000)}\n`;

  await runCommandLine(`cat > '${file}'`, { input, timeoutMs });

  expect(readFileSync(file, 'utf8')).toBe(input);
  expect(existsSync('hacked')).toBe(false);
});

it('accepts a command that reads only the beginning of a long input', async () => {
  const input = 'x'.repeat(500_000);

  expect(await runCommandLine('head -c 1 > /dev/null', { input, timeoutMs })).toBeNull();
});

it.each([
  ['exit 7', 'ended with exit code 7'],
  ['kill -TERM $$', 'was ended by SIGTERM'],
  ['no-such-program-of-perch 2> /dev/null', 'ended with exit code 127'],
])('fails for %s', async (command, reason) => {
  expect(await runCommandLine(command, { input: '', timeoutMs })).toEqual({ reason });
});

it('ends all processes of a command that takes too long', async () => {
  const file = `${temporaryFolder()}/pid`;
  const child = `(trap '' TERM; echo > '${file}.ready'; sleep 600) & echo $! > '${file}'; wait`;

  expect(await runCommandLine(child, { input: '', timeoutMs: 1000 })).toEqual({
    reason: 'took longer than 1s',
  });

  const pid = Number(readFileSync(file, 'utf8'));
  await expect.poll(() => isRunning(pid)).toBe(false);
});

it('lets a command that takes too long clean up', async () => {
  const file = `${temporaryFolder()}/cleaned`;
  const command = `trap "echo > '${file}'; exit" TERM; sleep 600 & wait`;

  await runCommandLine(command, { input: '', timeoutMs: 1000 });

  expect(existsSync(file)).toBe(true);
});

/** Returns whether a process runs. A process that has ended, but whose parent has not noticed, does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
