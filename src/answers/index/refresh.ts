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
import type { Block, ReadFile, Section } from '../readers/section.ts';
import { foldName, toWords } from '../text/words.ts';
import type { Field, PassageIndex } from './passage-index.ts';

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

/** Terms (word stems) of each text field of a passage, in the order of the text. */
export type FieldTerms = Readonly<Record<Field, readonly string[]>>;

interface FileFacts {
  readonly corpus: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly hash: string;
}

export type AnalysedFile = ReturnType<typeof analyseFile>;

function analyseFile(facts: FileFacts, read: ReadFile | undefined) {
  const { title, sections } = read ?? { title: '', sections: [] };
  const passages = sections.flatMap(splitSection);
  return {
    facts,
    title,
    lead: joinStems(toWords(leadOf(sections))),
    /** Words of the file that may be proposed as corrections of misspelt words. */
    spellings: new Set(passages.flatMap(spellingsOf)),
    passages: passages.map(({ heading, trail, line, endLine, blocks, defines }) => {
      const code = blocks.filter(({ kind }) => kind === 'code');
      const above = [`${title} ${pathText(facts.path)}`, trail.join('\n'), heading].map(toWords);
      const inText = [proseOf(blocks), textOf(code)].map(toWords);
      const parts = [...above, ...inText];
      const names = parts.flatMap((part) => part.names);
      // In the order of `fields`.
      const columns = [
        ...parts.map(joinStems),
        names.join(' '),
        [...new Set(defines.map(foldName))].join(' '),
      ];
      return {
        heading,
        trail: JSON.stringify(trail),
        line,
        endLine,
        words: inText.reduce((sum, { words }) => sum + words.length, 0),
        terms: columns.join('\n'),
        blocks: JSON.stringify(blocks),
        columns,
      };
    }),
  };
}

/** Parses the stored terms of a passage: one line for each field, in the order of `fields`. */
export function unpackTerms(packed: string): FieldTerms {
  const lines = packed.split('\n').map((line) => (line === '' ? [] : line.split(' ')));
  const [title = [], trail = [], heading = [], body = [], code = [], names = [], defines = []] =
    lines;
  return { title, trail, heading, body, code, names, defines };
}

const softLimit = 1800;

function splitSection(section: Section): readonly Section[] {
  const parts = splitBlocks(section.blocks);
  return parts.map((blocks, number) => {
    const line = number === 0 ? section.line : (blocks[0]?.line ?? section.line);
    const last = blocks.reduce((end, block) => Math.max(end, block.endLine), line);
    const endLine = number === parts.length - 1 ? Math.max(last, section.endLine) : last;
    return { ...section, line, endLine, blocks, defines: number === 0 ? section.defines : [] };
  });
}

/** Groups blocks up to about `softLimit` characters. Returns one empty group for no blocks. */
function splitBlocks(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const parts: Block[][] = [[]];
  let size = 0;
  for (const block of blocks) {
    // Code stays with the text that introduces it.
    if (size > 0 && size + block.text.length > softLimit && block.kind !== 'code') {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(block);
    size += block.text.length;
  }
  return parts;
}

const proseOf = (blocks: readonly Block[]) => textOf(blocks.filter(({ kind }) => kind !== 'code'));

function textOf(blocks: readonly Block[]): string {
  return blocks.map(({ text }) => withoutAddresses(text)).join('\n');
}

/** Removes link targets, because the words of a URL are unrelated to the subject of a text. */
function withoutAddresses(text: string): string {
  return text
    .replaceAll(/\]\([^()\s]{1,500}(?:\s+"[^"]{0,200}")?\)/g, '] ')
    .replaceAll(/https?:\/\/\S+/g, ' ');
}

function pathText(path: string): string {
  const steps = path.replace(/\.\w+$/, '').split('/');
  return steps.map((step) => step.replace(/^\d+[-_. ]/, '')).join(' ');
}

const leadLength = 400;

function leadOf(sections: readonly Section[]): string {
  const blocks = sections.slice(0, 3).flatMap((section) => section.blocks);
  const texts = blocks.filter(({ kind }) => kind === 'text');
  return textOf(texts.slice(0, 2)).slice(0, leadLength);
}

function joinStems({ words }: ReturnType<typeof toWords>): string {
  return words.map(({ stem }) => stem).join(' ');
}

/** Returns the words of a passage that may be proposed as corrections of misspelt words. */
export function spellingsOf({ heading, blocks }: Pick<Section, 'heading' | 'blocks'>) {
  const plains = toWords(`${heading}\n${proseOf(blocks)}`).words.map(({ plain }) => plain);
  return plains.filter((word) => /^\p{L}{4,30}$/u.test(word));
}
