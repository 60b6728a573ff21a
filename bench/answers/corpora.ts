import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Fetches the package of a corpus (`npm:name@version` or `deb:name`) into a folder below `scratch`,
 * once, and gives that folder. Debian packages need apt.
 */
export function fetchCorpus(corpus: string, scratch: string): string {
  const folder = join(scratch, corpus.replaceAll(/[^\w.-]+/g, '_'));
  if (existsSync(folder)) return folder;
  const parts = `${folder}.parts`;
  rmSync(parts, { recursive: true, force: true });
  mkdirSync(parts, { recursive: true });
  if (corpus.startsWith('npm:')) fetchNpm(corpus.slice(4), parts, folder);
  else fetchDebian(corpus.slice(4).split('@')[0] ?? '', parts, folder);
  rmSync(parts, { recursive: true, force: true });
  return folder;
}

function fetchNpm(spec: string, parts: string, folder: string): void {
  execFileSync('npm', ['pack', '--silent', spec], {
    cwd: parts,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  mkdirSync(folder);
  const archive = join(parts, onlyFile(parts, '.tgz'));
  // What a package bundles is none of its docs.
  execFileSync('tar', [
    'xzf',
    archive,
    '-C',
    folder,
    '--strip-components=1',
    '--exclude=*/node_modules',
  ]);
}

function fetchDebian(name: string, parts: string, folder: string): void {
  execFileSync('apt-get', ['download', name], {
    cwd: parts,
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  execFileSync('dpkg-deb', ['-x', join(parts, onlyFile(parts, '.deb')), folder]);
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    // Each page is there as HTML and as the text that it was made from.
    if (path.endsWith('.txt')) rmSync(join(folder, path), { force: true });
  }
}

function onlyFile(folder: string, ending: string): string {
  const name = readdirSync(folder).find((one) => one.endsWith(ending));
  if (name === undefined) throw new Error(`Nothing was fetched into ${folder}.`);
  return name;
}
