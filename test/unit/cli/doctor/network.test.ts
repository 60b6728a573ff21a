import { describe, expect, it } from 'vitest';
import { judgeProxy } from '../../../../src/cli/doctor/network.ts';

const judge = (base: string, report: { isTrusted: boolean; headers: string[] }) => {
  const { isTrusted, headers } = report;
  const connection = {
    peer: '127.0.0.1',
    is_trusted_proxy: isTrusted,
    forwarding_headers: headers,
  };
  return judgeProxy(connection, { PERCH_BASE_URL: base });
};

describe('the check of the proxy', () => {
  it.each([true, false])('finds a TLS proxy that sends no headers, trusted: %s', (trusted) => {
    expect(judge('https://perch.example.org', { isTrusted: trusted, headers: [] })).toMatchObject({
      status: 'fault',
      message:
        'The proxy at 127.0.0.1 does not send X-Forwarded-For, which Perch reads. All visitors share one rate limit.',
    });
  });

  it('accepts a TLS proxy that sends X-Forwarded-For', () => {
    const report = { isTrusted: true, headers: ['x-forwarded-for'] };

    expect(judge('https://perch.example.org', report)).toMatchObject({ status: 'ok' });
  });

  it('accepts a connection without a proxy', () => {
    const report = { isTrusted: false, headers: [] };

    expect(judge('http://perch.example.org', report)).toMatchObject({ status: 'ok' });
  });
});
