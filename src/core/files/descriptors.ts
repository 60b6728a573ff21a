import { readFileSync } from 'node:fs';

/**
 * Returns how many files and sockets this process may have open, or infinity where the system does not
 * say (proc_pid_limits(5)).
 */
export function readDescriptorLimit(path = '/proc/self/limits'): number {
  let limits: string;
  try {
    limits = readFileSync(path, 'utf8');
  } catch {
    return Number.POSITIVE_INFINITY; // not Linux
  }
  const limit = Number(/^Max open files +(\d+) /m.exec(limits)?.[1]);
  return Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit;
}
