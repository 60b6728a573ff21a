/** Loopback address of a server that listens on all addresses (`0.0.0.0` or `::`). */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the URL of a server on this machine, from the address or name that it listens on. */
export function toLocalUrl(host: string, port: number): string {
  const name = reachable[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
