import { Agent, get } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createFakeList, steady } from '../support/fake-list.ts';
import { type Asking, askFrom, readRateLimit } from '../support/rate-limit.ts';
import { spawnPerch } from '../support/spawn-perch.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

const warning = /X-Forwarded-For/;

/** An app with an allowance of 50, and its log lines about the header. */
async function setUp(env: Readonly<Record<string, string>> = {}) {
  const warnings: string[] = [];
  const app = await buildTestApp({
    providers: [
      createFakeList(3, steady).provider,
      createStubProvider('posts', async ({ post }) => stubFound(stubPost(post.id))),
    ],
    onLog: (line) => {
      if (warning.test(line)) warnings.push(line);
    },
    env: { PERCH_PUBLIC_ALLOWANCE: '50', ...env },
  });
  return { app, warnings };
}

/** Remaining units of the client of a reply. */
type Left = (forwarded: string | readonly string[] | null, url?: string) => Promise<number>;

/** Makes an app listen on loopback, and returns the remaining units after reads over its socket. */
async function listening(env: Readonly<Record<string, string>> = {}) {
  const { app, warnings } = await setUp(env);
  const address = await app.server.listen({ host: '127.0.0.1', port: 0 });
  return { warnings, address, left: readLeft(address) };
}

function readLeft(address: string, agent: Agent | false = false): Left {
  return (forwarded, url = '/search?q=fog&nocache=true') =>
    new Promise((resolve, reject) => {
      const headers = forwarded === null ? {} : { 'x-forwarded-for': forwarded };
      // Node takes an array for a header that is sent several times.
      const options = { agent, headers: headers as Record<string, string | string[]> };
      const request = get(`${address}${url}`, options, (response) => {
        response.resume();
        response.on('end', () => resolve(readRateLimit(response).remaining));
      });
      request.on('error', reject);
    });
}

/** Sends reads in order, and returns the remaining units after each. */
async function leftAfter(left: Left, forwarded: readonly Parameters<Left>[0][]): Promise<number[]> {
  const found: number[] = [];
  for (const one of forwarded) found.push(await left(one));
  return found;
}

describe('the address of a client that connects directly', () => {
  clause(
    'read.limits.public_allowance_search_and_browse',
    'is the address of the socket, with one warning about forwarded headers',
    async () => {
      const { left, warnings } = await listening();

      const found = await leftAfter(left, [
        null,
        '203.0.113.1',
        '203.0.113.2, 203.0.113.3',
        '127.0.0.1',
        'nonsense',
        '',
        ['203.0.113.4', '203.0.113.5'],
        null,
      ]);

      expect(found).toEqual([49, 48, 47, 46, 45, 44, 43, 42]);
      expect(warnings).toHaveLength(1);
      expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ level: 40 });
      expect(warnings[0]).not.toMatch(/203\.0\.113|127\.0\.0\.1/);
    },
  );

  it('causes one warning for many concurrent requests', async () => {
    const { left, warnings } = await listening();

    const found = await Promise.all(
      Array.from({ length: 20 }, (_, index) => left(`203.0.113.${index}`)),
    );

    // A reply tells what is left when it is sent: reads beside it may have been counted by then.
    expect(Math.min(...found)).toBe(50 - 20);
    expect(warnings).toHaveLength(1);
  });

  it('causes no warning without forwarded headers', async () => {
    const { left, warnings } = await listening();

    expect(await leftAfter(left, [null, null])).toEqual([49, 48]);
    expect(warnings).toEqual([]);
  });

  it('is the address of the socket if only another proxy is trusted', async () => {
    const { left, warnings } = await listening({
      PERCH_TRUST_PROXY: '192.0.2.0/24, 2001:db8::/32',
    });

    expect(await leftAfter(left, ['203.0.113.1', '203.0.113.2'])).toEqual([49, 48]);
    expect(warnings).toHaveLength(1);
  });

  it('is the same for all requests of a connection', async () => {
    const { address } = await listening();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());

    const found = await leftAfter(readLeft(address, agent), ['203.0.113.1', null, '203.0.113.2']);

    expect(found).toEqual([49, 48, 47]);
  });
});

describe('the address of a client behind a trusted proxy', () => {
  const env = { PERCH_TRUST_PROXY: 'loopback' };

  clause(
    'read.limits.public_allowance_search_and_browse',
    'is the address that the proxy has written, with its own allowance',
    async () => {
      const { left, warnings } = await listening(env);

      const found = await leftAfter(left, [
        '203.0.113.1',
        '203.0.113.2',
        '203.0.113.1',
        null,
        '203.0.113.1:4711',
        '::ffff:203.0.113.1',
        null,
      ]);

      expect(found).toEqual([49, 49, 48, 49, 47, 46, 48]);
      expect(warnings).toEqual([]);
    },
  );

  it('ignores entries that the client has added', async () => {
    const { left } = await listening(env);

    const found = await leftAfter(left, [
      '203.0.113.1',
      '198.51.100.1, 203.0.113.1',
      '198.51.100.2,198.51.100.3 , 203.0.113.1',
      'nonsense, 203.0.113.1',
      '127.0.0.1, 203.0.113.1',
      ['198.51.100.4', '203.0.113.1'],
      '198.51.100.1',
    ]);

    expect(found).toEqual([49, 48, 47, 46, 45, 44, 49]);
  });

  it('is found through several trusted proxies', async () => {
    const { left } = await listening({ PERCH_TRUST_PROXY: 'loopback,10.0.0.0/8' });

    const found = await leftAfter(left, [
      '203.0.113.1, 10.1.2.3',
      '198.51.100.9, 203.0.113.1, 10.9.9.9, 10.1.2.3',
      '203.0.113.1, 192.168.1.1, 10.1.2.3',
      '203.0.113.1, nonsense, 10.1.2.3',
      '10.1.2.3',
    ]);

    expect(found).toEqual([49, 48, 49, 49, 48]);
  });

  it('is the /64 of an IPv6 address', async () => {
    const { left } = await listening(env);

    const found = await leftAfter(left, [
      '2001:db8:1:2::1',
      '2001:db8:1:2:ffff:ffff:ffff:ffff',
      '[2001:DB8:1:2:3::9]:443',
      '2001:0db8:0001:0002::7',
      '2001:db8:1:3::1',
      '2001:db8:1:2::1',
    ]);

    expect(found).toEqual([49, 48, 47, 46, 49, 45]);
  });

  it('is the proxy’s own address if the proxy has written something invalid', async () => {
    const { left } = await listening(env);

    expect(await leftAfter(left, ['nonsense', null, '', '999.1.1.1', '203.0.113.1'])).toEqual([
      49, 48, 47, 46, 49,
    ]);
  });

  it('determines the allowance for posts in the same way', async () => {
    const { left } = await listening({ ...env, PERCH_POST_ALLOWANCE: '7' });
    const read = (forwarded: string) => left(forwarded, '/wren/status/20?nocache=true');

    const found = [
      await read('203.0.113.1'),
      await read('203.0.113.2'),
      await read('198.51.100.1, 203.0.113.1'),
    ];

    expect(found).toEqual([6, 6, 5]);
  });
});

describe('the address of a socket', () => {
  /** Remaining units after a read by each of these, in order. */
  async function leftTo(sockets: readonly string[], asking: Asking = {}): Promise<number[]> {
    const { app } = await setUp({ PERCH_TRUST_PROXY: '192.0.2.99' });
    const found: number[] = [];
    for (const from of sockets) {
      const reply = await askFrom(app, '/search?q=fog&nocache=true', { ...asking, from });
      found.push(readRateLimit(reply).remaining);
    }
    return found;
  }

  it('counts each IPv4 address as one client, mapped or not', async () => {
    const sockets = ['192.0.2.1', '192.0.2.2', '::ffff:192.0.2.1', '::ffff:c000:201'];

    expect(await leftTo(sockets)).toEqual([49, 49, 48, 47]);
  });

  it('counts each IPv6 /64 as one client', async () => {
    const sockets = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', 'fe80::1%eth0', 'fe80::2'];

    expect(await leftTo(sockets)).toEqual([49, 48, 49, 49, 48]);
  });

  it('may forward only if it belongs to a trusted proxy', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.1' };
    const sockets = ['192.0.2.99', '192.0.2.98', '192.0.2.99', '::ffff:192.0.2.99'];

    expect(await leftTo(sockets, { headers })).toEqual([49, 49, 48, 47]);
  });
});

it('a started server warns once about untrusted forwarded headers', async () => {
  const perch = spawnPerch(['serve'], {
    PORT: '0',
    LOG_LEVEL: 'info',
    PERCH_PROVIDERS: 'archive',
    PERCH_PUBLIC_ALLOWANCE: '50',
  });
  const [, address = ''] = await perch.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
  const left = readLeft(address);

  const found = await leftAfter(left, ['203.0.113.1', '203.0.113.2', '203.0.113.3']);
  perch.kill('SIGTERM');
  const { code, stdout, stderr } = await perch.ended;

  expect(found).toEqual([49, 48, 47]);
  expect(code).toBe(0);
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => warning.test(line));
  expect(lines).toHaveLength(1);
});
