import { fileURLToPath } from 'node:url';

/**
 * Gives the path of a folder that the package has beside its code, such as `docs`. It is the same for
 * `src/` and for `dist/`, which have the same depth.
 */
export function packageFolder(name: 'assets' | 'docs'): string {
  return fileURLToPath(new URL(`../../../${name}/`, import.meta.url));
}
