import type { UsableConfig } from '../../config/usable-config.ts';
import type { Clock } from '../../core/clock.ts';
import type { Random } from '../../core/random.ts';
import { withDeadline } from '../../core/scheduling/deadline.ts';
import { type CheckName, type Finding, fault, type Result, warning } from './finding.ts';

export interface DoctorContext extends UsableConfig {
  readonly clock: Clock;
  readonly random: Random;
}

export interface Check {
  readonly name: CheckName;
  /** Settings that the check needs. The check is skipped if one of these settings is invalid. */
  readonly needs: readonly (keyof DoctorContext['config'])[];
  /** Runs the check. Stops the check early if `signal` is aborted. */
  run(signal: AbortSignal): Promise<readonly Result[]>;
}

/** Maximum duration of a check in milliseconds. All checks run at the same time. */
export const checkMs = 9000;

/** Runs all checks at the same time. Returns findings in the order of the checks. Never throws. */
export async function runChecks(
  checks: readonly Check[],
  { invalid }: Pick<DoctorContext, 'invalid'>,
): Promise<readonly Finding[]> {
  const results = await Promise.all(
    checks.map(async (check): Promise<readonly Finding[]> => {
      const missing = check.needs.filter((name) => invalid.has(name));
      const found = missing.length > 0 ? [leaveOut(missing)] : await runInTime(check);
      return found.map((result) => ({ check: check.name, ...result }));
    }),
  );
  return results.flat();
}

function leaveOut(missing: readonly string[]): Result {
  const verb = missing.length === 1 ? 'is' : 'are';
  const names = new Intl.ListFormat('en-GB').format(missing);
  const message = `Not checked, because ${names} ${verb} not valid.`;
  return warning(message, 'Correct the settings first.');
}

async function runInTime(check: Check): Promise<readonly Result[]> {
  try {
    return await withDeadline(checkMs, [], (signal) =>
      Promise.race([check.run(signal), expire(signal)]),
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [fault(`The check failed: ${message}`, 'Please report this as a bug in Perch.')];
  }
}

function expire(signal: AbortSignal): Promise<readonly Result[]> {
  const late = warning(
    `The check did not finish within ${checkMs / 1000} seconds.`,
    'Run perch doctor again when the machine is less busy.',
  );
  return new Promise((resolve) => {
    // Gives the check time to return its findings so far after the abort.
    const wait = () => setImmediate(() => setImmediate(resolve, [late]));
    signal.addEventListener('abort', wait, { once: true });
  });
}
