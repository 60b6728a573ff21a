import type { UsableConfig } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';

/** Name of a check, as `perch doctor` prints it. */
export type CheckName =
  | 'settings'
  | 'data_folder'
  | 'databases'
  | 'port'
  | 'base_url'
  | 'proxy'
  | 'clock'
  | 'providers'
  | 'engine'
  | 'corpus'
  | 'model';

export interface Result {
  readonly status: 'ok' | 'warning' | 'fault';
  readonly message: string;
  /** Sentences about what to do; `null` if nothing. */
  readonly advice: string | null;
}

/** Result of a check, which can have several findings. */
export interface Finding extends Result {
  readonly check: CheckName;
}

export const ok = (message: string): Result => ({ status: 'ok', message, advice: null });

export function warning(message: string, advice: string | null = null): Result {
  return { status: 'warning', message, advice };
}

export function fault(message: string, advice: string | null = null): Result {
  return { status: 'fault', message, advice };
}

export interface DoctorContext extends UsableConfig {
  readonly clock: Clock;
  readonly random: Random;
}

/** Checks that share their requests, and so run together. */
export interface CheckGroup {
  readonly names: readonly CheckName[];
  /** Settings that the checks need. The checks are skipped if one of these settings is invalid. */
  readonly needs: readonly (keyof DoctorContext['config'])[];
  /** Runs the checks, and returns the results of each in the order of `names`. */
  run(signal: AbortSignal): Promise<readonly (readonly Result[])[]>;
}
