import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Ignore } from 'ignore';
import ignore from 'ignore';
import { packagePath } from '../../lib/files/package-path.ts';
import { kindOf } from '../readers/reader-kinds.ts';

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

export interface FoundFile {
  /** Path relative to the root of the corpus, with `/` as separator. */
  readonly path: string;
  readonly absolute: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** Maximum size of a file. Larger files usually contain data, not text. */
export const maxFileBytes = 524_288;
/** Maximum size of a JSON file, higher than for others because OpenAPI documents are long. */
export const maxJsonBytes = 4_194_304;
const maxDepth = 40;
/** Names of folders that are skipped because they contain dependencies or build output. */
const skippedFolders = ['node_modules', 'bower_components', '__pycache__'];

/** Reason to skip a file (`ignored`: by `.gitignore`). A skipped folder counts once. */
export type SkipReason = 'format' | 'size' | 'unreadable' | 'ignored';

interface WalkHooks {
  /** Called with the absolute path of each folder before it is read. */
  onFolder?(absolute: string): void;
  /** Called for skipped files, except hidden files, symbolic links and files outside the corpus. */
  onSkip?(reason: SkipReason): void;
}

interface Folder {
  /** Path relative to the root of the corpus, with a trailing `/`; empty for the root. */
  readonly path: string;
  readonly rules: readonly { readonly base: string; readonly ignore: Ignore }[];
  /** Whether `.gitignore` files apply. In a published package, they can hide its documents. */
  readonly isInRepository: boolean;
}

/** Yields the files by path. Skips links and hidden, ignored, unreadable or too large files. */
export function* walkCorpus(
  corpus: Corpus,
  hooks: WalkHooks = {},
  folder: Folder = { path: '', rules: [], isInRepository: isInRepository(dirname(corpus.root)) },
): Generator<FoundFile> {
  const absolute = join(corpus.root, folder.path);
  hooks.onFolder?.(absolute);
  const inner = openFolder(absolute, folder);
  for (const entry of listEntries(absolute, hooks)) {
    const isFolder = entry.isDirectory();
    const path = `${folder.path}${entry.name}${isFolder ? '/' : ''}`;
    if (!isIncluded(entry, path, corpus)) continue;
    if (isIgnored(path, inner.rules)) hooks.onSkip?.('ignored');
    else if (isFolder) yield* walkCorpus(corpus, hooks, { ...inner, path });
    else yield* findFile(join(corpus.root, path), path, hooks);
  }
}

function listEntries(absolute: string, { onSkip }: WalkHooks): readonly Dirent[] {
  const entries = orUndefined(() => readdirSync(absolute, { withFileTypes: true }));
  if (entries === undefined) onSkip?.('unreadable');
  return entries?.sort((a, b) => (a.name < b.name ? -1 : 1)) ?? [];
}

function openFolder(absolute: string, folder: Folder): Folder {
  const isInside = folder.isInRepository || existsSync(join(absolute, '.git'));
  const own = isInside
    ? orUndefined(() => readFileSync(join(absolute, '.gitignore'), 'utf8'))
    : undefined;
  const added = own === undefined ? [] : [{ base: folder.path, ignore: ignore().add(own) }];
  return { ...folder, rules: [...folder.rules, ...added], isInRepository: isInside };
}

function isInRepository(absolute: string): boolean {
  if (existsSync(join(absolute, '.git'))) return true;
  const outer = dirname(absolute);
  return outer !== absolute && isInRepository(outer);
}

function isIncluded(entry: Dirent, path: string, { only, except }: Corpus): boolean {
  if (entry.name.startsWith('.')) return false;
  const isBelow = (name: string) => path === name || path.startsWith(`${name}/`);
  if (only?.some(isBelow) === false || except?.some(isBelow) === true) return false;
  return entry.isDirectory()
    ? !skippedFolders.includes(entry.name) && path.split('/').length - 1 <= maxDepth
    : entry.isFile();
}

function isIgnored(path: string, rules: Folder['rules']): boolean {
  for (const { base, ignore: own } of rules.toReversed()) {
    const { ignored, unignored } = own.test(path.slice(base.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}

function findFile(absolute: string, path: string, { onSkip }: WalkHooks): readonly FoundFile[] {
  const stats = orUndefined(() => statSync(absolute));
  const reason = toSkipReason(path, stats?.size);
  if (reason !== null) onSkip?.(reason);
  if (reason !== null || stats === undefined || stats.size === 0) return [];
  return [{ path, absolute, bytes: stats.size, modifiedMs: stats.mtimeMs }];
}

function toSkipReason(path: string, bytes: number | undefined): SkipReason | null {
  const kind = kindOf(path);
  if (kind === undefined) return 'format';
  if (bytes === undefined) return 'unreadable';
  return bytes > (kind === 'json' ? maxJsonBytes : maxFileBytes) ? 'size' : null;
}

function orUndefined<Found>(operation: () => Found): Found | undefined {
  try {
    return operation();
  } catch {
    return undefined;
  }
}
