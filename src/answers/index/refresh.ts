import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import { type FoundFile, walkCorpus } from '../corpus/walk.ts';
import { type AnalysedFile, analyseFile } from './analysed-file.ts';
import type { PassageIndex } from './passage-index.ts';

/** Progress of a refresh: files that were checked, those of them that were new or changed, and removed ones. */
export type RefreshProgress = Readonly<{ files: number; read: number; removed: number }>;

interface RefreshOptions {
  readonly index: PassageIndex;
  readonly corpora: readonly Corpus[];
  /** Ends the refresh after a file; it throws the reason, and what was read is kept. */
  readonly signal?: AbortSignal;
  /** Called with the absolute path of each folder before it is read, and of each file. */
  readonly onFolder?: (absolute: string) => void;
  readonly onReading?: (absolute: string) => void;
  /** Files, by their absolute paths, that are kept without their text until they change. */
  readonly passOver?: ReadonlySet<string>;
  /** Called after every twenty files and at the end. */
  readonly onProgress?: ((progress: RefreshProgress) => void) | undefined;
}

const filesBetweenReports = 20;
/** Files are written together: that is several times as quick as one by one. */
const together = { files: 32, bytes: 1_048_576 } as const;

/**
 * Brings the index to what the corpora hold now, with a turn of the event loop after each file that is read. A file whose
 * size and time are unchanged is not read; files that are gone are removed. @throws the signal's reason
 */
export async function refreshIndex(options: RefreshOptions): Promise<RefreshProgress> {
  const { index, corpora, onFolder, onProgress } = options;
  const progress = { files: 0, read: 0, removed: 0 };
  const report = () => onProgress?.({ ...progress });
  const seen = new Set<number>();
  const run: Run = { ...options, progress, report, seen, writer: createWriter(index, seen) };
  for (const corpus of corpora) {
    for (const found of walkCorpus(corpus, onFolder)) await takeFile(corpus, found, run);
  }
  run.writer.flush();
  const gone = index.fileIds().filter((id) => !seen.has(id));
  await letOthers(run);
  while (gone.length > 0) {
    const some = gone.splice(0, filesBetweenReports);
    index.removeFiles(some);
    progress.removed += some.length;
    report();
    await letOthers(run);
  }
  index.noteBuilt(corpora);
  report();
  return progress;
}

interface Run extends RefreshOptions {
  readonly progress: { files: number; read: number };
  report(): void;
  /** The ids of the files that are still there. */
  readonly seen: Set<number>;
  readonly writer: ReturnType<typeof createWriter>;
}

async function takeFile(corpus: Corpus, found: FoundFile, run: Run): Promise<void> {
  const isRead = await refreshFile(corpus, found, run);
  if (isRead) run.progress.read += 1;
  run.progress.files += 1;
  const isReport = run.progress.files % filesBetweenReports === 0;
  if (isReport) run.report();
  if (isRead || isReport) await letOthers(run);
}

/** Lets other work run. If the refresh ends here, what was read is kept. */
async function letOthers({ signal, writer }: Run): Promise<void> {
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
      if (files.length >= together.files || bytes >= together.bytes) flush();
    },
  };
}

/** Returns whether the file was read anew. One that vanishes meanwhile counts as gone. */
async function refreshFile(
  corpus: Corpus,
  { path, absolute, bytes, modifiedMs }: FoundFile,
  { index, writer, seen, onReading, passOver }: Run,
): Promise<boolean> {
  const key = keyOf(corpus);
  const kept = index.file(key, path);
  if (kept !== undefined && kept.bytes === bytes && kept.modifiedMs === modifiedMs) {
    seen.add(kept.id);
    return false;
  }
  onReading?.(absolute);
  const content = contentOf(absolute);
  if (content === undefined) return false;
  const hash = createHash('sha256').update(content).digest('base64url');
  if (kept !== undefined && kept.hash === hash) {
    index.touchFile(kept.id, modifiedMs);
    seen.add(kept.id);
    return false;
  }
  // Most refreshes read nothing, and parsers are heavy.
  const { decodeText, readFileText } = await import('../readers/reader-table.ts');
  const text = passOver?.has(absolute) === true ? undefined : decodeText(content);
  const read = text === undefined ? undefined : readFileText(path, text);
  writer.add(analyseFile({ corpus: key, path, bytes, modifiedMs, hash }, read));
  return true;
}

/** Returns `undefined` for a file that is gone since the walk or not readable: it is tried again the next time. */
function contentOf(absolute: string): Buffer | undefined {
  try {
    return readFileSync(absolute);
  } catch {
    return undefined;
  }
}
