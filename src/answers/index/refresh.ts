import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Corpus,
  type FoundFile,
  keyOf,
  type SkipReason,
  walkCorpus,
} from '../corpus/corpus.ts';
import { type AnalysedFile, analyseFile } from './analysed-file.ts';
import type { PassageIndex } from './passage-index.ts';

/** Numbers of checked files (`files`), of new or changed (`read`) and of removed files. */
export type RefreshProgress = Readonly<{ files: number; read: number; removed: number }>;

/** Result of an index update. `skipped`: numbers of files that were not indexed, by reason. */
export interface RefreshResult extends RefreshProgress {
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
}

interface RefreshOptions {
  readonly index: PassageIndex;
  readonly corpora: readonly Corpus[];
  /** Signal that stops the update after the current file. Files read before stay indexed. */
  readonly signal?: AbortSignal;
  /** Called with the absolute path of each folder before it is listed. */
  readonly onFolder?: (absolute: string) => void;
  /** Called with the absolute path of each file before it is read. */
  readonly onReading?: (absolute: string) => void;
  /** Absolute paths of files to index without text, because reading them crashed a thread. */
  readonly skip?: ReadonlySet<string>;
  /** Called after every 20 files and at the end of the update. */
  readonly onProgress?: ((progress: RefreshProgress) => void) | undefined;
}

const filesBetweenReports = 20;
/** Limits of one transaction. A separate transaction for each file would be slow. */
const batchLimits = { files: 32, bytes: 1_048_576 } as const;

/**
 * Updates the index. Skips files of unchanged size and modification time; removes missing and
 * unreadable files.
 * @throws the signal's reason if `signal` is aborted
 */
export async function refreshIndex(options: RefreshOptions): Promise<RefreshResult> {
  const { index, corpora, onFolder, onProgress } = options;
  const progress = { files: 0, read: 0, removed: 0 };
  const skipped: Partial<Record<SkipReason, number>> = {};
  const onSkip = (reason: SkipReason) => {
    skipped[reason] = (skipped[reason] ?? 0) + 1;
  };
  const report = () => onProgress?.({ ...progress });
  const seen = new Set<number>();
  const run: Run = {
    ...options,
    progress,
    report,
    onSkip,
    seen,
    writer: createWriter(index, seen),
  };
  for (const corpus of corpora) {
    for (const found of walkCorpus(corpus, { ...(onFolder && { onFolder }), onSkip }))
      await indexFile(corpus, found, run);
  }
  run.writer.flush();
  const gone = index.fileIds().filter((id) => !seen.has(id));
  await yieldToEventLoop(run);
  while (gone.length > 0) {
    const some = gone.splice(0, filesBetweenReports);
    index.removeFiles(some);
    progress.removed += some.length;
    report();
    await yieldToEventLoop(run);
  }
  index.noteBuilt(corpora);
  report();
  return { ...progress, skipped };
}

interface Run extends RefreshOptions {
  readonly progress: { files: number; read: number };
  report(): void;
  onSkip(reason: SkipReason): void;
  /** Ids of the indexed files that were found on disk during the update. */
  readonly seen: Set<number>;
  readonly writer: ReturnType<typeof createWriter>;
}

async function indexFile(corpus: Corpus, found: FoundFile, run: Run): Promise<void> {
  const isRead = await refreshFile(corpus, found, run);
  if (isRead) run.progress.read += 1;
  run.progress.files += 1;
  const isReport = run.progress.files % filesBetweenReports === 0;
  if (isReport) run.report();
  if (isRead || isReport) await yieldToEventLoop(run);
}

/** Yields to the event loop. If the update was stopped, writes the pending batch and throws. */
async function yieldToEventLoop({ signal, writer }: Run): Promise<void> {
  await nextTurn();
  if (signal?.aborted === true) writer.flush();
  signal?.throwIfAborted();
}

function createWriter(index: PassageIndex, seen: Set<number>) {
  let files: AnalysedFile[] = [];
  let bytes = 0;
  const flush = () => {
    if (files.length === 0) return;
    for (const id of index.replaceFiles(files)) seen.add(id);
    files = [];
    bytes = 0;
  };
  return {
    flush,
    add: (file: AnalysedFile) => {
      files.push(file);
      bytes += file.facts.bytes;
      if (files.length >= batchLimits.files || bytes >= batchLimits.bytes) flush();
    },
  };
}

async function refreshFile(
  corpus: Corpus,
  { path, absolute, bytes, modifiedMs }: FoundFile,
  { index, writer, seen, onReading, onSkip, skip }: Run,
): Promise<boolean> {
  const key = keyOf(corpus);
  const stored = index.file(key, path);
  if (stored !== undefined && stored.bytes === bytes && stored.modifiedMs === modifiedMs) {
    seen.add(stored.id);
    return false;
  }
  onReading?.(absolute);
  const content = readContent(absolute);
  if (content === undefined) {
    onSkip('unreadable');
    return false;
  }
  const hash = createHash('sha256').update(content).digest('base64url');
  if (stored !== undefined && stored.hash === hash) {
    index.touchFile(stored.id, modifiedMs);
    seen.add(stored.id);
    return false;
  }
  // Loads the parsers only when needed, because they load slowly and most updates read no file.
  const { decodeText, readFileText } = await import('../readers/reader-table.ts');
  const text = skip?.has(absolute) === true ? undefined : decodeText(content);
  const read = text === undefined ? undefined : readFileText(path, text);
  writer.add(analyseFile({ corpus: key, path, bytes, modifiedMs, hash }, read));
  return true;
}

function readContent(absolute: string): Buffer | undefined {
  try {
    return readFileSync(absolute);
  } catch {
    return undefined;
  }
}
