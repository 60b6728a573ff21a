import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { z } from 'zod';
import { parseStored } from '../../store/stored-json.ts';
import type { ExportSource, SkippedRecord } from '../export-source.ts';
import { createFileCount } from '../files/export-files.ts';
import { tellFault } from '../records.ts';
import { type Line, readLines } from './lines.ts';

/** A file of lines that is imported. */
export interface LineFile {
  /** Without the folders. */
  readonly name: string;
  /** Reads the lines, some at a time, and counts the bytes. */
  lines(): AsyncIterable<readonly Line[]>;
  /** Reads them beforehand, without counting. */
  linesAhead(): AsyncIterable<readonly Line[]>;
  /** Creates the source of what is read from the lines. */
  source(told: Pick<ExportSource, 'title' | 'exported' | 'groups'>): ExportSource;
}

/** Creates the reader of a file of lines. It holds nothing open between reads. */
export function openLineFile(path: string, bytes: number): LineFile {
  const file = { name: basename(path), bytes };
  const count = createFileCount({
    files: [file],
    read: () => createReadStream(path),
    close: async () => undefined,
  });
  return {
    name: file.name,
    lines: () => readLines(count.read(file)),
    linesAhead: () => readLines(createReadStream(path)),
    source: (told) => ({
      ...told,
      totalBytes: bytes,
      get bytesRead() {
        return count.bytes;
      },
      close: async () => undefined,
    }),
  };
}

/** Creates the function that makes the record of a line that is left out. */
export function createSkip({ number }: Line, name: string): (why: string) => SkippedRecord {
  return (why) => ({ kind: 'skipped', where: `${name}, line ${number}`, why, cause: 'fault' });
}

/** Parses the JSON of a line. */
export function parseLine(
  line: Line,
  name: string,
): { readonly kind: 'value'; readonly value: unknown } | SkippedRecord {
  const skip = createSkip(line, name);
  if (line.kind === 'too long') return skip('It is larger than 8 MiB.');
  try {
    return { kind: 'value', value: parseStored(line.text) };
  } catch {
    if (line.isEnded) return skip('It is not valid JSON.');
    // Every line is written with its line feed: this one is not whole.
    return { ...skip('The file ends in the middle of this line.'), isCutOff: true };
  }
}

/** Reads the value of a line by a schema; posts that quote each other without end are too deep to be read. */
export function readValue<S extends z.ZodType>(
  schema: S,
  value: unknown,
  skip: (why: string) => SkippedRecord,
): { readonly kind: 'read'; readonly data: z.output<S> } | SkippedRecord {
  try {
    const { data, error } = schema.safeParse(value);
    return error === undefined ? { kind: 'read', data } : skip(tellFault(error));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return skip('It is nested too deeply.');
  }
}
