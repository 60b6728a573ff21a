import { constants, getPriority, setPriority } from 'node:os';

/**
 * Lets the thread that answers requests run first when cores are scarce. Applies to the calling
 * thread on Linux (setpriority(2)), to its whole process elsewhere.
 */
export function lowerPriority(): void {
  const lower = getPriority() + constants.priority.PRIORITY_BELOW_NORMAL;
  try {
    setPriority(Math.min(lower, constants.priority.PRIORITY_LOW));
  } catch {
    // A sandbox may forbid it. The work is the same, and competes with requests.
  }
}
