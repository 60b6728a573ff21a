import {
  type AddressRange,
  isWithin,
  parseAddress,
  parseRange,
  toDottedEnd,
} from './ip-address.ts';

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
