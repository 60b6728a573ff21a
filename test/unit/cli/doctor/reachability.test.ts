import { describe, expect, it } from 'vitest';
import { checkProxy } from '../../../../src/cli/doctor/reachability.ts';
import { loadConfig } from '../../../../src/config/config.ts';

const judge = (base: string, report: { isTrusted: boolean; headers: string[] }) => {
  const loaded = loadConfig({ PERCH_BASE_URL: base });
  if (!loaded.ok) throw new Error('The settings are not valid.');
  const { isTrusted, headers } = report;
  const connection = {
    peer: '127.0.0.1',
    is_trusted_proxy: isTrusted,
    forwarding_headers: headers,
  };
  const answer = { kind: 'own', report: connection } as const;
  return checkProxy(loaded.config, answer, new AbortController().signal);
};

describe('the check of the proxy', () => {
  it.each([true, false])(
    'finds a TLS proxy that sends no headers, trusted: %s',
    async (trusted) => {
      expect(
        await judge('https://perch.example.org', { isTrusted: trusted, headers: [] }),
      ).toMatchObject({
        status: 'fault',
        message:
          'The proxy at 127.0.0.1 does not send X-Forwarded-For, which Perch reads. All visitors share one rate limit.',
      });
    },
  );

  it('accepts a TLS proxy that sends X-Forwarded-For', async () => {
    const report = { isTrusted: true, headers: ['x-forwarded-for'] };

    expect(await judge('https://perch.example.org', report)).toMatchObject({ status: 'ok' });
  });

  it('accepts a connection without a proxy', async () => {
    const report = { isTrusted: false, headers: [] };

    expect(await judge('http://perch.example.org', report)).toMatchObject({ status: 'ok' });
  });
});
