import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { packagePath } from '../src/lib/files/package-path.ts';
import { listLicences } from './licences.ts';

/** Code that defines `require`, which bundled CommonJS packages need to load Node.js modules. */
const banner =
  "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);";

/** Packages that Fastify loads only for schemas of routes, of which Perch has none (`src/server/server.ts`). */
const unused = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'];

/** Plugin that loads only the tokenizer of parse5 where no more of the package is used. */
const cutParse5: Plugin = {
  name: 'cut-parse5',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^parse5$/ }, ({ importer }) =>
      importer.includes('/src/normalize/')
        ? { path: packagePath('node_modules/parse5/dist/tokenizer/index.js') }
        : undefined,
    );
  },
};

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
  const others = {
    thread: 'src/answers/worker/thread.ts', // the worker thread for answers
    integrity: 'src/cli/doctor/integrity.ts', // the check of databases
    'reader-process': 'src/providers/archive/reader-process.ts', // the process that reads the archive
    ...programs,
  };
  // Apart from the others, so that the `perch` command loads fewer chunks.
  const main = await bundleTogether(folder, { main: 'src/main.ts' }, plugins);
  const inputs = new Set([...main, ...(await bundleTogether(folder, others, plugins))]);
  writeFileSync(join(folder, 'licences.txt'), listLicences([...inputs]));
}

/** Bundles entry points, which share chunks, and returns the paths of all bundled files. */
async function bundleTogether(
  folder: string,
  entryPoints: Readonly<Record<string, string>>,
  plugins: readonly Plugin[],
): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: packagePath(),
    entryPoints: { ...entryPoints },
    outdir: folder,
    bundle: true,
    splitting: true, // commands load their own chunks on demand
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [...listExternals(), ...unused],
    plugins: [...plugins, cutParse5],
    banner: { js: banner },
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  return Object.keys(metafile.inputs);
}

/** Returns the packages that are installed next to the bundle: those with a native module, such as `better-sqlite3`. */
function listExternals(): string[] {
  const { dependencies } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8'));
  return Object.keys(dependencies);
}
