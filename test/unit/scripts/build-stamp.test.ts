import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { hashInputs, isCurrent, writeStamp } from '../../../scripts/build-stamp.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

const sources = [
  'src/main.ts',
  'src/lib/clock.ts',
  'scripts/bundle.ts',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
];

function write(root: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `content of ${path}`);
}

/** Creates a package with a finished build. Returns its folder and a function that checks whether a build is needed. */
function createBuilt() {
  const root = temporaryFolder();
  for (const path of [...sources, 'dist/main.js', 'dist/chunk.js']) write(root, path);
  const folder = join(root, 'dist');
  writeStamp(folder, hashInputs(root));
  return { root, isBuilt: () => isCurrent(folder, hashInputs(root)) };
}

describe('the stamp of a build', () => {
  it('is current if nothing has changed', () => {
    const { root, isBuilt } = createBuilt();
    write(root, 'docs/start.md');
    write(root, 'src/main.ts'); // the same content with another modification time

    expect(isBuilt()).toBe(true);
  });

  it.each(sources)('is not current after a change of %s', (path) => {
    const { root, isBuilt } = createBuilt();
    appendFileSync(join(root, path), ' ');

    expect(isBuilt()).toBe(false);
  });

  it.each<readonly [string, (root: string) => void]>([
    ['a source is added', (root) => write(root, 'src/lib/new.ts')],
    ['a source is deleted', (root) => rmSync(join(root, 'src/lib/clock.ts'))],
    [
      'a source is renamed',
      (root) => renameSync(join(root, 'src/lib/clock.ts'), join(root, 'src/lib/cloak.ts')),
    ],
    ['a file of the build is missing', (root) => rmSync(join(root, 'dist/chunk.js'))],
    ['a file of the build is shortened', (root) => writeFileSync(join(root, 'dist/main.js'), '')],
    ['a foreign file is in the build', (root) => write(root, 'dist/old.js')],
    ['the build is missing', (root) => rmSync(join(root, 'dist'), { recursive: true })],
    ['the stamp is cut off', (root) => writeFileSync(join(root, 'dist/.build.json'), '{"inp')],
  ])('is not current if %s', (_, change) => {
    const { root, isBuilt } = createBuilt();
    change(root);

    expect(isBuilt()).toBe(false);
  });

  it('is not current with another version of Node.js', () => {
    const { isBuilt } = createBuilt();
    const version = vi.spyOn(process, 'version', 'get').mockReturnValue('v99.0.0');

    expect(isBuilt()).toBe(false);
    version.mockRestore();
  });
});
