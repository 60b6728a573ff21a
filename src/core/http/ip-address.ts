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
export const toDottedEnd = (address: IpAddress): string =>
  address.toByteArray().slice(12).join('.');

/** Number of bits that come before those of a mapped IPv4 address. */
const v4Bits = 96;

/** Returns whether an address is an IPv4 address. */
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
  // A shorter prefix would add IPv6 addresses to what is written as an IPv4 range.
  const minBits = isV4(address) ? v4Bits : 0;
  return bits >= minBits && bits <= 128 ? [address, bits] : null;
}

/** Returns whether a range contains an address. */
export const isWithin = (address: IpAddress, [first, bits]: AddressRange): boolean =>
  address.match(first, bits);

/**
 * Networks that are not on the public internet: IANA's IPv4 and IPv6 Special-Purpose Address Registries (the latter
 * within `2000::/3`), multicast (RFC 5771), and the address of Azure's machine agent.
 */
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

/** Mapped IPv4 addresses, and those of global unicast: the rest is reserved or unused. */
const usedNetworks = toNetworks(['::ffff:0:0/96', '2000::/3']);

/** Networks of NAT64, whose last 32 bits are the IPv4 address that is reached (RFC 6052). */
const translatedNetworks = toNetworks(['64:ff9b::/96']);

function toNetworks(written: readonly string[]): readonly AddressRange[] {
  return written.map((network) => {
    const range = parseRange(network);
    if (range === null) throw new Error(`${network} is not a network`);
    return range;
  });
}

/** Returns whether a text is an IP address on the public internet, without a zone. NAT64 counts as its IPv4 address. */
export function isPublicAddress(text: string): boolean {
  const address = text.includes('%') ? null : parseAddress(text);
  if (address === null) return false;
  const isIn = (networks: readonly AddressRange[]) =>
    networks.some((network) => isWithin(address, network));
  if (isIn(translatedNetworks)) return isPublicAddress(toDottedEnd(address));
  return isIn(usedNetworks) && !isIn(privateNetworks);
}
