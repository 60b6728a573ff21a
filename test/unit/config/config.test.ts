import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';

const names = ['PERCH_CONTACT_URL', 'PERCH_SECURITY_CONTACT'];

describe.each(names)('%s', (name) => {
  it.each([
    'mailto:security@example.org',
    'mailto:security@example.org?subject=Perch',
    'https://example.org/report',
    'tel:+1-201-555-0123',
  ])('accepts %s', (value) => {
    expect(loadConfig({ [name]: value })).toMatchObject({ ok: true, config: { [name]: value } });
  });

  it.each([
    'security@example.org',
    'http://example.org/report',
    'mailto:',
    'mailto:nobody',
    'tel:call me',
    'javascript:alert(1)',
    'https://example.org/a b',
    'https://example.org/a\nContact: mailto:evil@example.org',
    'https://vogelhäuschen.example/',
    'https://',
  ])('rejects %j', (value) => {
    const loaded = loadConfig({ [name]: value });

    expect(loaded).toMatchObject({ ok: false, faults: [expect.stringContaining(name)] });
  });
});

it('uses documentation pages as default contacts', () => {
  const loaded = loadConfig({ PERCH_BASE_URL: 'https://perch.example.org/' });

  expect(loaded).toMatchObject({
    ok: true,
    config: {
      PERCH_CONTACT_URL: 'https://perch.example.org/docs/keys#get-a-key',
      PERCH_SECURITY_CONTACT: 'https://perch.example.org/docs/security',
    },
  });
});

function originsOf(value: string): unknown {
  const loaded = loadConfig({ PERCH_MCP_ORIGINS: value });
  return loaded.ok ? loaded.config.PERCH_MCP_ORIGINS : loaded.faults;
}

describe('PERCH_MCP_ORIGINS', () => {
  it.each([
    ['', []],
    ['*', ['*']],
    ['https://app.example.org', ['https://app.example.org']],
    [
      'https://App.Example.org:443 , http://a.example:3000',
      ['https://app.example.org', 'http://a.example:3000'],
    ],
    ['https://bücher.example', ['https://xn--bcher-kva.example']],
    ['chrome-extension://abcdef', ['chrome-extension://abcdef']],
  ])('accepts %j', (value, origins) => {
    expect(originsOf(value)).toEqual(origins);
  });

  it.each([
    'app.example.org',
    'https://app.example.org/',
    'https://app.example.org/path',
    'https://*.example.org',
    'https://user@app.example.org',
    'https://app.example.org:99999',
    'null',
    'https://a.example,,https://b.example',
  ])('rejects %j and describes the accepted values', (value) => {
    expect(originsOf(value)).toEqual([
      expect.stringMatching(/^PERCH_MCP_ORIGINS is ".*must be origins such as/),
    ]);
  });
});

describe('PERCH_MASTODON_SEARCH_HOST', () => {
  const hostOf = (env: Readonly<Record<string, string>>) => {
    const loaded = loadConfig(env);
    return loaded.ok ? loaded.config.PERCH_MASTODON_SEARCH_HOST : loaded.faults;
  };

  it('accepts a public host name, in lower case', () => {
    expect(hostOf({})).toBe('mastodon.social');
    expect(hostOf({ PERCH_MASTODON_SEARCH_HOST: 'Reef.example.org' })).toBe('reef.example.org');
  });

  it.each(['localhost', '127.0.0.1', 'https://reef.example.org', 'reef.example.org:8443', 'reef'])(
    'rejects %j',
    (value) => {
      expect(hostOf({ PERCH_MASTODON_SEARCH_HOST: value })).toEqual([
        expect.stringContaining('must be the public host name of a server'),
      ]);
    },
  );
});
