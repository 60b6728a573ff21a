import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IPv6 address, or an IPv4 address in its IPv4-mapped form (RFC 4291 §2.5.5.2). */
export type IpAddress = ipaddr.IPv6;

/** Range of IP addresses: the first address and the prefix length in bits. */
export type AddressRange = readonly [IpAddress, number];

/** Parses an address without its IPv6 zone. Returns `null` for other text, such as octal IPv4. */
export function parseAddress(text: string): IpAddress | null {
  const family = isIP(text);
  if (family === 0) return null;
  if (family === 4) return ipaddr.IPv6.parse(`::ffff:${text}`);
  const [address = ''] = text.split('%', 1);
  // `ipaddr.js` parses `::192.0.2.1` as the mapped `::ffff:192.0.2.1`, which is a different
  // address.
  return ipaddr.IPv6.parse(address.replace(/^::(?=\d+\.)/, '0:0:0:0:0:0:'));
}

/** Formats the last 32 bits of an address as an IPv4 address, such as `192.0.2.1`. */
export const toDottedEnd = (address: IpAddress): string =>
  address.toByteArray().slice(12).join('.');

const v4Bits = 96; // number of bits before the IPv4 address in an IPv4-mapped address

export const isV4 = (address: IpAddress): boolean =>
  address.parts.slice(0, 6).join() === '0,0,0,0,0,65535';

const cidr = /^([^/]+)(?:\/(\d{1,3}))?$/;

/** Parses an address or a CIDR range; returns `null` for anything else. */
export function parseRange(text: string): AddressRange | null {
  const [, written = '', length] = cidr.exec(text) ?? [];
  const address = parseAddress(written);
  if (address === null) return null;
  const skipped = written.includes(':') ? 0 : v4Bits;
  const bits = length === undefined ? 128 : skipped + Number(length);
  // A shorter prefix of a mapped address would include IPv6 addresses.
  const minBits = isV4(address) ? v4Bits : 0;
  return bits >= minBits && bits <= 128 ? [address, bits] : null;
}

export const isWithin = (address: IpAddress, [first, bits]: AddressRange): boolean =>
  address.match(first, bits);

/** Non-public networks: IANA's special-purpose, multicast (RFC 5771), Azure's agent. */
const privateNetworks = toNetworks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]);

const usedNetworks = toNetworks(['::ffff:0:0/96', '2000::/3']);

/** NAT64 networks: the last 32 bits are the IPv4 address of the destination (RFC 6052). */
const translatedNetworks = toNetworks(['64:ff9b::/96']);

function toNetworks(written: readonly string[]): readonly AddressRange[] {
  return written.map((network) => {
    const range = parseRange(network);
    if (range === null) throw new Error(`${network} is not a network`);
    return range;
  });
}

/** Returns whether a text is a public address without a zone. For NAT64, checks the IPv4 part. */
export function isPublicAddress(text: string): boolean {
  const address = text.includes('%') ? null : parseAddress(text);
  if (address === null) return false;
  const isIn = (networks: readonly AddressRange[]) =>
    networks.some((network) => isWithin(address, network));
  if (isIn(translatedNetworks)) return isPublicAddress(toDottedEnd(address));
  return isIn(usedNetworks) && !isIn(privateNetworks);
}
