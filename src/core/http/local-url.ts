/**
 * Loopback address for each wildcard address (all addresses of the machine), because not every client can connect to a
 * wildcard address.
 */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the URL of a server on this machine. `host` is the address or name on which the server listens. */
export function toLocalUrl(host: string, port: number): string {
  const name = reachable[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
