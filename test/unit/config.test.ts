import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';

const names = ['PERCH_CONTACT_URL', 'PERCH_SECURITY_CONTACT'];

describe.each(names)('%s', (name) => {
  it.each([
    'mailto:security@example.org',
    'mailto:security@example.org?subject=Perch',
    'https://example.org/report',
    'tel:+1-201-555-0123',
  ])('takes %s', (value) => {
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
  ])('refuses %j', (value) => {
    const loaded = loadConfig({ [name]: value });

    expect(loaded).toMatchObject({ ok: false, faults: [expect.stringContaining(name)] });
  });
});

it('sends people to the documentation where nobody is named', () => {
  const loaded = loadConfig({ PERCH_BASE_URL: 'https://perch.example.org/' });

  expect(loaded).toMatchObject({
    ok: true,
    config: {
      PERCH_CONTACT_URL: 'https://perch.example.org/docs/keys#get-a-key',
      PERCH_SECURITY_CONTACT: 'https://perch.example.org/docs/security',
    },
  });
});
