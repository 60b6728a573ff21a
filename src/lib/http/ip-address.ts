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

const startOf = ({ parts }: IpAddress): string => parts.slice(0, 6).join();

export const isV4 = (address: IpAddress): boolean => startOf(address) === '0,0,0,0,0,65535';

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

const azureAgent = '168.63.129.16'; // a service of the host, at an address that is public elsewhere

const isPublicV4 = (dotted: string): boolean =>
  dotted !== azureAgent && ipaddr.IPv4.parse(dotted).range() === 'unicast';

/** Returns whether a text is a public address without a zone. For NAT64, checks the IPv4 part. */
export function isPublicAddress(text: string): boolean {
  const address = text.includes('%') ? null : parseAddress(text);
  if (address === null) return false;
  // The last 32 bits of a NAT64 address are the IPv4 address of the destination (RFC 6052).
  const isTranslated = startOf(address) === '100,65435,0,0,0,0'; // 64:ff9b::/96
  if (isV4(address) || isTranslated) return isPublicV4(toDottedEnd(address));
  const isGlobalUnicast = (address.parts[0] ?? 0) >> 13 === 1; // 2000::/3 (RFC 4291 §2.4)
  return isGlobalUnicast && address.range() === 'unicast';
}
