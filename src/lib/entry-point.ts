import { constants, getPriority, setPriority } from 'node:os';

/** Script that runs in a thread or process of its own. */
export interface EntryPoint {
  readonly url: URL;
  readonly execArgv: readonly string[];
}

/** Returns the script `name` beside the module `from`, also in the build (scripts/bundle.ts). */
export function entryPoint(name: string, from: string): EntryPoint {
  const isSource = from.endsWith('.ts');
  return {
    url: new URL(`./${name}.${isSource ? 'ts' : 'js'}`, from),
    execArgv: isSource ? ['--import', toLoader()] : [],
  };
}

function toLoader(): string {
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const register = `import { register } from ${loader}; register();`;
  return `data:text/javascript,${encodeURIComponent(register)}`;
}

/** Halves the share of a core beside a thread of normal priority, which does not starve it. */
const niceness = 3;

/**
 * Lets the thread that answers requests run first when cores are scarce. Applies to the calling
 * thread on Linux (setpriority(2)), to its whole process elsewhere.
 */
export function lowerPriority(): void {
  try {
    setPriority(Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // A sandbox may forbid it. The work is the same, and competes with requests.
  }
}
