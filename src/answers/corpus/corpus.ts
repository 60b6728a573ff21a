import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { packagePath } from '../../core/files/package-path.ts';

/** A folder or a file whose texts are read. */
export interface Corpus {
  /** Put before the paths of citations if there are several corpora. */
  readonly name: string;
  /** An absolute path of a folder. */
  readonly root: string;
  /** Paths below the root that are read; all if it is absent. */
  readonly only?: readonly string[];
  /** Paths below the root that are left out. */
  readonly except?: readonly string[];
}

/** Error for a path that is no corpus. The message says which, and why. */
export class CorpusError extends Error {}

/** Returns the corpora at these paths, with distinct names. @throws CorpusError for a path where nothing can be read */
export function corporaAt(paths: readonly string[]): readonly Corpus[] {
  const times = new Map<string, number>();
  return paths.map((path) => {
    const absolute = resolve(path);
    const isFile = isFileAt(path, absolute);
    const base = basename(absolute) || 'root';
    const time = (times.get(base) ?? 0) + 1;
    times.set(base, time);
    const name = time === 1 ? base : `${base}-${time}`;
    return isFile ? { name, root: dirname(absolute), only: [base] } : { name, root: absolute };
  });
}

function isFileAt(path: string, absolute: string): boolean {
  try {
    return statSync(absolute).isFile();
  } catch (error) {
    throw new CorpusError(`There is no folder or file ${path}.`, { cause: error });
  }
}

/** Returns the corpus of Perch's own docs, without the contract: it states what the guides explain. */
export function ownCorpus(): Corpus {
  const only = ['README.md', 'docs', 'openapi'];
  return { name: 'perch', root: packagePath(), only, except: ['docs/contract'] };
}

/** Returns the key of a corpus in the index: its place, because names may change. */
export function keyOf({ root, only = [] }: Corpus): string {
  return [root, ...only].join('\n');
}
