import { BlockList } from 'node:net';
import { expect, it } from 'vitest';
import { isPublicAddress } from '../../../../src/lib/http/ip-address.ts';
import { fc, runs } from '../../../support/fast-check.ts';

/** Last address before each refused network, its first and last, and the address after it. */
type Edges = readonly (readonly [string | null, string, string, string | null])[];

const edgesV4: Edges = [
  [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.31.195.255', '192.31.196.0', '192.31.196.255', '192.31.197.0'],
  ['192.52.192.255', '192.52.193.0', '192.52.193.255', '192.52.194.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['192.175.47.255', '192.175.48.0', '192.175.48.255', '192.175.49.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['223.255.255.255', '224.0.0.0', '255.255.255.255', null],
];

const edgesV6: Edges = [
  [null, '::', '64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff', null],
  [null, '64:ff9b::1:0:0', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001::', '2001:1ff:ffff::', '2001:200::'],
  ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2001:ffff::1', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['2620:4f:7fff::1', '2620:4f:8000::', '2620:4f:8000:ffff::1', '2620:4f:8001::'],
  ['3ffe:ffff::1', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '4000::', 'ffff:ffff::ffff', null],
];

it.each([...edgesV4, ...edgesV6])(
  'accepts %s, refuses %s to %s, and accepts %s',
  (before, first, last, after) => {
    expect([first, last].filter(isPublicAddress)).toEqual([]);
    const beside = [before, after].filter((address) => address !== null);
    expect(beside.filter(isPublicAddress)).toEqual(beside);
  },
);

it.each([
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['loopback, written in full', '0:0:0:0:0:0:0:1'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['IPv4-compatible of a public address', '::93.184.216.34'],
  ['mapped loopback', '::ffff:127.0.0.1'],
  ['mapped loopback in groups', '::ffff:7f00:1'],
  ['mapped metadata', '::FFFF:169.254.169.254'],
  ['translated', '::ffff:0:127.0.0.1'],
  ['NAT64 of loopback', '64:ff9b::127.0.0.1'],
  ['NAT64 of metadata', '64:ff9b::a9fe:a9fe'],
  ['local NAT64', '64:ff9b:1::93.184.216.34'],
  ['discard only', '100::1'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['benchmarking', '2001:2::1'],
  ['ORCHID', '2001:10::1'],
  ['ORCHIDv2', '2001:20::1'],
  ['drone remote id', '2001:30::1'],
  ['6to4 of loopback', '2002:7f00:1::1'],
  ['6to4 of a public address', '2002:5db8:d822::1'],
  ['segment routing', '5f00::1'],
  ['unique local', 'fd00:ec2::254'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['public with a zone', '2606:2800:21f:cb07:6820:80da:af6b:8b2c%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['a name', 'social.example.com'],
  ['nothing', ''],
  ['in brackets', '[2606:4700::1111]'],
  ['octal', '0177.0.0.1'],
  ['octal of a public address', '0135.184.216.34'],
  ['decimal', '2130706433'],
  ['hexadecimal', '0x7f000001'],
  ['short', '127.1'],
  ['with a port', '93.184.216.34:443'],
  ['with a space', ' 93.184.216.34'],
])('refuses addresses of %s: %j', (_, address) => {
  expect(isPublicAddress(address)).toBe(false);
});

it.each([
  '93.184.216.34',
  '8.8.8.8',
  '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
  '2A00:1450:4001:82A::200E',
  '::ffff:93.184.216.34',
  '64:ff9b::93.184.216.34',
])('accepts %s', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

const v4 = fc.ipV4();
const toGroups = (address: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

it('judges the mapped and the NAT64 form of every IPv4 address by that address', () => {
  fc.assert(
    fc.property(v4, (address) => {
      const forms = ['::ffff:', '0:0:0:0:0:FFFF:', '64:ff9b::', '0064:ff9b:0:0:0:0:'].flatMap(
        (prefix) => [`${prefix}${address}`, `${prefix}${toGroups(address)}`],
      );
      expect(forms.map(isPublicAddress)).toEqual(forms.map(() => isPublicAddress(address)));
    }),
  );
});

it('refuses the 6to4, translated and compatible form of every IPv4 address', () => {
  fc.assert(
    fc.property(v4, (address) => {
      const groups = toGroups(address);
      const forms = [
        `2002:${groups}::1`,
        `::ffff:0:${groups}`,
        `::${groups}`,
        `64:ff9b:1::${groups}`,
      ];
      expect(forms.filter(isPublicAddress)).toEqual([]);
    }),
  );
});

it('agrees with the BlockList of node:net on IPv4', () => {
  const refused = new BlockList();
  for (const [, first, last] of edgesV4) refused.addRange(first, last);

  fc.assert(
    fc.property(v4, (address) => {
      expect(isPublicAddress(address)).toBe(!refused.check(address));
    }),
    { numRuns: runs(2000) },
  );
});

it('refuses every IPv6 address outside of 2000::/3 without an IPv4 address', () => {
  const carriers = new BlockList();
  carriers.addSubnet('2000::', 3, 'ipv6');
  carriers.addSubnet('64:ff9b::', 96, 'ipv6');
  carriers.addSubnet('::ffff:0:0', 96, 'ipv6');

  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      fc.pre(!carriers.check(address, 'ipv6'));
      expect(isPublicAddress(address)).toBe(false);
    }),
    { numRuns: runs(2000) },
  );
});
