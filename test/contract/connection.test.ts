import { describe, expect, it } from 'vitest';
import { asAdmin, buildTestApp } from '../support/build-app.ts';

const path = '/api/admin/connection';

describe('GET /api/admin/connection', () => {
  it('requires the admin token', async () => {
    const app = await buildTestApp();

    const replies = [await app.request(path), await app.request('/api/admin/connections')];

    expect(replies.map(({ statusCode }) => statusCode)).toEqual([401, 401]);
  });

  it.each([
    ['', {}, false, []],
    ['loopback', {}, true, []],
    ['10.0.0.0/8', { 'x-forwarded-for': '203.0.113.7' }, false, ['x-forwarded-for']],
    [
      'loopback',
      { 'x-forwarded-for': '203.0.113.7', 'x-real-ip': '203.0.113.7', forwarded: 'for=_a' },
      true,
      ['x-forwarded-for', 'forwarded', 'x-real-ip'],
    ],
  ])(
    'reports the peer and its proxy headers with trust in %j',
    async (trusted, headers, ...rest) => {
      const [isTrusted, names] = rest;
      const app = await buildTestApp({ env: { PERCH_TRUST_PROXY: trusted } });

      const reply = await app.request(path, { headers: { ...asAdmin, ...headers } });

      expect(reply.statusCode).toBe(200);
      expect(reply.headers['cache-control']).toContain('no-store');
      expect(reply.json()).toEqual({
        peer: '127.0.0.1',
        is_trusted_proxy: isTrusted,
        forwarding_headers: names,
      });
    },
  );
});
