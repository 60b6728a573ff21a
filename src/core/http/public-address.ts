import {
  type AddressRange,
  isWithin,
  parseAddress,
  parseRange,
  toDottedEnd,
} from './ip-address.ts';

/**
 * IPv4 networks that are not on the public internet: IANA's IPv4 Special-Purpose Address Registry,
 * including those of its blocks that are reachable and serve no sites (AS112, AMT, 6to4 relays),
 * multicast (RFC 5771), and the address of Azure's machine agent, which lies in public space.
 */
const privateV4: readonly string[] = [
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
];

/**
 * IPv6 networks within `2000::/3` that are not public: IANA's IPv6 Special-Purpose Address Registry.
 * Protocol assignments with Teredo and ORCHID, documentation, 6to4, AS112.
 */
const privateV6: readonly string[] = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
];

const privateNetworks = toNetworks([...privateV4, ...privateV6]);

/** Mapped IPv4 addresses, and what IANA has given out for global unicast: the rest is reserved or unused. */
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

/**
 * Returns whether an IP address, written as the operating system and DNS write it, is on the public
 * internet. Text that is no address or has a zone is not. An IPv6 address that stands for an IPv4 one is
 * judged as that one.
 */
export function isPublicAddress(text: string): boolean {
  const address = text.includes('%') ? null : parseAddress(text);
  if (address === null) return false;
  const isIn = (networks: readonly AddressRange[]) =>
    networks.some((network) => isWithin(address, network));
  if (isIn(translatedNetworks)) return isPublicAddress(toDottedEnd(address));
  return isIn(usedNetworks) && !isIn(privateNetworks);
}
