import { once } from 'node:events';
import { Writable } from 'node:stream';
import { exitCodes } from '../command.ts';

/** Output stream of the process, or a substitute in tests. */
export interface RawOutput {
  readonly isTTY?: boolean;
  /** Whether the stream accepts data; `false` after the stream was closed. */
  readonly writable?: boolean;
  write(text: string): unknown;
}

/** Output of a command. Control characters are replaced in text and escaped in JSON (`\u00XX`). */
export interface Output {
  readonly isTerminal: boolean;
  /** Whether the program that reads the output (such as `head`) has closed the output. */
  readonly hasLeft: boolean;
  /** Underlying stream, for binary content; `null` if the output is not a Node.js stream. */
  readonly stream: Writable | null;
  /** Writes human-readable text. */
  write(text: string): void;
  /** Writes JSON documents. `lines` contains one document per line. */
  writeJson(lines: string): void;
  /** Writes text with colour sequences (ECMA-48 SGR). Other control characters are replaced. */
  writeColoured(text: string): void;
  /** Shows or replaces the status line of a terminal. Does nothing for other outputs. */
  showLine(text: string): void;
  /** Shows or replaces the status line of a terminal. Writes a new line to other outputs. */
  showProgress(text: string): void;
  /** Removes the status line of a terminal. */
  clearLine(): void;
  /** Waits until the stream accepts more data or is closed. */
  drained(): Promise<void>;
}

export function createOutput(raw: RawOutput): Output {
  const isTerminal = raw.isTTY === true;
  let isFull = false;
  const put = (text: string) => {
    isFull = raw.write(text) === false;
  };
  const showLine = (text: string) => {
    if (isTerminal) put(`\r${cleanText(text)}\u001b[K`);
  };
  return {
    isTerminal,
    get hasLeft() {
      return raw.writable === false;
    },
    stream: raw instanceof Writable ? raw : null,
    write: (text) => put(cleanText(text)),
    writeJson: (lines) => put(escapeJson(lines)),
    writeColoured: (text) => put(text.split(colour).map(cleanUnlessColour).join('')),
    showLine,
    showProgress: (text) => (isTerminal ? showLine(text) : put(cleanText(`${text}\n`))),
    clearLine: () => {
      if (isTerminal) put('\r\u001b[K');
    },
    drained: async () => {
      if (isFull && raw instanceof Writable && raw.writable) await untilDrained(raw);
    },
  };
}

/** Matches control characters (C0, DEL and C1) except line feed and tab. */
const controls = /(?![\n\t])\p{Cc}/gu;

/** Matches bidirectional formatting characters, which can reorder the text after them (UAX #9 §2). */
const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Converts line ends to LF, removes bidirectional formatting characters, and replaces control characters with U+FFFD.
 */
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

/**
 * Matches a colour sequence (ECMA-48 §8.3.117). The pattern has a capturing group, so `split` also
 * returns the sequences, at odd indexes.
 */
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

/**
 * Calls `exit` with code 70 if writing to an output fails. Ignores an output whose reader closed
 * it, as in `perch read … | head`.
 */
export function exitOnWriteError(outputs: readonly Writable[], exit: (code: number) => void): void {
  for (const output of outputs) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') exit(exitCodes.defect);
    });
  }
}
