import type { z } from 'zod';
import { type SkippedRecord, skipRecord } from './export-source.ts';
import type { ExportFile, ExportFiles } from './files/export-files.ts';
import { type JsonElement, type JsonOptions, jsonElements } from './json-elements.ts';

export type ExportRecord<Row> = { readonly kind: 'row'; readonly row: Row } | SkippedRecord;

export interface RecordOptions<Row> extends JsonOptions {
  readonly schema: z.ZodType<Row>;
  readonly read: ExportFiles['read'];
}

/** Yields arrays of records in the order of the files. Each array comes from one chunk. */
export async function* readRecords<Row>(
  files: readonly ExportFile[],
  { schema, read, ...options }: RecordOptions<Row>,
): AsyncGenerator<readonly ExportRecord<Row>[], void, undefined> {
  for (const file of files) {
    for await (const elements of jsonElements(read(file), options)) {
      yield elements.map((element) => toRecord(element, schema, file.name));
    }
  }
}

/** Yields only the valid records. */
export async function* readRows<Row>(
  files: readonly ExportFile[],
  reading: RecordOptions<Row>,
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
  const location = `${file}, record ${element.index + 1}`;
  if (element.kind === 'fault')
    return { ...skipRecord(location, element.reason), isCutOff: element.isCutOff };
  const { data: row, error } = schema.safeParse(element.value);
  return error === undefined ? { kind: 'row', row } : skipRecord(location, describeFault(error));
}

export function describeFault({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return 'It cannot be read.';
  if (issue.code === 'custom') return issue.message;
  if (issue.path.length === 0) return 'It does not have the expected structure.';
  return `Its field ${issue.path.join('.')} is missing or cannot be read.`;
}
