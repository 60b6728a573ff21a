import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IP address of either family; an IPv4 address is in its IPv4-mapped form (RFC 4291 §2.5.5.2). */
export type IpAddress = ipaddr.IPv6;

/** Range of addresses: its first address and the number of bits that all its addresses share. */
export type AddressRange = readonly [IpAddress, number];

/**
 * Parses an IP address without brackets or a port, and drops its zone; returns `null` for anything else. `node:net`
 * decides, because `ipaddr.js` also takes octal, hexadecimal and shortened IPv4 addresses.
 */
export function parseAddress(text: string): IpAddress | null {
  const family = isIP(text);
  if (family === 0) return null;
  if (family === 4) return ipaddr.IPv6.parse(`::ffff:${text}`);
  const [address = ''] = text.split('%', 1);
  // `ipaddr.js` takes `::192.0.2.1` for the mapped `::ffff:192.0.2.1`, but it is another address.
  return ipaddr.IPv6.parse(address.replace(/^::(?=\d+\.)/, '0:0:0:0:0:0:'));
}

/** Returns the last 32 bits of an address as an IPv4 address, `192.0.2.1`. */
export function toDottedEnd(address: IpAddress): string {
  return address.toByteArray().slice(12).join('.');
}

/** Number of bits that come before those of a mapped IPv4 address. */
const v4Bits = 96;

/** Returns whether an address is an IPv4 address. */
export function isV4(address: IpAddress): boolean {
  return address.parts.slice(0, 6).join() === '0,0,0,0,0,65535';
}

const cidr = /^([^/]+)(?:\/(\d{1,3}))?$/;

/** Parses an address or a CIDR range; returns `null` for anything else. */
export function parseRange(text: string): AddressRange | null {
  const [, written = '', length] = cidr.exec(text) ?? [];
  const address = parseAddress(written);
  if (address === null) return null;
  const skipped = written.includes(':') ? 0 : v4Bits;
  const bits = length === undefined ? 128 : skipped + Number(length);
  // A shorter prefix would add IPv6 addresses to what is written as an IPv4 range.
  const minBits = isV4(address) ? v4Bits : 0;
  return bits >= minBits && bits <= 128 ? [address, bits] : null;
}

/** Returns whether a range contains an address. */
export function isWithin(address: IpAddress, [first, bits]: AddressRange): boolean {
  return address.match(first, bits);
}
