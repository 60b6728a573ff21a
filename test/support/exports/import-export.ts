import { basename } from 'node:path';
import type { SkippedRecord } from '../../../src/archive/imports/export-source.ts';
import { toItemLine } from '../../../src/archive/imports/ndjson/ndjson-format.ts';
import {
  exportFormats,
  fingerprintExport,
  type ImportOutcome,
  openExport,
  runImport,
} from '../../../src/archive/imports/run-import.ts';
import type { ArchiveStore } from '../../../src/archive/store/store.ts';
import { createManualClock } from '../manual-clock.ts';

/** Outcome of an import, with the skipped records. */
export interface Imported {
  readonly outcome: ImportOutcome;
  readonly skipped: readonly SkippedRecord[];
}

/** Options of a test import. */
export interface ImportChanges {
  /** Number of batches after which the import is aborted. With 0 it is aborted before the first one. */
  readonly stopAfter?: number;
}

/** Imports an export as `perch archive import` does. */
export async function importExport(
  store: ArchiveStore,
  path: string,
  { stopAfter = Number.POSITIVE_INFINITY }: ImportChanges = {},
): Promise<Imported> {
  const opened = await openExport(path, { formats: exportFormats, hints: {} });
  if (opened === null) throw new Error(`${path} is no export.`);
  const { format, files, source } = opened;
  const { fingerprint, changed } = await fingerprintExport(files, format.name);
  const { title, exported = changed } = source;
  const skipped: SkippedRecord[] = [];
  const stop = new AbortController();
  if (stopAfter === 0) stop.abort();
  let batches = 0;
  try {
    const outcome = await runImport({
      store,
      source,
      newImport: { fingerprint, title, name: basename(path), exported },
      clock: createManualClock(),
      signal: stop.signal,
      onProgress: () => {
        batches += 1;
        if (batches >= stopAfter) stop.abort();
      },
      onSkipped: (record) => skipped.push(record),
    });
    return { outcome, skipped };
  } finally {
    await source.close();
  }
}

/** Returns the content of an archive as sorted lines. Equal archives have equal dumps. */
export function dumpArchive(store: ArchiveStore): readonly string[] {
  const held = store.listAccounts().flatMap((account) => [...store.readAccountItems(account)]);
  return [...held, ...store.readOrphanPosts()].map((item) => sortKeys(toItemLine(item))).sort();
}

function sortKeys(line: string): string {
  return JSON.stringify(JSON.parse(line), (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
