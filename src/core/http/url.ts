/**
 * Parses an absolute URL, or one that is relative to `base`. Returns `null` for anything else.
 *
 * `URL.canParse` will not do: Node 20 refuses letters such as `ü` once it has compiled its fast path. `URL.parse` came
 * with Node 22.1.
 */
export function parseUrl(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
