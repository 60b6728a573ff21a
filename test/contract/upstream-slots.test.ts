import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { createFakeMastodon } from '../support/fake-mastodon.ts';
import { answerJson, hang } from '../support/fake-upstream.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';
import { accountRow, homeHost } from '../support/mastodon-payloads.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

/** Fake upstream on which reads of posts with ids of three or more digits never end. */
const answersSmallIds = () =>
  createStubProvider('stub', ({ post: { id } }, { signal }) => {
    if (id.length < 3) return Promise.resolve(stubFound(stubPost(id)));
    return new Promise((_resolve, reject) => {
      signal.throwIfAborted();
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });

const slots = { PERCH_MAX_UPSTREAM_READS: '16', PERCH_UPSTREAM_READS_PER_ADDRESS: '6' };

describe('reads that wait for an upstream', () => {
  it('are limited per client address, so that other clients are answered', async () => {
    const stub = answersSmallIds();
    const app = await buildTestApp({ env: slots, providers: [stub] });
    const flood = Array.from({ length: 40 }, (_, n) =>
      app.request(`/wren/status/${1000 + n}`, { remoteAddress: '192.0.2.1' }),
    );
    const refused = await Promise.race(flood);

    const other = await app.request('/wren/status/20', { remoteAddress: '198.51.100.1' });

    expect(other.statusCode).toBe(200);
    expect(stub.queries).toHaveLength(7);
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'overloaded']);
    app.cutOff();
    await Promise.all(flood);
  });

  it('are limited per IPv6 network, regardless of its addresses', async () => {
    const stub = answersSmallIds();
    const env = { PERCH_MAX_UPSTREAM_READS: '64', PERCH_UPSTREAM_READS_PER_ADDRESS: '2' };
    const app = await buildTestApp({ env, providers: [stub] });
    const flood = Array.from({ length: 40 }, (_, n) =>
      app.request(`/wren/status/${1000 + n}`, { remoteAddress: `2001:db8:1:${n}::1` }),
    );
    await Promise.race(flood);

    expect(stub.queries).toHaveLength(8);
    app.cutOff();
    await Promise.all(flood);
  });

  it('are released when their caller disconnects', async () => {
    const stub = createStubProvider('stub', async ({ post }) => stubFound(stubPost(post.id)));
    const app = await buildTestApp({ env: slots, providers: [stub] });

    for (let id = 100; id < 140; id += 1) {
      expect((await app.request(`/wren/status/${id}`)).statusCode).toBe(200);
    }
  });
});

const gates = { breaker: { failures: 3, openMs: 60_000, maxOpenMs: 60_000 }, maxPerHost: 4 };
const server = createFakeMastodon();
server.addAccount(accountRow('wren'));

const profileOf = (host: string, name = 'wren') => `/api/v1/profiles/${name}@${host}`;

describe('a host named by callers', () => {
  it('costs a unit if it does not answer in time', async () => {
    const { app } = await buildMastodonApp(
      { 'slow.example.org': hang },
      { PERCH_PUBLIC_ALLOWANCE: '3' },
      { attemptTimeoutMs: 50 },
    );

    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      statuses.push((await app.request(profileOf('slow.example.org', `u${n}`))).statusCode);
    }

    expect(statuses).toEqual([503, 503, 503, 429]);
  });

  it('costs nothing if it fails immediately', async () => {
    const { app } = await buildMastodonApp(
      { 'broken.example.org': (_request, response) => answerJson(response, {}, { status: 500 }) },
      { PERCH_PUBLIC_ALLOWANCE: '2' },
    );

    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      statuses.push((await app.request(profileOf('broken.example.org', `u${n}`))).statusCode);
    }

    expect(statuses).toEqual([503, 503, 503, 503]);
  });

  it('is not requested for a while after repeated failures, without affecting other hosts', async () => {
    const { app, fake } = await buildMastodonApp(
      { 'slow.example.org': hang, [homeHost]: server.handler },
      {},
      { attemptTimeoutMs: 50, gates },
    );
    for (let n = 0; n < 4; n += 1) await app.request(profileOf('slow.example.org', `u${n}`));
    const asked = fake.requests.length;

    const left = await app.request(profileOf('slow.example.org', 'another'));
    const home = await app.request(profileOf(homeHost));

    expect([left.statusCode, left.json().code]).toEqual([503, 'upstream_unavailable']);
    expect(left.json().detail).toContain('slow.example.org');
    expect(home.statusCode).toBe(200);
    const toSlow = fake.requests.slice(asked).filter(({ url }) => url.includes('another'));
    expect(toSlow).toEqual([]);
  });

  it('gets a limited number of concurrent requests, half of them for one client', async () => {
    const { app, fake } = await buildMastodonApp(
      { 'slow.example.org': hang },
      {},
      { attemptTimeoutMs: 300, gates },
    );
    const ask = (n: number, remoteAddress: string) =>
      app.request(profileOf('slow.example.org', `u${n}`), { remoteAddress });

    const replies = await Promise.all([
      ...Array.from({ length: 8 }, (_, n) => ask(n, '192.0.2.1')),
      ask(8, '198.51.100.1'),
    ]);

    const codes = replies.map((reply) => reply.json().code);
    expect(codes.slice(0, 8).filter((code) => code === 'overloaded')).toHaveLength(6);
    expect(codes[8]).toBe('upstream_unavailable');
    expect(fake.requests.some(({ url }) => url.includes('u8'))).toBe(true);
  });
});
