import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Downloads a package with documents (`npm:name@version` or `deb:name@version`) into a folder below `scratch`, unless
 * the folder exists. Returns the folder. For Debian packages, apt must offer the given version.
 */
export function fetchCorpus(corpus: string, scratch: string): string {
  const folder = join(scratch, corpus.replaceAll(/[^\w.-]+/g, '_'));
  if (existsSync(folder)) return folder;
  const parts = `${folder}.parts`;
  const unpacked = join(parts, 'unpacked');
  rmSync(parts, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  if (corpus.startsWith('npm:')) fetchNpm(corpus.slice(4), parts, unpacked);
  else fetchDebian(corpus.slice(4), parts, unpacked);
  // Renamed last, so that an interrupted download is repeated.
  renameSync(unpacked, folder);
  rmSync(parts, { recursive: true, force: true });
  return folder;
}

function fetchNpm(spec: string, parts: string, folder: string): void {
  execFileSync('npm', ['pack', '--silent', spec], {
    cwd: parts,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const archive = join(parts, onlyFile(parts, '.tgz'));
  // Bundled dependencies are not part of the documents.
  execFileSync('tar', [
    'xzf',
    archive,
    '-C',
    folder,
    '--strip-components=1',
    '--exclude=*/node_modules',
  ]);
}

function fetchDebian(spec: string, parts: string, folder: string): void {
  const [name = '', version = ''] = spec.split('@');
  execFileSync('apt-get', ['download', '--quiet', name], {
    cwd: parts,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const archive = join(parts, onlyFile(parts, '.deb'));
  const found = execFileSync('dpkg-deb', ['--field', archive, 'Version'], { encoding: 'utf8' });
  // The questions refer to line numbers, which differ in other versions.
  if (!found.startsWith(version)) {
    throw new Error(`Apt has ${name} ${found.trim()}, but the questions are about ${version}.`);
  }
  execFileSync('dpkg-deb', ['-x', archive, folder]);
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    // Each page exists as HTML and as its source text.
    if (path.endsWith('.txt')) rmSync(join(folder, path), { force: true });
  }
}

function onlyFile(folder: string, ending: string): string {
  const name = readdirSync(folder).find((one) => one.endsWith(ending));
  if (name === undefined) throw new Error(`Nothing was fetched into ${folder}.`);
  return name;
}
