import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { kindOf } from '../readers/reader-kinds.ts';
import type { Corpus } from './corpus.ts';

/** A file that can be read, as the file system tells it. */
export interface FoundFile {
  /** Relative to the corpus, with `/`. */
  readonly path: string;
  readonly absolute: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** Larger files are passed over: they are data. */
export const maxFileBytes = 524_288;

/** Descriptions of an interface are long, and JSON is quick to parse. */
export const maxJsonBytes = 4_194_304;

/** Folders below this depth are passed over. */
const maxDepth = 40;

/** Folders that hold no text of their own. Hidden ones are passed over too. */
const skippedFolders: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  '__pycache__',
]);

/** Rules of a `.gitignore`, for the paths below its folder. */
interface Rules {
  /** The folder, relative to the corpus, with `/` at its end; empty for the corpus itself. */
  readonly base: string;
  readonly ignore: Ignore;
}

interface Folder {
  readonly path: string;
  readonly rules: readonly Rules[];
}

/**
 * Gives the files of a corpus that can be read, in the order of their paths. What `.gitignore` files
 * exclude, hidden files, huge ones and symbolic links are left out. What cannot be looked at is too.
 * `onFolder` is told of each folder before it is looked into. The file system is asked synchronously:
 * that is several times as quick, and nobody else is in this thread.
 */
export function* walkCorpus(
  corpus: Corpus,
  onFolder: (absolute: string) => void = () => {},
): Generator<FoundFile> {
  yield* walkFolder({ corpus, onFolder }, { path: '', rules: [] });
}

interface Walk {
  readonly corpus: Corpus;
  /** Told of each folder before it is looked into. */
  onFolder(absolute: string): void;
}

function* walkFolder(walk: Walk, folder: Folder): Generator<FoundFile> {
  const { corpus } = walk;
  const absolute = join(corpus.root, folder.path);
  walk.onFolder(absolute);
  const entries = unless(() => readdirSync(absolute, { withFileTypes: true })) ?? [];
  const rules = withOwnRules(absolute, { folder, entries });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = `${folder.path}${entry.name}`;
    if (!isWanted(entry, path, { corpus, rules })) continue;
    if (entry.isDirectory()) {
      yield* walkFolder(walk, { path: `${path}/`, rules });
    } else {
      const found = lookAt(join(corpus.root, path), path);
      if (found !== undefined) yield found;
    }
  }
}

/** Links are neither files nor folders here, so none is followed. */
function isWanted(
  entry: Dirent,
  path: string,
  { corpus, rules }: { readonly corpus: Corpus; readonly rules: readonly Rules[] },
): boolean {
  if (entry.name.startsWith('.') || !isNamed(corpus, path)) return false;
  const isFolder = entry.isDirectory();
  if (isFolder ? skippedFolders.has(entry.name) : !entry.isFile() || kindOf(path) === undefined) {
    return false;
  }
  if (isFolder && path.split('/').length > maxDepth) return false;
  return !isIgnored(isFolder ? `${path}/` : path, rules);
}

function isNamed({ only }: Corpus, path: string): boolean {
  return only === undefined || only.some((name) => path === name || path.startsWith(`${name}/`));
}

/** The innermost file that says something about a path decides, as with git. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const { base, ignore: own } of rules.toReversed()) {
    const { ignored, unignored } = own.test(path.slice(base.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}

interface FolderEntries {
  readonly folder: Folder;
  readonly entries: readonly Dirent[];
}

function withOwnRules(absolute: string, { folder, entries }: FolderEntries): readonly Rules[] {
  if (!entries.some(({ name }) => name === '.gitignore')) return folder.rules;
  const text = unless(() => readFileSync(join(absolute, '.gitignore'), 'utf8'));
  if (text === undefined) return folder.rules;
  return [...folder.rules, { base: folder.path, ignore: ignore().add(text) }];
}

function lookAt(absolute: string, path: string): FoundFile | undefined {
  const stats = unless(() => statSync(absolute));
  const mostBytes = kindOf(path) === 'json' ? maxJsonBytes : maxFileBytes;
  if (stats === undefined || stats.size === 0 || stats.size > mostBytes) return undefined;
  return { path, absolute, bytes: stats.size, modifiedMs: stats.mtimeMs };
}

/** Nothing where the file system refuses: gone meanwhile, or not ours to see. */
function unless<Found>(look: () => Found): Found | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
