import { once } from 'node:events';
import { Writable } from 'node:stream';
import { exitCodes } from '../command.ts';

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
