import { readFileSync } from 'node:fs';

/** Returns the maximum of open files and sockets; `Infinity` if unknown (proc_pid_limits(5)). */
export function readDescriptorLimit(path = '/proc/self/limits'): number {
  try {
    const limit = /^Max open files +(\d+) /m.exec(readFileSync(path, 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY; // not Linux
  }
}
