import { Agent, get } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createFakeList, fullPages } from '../support/fake-list.ts';
import { type ClientRequest, readRateLimit, requestFrom } from '../support/rate-limit.ts';
import { spawnPerch } from '../support/spawn-perch.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

const warning = /X-Forwarded-For/;

/** Builds an app with an allowance of 50. Returns it with its log lines about `X-Forwarded-For`. */
async function setUp(env: Readonly<Record<string, string>> = {}) {
  const warnings: string[] = [];
  const app = await buildTestApp({
    providers: [
      createFakeList(3, fullPages).provider,
      createStubProvider('posts', async ({ post }) => stubFound(stubPost(post.id))),
    ],
    onLog: (line) => {
      if (warning.test(line)) warnings.push(line);
    },
    env: { PERCH_PUBLIC_ALLOWANCE: '50', ...env },
  });
  return { app, warnings };
}

/** Sends a read with `X-Forwarded-For` headers, and returns the remaining units of the client. */
type ReadRemaining = (
  forwarded: string | readonly string[] | null,
  url?: string,
) => Promise<number>;

/** Starts an app on loopback, with a function for reads over its socket. */
async function startApp(env: Readonly<Record<string, string>> = {}) {
  const { app, warnings } = await setUp(env);
  const address = await app.server.listen({ host: '127.0.0.1', port: 0 });
  return { warnings, address, remainingAfter: createReader(address) };
}

function createReader(address: string, agent: Agent | false = false): ReadRemaining {
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

/** Sends the reads in order, and returns the remaining units after each. */
async function remainingAfterEach(
  remainingAfter: ReadRemaining,
  forwarded: readonly Parameters<ReadRemaining>[0][],
): Promise<number[]> {
  const found: number[] = [];
  for (const one of forwarded) found.push(await remainingAfter(one));
  return found;
}

describe('the client address without a trusted proxy', () => {
  clause('read.limits.public_allowance_search_and_browse')(
    'is the socket address, and the ignored header is logged once',
    async () => {
      const { remainingAfter, warnings } = await startApp();

      const found = await remainingAfterEach(remainingAfter, [
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

  it('logs one warning for many concurrent requests', async () => {
    const { remainingAfter, warnings } = await startApp();

    const found = await Promise.all(
      Array.from({ length: 20 }, (_, index) => remainingAfter(`203.0.113.${index}`)),
    );

    // A response has the remaining units at the time of sending, which can include concurrent reads.
    expect(Math.min(...found)).toBe(50 - 20);
    expect(warnings).toHaveLength(1);
  });

  it('logs no warning without the header', async () => {
    const { remainingAfter, warnings } = await startApp();

    expect(await remainingAfterEach(remainingAfter, [null, null])).toEqual([49, 48]);
    expect(warnings).toEqual([]);
  });

  it('is the socket address if only other proxies are trusted', async () => {
    const { remainingAfter, warnings } = await startApp({
      PERCH_TRUST_PROXY: '192.0.2.0/24, 2001:db8::/32',
    });

    expect(await remainingAfterEach(remainingAfter, ['203.0.113.1', '203.0.113.2'])).toEqual([
      49, 48,
    ]);
    expect(warnings).toHaveLength(1);
  });

  it('is the same for all requests on a connection', async () => {
    const { address } = await startApp();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());

    const found = await remainingAfterEach(createReader(address, agent), [
      '203.0.113.1',
      null,
      '203.0.113.2',
    ]);

    expect(found).toEqual([49, 48, 47]);
  });
});

describe('the client address behind a trusted proxy', () => {
  const env = { PERCH_TRUST_PROXY: 'loopback' };

  clause('read.limits.public_allowance_search_and_browse')(
    'is the address that the proxy has added, and each address has its own allowance',
    async () => {
      const { remainingAfter, warnings } = await startApp(env);

      const found = await remainingAfterEach(remainingAfter, [
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

  it('is never an entry that the client has sent', async () => {
    const { remainingAfter } = await startApp(env);

    const found = await remainingAfterEach(remainingAfter, [
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

  it('is found behind several trusted proxies', async () => {
    const { remainingAfter } = await startApp({ PERCH_TRUST_PROXY: 'loopback,10.0.0.0/8' });

    const found = await remainingAfterEach(remainingAfter, [
      '203.0.113.1, 10.1.2.3',
      '198.51.100.9, 203.0.113.1, 10.9.9.9, 10.1.2.3',
      '203.0.113.1, 192.168.1.1, 10.1.2.3',
      '203.0.113.1, nonsense, 10.1.2.3',
      '10.1.2.3',
    ]);

    expect(found).toEqual([49, 48, 49, 49, 48]);
  });

  it('is the /64 network of an IPv6 address', async () => {
    const { remainingAfter } = await startApp(env);

    const found = await remainingAfterEach(remainingAfter, [
      '2001:db8:1:2::1',
      '2001:db8:1:2:ffff:ffff:ffff:ffff',
      '[2001:DB8:1:2:3::9]:443',
      '2001:0db8:0001:0002::7',
      '2001:db8:1:3::1',
      '2001:db8:1:2::1',
    ]);

    expect(found).toEqual([49, 48, 47, 46, 49, 45]);
  });

  it('is the address of the proxy if the header is invalid', async () => {
    const { remainingAfter } = await startApp(env);

    expect(
      await remainingAfterEach(remainingAfter, ['nonsense', null, '', '999.1.1.1', '203.0.113.1']),
    ).toEqual([49, 48, 47, 46, 49]);
  });

  it('applies to post allowances too', async () => {
    const { remainingAfter } = await startApp({ ...env, PERCH_POST_ALLOWANCE: '7' });
    const read = (forwarded: string) => remainingAfter(forwarded, '/wren/status/20?nocache=true');

    const found = [
      await read('203.0.113.1'),
      await read('203.0.113.2'),
      await read('198.51.100.1, 203.0.113.1'),
    ];

    expect(found).toEqual([6, 6, 5]);
  });
});

describe('the socket address', () => {
  /** Sends a read from each socket address in order, and returns the remaining units after each. */
  async function remainingFor(
    sockets: readonly string[],
    asking: ClientRequest = {},
  ): Promise<number[]> {
    const { app } = await setUp({ PERCH_TRUST_PROXY: '192.0.2.99' });
    const found: number[] = [];
    for (const from of sockets) {
      const reply = await requestFrom(app, '/search?q=fog&nocache=true', { ...asking, from });
      found.push(readRateLimit(reply).remaining);
    }
    return found;
  }

  it('identifies an IPv4 address and its IPv6-mapped form as one client', async () => {
    const sockets = ['192.0.2.1', '192.0.2.2', '::ffff:192.0.2.1', '::ffff:c000:201'];

    expect(await remainingFor(sockets)).toEqual([49, 49, 48, 47]);
  });

  it('identifies each IPv6 /64 network as one client', async () => {
    const sockets = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', 'fe80::1%eth0', 'fe80::2'];

    expect(await remainingFor(sockets)).toEqual([49, 48, 49, 49, 48]);
  });

  it('allows forwarding only from a trusted proxy', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.1' };
    const sockets = ['192.0.2.99', '192.0.2.98', '192.0.2.99', '::ffff:192.0.2.99'];

    expect(await remainingFor(sockets, { headers })).toEqual([49, 49, 48, 47]);
  });
});

it('logs one warning about the ignored header when run with perch serve', async () => {
  const perch = spawnPerch(['serve'], {
    PORT: '0',
    LOG_LEVEL: 'info',
    PERCH_PROVIDERS: 'archive',
    PERCH_PUBLIC_ALLOWANCE: '50',
  });
  const [, address = ''] = await perch.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
  const remainingAfter = createReader(address);

  const found = await remainingAfterEach(remainingAfter, [
    '203.0.113.1',
    '203.0.113.2',
    '203.0.113.3',
  ]);
  perch.kill('SIGTERM');
  const { code, stdout, stderr } = await perch.ended;

  expect(found).toEqual([49, 48, 47]);
  expect(code).toBe(0);
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => warning.test(line));
  expect(lines).toHaveLength(1);
});
