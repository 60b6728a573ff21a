import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { z } from 'zod';
import { parseStored } from '../../store/stored-json.ts';
import { type ExportSource, type SkippedRecord, skip } from '../export-source.ts';
import { createSource } from '../files/export-files.ts';
import { tellFault } from '../records.ts';

export type Line =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly number: number;
      /** Whether a line feed follows; only after the last line there can be none. */
      readonly isEnded: boolean;
    }
  | { readonly kind: 'too long'; readonly number: number };

const maxBytes = 8 * 2 ** 20;

const lineFeed = 0x0a;

/**
 * Cuts a file into its lines, in constant memory: together come those that end in one chunk. Empty lines are left out.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly Line[], void, undefined> {
  const open = createOpenLine();
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      open.add(chunk.subarray(from, end));
      lines.push(...open.close(true));
      from = end + 1;
    }
    open.add(chunk.subarray(from));
    yield lines;
  }
  yield open.close(false);
}

function createOpenLine() {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let number = 0;
  const add = (bytes: Uint8Array): void => {
    size += bytes.length;
    if (size > maxBytes) pieces = [];
    else pieces.push(bytes);
  };
  const close = (isEnded: boolean): readonly Line[] => {
    number += 1;
    const text = Buffer.concat(pieces)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trim();
    const isTooLong = size > maxBytes;
    pieces = [];
    size = 0;
    if (isTooLong) return [{ kind: 'too long', number }];
    return text === '' ? [] : [{ kind: 'text', text, number, isEnded }];
  };
  return { add, close };
}

/** Creates the source of what is read from the lines of a file. It holds nothing open between reads. */
export function openLines(
  path: string,
  bytes: number,
  tell: (
    lines: () => AsyncIterable<readonly Line[]>,
    name: string,
  ) => Pick<ExportSource, 'title' | 'exported' | 'groups'>,
): ExportSource {
  const file = { name: basename(path), bytes };
  const files = { read: () => createReadStream(path), close: async () => undefined };
  return createSource(files, [file], (read) => tell(() => readLines(read(file)), file.name));
}

/** Returns the record of a line that is left out; `name` is that of its file. */
export function skipLine({ number }: Pick<Line, 'number'>, name: string, why: string) {
  return skip(`${name}, line ${number}`, why);
}

/** Parses a line by the schema that is chosen for its value. Posts that quote each other without end are not read. */
export function parseLine<Item>(
  line: Line,
  name: string,
  choose: (value: unknown) => z.ZodType<Item>,
): Item | SkippedRecord {
  if (line.kind === 'too long') return skipLine(line, name, 'It is larger than 8 MiB.');
  let value: unknown;
  try {
    value = parseStored(line.text);
  } catch {
    if (line.isEnded) return skipLine(line, name, 'It is not valid JSON.');
    // Every line is written with its line feed: this one is not whole.
    return { ...skipLine(line, name, 'The file ends in the middle of this line.'), isCutOff: true };
  }
  try {
    const { data, error } = choose(value).safeParse(value);
    return error === undefined ? data : skipLine(line, name, tellFault(error));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return skipLine(line, name, 'It is nested too deeply.');
  }
}
