import { createHash, type Hash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { blueskyFormat } from './bluesky/bluesky-format.ts';
import type { ExportFormat, ExportHints, ExportSource } from './export-source.ts';
import { openFolderFiles } from './files/open-files.ts';
import { mastodonFormat } from './mastodon/mastodon-format.ts';
import { ndjsonFormat } from './ndjson/ndjson-format.ts';
import { xCsvFormat } from './x/csv-format.ts';
import { xFormat } from './x/x-format.ts';

/** Formats for which an export is tested, in this order. */
export const exportFormats: readonly ExportFormat[] = [
  ndjsonFormat,
  xFormat,
  blueskyFormat,
  mastodonFormat,
  xCsvFormat,
];

export interface OpenedExport {
  readonly format: ExportFormat;
  readonly source: ExportSource;
}

/** Opens an export; returns `null` if no format matches. @throws Error if opening fails */
export async function openExport(
  path: string,
  { formats, hints }: { readonly formats: readonly ExportFormat[]; readonly hints: ExportHints },
): Promise<OpenedExport | null> {
  for (const format of formats) {
    const source = await format.open(path, hints);
    if (source !== null) return { format, source };
  }
  return null;
}

const importVersion = 3;

const sample = { bytes: 65_536, places: 8 } as const;

/** Hashes an export and `form` (format and handle). `changed`: latest Unix second of its files. */
export async function fingerprintExport(path: string, form: string) {
  const hash = createHash('sha256').update(`${importVersion} ${form}\n`);
  const folder = await openFolderFiles(path);
  if (folder === null)
    return { changed: await addFile(hash, path), fingerprint: hash.digest('hex') };
  let changed = 0;
  // Media files and web pages are not imported, so they are not hashed.
  const records = folder.files.filter(({ name }) => /\.(?:js|json|csv|car|ndjson)$/.test(name));
  for (const { name } of records) {
    hash.update(`${name}\n`);
    changed = Math.max(changed, await addFile(hash, join(path, name)));
  }
  return { changed, fingerprint: hash.digest('hex') };
}

async function addFile(hash: Hash, path: string): Promise<number> {
  const { size, mtimeMs } = await stat(path);
  hash.update(`${size} ${mtimeMs}\n`);
  const file = await open(path, 'r');
  const buffer = Buffer.alloc(sample.bytes);
  try {
    for (let place = 0; place < sample.places; place++) {
      const at = Math.floor((Math.max(0, size - sample.bytes) * place) / (sample.places - 1));
      const { bytesRead } = await file.read(buffer, 0, sample.bytes, at);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
  return Math.floor(mtimeMs / 1000);
}
