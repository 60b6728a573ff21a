import { once } from 'node:events';
import { Writable } from 'node:stream';
import { exitCodes } from '../command.ts';

/** A stream of the process, or what a test has in its place. */
export interface RawOutput {
  readonly isTTY?: boolean;
  /** False once nothing can be written any more. */
  readonly writable?: boolean;
  write(text: string): unknown;
}

/**
 * The standard output or error of a command. Nothing that strangers wrote can control the terminal: text
 * for people loses its control characters, JSON has them as `\u00XX`, which is the same JSON. Both hold for
 * files and pipes too.
 */
export interface Output {
  readonly isTerminal: boolean;
  /** Whether the reader has left, as `head` does. */
  readonly hasLeft: boolean;
  /** Writes text for people. */
  write(text: string): void;
  /** Writes JSON documents, each on a line. */
  writeJson(lines: string): void;
  /** Writes text whose colours are the program's own (ECMA-48 SGR), without any other control sequence. */
  writeColoured(text: string): void;
  /** On a terminal, shows a line that is written over; elsewhere nothing. */
  showLine(text: string): void;
  /** On a terminal, shows a line that is written over; elsewhere writes a line. */
  showProgress(text: string): void;
  /** Removes the line that is written over. */
  clearLine(): void;
  /** Waits until the stream takes more, or its reader has left. */
  drained(): Promise<void>;
}

/** Creates the output of a stream. */
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

/** Control characters of C0, DEL and C1, but line feed and tab. */
const controls = /(?![\n\t])\p{Cc}/gu;

/** Embeddings, overrides and isolates, which change the direction of what follows (UAX #9 §2). */
const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns text that is safe for a terminal: line ends become line feeds, marks of direction go, and other
 * control characters become U+FFFD.
 */
export function cleanText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(directions, '').replaceAll(controls, '\ufffd');
}

/** Returns the same JSON with every character that could control a terminal escaped. */
export function escapeJson(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A sequence that sets colours (ECMA-48 §8.3.117); splitting by it puts it at odd places. */
const colour = /(\p{Cc}\[[\d;]{0,15}m)/u;

function cleanUnlessColour(part: string, index: number): string {
  return index % 2 === 1 && part.startsWith('\u001b') ? part : cleanText(part);
}

async function untilDrained(stream: Writable): Promise<void> {
  const left = new AbortController();
  const options = { signal: left.signal };
  const settled = [once(stream, 'drain', options), once(stream, 'close', options)];
  try {
    await Promise.race(settled);
  } finally {
    left.abort();
    await Promise.allSettled(settled);
  }
}

/**
 * Handles outputs that cannot be written. A reader that has left (`perch read … | head`) is no failure;
 * anything else, such as a full disk, ends the process with 70.
 */
export function bearBrokenOutput(outputs: readonly Writable[], exit: (code: number) => void): void {
  for (const output of outputs) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') exit(exitCodes.defect);
    });
  }
}
