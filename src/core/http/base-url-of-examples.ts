import { basename } from 'node:path';

/** Base URL in the examples of `docs/`. It is the base URL of a server with default settings, so the examples run. */
const exampleBaseUrl = 'http://localhost:8080';

const ownMachinePages: readonly string[] = ['start.md', 'development.md'];

/**
 * Replaces the base URL of the examples in a text from `docs/` with the base URL of this server. `path` is the path of
 * the page; the pages in `ownMachinePages` stay unchanged.
 */
export function moveDocExamples(
  text: string,
  { path, baseUrl }: { readonly path: string; readonly baseUrl: string },
): string {
  if (ownMachinePages.includes(basename(path))) return text;
  return moveBaseUrl(text, { from: exampleBaseUrl, to: baseUrl });
}

/** Replaces a base URL in a text with another one, including percent-encoded copies of the base URL. */
export function moveBaseUrl(
  text: string,
  { from, to }: { readonly from: string; readonly to: string },
): string {
  // `replaceAll` would interpret `$` in a replacement that is not a function.
  return text
    .replaceAll(from, () => to)
    .replaceAll(encodeURIComponent(from), () => encodeURIComponent(to));
}
