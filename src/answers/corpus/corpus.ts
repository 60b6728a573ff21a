import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { packagePath } from '../../core/files/package-path.ts';

/** Set of documents to index: the files of a folder, or one file. */
export interface Corpus {
  /** Unique name of the corpus. If there are several corpora, cited paths start with this name. */
  readonly name: string;
  /** Absolute path of the folder that contains the documents. */
  readonly root: string;
  /** Files and folders to read, as paths relative to `root`. Default: all. */
  readonly only?: readonly string[];
  /** Files and folders to skip, as paths relative to `root`. */
  readonly except?: readonly string[];
  /** Base URL for the examples in Perch's own documents. Default: as in the documents. */
  readonly baseUrl?: string;
  /** Minimum confidence (0 to 1) of an answer. Default: `confidenceModel.threshold`. */
  readonly minConfidence?: number;
}

/** Error for a missing or unreadable folder or file of documents. The message contains the path. */
export class CorpusError extends Error {}

/** Converts paths to corpora with unique names. Throws CorpusError for an unreadable path. */
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

/** Returns the corpus with Perch's pages for users and for developers. */
export function ownCorpus(): Corpus {
  return {
    name: 'perch',
    root: packagePath(),
    only: ['docs', 'CONTRIBUTING.md'],
    except: ['docs/contract', 'docs/decisions', 'docs/operations'],
    // The documentation should answer most questions, so a passage that matches only weakly is
    // probably no answer.
    minConfidence: 0.58,
  };
}

/** Returns the key of a corpus in the search index: its root folder and the paths in `only`. */
export function keyOf({ root, only = [] }: Corpus): string {
  return [root, ...only].join('\n');
}
