import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder or a file whose texts are read. */
export interface Corpus {
  /** Stands before the paths of citations where there are several corpora. */
  readonly name: string;
  /** An absolute path of a folder. */
  readonly root: string;
  /** Paths below the root that are read; all where it is absent. */
  readonly only?: readonly string[];
}

/** Gives the corpora at these paths. A file is the only one of its folder. Names are made distinct. */
export function toCorpora(
  paths: readonly { readonly path: string; readonly isFile: boolean }[],
): readonly Corpus[] {
  const names = new Map<string, number>();
  return paths.map(({ path, isFile }) => {
    const absolute = resolve(path);
    const name = basename(absolute) || 'root';
    const times = (names.get(name) ?? 0) + 1;
    names.set(name, times);
    const distinct = times === 1 ? name : `${name}-${times}`;
    return isFile
      ? { name: distinct, root: dirname(absolute), only: [basename(absolute)] }
      : { name: distinct, root: absolute };
  });
}

/** Gives the corpus that Perch comes with: its own docs. Found from `dist/` as from `src/`. */
export function ownCorpus(): Corpus {
  return {
    name: 'perch',
    root: packageRoot(dirname(fileURLToPath(import.meta.url))),
    only: ['README.md', 'docs', 'openapi'],
  };
}

function packageRoot(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, 'package.json')) || parent === folder
    ? folder
    : packageRoot(parent);
}
