import { domainToASCII, domainToUnicode } from 'node:url';
import { parseUrl } from './url.ts';

/** The form of a domain name: two labels or more, lower case, ASCII, no dot at the end (RFC 1123 §2.1). */
export const domainName =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** Reserved ends of names: RFC 6761, 6762, 7686, 9476, `.internal` (ICANN), `.arpa`; then those of private networks. */
const privateEnds: readonly string[] = [
  ...['localhost', 'test', 'invalid', 'example', 'local', 'onion', 'alt', 'internal', 'arpa'],
  ...['localdomain', 'lan', 'home', 'corp', 'mail', 'intranet', 'private'],
];

/**
 * Returns whether the host of a URL can be a name of the public DNS: no IP address, single label or reserved name, and
 * written as a URL writes it.
 */
export function isPublicName(host: string): boolean {
  if (!domainName.test(host) || privateEnds.some((end) => host.endsWith(`.${end}`))) return false;
  return parseUrl(`https://${host}/`)?.hostname === host && hasWholePunycode(host);
}

/** Returns whether every `xn--` label stands for letters. Some versions of Node take others as they are. */
function hasWholePunycode(host: string): boolean {
  if (!host.includes('xn--')) return true;
  const letters = domainToUnicode(host);
  return !letters.includes('xn--') && domainToASCII(letters) === host;
}

/** Returns whether a URL may be asked for when a caller has named its host: `https`, port 443, a public name. */
export function isPublicUrl({ protocol, username, password, port, hostname }: URL): boolean {
  const isPlain = username === '' && password === '' && port === '';
  return protocol === 'https:' && isPlain && isPublicName(hostname);
}

/** Returns the host of a URL that may be asked for, else `null`. */
export const publicHostOf = (url: URL): string | null => (isPublicUrl(url) ? url.hostname : null);
