import { describe, expect, it } from 'vitest';
import {
  createAddressReader,
  toClientAddress,
  trustedProxyFault,
} from '../../../src/access/client-address.ts';
import { fc, runs } from '../../support/fast-check.ts';

describe('the name of an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:0001:0002::', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['::203.0.113.7', '0:0:0:0'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0'],
    ['1:2:3:4:5:6:203.0.113.7', '1:2:3:4'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['fe80::1%25eth0', 'fe80:0:0:0'],
    ['[2001:db8::1]', '2001:db8:0:0'],
    ['[2001:db8::1]:443', '2001:db8:0:0'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['203.0.113.7:4711', '203.0.113.7'],
  ])('of %s is %s', (address, name) => {
    expect(toClientAddress(address)).toBe(name);
  });

  it.each([
    undefined,
    '',
    ' ',
    'unknown',
    '_hidden',
    'localhost',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.07',
    '203.0.113.7:',
    '203.0.113.7:123456',
    '203.0.113.7/24',
    ' 203.0.113.7',
    '2001:db8',
    '2001:db8::1::2',
    '2001:db8::12345',
    '[2001:db8::1',
    '[]',
    '[2001:db8::1]:',
    '1:2:3:4:5:6:7:8:9',
    '::ffff:203.0.113.256',
  ])('of %j is the common name for invalid addresses', (address) => {
    expect(toClientAddress(address)).toBe('unknown');
  });

  it('always has one of these forms', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[[\]0-9a-f:.%]{0,20}$/)), (written) => {
        expect(toClientAddress(written)).toMatch(
          /^(?:unknown|\d+(?:\.\d+){3}|[\da-f]{1,4}(?::[\da-f]{1,4}){3})$/,
        );
      }),
    );
  });
});

const group = fc.integer({ min: 0, max: 0xffff });
const groups = (count: number) => fc.array(group, { minLength: count, maxLength: count });
const isMapped = (all: readonly number[]) => all.slice(0, 6).join() === '0,0,0,0,0,65535';

/** Spellings of eight groups: padded, upper case, and with each run of zeros compressed. */
function spell(all: readonly number[]): readonly string[] {
  const short = all.map((one) => one.toString(16));
  const tail = all.slice(6).flatMap((one) => [one >> 8, one & 255]);
  const runs = all.flatMap((_, from) =>
    [...short.keys()]
      .filter((to) => to >= from && all.slice(from, to + 1).every((one) => one === 0))
      .map((to) => `${short.slice(0, from).join(':')}::${short.slice(to + 1).join(':')}`),
  );
  return [
    short.join(':'),
    short.map((one) => one.padStart(4, '0').toUpperCase()).join(':'),
    `${short.slice(0, 6).join(':')}:${tail.join('.')}`,
    ...runs,
  ];
}

describe('the name of a network', () => {
  it('is the same for every address of a /64', () => {
    fc.assert(
      fc.property(groups(4), groups(4), groups(4), (network, one, other) => {
        fc.pre(!isMapped([...network, ...one]) && !isMapped([...network, ...other]));
        const names = [one, other].map((host) =>
          toClientAddress([...network, ...host].map(toHex).join(':')),
        );

        expect(names).toEqual([name(network), name(network)]);
      }),
    );
  });

  it('differs for every other /64', () => {
    fc.assert(
      fc.property(groups(8), groups(8), (one, other) => {
        fc.pre(name(one.slice(0, 4)) !== name(other.slice(0, 4)));

        expect(toClientAddress(one.map(toHex).join(':'))).not.toBe(
          toClientAddress(other.map(toHex).join(':')),
        );
      }),
    );
  });

  it('is the same in every spelling of an address', () => {
    const sparse = fc.array(fc.oneof(fc.constant(0), group), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(sparse, (all) => {
        const names = spell(all).flatMap((spelt) =>
          [spelt, `[${spelt}]:443`, `${spelt}%en0`].map(toClientAddress),
        );

        expect(new Set(names).size).toBe(1);
      }),
    );
  });

  it('is a valid address within the network', () => {
    fc.assert(
      fc.property(groups(8), (all) => {
        fc.pre(!isMapped(all));
        const first = toClientAddress(all.map(toHex).join(':'));

        expect(toClientAddress(`${first}::`)).toBe(first);
      }),
    );
  });

  it('is the IPv4 address of a mapped address, in every spelling', () => {
    fc.assert(
      fc.property(groups(2), (last) => {
        const expected = last.flatMap((one) => [one >> 8, one & 255]).join('.');

        const names = spell([0, 0, 0, 0, 0, 0xffff, ...last]).map(toClientAddress);

        expect(new Set([...names, toClientAddress(expected)])).toEqual(new Set([expected]));
      }),
    );
  });
});

function toHex(one: number): string {
  return one.toString(16);
}

function name(network: readonly number[]): string {
  return network.map(toHex).join(':');
}

describe('an entry of PERCH_TRUST_PROXY', () => {
  it.each([
    'loopback',
    'LinkLocal',
    'uniquelocal',
    '10.0.0.1',
    '10.0.0.0/8',
    '10.1.2.3/8',
    '0.0.0.0/0',
    '::1',
    '2001:db8::/32',
    '::/0',
    '::ffff:10.0.0.1',
    '::ffff:10.0.0.0/104',
  ])('can be %s', (entry) => {
    expect(trustedProxyFault(entry)).toBeNull();
  });

  it.each([
    '',
    'true',
    'proxy.example.org',
    'constructor',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.0.0.1:80',
    '[::1]',
    '2001:db8::/129',
    '::ffff:10.0.0.0/95',
    '10.0.0.0 /8',
  ])('cannot be %j', (entry) => {
    expect(trustedProxyFault(entry)).toBe(
      `must be a comma-separated list of IP addresses, CIDR ranges or loopback, linklocal, uniquelocal, not “${entry}”`,
    );
  });
});

function read(
  peer: string | undefined,
  forwarded: string | undefined,
  trusted: readonly string[],
): { readonly name: string; readonly isIgnored: boolean } {
  let isIgnored = false;
  const addressOf = createAddressReader({
    trusted,
    onIgnored: () => {
      isIgnored = true;
    },
  });
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { name: addressOf({ socket: { remoteAddress: peer }, headers }), isIgnored };
}

describe('a request through proxies', () => {
  const trusted = ['loopback', '10.0.0.0/8', '2001:db8:aaaa::/48'];

  it.each([
    ['one proxy', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['a proxy of a dual-stack socket', '::ffff:127.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['an IPv6 proxy', '2001:db8:aaaa::1', '2001:db8:1:2::3', '2001:db8:1:2'],
    ['two proxies', '127.0.0.1', '203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['a port', '127.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
    ['brackets and a port', '127.0.0.1', '"[2001:db8::1]:443"', '127.0.0.1'],
    ['brackets', '127.0.0.1', '[2001:db8::1]:443', '2001:db8:0:0'],
    ['something that the client wrote', '127.0.0.1', '192.0.2.1, 203.0.113.7', '203.0.113.7'],
    [
      'a trusted address that the client wrote',
      '127.0.0.1',
      '10.9.9.9, 203.0.113.7',
      '203.0.113.7',
    ],
    ['proxies alone', '127.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['garbage before a proxy', '127.0.0.1', 'garbage, 10.0.0.2', '10.0.0.2'],
    ['garbage', '127.0.0.1', '203.0.113.7, garbage', '127.0.0.1'],
    ['nothing', '127.0.0.1', '', '127.0.0.1'],
    ['commas', '127.0.0.1', ',,', '127.0.0.1'],
    ['an empty entry', '127.0.0.1', '203.0.113.7,,10.0.0.2', '10.0.0.2'],
    ['a leading comma', '127.0.0.1', ',10.0.0.2', '10.0.0.2'],
  ])('has the address after %s', (_what, peer, forwarded, expected) => {
    expect(read(peer, forwarded, trusted)).toEqual({ name: expected, isIgnored: false });
  });

  it('is followed for up to 32 entries', () => {
    const proxies = Array.from({ length: 31 }, (_, n) => `10.0.0.${n}`).join(', ');

    expect(read('10.1.1.1', `203.0.113.7, ${proxies}`, trusted).name).toBe('203.0.113.7');
    expect(read('10.1.1.1', `203.0.113.7, 10.0.1.1, ${proxies}`, trusted).name).toBe('10.0.1.1');
  });

  it('is parsed for each header, also repeatedly', () => {
    const addressOf = createAddressReader({ trusted, onIgnored: () => undefined });
    const socket = { remoteAddress: '127.0.0.1' };
    const ask = (forwarded: string) =>
      addressOf({ socket, headers: { 'x-forwarded-for': forwarded } });

    const results = ['203.0.113.7', '203.0.113.8', 'garbage', '203.0.113.7', 'garbage'].map(ask);

    expect(results).toEqual([
      '203.0.113.7',
      '203.0.113.8',
      '127.0.0.1',
      '203.0.113.7',
      '127.0.0.1',
    ]);
    expect(addressOf({ socket, headers: {} })).toBe('127.0.0.1');
  });

  it('does not use the cached proxy of another header', () => {
    const addressOf = createAddressReader({ trusted, onIgnored: () => undefined });
    const headers = { 'x-forwarded-for': 'garbage' };

    const names = ['127.0.0.1', '10.0.0.1'].map((remoteAddress) =>
      addressOf({ socket: { remoteAddress }, headers }),
    );

    expect(names).toEqual(['127.0.0.1', '10.0.0.1']);
  });
});

describe('a header from an untrusted peer', () => {
  it.each([
    ['without trusted proxies', '127.0.0.1', []],
    ['from an address that is none', '203.0.113.9', ['loopback']],
    ['from no address at all', undefined, ['0.0.0.0/0', '::/0']],
  ])('is ignored %s', (_when, peer, trusted) => {
    expect(read(peer, '192.0.2.1', trusted)).toEqual({
      name: toClientAddress(peer),
      isIgnored: true,
    });
  });

  it('never changes the name', () => {
    const forwarded = fc.oneof(
      fc.string(),
      fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())).map((entries) => entries.join(', ')),
    );
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), forwarded, (peer, header) => {
        expect(read(peer, header, []).name).toBe(toClientAddress(peer));
      }),
    );
  });

  it('never changes the name behind a proxy, regardless of the entries that the client adds', () => {
    const client = fc.integer({ min: 1, max: 254 }).map((n) => `203.0.113.${n}`);
    fc.assert(
      fc.property(client, fc.string(), (address, written) => {
        expect(read('10.0.0.1', `${written}, ${address}`, ['10.0.0.1']).name).toBe(address);
      }),
    );
  });

  it('is reported once', () => {
    let times = 0;
    const addressOf = createAddressReader({
      trusted: ['loopback'],
      onIgnored: () => {
        times += 1;
      },
    });

    addressOf({ socket: { remoteAddress: '203.0.113.9' }, headers: {} });
    expect(times).toBe(0);
    for (const remoteAddress of ['203.0.113.9', '203.0.113.9', '203.0.113.10', '127.0.0.1']) {
      addressOf({ socket: { remoteAddress }, headers: { 'x-forwarded-for': '192.0.2.1' } });
    }

    expect(times).toBe(1);
  });
});

describe('a range of proxies', () => {
  const shares = (one: readonly number[], other: readonly number[], bits: number): boolean => {
    const toBits = (all: readonly number[]) =>
      all.map((part) => part.toString(2).padStart(all.length === 8 ? 16 : 8, '0')).join('');
    return toBits(one).slice(0, bits) === toBits(other).slice(0, bits);
  };
  /** An address near another one, so that both results occur. */
  const near = (bits: number, all: readonly number[], [place, flip]: readonly [number, number]) => {
    const width = bits / all.length;
    const at = place % bits;
    return all.map((part, n) =>
      n === Math.floor(at / width) ? part ^ ((1 << (width - 1 - (at % width))) * (flip % 2)) : part,
    );
  };
  const isTrusted = (peer: string, entry: string) =>
    !read(peer, '198.51.100.200', [entry]).isIgnored;

  it('contains the IPv4 addresses that share its prefix', () => {
    const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(octets, fc.nat(32), fc.tuple(fc.nat(31), fc.nat(1)), (all, bits, change) => {
        const other = near(32, all, change);
        const entry = `${all.join('.')}/${bits}`;

        const found = [other.join('.'), `::ffff:${other.join('.')}`].map((a) =>
          isTrusted(a, entry),
        );

        expect(found).toEqual(Array(2).fill(shares(all, other, bits)));
        expect(isTrusted(other.join('.'), `::ffff:${all.join('.')}/${96 + bits}`)).toBe(found[0]);
      }),
      { numRuns: runs(500) },
    );
  });

  it('contains the IPv6 addresses that share its prefix', () => {
    fc.assert(
      fc.property(groups(8), fc.nat(128), fc.tuple(fc.nat(127), fc.nat(1)), (all, bits, change) => {
        const other = near(128, all, change);
        fc.pre(!isMapped(all) && !isMapped(other));

        expect(isTrusted(name(other), `${name(all)}/${bits}`)).toBe(shares(all, other, bits));
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ['loopback', ['127.0.0.1', '127.255.0.1', '::1'], ['128.0.0.1', '::2', '10.0.0.1']],
    ['linklocal', ['169.254.1.1', 'fe80::1', 'febf::1'], ['169.255.0.1', 'fec0::1']],
    [
      'uniquelocal',
      ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fdff::1'],
      ['11.0.0.1', '172.32.0.1', '192.169.0.1', 'fe00::1', '127.0.0.1'],
    ],
  ])('has the name %s', (entry, inside, outside) => {
    expect(inside.filter((address) => !isTrusted(address, entry))).toEqual([]);
    expect(outside.filter((address) => isTrusted(address, entry))).toEqual([]);
  });

  it('cannot be trusted if it is invalid', () => {
    expect(() => createAddressReader({ trusted: ['nope'], onIgnored: () => undefined })).toThrow(
      'nope is not an address or a range of proxies.',
    );
  });
});
