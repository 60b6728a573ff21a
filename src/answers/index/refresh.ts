import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import { decodeText } from '../corpus/decode.ts';
import { type FoundFile, walkCorpus } from '../corpus/walk.ts';
import { readFileText } from '../readers/reader-table.ts';
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
  /** Ends the refresh between two files; it throws the reason, and what was read is kept. */
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

/**
 * Brings the index to what the corpora hold now, file by file; others get their turn after each one.
 * A file with the size and the time that are kept is not read; files that are gone are removed.
 *
 * @throws the signal's reason.
 */
export async function refreshIndex(options: RefreshOptions): Promise<RefreshProgress> {
  const { index, corpora, signal, onProgress, onFolder } = options;
  const progress = { files: 0, read: 0, removed: 0 };
  index.startSeeing();
  for (const corpus of corpora) {
    for await (const found of walkCorpus(corpus, onFolder)) {
      signal?.throwIfAborted();
      if (await refreshFile(corpus, found, options)) progress.read += 1;
      progress.files += 1;
      if (progress.files % filesBetweenReports === 0) onProgress?.({ ...progress });
      await nextTurn();
    }
  }
  for (let removed = -1; removed !== 0; progress.removed += removed) {
    signal?.throwIfAborted();
    removed = index.removeUnseen(20);
    await nextTurn();
  }
  onProgress?.({ ...progress });
  return progress;
}

/** True where the file was read anew. One that vanishes meanwhile counts as gone. */
async function refreshFile(
  corpus: Corpus,
  found: FoundFile,
  { index, onReading, passOver }: RefreshOptions,
): Promise<boolean> {
  const { path, absolute, bytes, modifiedMs } = found;
  const key = keyOf(corpus);
  const kept = index.file(key, path);
  if (kept !== undefined && kept.bytes === bytes && kept.modifiedMs === modifiedMs) {
    index.markSeen(kept.id);
    return false;
  }
  // Gone since the walk, or not ours to read: it is left out, and looked for again the next time.
  onReading?.(absolute);
  const content = await readFile(absolute).catch(() => undefined);
  if (content === undefined) return false;
  const hash = createHash('sha256').update(content).digest('base64url');
  if (kept !== undefined && kept.hash === hash) {
    index.touchFile(kept.id, modifiedMs);
    index.markSeen(kept.id);
    return false;
  }
  const text = passOver?.has(absolute) === true ? undefined : decodeText(content);
  const read = text === undefined ? undefined : readFileText(path, text);
  index.markSeen(index.replaceFile({ corpus: key, path, bytes, modifiedMs, hash }, read));
  return true;
}
