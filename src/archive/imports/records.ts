import type { z } from 'zod';
import { type SkippedRecord, skip } from './export-source.ts';
import type { ExportFile, ExportFiles } from './files/export-files.ts';
import { type JsonElement, jsonElements } from './json-elements.ts';

/** A record of a file of an export, or why it is left out. */
export type ExportRecord<Row> = { readonly kind: 'row'; readonly row: Row } | SkippedRecord;

export interface RecordReading<Row> {
  readonly schema: z.ZodType<Row>;
  /** Matches the text up to the opening bracket of the array; without it, the file's first array is read. */
  readonly start?: RegExp;
  readonly read: ExportFiles['read'];
}

/** Reads the records of files that are a JSON array each, in order, some at a time. */
export async function* readRecords<Row>(
  files: readonly ExportFile[],
  { schema, start, read }: RecordReading<Row>,
): AsyncGenerator<readonly ExportRecord<Row>[], void, undefined> {
  for (const file of files) {
    for await (const elements of jsonElements(read(file), start)) {
      yield elements.map((element) => toRecord(element, schema, file.name));
    }
  }
}

/** Reads the rows of files as `readRecords` does, one by one and without the records that are left out. */
export async function* readRows<Row>(
  files: readonly ExportFile[],
  reading: RecordReading<Row>,
): AsyncGenerator<Row, void, undefined> {
  for await (const records of readRecords(files, reading)) {
    for (const record of records) if (record.kind === 'row') yield record.row;
  }
}

function toRecord<Row>(
  element: JsonElement,
  schema: z.ZodType<Row>,
  file: string,
): ExportRecord<Row> {
  const where = `${file}, record ${element.index + 1}`;
  if (element.kind === 'fault') return { ...skip(where, element.why), isCutOff: element.isCutOff };
  const { data, error } = schema.safeParse(element.value);
  return error === undefined ? { kind: 'row', row: data } : skip(where, tellFault(error));
}

/** Says in a sentence what is wrong with a record, by the first thing that is. */
export function tellFault({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return 'It cannot be read.';
  if (issue.code === 'custom') return issue.message;
  if (issue.path.length === 0) return 'It is not of the form that was expected.';
  return `Its field ${issue.path.join('.')} is missing or cannot be read.`;
}
