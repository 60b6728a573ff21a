import { domainToASCII, domainToUnicode } from 'node:url';
import { parseUrl } from './url.ts';

/** Pattern of a domain name: two or more lower-case ASCII labels, no final dot (RFC 1123 §2.1). */
export const domainName =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** Top-level domains that are reserved (RFC 6761, 6762, 7686, 9476, ICANN) or used privately. */
const privateEnds: readonly string[] = [
  ...['localhost', 'test', 'invalid', 'example', 'local', 'onion', 'alt', 'internal', 'arpa'],
  ...['localdomain', 'lan', 'home', 'corp', 'mail', 'intranet', 'private'],
];

/** Returns whether a normalized host can be public: no IP, single label or reserved name. */
export function isPublicName(host: string): boolean {
  if (!domainName.test(host) || privateEnds.some((end) => host.endsWith(`.${end}`))) return false;
  return parseUrl(`https://${host}/`)?.hostname === host && hasWholePunycode(host);
}

function hasWholePunycode(host: string): boolean {
  if (!host.includes('xn--')) return true;
  const letters = domainToUnicode(host);
  return !letters.includes('xn--') && domainToASCII(letters) === host;
}

/** Returns whether Perch may request a URL: `https`, port 443, no credentials, public host name. */
export function isPublicUrl({ protocol, username, password, port, hostname }: URL): boolean {
  const isPlain = username === '' && password === '' && port === '';
  return protocol === 'https:' && isPlain && isPublicName(hostname);
}

/** Returns the host of a URL that `isPublicUrl` accepts, otherwise `null`. */
export const publicHostOf = (url: URL): string | null => (isPublicUrl(url) ? url.hostname : null);
