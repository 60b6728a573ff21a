import { blueskyForm } from './bluesky/bluesky-form.ts';
import type { ExportForm, ExportHints, ExportSource } from './export-source.ts';
import { mastodonForm } from './mastodon/mastodon-form.ts';
import { ndjsonForm } from './ndjson/form.ts';
import { xForm } from './x/form.ts';

/** The forms of exports that can be imported, in the order in which a file is tried as them. */
export const exportForms: readonly ExportForm[] = [ndjsonForm, xForm, blueskyForm, mastodonForm];

export interface OpenedExport {
  readonly form: ExportForm;
  readonly source: ExportSource;
}

/**
 * Opens an export as the first form that it has; null if it has none. @throws Error with a sentence if it cannot be
 * read
 */
export async function openExport(
  path: string,
  { forms, hints }: { readonly forms: readonly ExportForm[]; readonly hints: ExportHints },
): Promise<OpenedExport | null> {
  for (const form of forms) {
    const source = await form.open(path, hints);
    if (source !== null) return { form, source };
  }
  return null;
}
