import { type Stats, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { packagePath } from '../../core/files/package-path.ts';

/** A folder or a file whose texts are read. */
export interface Corpus {
  /** Stands before the paths of citations where there are several corpora. */
  readonly name: string;
  /** An absolute path of a folder. */
  readonly root: string;
  /** Paths below the root that are read; all where it is absent. */
  readonly only?: readonly string[];
}

/** A path that no corpus can be made of. The message says which, and why. */
export class CorpusError extends Error {}

/**
 * Gives the corpora at these paths. A file is the only one of its folder. Names are made distinct.
 *
 * @throws CorpusError for a path at which nothing can be read.
 */
export function corporaAt(paths: readonly string[]): readonly Corpus[] {
  const times = new Map<string, number>();
  return paths.map((path) => {
    const absolute = resolve(path);
    const isFile = lookAt(path, absolute).isFile();
    const name = basename(absolute) || 'root';
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    const distinct = time === 1 ? name : `${name}-${time}`;
    return isFile
      ? { name: distinct, root: dirname(absolute), only: [basename(absolute)] }
      : { name: distinct, root: absolute };
  });
}

function lookAt(path: string, absolute: string): Stats {
  try {
    return statSync(absolute);
  } catch (error) {
    throw new CorpusError(`there is no folder or file ${path} to answer from`, { cause: error });
  }
}

/** Returns the corpus of Perch's own docs. */
export function ownCorpus(): Corpus {
  return {
    name: 'perch',
    root: packagePath(),
    only: ['README.md', 'docs', 'openapi'],
  };
}

/** What a corpus is known by in the index: its place, because names may be given anew. */
export function keyOf({ root, only = [] }: Corpus): string {
  return [root, ...only].join('\n');
}
