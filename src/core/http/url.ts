/** Parses a URL; returns `null` if it is invalid. Node 20 lacks `URL.parse`, and its `URL.canParse` rejects `ü`. */
export function parseUrl(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** Returns whether a host name is a name of this machine: `localhost` (RFC 6761 §6.3), `127.0.0.0/8` or `::1`. */
export const isLoopbackName = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
