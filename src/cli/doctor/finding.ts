import * as z from 'zod';
import type { UsableConfig } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';

/** Names of the checks, in the order in which `perch doctor` prints them. */
export const checkNames = [
  'settings',
  'data_folder',
  'databases',
  'port',
  'base_url',
  'proxy',
  'clock',
  'providers',
  'engine',
  'corpus',
  'model',
] as const;

export type CheckName = (typeof checkNames)[number];

const finding = z.object({
  check: z.enum(checkNames).describe('Name of the check.'),
  status: z.enum(['ok', 'warning', 'fault']),
  message: z.string().describe('Sentences about the result.'),
  advice: z.string().nullable().describe('Sentences about what to do; `null` if nothing.'),
});

/** Status, message and advice of a check, which can have several findings. */
export type Finding = z.output<typeof finding>;

export const doctorReport = z.object({
  version: z.string().describe('Version of Perch.'),
  status: z.enum(['ok', 'warning', 'fault']).describe('Most severe status of all findings.'),
  findings: z.array(finding).readonly(),
});

export type DoctorReport = z.output<typeof doctorReport>;

export type Result = Omit<Finding, 'check'>;

export const ok = (message: string): Result => ({ status: 'ok', message, advice: null });

export function warning(message: string, advice: string | null = null): Result {
  return { status: 'warning', message, advice };
}

export function fault(message: string, advice: string | null = null): Result {
  return { status: 'fault', message, advice };
}

export function worstStatus(findings: readonly Finding[]): DoctorReport['status'] {
  const has = (status: Finding['status']) => findings.some((one) => one.status === status);
  if (has('fault')) return 'fault';
  return has('warning') ? 'warning' : 'ok';
}

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
