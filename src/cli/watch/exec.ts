import { type ChildProcess, spawn } from 'node:child_process';
import { DeliveryError } from './delivery.ts';
import { formatDuration } from './durations.ts';

/** Time in milliseconds between SIGTERM and SIGKILL for a command that exceeds the timeout. */
const graceMs = 5000;

/**
 * Runs a command in the shell. Its output goes to standard error. After `timeoutMs`, kills it and
 * all processes that it started.
 * @throws DeliveryError if the command fails or takes too long
 */
export async function runCommandLine(
  command: string,
  { input, timeoutMs }: { readonly input: string; readonly timeoutMs: number },
): Promise<void> {
  const child = spawn(command, { shell: true, detached: true, stdio: ['pipe', 2, 2] });
  const kill = (name: NodeJS.Signals) => killGroup(child, name);
  const killAtExit = () => kill('SIGKILL');
  process.on('exit', killAtExit);
  let isLate = false;
  const timers = [
    setTimeout(() => {
      isLate = true;
      kill('SIGTERM');
      timers.push(setTimeout(kill, graceMs, 'SIGKILL'));
    }, timeoutMs),
  ];
  try {
    const fault = await waitForExit(child, input);
    if (isLate) {
      kill('SIGKILL'); // processes that the command started can outlive it
      throw new DeliveryError(`took longer than ${formatDuration(timeoutMs)}`);
    }
    if (fault !== null) throw new DeliveryError(fault);
  } finally {
    process.off('exit', killAtExit);
    for (const timer of timers) clearTimeout(timer);
  }
}

function waitForExit(child: ChildProcess, input: string): Promise<string | null> {
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve(`could not be started (${message})`));
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(null);
      else resolve(code === null ? `was ended by ${signal}` : `ended with exit code ${code}`);
    });
    // A command that does not read its input closes the pipe.
    child.stdin?.on('error', () => {}).end(input);
  });
}

function killGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // The processes have ended.
  }
}
