import { Resolver } from 'node:dns/promises';
import { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { openPublicHttpClient } from '../../src/lib/http/public-http-client.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { createHeavyTurns, createServerLoop } from '../../src/lib/scheduling/fair-queue.ts';
import { createMastodon } from '../../src/providers/mastodon/index.ts';
import { buildTestApp, type TestApp, unlimited } from '../support/build-app.ts';
import {
  type FakeInternet,
  type FakeName,
  openFakeInternet,
  siteAddresses,
} from '../support/fake-internet.ts';
import { createFakeMastodon } from '../support/fake-mastodon.ts';
import { answerRedirect, type FakeHandler } from '../support/fake-upstream.ts';
import { hostileAnswers, hostileAuthorities } from '../support/hostile-hosts.ts';
import { accountRow, homeHost, snowflake, statusRow } from '../support/mastodon-payloads.ts';
import { createOpenLimits } from '../support/mastodon-rig.ts';

const [siteAddress] = siteAddresses;
const wren = accountRow('wren');
const id = snowflake(Date.UTC(2026, 0, 1));

/** Builds an app that reads Mastodon, as in production but for DNS and TLS. */
async function buildReader(internet: FakeInternet): Promise<TestApp> {
  const limits = { connectTimeoutMs: 20_000, attemptTimeoutMs: 30_000, maxBytes: 1_000_000 };
  const shared = {
    userAgent: 'Perch tests',
    clock: systemClock,
    random: systemRandom,
    heavyTurns: createHeavyTurns(createServerLoop()),
  };
  const http = openPublicHttpClient({ ...limits, ...shared }, internet);
  onTestFinished(() => http.close());
  const providers = [createMastodon({ callHost: createOpenLimits(), http, clock: systemClock })];
  return buildTestApp({ providers, clock: systemClock, env: unlimited });
}

/** A server of Mastodon with one account and one post; each request has its own connection. */
function createHandler(): FakeHandler {
  const server = createFakeMastodon(homeHost);
  server.addAccount(wren);
  server.addStatus(statusRow(id, wren));
  return (request, response) => {
    response.setHeader('connection', 'close');
    server.handler(request, response);
  };
}

/** Every way to name a host by what stands between `https://` and the path. */
function pathsTo(authority: string): readonly string[] {
  const handle = encodeURIComponent(`wren@${authority}`);
  const url = encodeURIComponent(`https://${authority}/@wren/${id}`);
  const long = encodeURIComponent(`https://${authority}/users/wren/statuses/${id}`);
  return [
    `/api/v1/posts?url=${url}`,
    `/api/v1/posts?url=${long}`,
    `/api/v1/posts?handle=${handle}&id=${id}`,
    `/api/v1/profiles/${handle}`,
    `/api/v1/profiles/${handle}/followers`,
    `/api/v1/oembed?url=${url}`,
    `/${handle}/status/${id}`,
  ];
}

/** Asks for all of it and gives the statuses. */
async function statusesOf(app: TestApp, paths: readonly string[]): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const path of paths) statuses.push((await app.request(path)).statusCode);
  return statuses;
}

/** Name of a public host of which the tests use one for each case. */
const hostAt = (at: number) => `host-${at}.example.net`;

function expectNothingReached({ connectedTo, trap }: FakeInternet): void {
  expect(connectedTo.filter((target) => target !== `${siteAddress} 443`)).toEqual([]);
  expect(trap.connections).toBe(0);
}

it('reads from a public host, whichever way it is named', async () => {
  const internet = await openFakeInternet({ [homeHost]: [siteAddress] }, createHandler());
  const app = await buildReader(internet);

  const statuses = await statusesOf(app, pathsTo(homeHost));

  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(internet.site.requests.length).toBeGreaterThan(0);
  expect(new Set(internet.lookedUp)).toEqual(new Set([homeHost]));
  expectNothingReached(internet);
});

it('is refused with 400 when a request names a host that is not public', async () => {
  // Every name exists here, so that only the form of a name can refuse it.
  const value: FakeName = [siteAddress];
  const everyName = { getOwnPropertyDescriptor: () => ({ value, configurable: true }) };
  const internet = await openFakeInternet(new Proxy({}, everyName), createHandler());
  const app = await buildReader(internet);

  for (const [name, authority] of hostileAuthorities) {
    const statuses = await statusesOf(app, pathsTo(authority));
    expect([name, ...new Set(statuses)]).toEqual([name, 400]);
  }

  expect(internet.lookedUp).toEqual([]);
  expect(internet.connectedTo).toEqual([]);
  expect(internet.trap.connections).toBe(0);
});

describe('a public name', () => {
  it('reaches nothing when it resolves to an address that is not public', async () => {
    const hosts = hostileAnswers.map(([name, addresses], at) => ({
      name,
      addresses,
      host: hostAt(at),
    }));
    const names = Object.fromEntries(hosts.map(({ host, addresses }) => [host, addresses]));
    const internet = await openFakeInternet(names, createHandler());
    const app = await buildReader(internet);

    for (const { name, host } of hosts) {
      const statuses = await statusesOf(app, pathsTo(host));
      expect([name, ...new Set(statuses)]).toEqual([name, 503]);
    }

    expect(new Set(internet.lookedUp)).toEqual(new Set(Object.keys(names)));
    expect(internet.connectedTo).toEqual([]);
    expect(internet.trap.connections).toBe(0);
  });

  it.each(hostileAnswers)(
    'reaches nothing more when it resolves to %s after the first time: %s',
    async (_, addresses) => {
      const names = { [homeHost]: (nth: number) => (nth === 0 ? [siteAddress] : addresses) };
      const internet = await openFakeInternet(names, createHandler());
      const app = await buildReader(internet);

      const path = `/api/v1/profiles/wren@${homeHost}?include_posts=false`;
      expect((await app.request(path)).statusCode).toBe(200);
      await statusesOf(app, pathsTo(homeHost));

      expect(internet.lookedUp.length).toBeGreaterThan(1);
      expect(internet.site.requests).toHaveLength(1);
      expectNothingReached(internet);
    },
  );

  it('is told in the same words when it does not exist and when it is not public', async () => {
    const internet = await openFakeInternet({ 'inner.example.net': ['10.0.0.1'] }, createHandler());
    const app = await buildReader(internet);

    const inner = await app.request('/api/v1/profiles/wren@inner.example.net');
    const absent = await app.request('/api/v1/profiles/wren@never.example.net');

    const unnamed = (body: string) => body.replaceAll(/(?:inner|never)\.example\.net/g, 'host');
    expect(inner.json()).toMatchObject({ status: 503, code: 'upstream_unavailable' });
    expect(unnamed(inner.body)).toBe(unnamed(absent.body));
  });

  it('does not spoil other hosts when it is refused again and again', async () => {
    const names = { 'inner.example.net': ['10.0.0.1'], [homeHost]: [siteAddress] };
    const internet = await openFakeInternet(names, createHandler());
    const app = await buildReader(internet);

    for (let nth = 0; nth < 12; nth += 1) {
      await app.request(`/api/v1/profiles/wren${nth}@inner.example.net`);
    }

    expect((await app.request(`/api/v1/profiles/wren@${homeHost}`)).statusCode).toBe(200);
  });
});

it('judges the addresses of a name in the way of production', async () => {
  const resolve4 = vi.spyOn(Resolver.prototype, 'resolve4').mockResolvedValue(['127.0.0.1']);
  const resolve6 = vi.spyOn(Resolver.prototype, 'resolve6').mockResolvedValue([]);
  const connect = vi.spyOn(Socket.prototype, 'connect');
  onTestFinished(() => void vi.restoreAllMocks());
  const app = await buildTestApp({ env: { PERCH_PROVIDERS: 'mastodon' }, clock: systemClock });

  const reply = await app.request(`/api/v1/profiles/wren@${homeHost}`);

  expect(reply.json()).toMatchObject({ status: 503, code: 'upstream_unavailable' });
  const lookedUp = [...resolve4.mock.calls, ...resolve6.mock.calls].map(([name]) => name);
  expect(new Set(lookedUp)).toEqual(new Set([homeHost]));
  expect(connect).not.toHaveBeenCalled();
});

it('leads nowhere when a public host redirects to one that is not', async () => {
  const hosts = hostileAuthorities.map(([name, authority], at) => ({
    name,
    authority,
    host: hostAt(at),
  }));
  const targets = new Map(hosts.map(({ host, authority }) => [host, authority]));
  const names = Object.fromEntries(hosts.map(({ host }) => [host, [siteAddress]]));
  const internet = await openFakeInternet(names, ({ headers }, response) => {
    const target = `https://${targets.get(String(headers.host))}/secret`;
    answerRedirect(response, Buffer.from(target).toString('latin1'));
  });
  const app = await buildReader(internet);

  for (const { name, host } of hosts) {
    const before = internet.site.requests.length;
    const statuses = await statusesOf(app, pathsTo(host));
    expect([name, statuses.filter((status) => status !== 502 && status !== 503)]).toEqual([
      name,
      [],
    ]);
    expect([name, internet.site.requests.length > before]).toEqual([name, true]);
  }

  expect(new Set(internet.lookedUp)).toEqual(new Set(targets.keys()));
  expectNothingReached(internet);
});
