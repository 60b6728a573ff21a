import { describe, expect, it } from 'vitest';
import { loadConfig, secretNames, variables } from '../../../src/config/config.ts';
import { describeSettings } from '../../../src/config/shown-settings.ts';

function settingsOf(env: Readonly<Record<string, string>>) {
  const loaded = loadConfig(env);
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  const described = describeSettings(loaded.config, loaded.settings);
  return new Map(described.map((setting) => [setting.name, setting]));
}

describe('the described settings', () => {
  it('contain every variable once, in order, with its meaning', () => {
    const settings = settingsOf({});

    expect([...settings.keys()]).toEqual(Object.keys(variables.shape));
    expect([...settings.values()].filter(({ description }) => description === '')).toEqual([]);
  });

  it('mask secrets, and show whether they are set', () => {
    const token = 'hidden-'.repeat(6);
    const settings = settingsOf({ PERCH_ADMIN_TOKEN: token });

    expect(JSON.stringify([...settings.values()])).not.toContain('hidden-');
    expect(settings.get('PERCH_ADMIN_TOKEN')).toMatchObject({
      value: '********',
      isDefault: false,
    });
    for (const name of secretNames().filter((one) => one !== 'PERCH_ADMIN_TOKEN')) {
      expect(settings.get(name)?.value).toBeNull();
    }
  });

  it.each([
    ['PORT', '9000', '8080', 'general'],
    ['PERCH_SAMPLE', 'false', 'true', 'general'],
    ['PERCH_REDIS_PREFIX', 'p:', 'perch:', 'sharedEngine'],
    ['PERCH_CONNECTIONS', '9', '10000', 'limits'],
    ['PERCH_MODEL_STALL_SECONDS', '9', '15', 'model'],
    ['PERCH_SESSION_TURNS_AT_ONCE', '3', null, 'sessions'],
    ['PERCH_TRUST_PROXY', 'loopback,10.0.0.1', null, 'general'],
  ])('show %s as %s, with the default %s, in the area %s', (name, value, byDefault, area) => {
    const common = { default: byDefault, area };

    expect(settingsOf({ [name]: value }).get(name)).toMatchObject({
      ...common,
      ...{ value, isDefault: false, source: 'environment' },
    });
    expect(settingsOf({}).get(name)).toMatchObject({
      ...common,
      value: byDefault,
      isDefault: true,
    });
  });
});
