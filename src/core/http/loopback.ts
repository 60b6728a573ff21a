/**
 * Returns whether a host name means this machine: `localhost` (RFC 6761 §6.3), `127.0.0.0/8`
 * (RFC 1122 §3.2.1.3) or `::1`, which a URL writes in brackets.
 */
export function isLoopbackName(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}
