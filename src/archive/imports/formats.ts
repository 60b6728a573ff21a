import { blueskyFormat } from './bluesky/bluesky-format.ts';
import type { ExportFormat, ExportHints, ExportSource } from './export-source.ts';
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
