import { isIPv4, isIPv6 } from 'node:net';

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

/** What IANA has given out for global unicast: whatever lies outside is private, reserved or unused. */
const globalV6 = '2000::/3';

/**
 * IPv6 networks within `globalV6` that are not public: IANA's IPv6 Special-Purpose Address Registry.
 * Protocol assignments with Teredo and ORCHID, documentation, 6to4, AS112.
 */
const privateV6: readonly string[] = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
];

/** Networks whose last 32 bits are the IPv4 address that is reached: mapped, and NAT64 (RFC 6052). */
const carriersOfV4: readonly string[] = ['::ffff:0:0/96', '64:ff9b::/96'];

/**
 * Tells whether an IP address, written as the operating system and DNS write it, is on the public
 * internet. What is no address, or has a zone, is not. An IPv6 address that stands for an IPv4 one is
 * judged as that one.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return isPublicV4(parseV4(address));
  if (!isIPv6(address) || address.includes('%')) return false;
  const bits = parseV6(address);
  if (carriersOfV4.some((network) => isWithinV6(bits, network))) {
    return isPublicV4(Number(bits & 0xffffffffn));
  }
  return isWithinV6(bits, globalV6) && !privateV6.some((network) => isWithinV6(bits, network));
}

function isPublicV4(bits: number): boolean {
  return !privateV4.some((network) => {
    const [start = '', length = ''] = network.split('/');
    const size = 2 ** (32 - Number(length));
    return Math.floor(bits / size) === Math.floor(parseV4(start) / size);
  });
}

function isWithinV6(bits: bigint, network: string): boolean {
  const [start = '', length = ''] = network.split('/');
  const shift = 128n - BigInt(length);
  return bits >> shift === parseV6(start) >> shift;
}

function parseV4(text: string): number {
  return text.split('.').reduce((bits, part) => bits * 256 + Number(part), 0);
}

/** Reads what `isIPv6` accepts, without a zone (RFC 4291 §2.2). */
function parseV6(text: string): bigint {
  const [head = '', tail] = withoutDots(text).split('::');
  const before = splitGroups(head);
  const after = splitGroups(tail ?? '');
  const gap = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...gap, ...after].reduce(
    (bits, group) => (bits << 16n) | BigInt(`0x${group}`),
    0n,
  );
}

function splitGroups(text: string): readonly string[] {
  return text === '' ? [] : text.split(':');
}

/** Writes a dotted end, as in `::ffff:127.0.0.1`, as two groups. */
function withoutDots(text: string): string {
  const at = text.lastIndexOf(':') + 1;
  const end = text.slice(at);
  if (!end.includes('.')) return text;
  const bits = parseV4(end);
  const groups = [Math.floor(bits / 65_536), bits % 65_536];
  return text.slice(0, at) + groups.map((group) => group.toString(16)).join(':');
}
