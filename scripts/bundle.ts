import { rmSync } from 'node:fs';
import { build } from 'esbuild';
import { packagePath } from '../src/core/files/package-path.ts';

/**
 * Bundles the sources into an emptied folder below the package: the `perch` command as `main.js`, the thread of the
 * answers as `thread.js`, and the chunks that each command loads when it is called. See
 * docs/decisions/0063-the-build-is-bundled.md.
 */
export async function bundle(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: packagePath(),
    entryPoints: { main: 'src/main.ts', thread: 'src/answers/worker/thread.ts' },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
}
