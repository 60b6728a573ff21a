import { describe, expect, it } from 'vitest';
import { loadConfig, variables } from '../../../src/config/config.ts';
import { listSettings } from '../../../src/config/list-settings.ts';

const secrets = {
  PERCH_ADMIN_TOKEN: 'hidden-'.repeat(6),
  PERCH_CURSOR_KEY: 'hidden-'.repeat(6),
  PERCH_MODEL_URL: 'http://hidden-host.example/v1',
  PERCH_MODEL_KEY: 'hidden-key',
  PERCH_REDIS_URL: 'redis://user:hidden-password@localhost:6379',
};

function settingsOf(env: Readonly<Record<string, string>>) {
  const loaded = loadConfig(env);
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  return new Map(listSettings(loaded.config).map((setting) => [setting.name, setting]));
}

describe('the list of settings', () => {
  it('contains every variable once, in order, with its description', () => {
    const settings = settingsOf({});

    expect([...settings.keys()]).toEqual(Object.keys(variables.shape));
    expect([...settings.values()].filter(({ description }) => description === '')).toEqual([]);
  });

  it('never contains the value of a secret', () => {
    const settings = settingsOf({ ...secrets, PERCH_MODEL: 'harbour:7b' });

    expect(JSON.stringify([...settings.values()])).not.toContain('hidden-');
    for (const name of Object.keys(secrets)) {
      expect(settings.get(name)).toMatchObject({ value: null, isSet: true, isSecret: true });
    }
    expect(settingsOf({}).get('PERCH_ADMIN_TOKEN')).toMatchObject({ value: null, isSet: false });
  });

  it.each([
    ['PORT', '9000', '8080'],
    ['PERCH_SAMPLE', 'false', 'true'],
    ['PERCH_PROVIDERS', 'archive,bluesky', 'archive,fxtwitter,syndication,bluesky,mastodon'],
    ['PERCH_TRUST_PROXY', 'loopback,10.0.0.1', null],
    ['PERCH_SESSION_TURNS_AT_ONCE', '3', null],
    ['PERCH_BASE_URL', 'https://perch.example.org', 'http://localhost:8080'],
  ])('shows %s as %s, with the default %s', (name, value, byDefault) => {
    const own = { value, default: byDefault, isDefault: false };
    const unset = { value: byDefault, isSet: byDefault !== null, isDefault: true };

    expect(settingsOf({ [name]: value }).get(name)).toMatchObject(own);
    expect(settingsOf({}).get(name)).toMatchObject(unset);
  });

  it('derives the defaults that depend on other settings', () => {
    const settings = settingsOf({ PERCH_BASE_URL: 'https://perch.example.org', PORT: '9000' });

    expect(settings.get('PERCH_BASE_URL')?.default).toBe('http://localhost:9000');
    expect(settings.get('PERCH_SECURITY_CONTACT')).toMatchObject({
      value: 'https://perch.example.org/docs/security',
      isDefault: true,
    });
  });

  it('tells the area of each setting', () => {
    const settings = settingsOf({});

    const areaOf = (name: string) => settings.get(name)?.area;
    expect(['PORT', 'PERCH_REDIS_PREFIX', 'PERCH_CONNECTIONS'].map(areaOf)).toEqual([
      'general',
      'sharedEngine',
      'limits',
    ]);
    expect(['PERCH_MODEL', 'PERCH_SESSIONS'].map(areaOf)).toEqual(['model', 'sessions']);
  });
});
