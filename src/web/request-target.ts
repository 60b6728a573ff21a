/** Pattern of a complete URL as a path: `/https://x.com/jack`, also with other slashes. */
const wholeUrl = /^\/*(\/[a-z][a-z\d+.-]*:\/)/i;

/**
 * Returns a request target (RFC 9112 §3.2) as path and query, with single slashes and without one
 * at the end. A complete URL in the path keeps its slashes. Never resolves the target as a URL,
 * because `//jack` would then be a host.
 */
export function toCanonicalTarget(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, '/');
  const query = path.search(/[?#]/);
  const end = query === -1 ? path.length : query;
  const isCanonical = path.lastIndexOf('//', end - 1) === -1 && (end < 2 || path[end - 1] !== '/');
  if (isCanonical) return path;
  const [leading = '', start] = wholeUrl.exec(path) ?? [];
  if (start !== undefined) return `${start}${path.slice(leading.length)}`;
  const merged = path.slice(0, end).replaceAll(/\/{2,}/g, '/');
  const shortened = merged.length > 1 && merged.endsWith('/') ? merged.slice(0, -1) : merged;
  return `${shortened}${path.slice(end)}`;
}
