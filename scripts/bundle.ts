import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { packagePath } from '../src/lib/files/package-path.ts';
import { listLicences } from './licences.ts';

/** Code that defines `require`, which bundled CommonJS packages need to load Node.js modules. */
const banner =
  "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);";

interface BundleOptions {
  readonly plugins?: Plugin[];
  readonly programs?: Readonly<Record<string, string>>;
}

/**
 * Bundles the sources and their packages into `folder`. Deletes the previous content of `folder`. `plugins`: esbuild
 * plugins, with which a benchmark replaces modules. `programs`: further entry points by name, for tests. See
 * docs/decisions/0063-the-build-is-bundled.md.
 */
export async function bundle(
  folder: string,
  { plugins = [], programs = {} }: BundleOptions = {},
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: packagePath(),
    entryPoints: {
      main: 'src/main.ts', // the `perch` command
      thread: 'src/answers/worker/thread.ts', // the worker thread for answers
      integrity: 'src/cli/doctor/integrity.ts', // the check of databases
      'reader-process': 'src/providers/archive/reader-process.ts', // the process that reads the archive
      ...programs,
    },
    outdir: folder,
    bundle: true,
    splitting: true, // commands load their own chunks on demand
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: listExternals(),
    plugins,
    banner: { js: banner },
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  writeFileSync(join(folder, 'licences.txt'), listLicences(Object.keys(metafile.inputs)));
}

/** Returns the packages that are installed next to the bundle: those with a native module, such as `better-sqlite3`. */
function listExternals(): string[] {
  const { dependencies } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8'));
  return Object.keys(dependencies);
}
