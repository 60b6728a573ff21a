import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import { decodeText } from '../corpus/decode.ts';
import { type FoundFile, walkCorpus } from '../corpus/walk.ts';
import { type AnalysedFile, analyseFile } from './analysed-file.ts';
import type { PassageIndex } from './passage-index.ts';

/** What a refresh has done so far. */
export interface RefreshProgress {
  /** Files that were looked at. */
  readonly files: number;
  /** Files among them that were read, because they were new or had changed. */
  readonly read: number;
  readonly removed: number;
}

/** What a refresh works on. */
export interface RefreshOptions {
  readonly index: PassageIndex;
  readonly corpora: readonly Corpus[];
  /** Ends the refresh after a file; it throws the reason, and what was read is kept. */
  readonly signal?: AbortSignal;
  /** Told of each folder before it is looked into. */
  readonly onFolder?: (absolute: string) => void;
  /** Told of each file before it is read, by its absolute path. */
  readonly onReading?: (absolute: string) => void;
  /** Files, by their absolute paths, that are kept without their text until they change. */
  readonly passOver?: ReadonlySet<string>;
  /** Called after every twenty files and at the end. */
  readonly onProgress?: (progress: RefreshProgress) => void;
}

const filesBetweenReports = 20;

/** Files are written together: that is several times as quick as one by one. */
const together = { files: 32, bytes: 1_048_576 } as const;

/**
 * Brings the index to what the corpora hold now; others get their turn after each file that is read.
 * A file with the size and the time that are kept is not read; files that are gone are removed.
 *
 * @throws the signal's reason.
 */
export async function refreshIndex(options: RefreshOptions): Promise<RefreshProgress> {
  const { index, corpora, onFolder } = options;
  const progress = { files: 0, read: 0, removed: 0 };
  const run: Run = { ...options, progress, writer: createWriter(index) };
  index.startSeeing();
  for (const corpus of corpora) {
    for (const found of walkCorpus(corpus, onFolder)) await takeFile(corpus, found, run);
  }
  run.writer.flush();
  await removeGone(run);
  index.noteBuilt(corpora);
  run.onProgress?.({ ...progress });
  return progress;
}

interface Run extends RefreshOptions {
  readonly progress: { files: number; read: number; removed: number };
  readonly writer: Writer;
}

async function takeFile(corpus: Corpus, found: FoundFile, run: Run): Promise<void> {
  const { progress, onProgress } = run;
  const isRead = await refreshFile(corpus, found, run);
  if (isRead) progress.read += 1;
  progress.files += 1;
  const isReport = progress.files % filesBetweenReports === 0;
  if (isReport) onProgress?.({ ...progress });
  if (isRead || isReport) await letOthers(run);
}

async function removeGone(run: Run): Promise<void> {
  const { index, progress, onProgress } = run;
  for (;;) {
    await letOthers(run);
    const removed = index.removeUnseen(20);
    if (removed === 0) return;
    progress.removed += removed;
    onProgress?.({ ...progress });
  }
}

/** What was read is kept where the refresh ends here. */
async function letOthers({ signal, writer }: Run): Promise<void> {
  await nextTurn();
  if (signal?.aborted === true) writer.flush();
  signal?.throwIfAborted();
}

interface Writer {
  add(file: AnalysedFile): void;
  flush(): void;
}

function createWriter(index: PassageIndex): Writer {
  let files: AnalysedFile[] = [];
  let bytes = 0;
  const flush = () => {
    if (files.length === 0) return;
    for (const id of index.replaceFiles(files)) index.markSeen(id);
    files = [];
    bytes = 0;
  };
  return {
    flush,
    add: (file) => {
      files.push(file);
      bytes += file.facts.bytes;
      if (files.length >= together.files || bytes >= together.bytes) flush();
    },
  };
}

/** True where the file was read anew. One that vanishes meanwhile counts as gone. */
async function refreshFile(
  corpus: Corpus,
  found: FoundFile,
  { index, writer, onReading, passOver }: Run,
): Promise<boolean> {
  const { path, absolute, bytes, modifiedMs } = found;
  const key = keyOf(corpus);
  const kept = index.file(key, path);
  if (kept !== undefined && kept.bytes === bytes && kept.modifiedMs === modifiedMs) {
    index.markSeen(kept.id);
    return false;
  }
  onReading?.(absolute);
  const content = contentOf(absolute);
  if (content === undefined) return false;
  const hash = createHash('sha256').update(content).digest('base64url');
  if (kept !== undefined && kept.hash === hash) {
    index.touchFile(kept.id, modifiedMs);
    index.markSeen(kept.id);
    return false;
  }
  const text = passOver?.has(absolute) === true ? undefined : decodeText(content);
  // Most refreshes read nothing, and parsers are heavy.
  const { readFileText } = await import('../readers/reader-table.ts');
  const read = text === undefined ? undefined : readFileText(path, text);
  writer.add(analyseFile({ corpus: key, path, bytes, modifiedMs, hash }, read));
  return true;
}

/** Gone since the walk, or not ours to read: then it is left out, and looked for again the next time. */
function contentOf(absolute: string): Buffer | undefined {
  try {
    return readFileSync(absolute);
  } catch {
    return undefined;
  }
}
