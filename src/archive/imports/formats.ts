import { blueskyFormat } from './bluesky/bluesky-format.ts';
import type { ExportFormat, ExportHints, ExportSource } from './export-source.ts';
import { mastodonFormat } from './mastodon/mastodon-format.ts';
import { ndjsonFormat } from './ndjson/ndjson-format.ts';
import { xFormat } from './x/x-format.ts';

/** Formats that can be imported, in the order in which a file is tested for them. */
export const exportFormats: readonly ExportFormat[] = [
  ndjsonFormat,
  xFormat,
  blueskyFormat,
  mastodonFormat,
];

export interface OpenedExport {
  readonly format: ExportFormat;
  readonly source: ExportSource;
}

/** Opens an export in the first format that matches, or returns `null`. @throws Error with a sentence if it fails */
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
