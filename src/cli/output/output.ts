import { once } from 'node:events';
import { createWriteStream, statSync, type WriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { errorCodeOf } from '../../lib/files/sqlite.ts';
import { CommandError, type ExitCode, exitCodes, UsageError } from '../command.ts';
import { findByCode } from './explain.ts';

/** Output stream of the process, or a substitute in tests. */
export interface RawOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Whether the stream accepts data; `false` after the stream was closed. */
  readonly writable?: boolean;
  write(text: string): unknown;
}

const defaultColumns = 80;

interface OutputOptions {
  /** Whether the user wants no sequences that control a terminal, and so no status line. */
  readonly isPlain?: boolean;
}

export type Output = ReturnType<typeof createOutput>;

/** Creates an output without control characters. Writing removes the status line. */
export function createOutput(raw: RawOutput, { isPlain = false }: OutputOptions = {}) {
  const isTerminal = raw.isTTY === true;
  const hasStatusLine = isTerminal && !isPlain;
  let isLineShown = false;
  let isFull = false;
  const put = (text: string) => {
    isFull = raw.write(text) === false;
  };
  const showLine = (text: string) => {
    if (!hasStatusLine) return;
    isLineShown = true;
    // A line that fills the last column would wrap on some terminals.
    put(`\r${cutToWidth(cleanText(text), (raw.columns || defaultColumns) - 1)}\u001b[K`);
  };
  const clearLine = () => {
    if (isLineShown) put('\r\u001b[K');
    isLineShown = false;
  };
  const putLines = (text: string) => {
    clearLine();
    put(text);
  };
  return {
    isTerminal,
    /** Whether the output shows a status line, which is replaced in place. */
    hasStatusLine,
    /** Whether the program that reads the output (such as `head`) has closed the output. */
    get hasLeft() {
      return raw.writable === false;
    },
    /** Underlying stream, for binary content; `null` if the output is not a Node.js stream. */
    stream: raw instanceof Writable ? raw : null,
    write: (text: string) => putLines(cleanText(text)),
    /** Writes JSON documents. `lines` contains one document per line. */
    writeJson: (lines: string) => putLines(escapeJson(lines)),
    /** Writes text with colour sequences (ECMA-48 SGR). Other control characters are replaced. */
    writeColoured: (text: string) => putLines(text.split(colour).map(cleanUnlessColour).join('')),
    /** Replaces the status line, cut to the terminal's width, if there is one. */
    showLine,
    /** Shows or replaces the status line. Writes a new line to outputs without a status line. */
    showProgress: (text: string) => (hasStatusLine ? showLine(text) : put(cleanText(`${text}\n`))),
    clearLine,
    /** Waits until the stream accepts more data or is closed. */
    drained: async () => {
      if (isFull && raw instanceof Writable && raw.writable) await untilDrained(raw);
    },
  };
}

function cutToWidth(line: string, columns: number): string {
  let room = columns;
  let cut = '';
  for (const character of line) {
    room -= (character.codePointAt(0) ?? 0) < firstWide ? 1 : 2;
    if (room < 0) return cut;
    cut += character;
  }
  return cut;
}

const firstWide = 0x1100;

const controls = /(?![\n\t])\p{Cc}/gu;

const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/** Converts line ends to LF, removes bidi characters, replaces control characters with U+FFFD. */
export function cleanText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(directions, '').replaceAll(controls, '\ufffd');
}

/** Escapes all characters in JSON text that could control a terminal. */
export function escapeJson(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const colour = /(\p{Cc}\[[\d;]{0,15}m)/u;

function cleanUnlessColour(part: string, index: number): string {
  return index % 2 === 1 && part.startsWith('\u001b') ? part : cleanText(part);
}

async function untilDrained(stream: Writable): Promise<void> {
  const done = new AbortController();
  const options = { signal: done.signal };
  const settled = [once(stream, 'drain', options), once(stream, 'close', options)];
  try {
    await Promise.race(settled);
  } finally {
    done.abort();
    await Promise.allSettled(settled);
  }
}

/** Calls `exit` if a write fails: 3 for a full disk, otherwise 70. Ignores closed pipes. */
export function exitOnWriteError(
  { stdout, stderr }: Readonly<Record<'stdout' | 'stderr', Writable>>,
  exit: (code: number) => void,
): void {
  const exitAfter = ({ code = '' }: NodeJS.ErrnoException): void => {
    if (code === 'EPIPE') return;
    const isFull = fullDisk.has(code);
    if (isFull) stderr.write(fullOutput);
    exit(isFull ? exitCodes.upstream : exitCodes.defect);
  };
  for (const output of [stdout, stderr]) output.on('error', exitAfter);
}

const fullDisk: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

const fullOutput =
  'perch: Standard output cannot be written. The disk is full. Free some space and try again.\n';

const faults: Readonly<Record<string, readonly [exit: 'usage' | 'upstream', reason: string]>> = {
  ENOENT: ['usage', 'Its folder does not exist.'],
  ENOTDIR: ['usage', 'A part of its path is a file.'],
  EISDIR: ['usage', 'It is a folder.'],
  ENAMETOOLONG: ['usage', 'Its name is too long.'],
  'EACCES EPERM EROFS': ['upstream', 'You have no permission to write to it.'],
  'ENOSPC EDQUOT SQLITE_FULL': ['upstream', 'The disk is full. Free some space and try again.'],
};

/** Returns nothing if the reader closed the pipe. @throws CommandError for other failed writes */
export async function explainWriteErrors<Result>(output: string, write: () => Promise<Result>) {
  try {
    return await write();
  } catch (error) {
    if (errorCodeOf(error) === 'EPIPE') return undefined; // the reader, such as `head`, has enough
    const [exit, reason] = findByCode(faults, error) ?? [];
    if (exit === undefined) throw error;
    throw new CommandError(exit, `${output} cannot be written. ${reason}`, { cause: error });
  }
}

/**
 * Prints to a file instead of standard output. Replaces an existing file only if something was
 * written.
 * @throws UsageError for an empty path
 */
export async function withOutputFile(
  path: string,
  print: (stdout: Output) => Promise<ExitCode>,
): Promise<ExitCode | undefined> {
  if (path === '') throw new UsageError('--output is empty. Set it to a file.');
  return explainWriteErrors(path, async () => {
    let code: ExitCode = exitCodes.ok;
    await writeOutputFile(path, async (file) => {
      code = await print(createOutput(file));
      return file.writableLength + file.bytesWritten > 0;
    });
    return code;
  });
}

type Write = (stream: WriteStream) => Promise<boolean>;

/** Writes a file atomically. Follows symbolic links. Writes directly to pipes and devices. */
export async function writeOutputFile(path: string, write: Write): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) {
    await writeInto(path, write);
    return;
  }
  const target = found === undefined ? path : await realpath(path);
  const unfinished = `${target}.part`;
  try {
    if (await writeInto(unfinished, write)) await rename(unfinished, target);
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function writeInto(path: string, write: Write): Promise<boolean> {
  const file = createWriteStream(path);
  const written = finished(file);
  written.catch(() => undefined); // awaited below; this avoids an unhandled rejection before that
  try {
    const isWanted = await write(file);
    file.end();
    await written;
    return isWanted;
  } finally {
    file.destroy();
  }
}

export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

export function toTable<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const columnsOfCells = Object.entries(columns).map(([head, toCell]) => {
    const cells = [head, ...rows.map(toCell)];
    const width = Math.max(...cells.map(widthOf));
    return cells.map((cell) => cell + ' '.repeat(width - widthOf(cell)));
  });
  const lines = ['', ...rows].map((_, line) => columnsOfCells.map((cells) => cells[line]));
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('');
}

function widthOf(cell: string): number {
  return [...cell].length;
}

export function toJsonLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** Formats a number with a noun in the singular or regular plural: `1 post`, `2,345 posts`. */
export function countOf(count: number, noun: string): string {
  return `${toCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function toCount(count: number): string {
  return count.toLocaleString('en');
}

export function toElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
