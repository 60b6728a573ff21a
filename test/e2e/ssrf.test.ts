import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type HttpClient, HttpFailure } from '../../src/lib/http/http-client.ts';
import { maxJsonDelimiters } from '../../src/lib/http/json-bodies.ts';
import { openPublicHttpClient } from '../../src/lib/http/public-http-client.ts';
import type { PublicHttpOptions } from '../../src/lib/http/public-network.ts';
import { parseUrl } from '../../src/lib/http/url.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { createHeavyTurns, createServerLoop } from '../../src/lib/scheduling/fair-queue.ts';
import {
  type FakeInternet,
  type FakeName,
  openFakeInternet,
  siteAddresses,
} from '../support/fake-internet.ts';
import {
  answerJson,
  answerRedirect,
  answerText,
  resetConnection,
} from '../support/fake-upstream.ts';
import { hostileAnswers, hostileAuthorities } from '../support/hostile-hosts.ts';

const host = 'social.example.com';
const [siteV4, siteV6] = siteAddresses;
const clock = systemClock;

function openClient(network?: PublicHttpOptions, maxBytes = 65_536): HttpClient {
  const limits = { connectTimeoutMs: 20_000, attemptTimeoutMs: 30_000, maxBytes };
  const options = {
    ...limits,
    userAgent: 'Perch tests',
    clock,
    random: systemRandom,
    heavyTurns: createHeavyTurns(createServerLoop()),
  };
  const client = openPublicHttpClient(options, network);
  onTestFinished(() => client.close());
  return client;
}

async function ask(client: HttpClient, url: string): Promise<string> {
  if (parseUrl(url) === null) return 'no URL';
  try {
    const signal = new AbortController().signal;
    return (await client.get(new URL(url), { signal })).text;
  } catch (error) {
    return error instanceof HttpFailure ? error.kind : String(error);
  }
}

/** The site responds with the requested path; paths below `/to/` redirect to the rest. */
function openInternet(names: Readonly<Record<string, FakeName>>): Promise<FakeInternet> {
  return openFakeInternet(names, ({ url = '' }, response) => {
    // Each request has a connection of its own, so that each is judged.
    response.setHeader('connection', 'close');
    if (url.startsWith('/to/')) answerRedirect(response, toHeader(url.slice(4)));
    else answerJson(response, url);
  });
}

/** Returns the header for an encoded URL; non-ASCII characters are sent as UTF-8. */
function toHeader(encoded: string): string {
  return Buffer.from(decodeURIComponent(encoded)).toString('latin1');
}

/** Checks that only the site was contacted. */
function expectNothingReached({ trap, connectedTo }: FakeInternet): void {
  const astray = connectedTo.filter(
    (target) => target !== `${siteV4} 443` && target !== `${siteV6} 443`,
  );
  expect(astray).toEqual([]);
  expect(trap.connections).toBe(0);
}

describe('a host from a request', () => {
  it.each([
    ['by its IPv4 address', [siteV4]],
    ['by its IPv6 address', [siteV6]],
    ['by the mapped form of its address', [`::ffff:${siteV4}`]],
    ['by all of its addresses', [...siteAddresses]],
  ])('is contacted %s, if it is public', async (_, addresses) => {
    const internet = await openInternet({ [host]: addresses });

    const answer = await ask(openClient(withMapped(internet)), `https://${host}:443/api?q=1`);

    expect(answer).toBe('"/api?q=1"');
    expect(internet.site.requests).toHaveLength(1);
    expect(internet.site.requests[0]?.headers.host).toBe(host);
    expect(internet.connectedTo).toHaveLength(1);
    expect(internet.lookedUp).toEqual([host]);
  });

  it('is contacted by its names in any case and script', async () => {
    const internet = await openInternet({
      [host]: [siteV4],
      'xn--mnchen-3ya.example.com': [siteV4],
    });
    const client = openClient(internet);

    expect(await ask(client, 'https://SOCIAL.Example.com/a')).toBe('"/a"');
    expect(await ask(client, 'https://ｓｏｃｉａｌ.example.com/b')).toBe('"/b"');
    expect(await ask(client, 'https://münchen.example.com/c')).toBe('"/c"');
  });

  it.each(hostileAuthorities)('is not contacted when it is %s: %s', async (_, authority) => {
    // Every name exists here, so that only the form of a name can refuse it.
    const names = new Proxy<Record<string, FakeName>>({}, { getOwnPropertyDescriptor: anyName });
    const internet = await openInternet(names);
    const client = openClient(internet);

    expect(await ask(client, `https://${authority}/`)).toMatch(/^(?:refused|no URL)$/);

    expect(internet.lookedUp).toEqual([]);
    expect(internet.connectedTo).toEqual([]);
    expect(internet.trap.connections).toBe(0);
  });

  it.each(hostileAuthorities)('leads nowhere by a redirect to %s: %s', async (_, authority) => {
    const internet = await openInternet({ [host]: [siteV4] });
    const client = openClient(internet);

    const target = encodeURIComponent(`https://${authority}/secret`);
    const answer = await ask(client, `https://${host}/to/${target}`);

    // What is no URL, as names beyond ASCII in a header, is no redirect: that answer has no body.
    expect(['redirect', 'refused', '']).toContain(answer);
    expect(internet.site.requests).toHaveLength(1);
    expect(internet.lookedUp).toEqual([host]);
    expectNothingReached(internet);
  });

  it.each(hostileAnswers)('is not contacted when it resolves to %s: %s', async (_, addresses) => {
    const internet = await openInternet({ [host]: addresses });

    expect(await ask(openClient(internet), `https://${host}/`)).toBe('refused');

    expect(internet.lookedUp).toEqual([host]);
    expect(internet.connectedTo).toEqual([]);
    expect(internet.trap.connections).toBe(0);
  });

  it.each(hostileAnswers)(
    'is not contacted a second time when it resolves to %s by then: %s',
    async (_, addresses) => {
      const internet = await openInternet({ [host]: (nth) => (nth === 0 ? [siteV4] : addresses) });
      const client = openClient(internet);

      expect(await ask(client, `https://${host}/`)).toBe('"/"');
      expect(await ask(client, `https://${host}/`)).toBe('refused');

      expect(internet.lookedUp).toEqual([host, host]);
      expect(internet.site.requests).toHaveLength(1);
      expectNothingReached(internet);
    },
  );
});

describe('a body from a host in a request', () => {
  const mebibyte = 1_048_576;

  /** Requests bodies of two sizes, and returns the number of bytes, or the kind of the failure. */
  async function askSizes(sizes: readonly number[], maxBytes: number, fill = 'x') {
    const internet = await openFakeInternet({ [host]: [siteV4] }, ({ url = '' }, response) =>
      answerText(response, { type: 'application/json', text: fill.repeat(Number(url.slice(1))) }),
    );
    const client = openClient(internet, maxBytes);
    const answers: (number | string)[] = [];
    for (const size of sizes) {
      const answer = await ask(client, `https://${host}/${size}`);
      answers.push(answer === 'too_large' ? answer : Buffer.byteLength(answer));
    }
    return answers;
  }

  it('may have 1 MiB, even if the limit of other upstreams is higher', async () => {
    const answers = await askSizes([mebibyte, mebibyte + 1], 8 * mebibyte);

    expect(answers).toEqual([mebibyte, 'too_large']);
  });

  it.each([',', '[', '{', '\\'])(
    'may have as many %s as can be parsed in little time',
    async (mark) => {
      const answers = await askSizes([maxJsonDelimiters, maxJsonDelimiters + 1], mebibyte, mark);

      expect(answers).toEqual([maxJsonDelimiters, 'too_large']);
    },
  );

  it('may have less if the limit of all upstreams is lower', async () => {
    expect(await askSizes([1000, 1001], 1000)).toEqual([1000, 'too_large']);
  });
});

/** The fake internet knows the site only by its own addresses. */
function withMapped(internet: FakeInternet): PublicHttpOptions {
  return {
    resolve: internet.resolve,
    connect: (target) =>
      internet.connect({ ...target, address: target.address.replace(/^::ffff:/, '') }),
  };
}

function anyName(): PropertyDescriptor {
  return { value: [siteV4], configurable: true, enumerable: true };
}

describe('a redirect', () => {
  it('is followed within the host', async () => {
    const internet = await openInternet({ [host]: [siteV4] });
    const client = openClient(internet);

    expect(await ask(client, `https://${host}/to/%2Fthere`)).toBe('"/there"');
    expect(await ask(client, `https://${host}/to/https%3A%2F%2F${host}%2Fthere`)).toBe('"/there"');
    expect(await ask(client, `https://${host}/to/https%3A%2F%2F${host}%3A443%2Fa`)).toBe('"/a"');
    expectNothingReached(internet);
  });

  it.each([
    ['http', `http://${host}/`],
    ['http on port 443', `http://${host}:443/`],
    ['another port', `https://${host}:8443/`],
    ['another public host', 'https://other.example.com/'],
    ['a host below', `https://www.${host}/`],
    ['the host with a dot', `https://${host}./`],
    ['a user name', `https://user@${host}/`],
    ['a password', `https://:secret@${host}/`],
    ['ftp', `ftp://${host}/`],
    ['a file', 'file:///etc/passwd'],
    ['data', 'data:application/json,{}'],
    ['gopher', 'gopher://127.0.0.1:6379/_INFO'],
    ['an address without a scheme', '//127.0.0.1/'],
    ['localhost without a scheme', '//localhost/'],
    ['an address after backslashes', '\\\\127.0.0.1\\'],
    ['an address after one slash', 'https:/\\127.0.0.1/'],
  ])('to %s is not followed: %s', async (_, location) => {
    const internet = await openInternet({ [host]: [siteV4], 'other.example.com': [siteV4] });

    const answer = await ask(
      openClient(internet),
      `https://${host}/to/${encodeURIComponent(location)}`,
    );

    expect(answer).toMatch(/^(?:redirect|refused)$/);
    expect(internet.site.requests).toHaveLength(1);
    expectNothingReached(internet);
  });

  it('is checked again if the name resolves to another address by then', async () => {
    const internet = await openInternet({ [host]: (nth) => [nth === 0 ? siteV4 : '127.0.0.1'] });

    expect(await ask(openClient(internet), `https://${host}/to/%2Fthere`)).toBe('refused');

    expect(internet.lookedUp).toEqual([host, host]);
    expectNothingReached(internet);
  });

  it('is not followed to another host after a redirect within the host', async () => {
    const internet = await openInternet({ [host]: [siteV4] });
    const second = encodeURIComponent(`/to/${encodeURIComponent('https://127.0.0.1/')}`);

    expect(await ask(openClient(internet), `https://${host}/to/${second}`)).toBe('redirect');

    expect(internet.site.requests).toHaveLength(2);
    expectNothingReached(internet);
  });
});

describe('a connection', () => {
  it('is checked again on a retry after a reset', async () => {
    const names = { [host]: (nth: number) => [nth === 0 ? siteV4 : '169.254.169.254'] };
    const internet = await openFakeInternet(names, resetConnection);

    expect(await ask(openClient(internet), `https://${host}/`)).toBe('refused');

    expect(internet.lookedUp).toEqual([host, host]);
    expectNothingReached(internet);
  });

  it('that is kept alive needs no second lookup', async () => {
    const names = { [host]: (nth: number) => [nth === 0 ? siteV4 : '127.0.0.1'] };
    const internet = await openFakeInternet(names, (_, response) => answerJson(response, 'kept'));
    const client = openClient(internet);

    expect(await ask(client, `https://${host}/`)).toBe('"kept"');
    // The connection is free for the next request once the events of this one are over.
    await setImmediate();
    await setImmediate();
    expect(await ask(client, `https://${host}/`)).toBe('"kept"');

    expect(internet.lookedUp).toEqual([host]);
    expectNothingReached(internet);
  });

  it('ignores proxies in the environment', async () => {
    const internet = await openInternet({ [host]: [siteV4] });
    const proxy = `http://127.0.0.1:${internet.trap.port}`;
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY']) {
      vi.stubEnv(name, proxy);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');

    expect(await ask(openClient(internet), `https://${host}/`)).toBe('"/"');

    expectNothingReached(internet);
  });

  it.each([
    'https://127.0.0.1',
    'https://[::1]',
    'https://localhost',
    'http://127.0.0.1',
    'http://localhost',
  ])('is not made to %s on the port that listens, with the production network', async (origin) => {
    const internet = await openInternet({});

    expect(await ask(openClient(), `${origin}:${internet.trap.port}/`)).toBe('refused');

    expect(internet.trap.connections).toBe(0);
  });
});
