import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { kindOf } from '../readers/reader-kinds.ts';
import type { Corpus } from './corpus.ts';

/** A file that can be read. */
export interface FoundFile {
  /** Relative to the corpus, with `/`. */
  readonly path: string;
  readonly absolute: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** Larger files are skipped: they are data. */
export const maxFileBytes = 524_288;
/** Descriptions of an interface are long, and JSON is quick to parse. */
export const maxJsonBytes = 4_194_304;
/** Folders below this depth are skipped. */
const maxDepth = 40;
/** Folders without text of their own. Hidden ones are skipped too. */
const skippedFolders = ['node_modules', 'bower_components', '__pycache__'];

/** A folder with the rules of the `.gitignore` files in it and above it, outermost first. */
interface Folder {
  /** Relative to the corpus, with `/` at its end; empty for the corpus itself. */
  readonly path: string;
  readonly rules: readonly { readonly base: string; readonly ignore: Ignore }[];
}

/**
 * Yields the files of a corpus that can be read, in the order of their paths, without what `.gitignore` files exclude,
 * hidden files, huge ones, symbolic links and what is not readable. `onFolder` is called with each folder before it is
 * read. The calls are synchronous: that is several times as quick, and this thread has nothing else to do.
 */
export function* walkCorpus(
  corpus: Corpus,
  onFolder: (absolute: string) => void = () => {},
  folder: Folder = { path: '', rules: [] },
): Generator<FoundFile> {
  const absolute = join(corpus.root, folder.path);
  onFolder(absolute);
  const entries = ifPossible(() => readdirSync(absolute, { withFileTypes: true })) ?? [];
  const rules = rulesIn(absolute, folder);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const isFolder = entry.isDirectory();
    const path = `${folder.path}${entry.name}${isFolder ? '/' : ''}`;
    if (!isWanted(entry, path, corpus) || isIgnored(path, rules)) continue;
    if (isFolder) yield* walkCorpus(corpus, onFolder, { path, rules });
    else yield* findFile(join(corpus.root, path), path);
  }
}

function rulesIn(absolute: string, { path: base, rules }: Folder): Folder['rules'] {
  const own = ifPossible(() => readFileSync(join(absolute, '.gitignore'), 'utf8'));
  return own === undefined ? rules : [...rules, { base, ignore: ignore().add(own) }];
}

/** Returns whether an entry is read. Links are neither files nor folders here, so none is followed. */
function isWanted(entry: Dirent, path: string, { only, except }: Corpus): boolean {
  if (entry.name.startsWith('.')) return false;
  const isBelow = (name: string) => path === name || path.startsWith(`${name}/`);
  if (only?.some(isBelow) === false || except?.some(isBelow) === true) return false;
  return entry.isDirectory()
    ? !skippedFolders.includes(entry.name) && path.split('/').length - 1 <= maxDepth
    : entry.isFile() && kindOf(path) !== undefined;
}

/** The innermost file with a rule for a path decides, as with git. */
function isIgnored(path: string, rules: Folder['rules']): boolean {
  for (const { base, ignore: own } of rules.toReversed()) {
    const { ignored, unignored } = own.test(path.slice(base.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}

function findFile(absolute: string, path: string): readonly FoundFile[] {
  const stats = ifPossible(() => statSync(absolute));
  const mostBytes = kindOf(path) === 'json' ? maxJsonBytes : maxFileBytes;
  if (stats === undefined || stats.size === 0 || stats.size > mostBytes) return [];
  return [{ path, absolute, bytes: stats.size, modifiedMs: stats.mtimeMs }];
}

/** Returns `undefined` if the file system refuses: what is asked for is gone, or not readable. */
function ifPossible<Found>(look: () => Found): Found | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
