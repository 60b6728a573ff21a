import { basename } from 'node:path';

/** Base URL in the examples of `docs/`: that of a server with default settings. */
const exampleBaseUrl = 'http://localhost:8080';

const ownMachinePages: readonly string[] = ['start.md', 'development.md'];

/** Replaces the base URL of a page's examples with this server's, except in `ownMachinePages`. */
export function moveDocExamples(
  text: string,
  { path, baseUrl }: { readonly path: string; readonly baseUrl: string },
): string {
  if (ownMachinePages.includes(basename(path))) return text;
  return moveBaseUrl(text, { from: exampleBaseUrl, to: baseUrl });
}

/** Replaces a base URL in a text, including percent-encoded copies. */
export function moveBaseUrl(
  text: string,
  { from, to }: { readonly from: string; readonly to: string },
): string {
  // `replaceAll` would interpret `$` in a replacement that is not a function.
  return text
    .replaceAll(from, () => to)
    .replaceAll(encodeURIComponent(from), () => encodeURIComponent(to));
}
