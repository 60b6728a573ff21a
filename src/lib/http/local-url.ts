/** Loopback address for each wildcard address, to which not every client can connect. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the URL of a server on this machine that listens on `host`. */
export function toLocalUrl(host: string, port: number): string {
  const name = reachable[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
