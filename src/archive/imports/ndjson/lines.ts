import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { z } from 'zod';
import { parseStored } from '../../store/stored-json.ts';
import { type ExportSource, type SkippedRecord, skipRecord } from '../export-source.ts';
import { createExportSource } from '../files/export-files.ts';
import { describeFault } from '../records.ts';

export type Line =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly number: number;
      /** Whether the line ends in a line feed. Only the last line can lack it. */
      readonly isEnded: boolean;
    }
  | { readonly kind: 'too long'; readonly number: number };

const maxBytes = 8 * 2 ** 20;
const lineFeed = 0x0a;

/** Yields for each chunk of a file the lines that end in it, then the rest. Omits empty lines. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly Line[], void, undefined> {
  const open = createLineBuffer();
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

function createLineBuffer() {
  let parts: Uint8Array[] = [];
  let size = 0;
  let number = 0;
  const add = (bytes: Uint8Array): void => {
    size += bytes.length;
    if (size > maxBytes) parts = [];
    else parts.push(bytes);
  };
  const close = (isEnded: boolean): readonly Line[] => {
    number += 1;
    const text = Buffer.concat(parts)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trim();
    const isTooLong = size > maxBytes;
    parts = [];
    size = 0;
    if (isTooLong) return [{ kind: 'too long', number }];
    return text === '' ? [] : [{ kind: 'text', text, number, isEnded }];
  };
  return { add, close };
}

/** Creates an export source from a file, which is open only while it is read. */
export function openLines(
  path: string,
  bytes: number,
  open: (
    lines: () => AsyncIterable<readonly Line[]>,
    name: string,
  ) => Pick<ExportSource, 'title' | 'exported' | 'groups'>,
): ExportSource {
  const file = { name: basename(path), bytes };
  const files = { read: () => createReadStream(path), close: async () => undefined };
  return createExportSource(files, [file], (read) => open(() => readLines(read(file)), file.name));
}

export const skipLine = ({ number }: Pick<Line, 'number'>, name: string, reason: string) =>
  skipRecord(`${name}, line ${number}`, reason);

/** Parses JSON with the schema from `choose`. Returns a `SkippedRecord` if the line is invalid. */
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
    // Perch ends every line with a line feed, so this line is incomplete.
    return { ...skipLine(line, name, 'The file ends in the middle of this line.'), isCutOff: true };
  }
  try {
    const { data, error } = choose(value).safeParse(value);
    return error === undefined ? data : skipLine(line, name, describeFault(error));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return skipLine(line, name, 'It is nested too deeply.');
  }
}
