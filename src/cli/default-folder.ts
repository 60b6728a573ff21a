import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { packagePath } from '../core/files/package-path.ts';

/** Where a command was started. */
export interface StartingPlace {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the data folder of a command without `PERCH_DATA_DIR`: `./data` in Perch's own checkout and
 * where one is already, else the folder for Perch among the user's data
 * (https://specifications.freedesktop.org/basedir-spec/latest/).
 */
export function defaultDataFolder({ cwd, home, env }: StartingPlace): string {
  const isCheckout = resolve(cwd) === packagePath();
  if (isCheckout || existsSync(join(cwd, 'data/perch.db'))) return './data';
  const { XDG_DATA_HOME: shared = '' } = env;
  // The specification ignores relative paths.
  return join(isAbsolute(shared) ? shared : join(home, '.local/share'), 'perch');
}
