import { rmSync } from 'node:fs';
import { build } from 'esbuild';
import { packagePath } from '../src/core/files/package-path.ts';

/**
 * Bundles the sources into `folder`, which is emptied first: the `perch` command as `main.js`, the worker thread for
 * answers as `thread.js`, and chunks that commands load on demand. See docs/decisions/0063-the-build-is-bundled.md.
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
