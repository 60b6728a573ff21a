import type { z } from 'zod';
import type { SkippedRecord } from './export-source.ts';
import type { ExportFile } from './files/export-files.ts';
import { jsonElements } from './json-elements.ts';

/** A record of a file of an export, or why it is left out. */
export type ExportRecord<Row> = { readonly kind: 'row'; readonly row: Row } | SkippedRecord;

/** How the records of a file are read. */
export interface RecordReading<Row> {
  readonly schema: z.ZodType<Row>;
  /** The names of the members that lead to the array; left out where it is the file's first one. */
  readonly path?: readonly string[];
  /** Opens the file. */
  read(file: ExportFile): AsyncIterable<Uint8Array>;
}

/** Reads the records of files that are a JSON array each, one after the other. */
export async function* readRecords<Row>(
  files: readonly ExportFile[],
  { schema, path = [], read }: RecordReading<Row>,
): AsyncGenerator<ExportRecord<Row>, void, undefined> {
  for (const file of files) {
    for await (const element of jsonElements(read(file), path)) {
      const where = `${file.name}, record ${element.index + 1}`;
      if (element.kind === 'fault') {
        const { why, isCutOff } = element;
        yield { kind: 'skipped', where, why, cause: 'fault', isCutOff };
        continue;
      }
      const parsed = schema.safeParse(element.value);
      if (parsed.success) yield { kind: 'row', row: parsed.data };
      else yield { kind: 'skipped', where, why: tellFault(parsed.error), cause: 'fault' };
    }
  }
}

/** Says in a sentence what is wrong with a record, by the first thing that is. */
export function tellFault({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return 'It cannot be read.';
  if (issue.code === 'custom') return issue.message;
  if (issue.path.length === 0) return 'It is not of the form that was expected.';
  return `Its field ${issue.path.join('.')} is missing or cannot be read.`;
}
