import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Returns the absolute path of a file or folder of Perch's own package, of the package itself without a name. It is the
 * same for the sources and for the build.
 */
export function packagePath(name = ''): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return join(folder, name);
}
