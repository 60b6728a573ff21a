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

/**
 * Returns whether a host name means this machine: `localhost` (RFC 6761 §6.3), `127.0.0.0/8`
 * (RFC 1122 §3.2.1.3) or `::1`, which a URL writes in brackets.
 */
export function isLoopbackName(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}
