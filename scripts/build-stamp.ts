import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files and folders that affect the build, relative to the package folder. Missing ones are skipped. */
const inputPaths: readonly string[] = [
  'src',
  'clients/typescript/src',
  'scripts/build.ts',
  'scripts/build-stamp.ts',
  'scripts/bundle.ts',
  'scripts/licences.ts',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json', // lists the installed versions, which can differ from package-lock.json
  'tsconfig.json',
];

/** Name of the stamp, a file that a finished build leaves in the folder of the build. */
const stampName = '.build.json';

/** Content of the stamp, a file that shows whether the build in its folder is complete and up to date. */
interface Stamp {
  /** SHA-256 hash of the inputs of the build, computed before the build. */
  readonly inputs: string;
  /** Sizes in bytes of the files in the folder of the build, by path. */
  readonly outputs: Readonly<Record<string, number>>;
}

/** Returns whether the build in `folder` is complete and was made from the inputs with the hash `inputs`. */
export function isCurrent(folder: string, inputs: string): boolean {
  const path = join(folder, stampName);
  return existsSync(path) && readFileSync(path, 'utf8') === toText(folder, inputs);
}

/** Writes the stamp, which marks a build as complete. `inputs` is the hash of the inputs of the build. */
export function writeStamp(folder: string, inputs: string): void {
  writeFileSync(join(folder, stampName), toText(folder, inputs));
}

function toText(folder: string, inputs: string): string {
  const names = listFiles(folder, '').filter((name) => name !== stampName);
  const outputs = names.map((name) => [name, statSync(join(folder, name)).size] as const);
  const stamp: Stamp = { inputs, outputs: Object.fromEntries(outputs) };
  return `${JSON.stringify(stamp)}\n`;
}

/** Returns one SHA-256 hash of the Node.js version and all input files of the build. `root` is the folder of the package. */
export function hashInputs(root: string): string {
  const hash = createHash('sha256').update(process.version);
  for (const path of inputPaths.flatMap((input) => listFiles(root, input))) {
    const content = readFileSync(join(root, path));
    // The length separates a file from the next one.
    hash.update(`\n${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/**
 * Returns the sorted paths of the files at or below `path`, relative to `root`. Returns an empty
 * list if `path` does not exist.
 */
function listFiles(root: string, path: string): readonly string[] {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => listFiles(root, join(path, name)));
}
