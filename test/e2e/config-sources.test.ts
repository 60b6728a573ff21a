import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const token = 'swordfish-'.repeat(4);

function save(text: string | Buffer, name = 'perch.env'): string {
  const path = `${temporaryFolder()}/${name}`;
  writeFileSync(path, text);
  return path;
}

/** Returns the configuration with a settings file. @throws Error if it is not valid */
function configOf(text: string, env: Record<string, string> = {}, options = {}) {
  const loaded = loadConfig({ ...env, PERCH_CONFIG: save(text) }, './data', { options });
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  return loaded;
}

const faultsOf = (env: Record<string, string>) => {
  const loaded = loadConfig(env);
  return loaded.ok ? [] : loaded.faults;
};

describe('the sources of settings', () => {
  it('are, by priority, options, the environment and the file', () => {
    const file = 'PORT=1001\nHOST=::1\nLOG_LEVEL=error\nPERCH_MODEL=\n';
    const env = { PORT: '1002', HOST: '::2', LOG_LEVEL: '' };

    const { config, settings } = configOf(file, env, { PORT: '1003', HOST: undefined });

    expect(config).toMatchObject({ PORT: 1003, HOST: '::2', LOG_LEVEL: 'error' });
    expect(settings.get('PORT')?.origin).toEqual({ kind: 'option', option: '--port' });
    expect(settings.get('HOST')?.origin).toEqual({ kind: 'environment' });
    expect(settings.get('LOG_LEVEL')?.origin).toMatchObject({ kind: 'file', line: 3 });
    expect(settings.has('PERCH_MODEL')).toBe(false);
  });

  it('use the option --config instead of PERCH_CONFIG', () => {
    const [own, other] = [save('PORT=1001'), save('PORT=1002')];

    expect(loadConfig({ PERCH_CONFIG: other }, './data', { configFile: own })).toMatchObject({
      ok: true,
      config: { PORT: 1001 },
    });
  });

  it.each([
    ['PORT=x', /^PORT in \S+perch\.env \(line 1\) is "x", but must be a whole number/],
    ['\nPERCH_ADMIN_TOKEN=short', /^PERCH_ADMIN_TOKEN in \S+ \(line 2\) must have 32 to 512/],
    ['PORT', /^\S+perch\.env, line 1: This line is not of the form NAME=value/],
  ])('report the file and the line of the setting %j', (text, fault) => {
    expect(faultsOf({ PERCH_CONFIG: save(text) })).toEqual([expect.stringMatching(fault)]);
  });

  it.each([
    ['PERCH_CORPIS', 'Did you mean PERCH_CORPUS?'],
    ['PERCH_ADMIN_TOKEN_FILES', 'Did you mean PERCH_ADMIN_TOKEN_FILE?'],
    ['PERCH_PORT', 'Did you mean PORT?'],
    ['PERCH_MODEL_FILE', 'Did you mean PERCH_MODEL?'],
    ['PERCH_SOMETHING_ELSE', 'Check the spelling.'],
  ])('warn about the unknown variable %s', (name, advice) => {
    const warning = `${name} is set, but Perch has no such variable. ${advice}`;

    expect(loadConfig({ [name]: 'x' })).toMatchObject({ ok: true, warnings: [warning] });
  });

  it('warn about every unknown name in a file, and about none of other programs', () => {
    const { warnings } = configOf('ADMIN_TOKEN=x\nNODE_OPTIONS=x', { TZ: 'x' });

    expect(warnings).toEqual([
      expect.stringMatching(/^ADMIN_TOKEN in .+ \(line 1\) is set.+ Did you mean PERCH_ADMIN_TO/),
      expect.stringMatching(/^NODE_OPTIONS in .+ \(line 2\) is set/),
    ]);
  });
});

describe('a secret in a file', () => {
  it.each([
    ['a line end', `${token}\n`],
    ['a line end of Windows', `${token}\r\n`],
    ['no line end', token],
    ['a byte order mark', `\ufeff${token}`],
  ])('is read with %s', (_, text) => {
    const path = save(text);

    const loaded = loadConfig({ PERCH_ADMIN_TOKEN_FILE: path });

    expect(loaded).toMatchObject({ ok: true, config: { PERCH_ADMIN_TOKEN: token }, warnings: [] });
    expect(loaded.ok && loaded.settings.get('PERCH_ADMIN_TOKEN')?.origin).toEqual({
      kind: 'secret_file',
      path,
      from: { kind: 'environment' },
    });
  });

  it.each([
    'PERCH_ADMIN_TOKEN',
    'PERCH_CURSOR_KEY',
    'PERCH_MODEL_KEY',
    'PERCH_MODEL_URL',
    'PERCH_REDIS_URL',
  ])('can be %s', (name) => {
    const value = name.endsWith('_URL') ? 'redis://localhost' : token;
    const usable = name === 'PERCH_MODEL_URL' ? 'http://localhost:1/v1' : value;
    const env = { PERCH_MODEL_URL: 'http://localhost:1/v1', PERCH_MODEL: 'small' };

    const loaded = loadConfig({ ...env, [name]: '', [`${name}_FILE`]: save(usable) });

    expect(loaded).toMatchObject({ ok: true, config: { [name]: usable } });
  });

  it('in a settings file yields to a value in the environment', () => {
    const own = 'e'.repeat(32);
    const file = `PERCH_ADMIN_TOKEN_FILE=${save(token)}`;

    expect(configOf(file, { PERCH_ADMIN_TOKEN: own }).config.PERCH_ADMIN_TOKEN).toBe(own);
    expect(configOf(file).config.PERCH_ADMIN_TOKEN).toBe(token);
  });

  it('is an error if the value is also set', () => {
    const env = { PERCH_ADMIN_TOKEN: token, PERCH_ADMIN_TOKEN_FILE: save(token) };

    expect(faultsOf(env)).toEqual([
      'PERCH_ADMIN_TOKEN and PERCH_ADMIN_TOKEN_FILE are both set. Remove one of them.',
    ]);
  });

  it.each([
    ['is empty', () => save('\n')],
    ['has more than one line', () => save(`${token}\n${token}\n`)],
    ['is larger than 16384 bytes', () => save('a'.repeat(16_385))],
    ['is not text in UTF-8', () => save(Buffer.from([0x61, 0xff, 0x62]))],
    ['is a folder', () => temporaryFolder()],
    ['is a named pipe', () => namedPipe()],
    ['is not a regular file', () => '/dev/zero'],
    ['does not exist', () => `${temporaryFolder()}/missing`],
    ['does not exist', () => `${save('')}/below-a-file`],
    ['is a loop of symbolic links', () => loopOfLinks()],
    ['has a name that is too long', () => `/tmp/${'a'.repeat(300)}`],
  ])('is an error that names the variable if the file %s', (reason, create) => {
    const path = create();

    expect(faultsOf({ PERCH_ADMIN_TOKEN_FILE: path })).toEqual([
      `PERCH_ADMIN_TOKEN_FILE is "${path}", but this file ${reason}. Set it to the path of a file that contains only the secret.`,
    ]);
  });

  it.skipIf(process.getuid?.() === 0)('is an error if the file cannot be read', () => {
    const path = save(token);
    chmodSync(path, 0);

    expect(faultsOf({ PERCH_ADMIN_TOKEN_FILE: path })).toEqual([
      expect.stringContaining('this file cannot be read by the user that runs Perch'),
    ]);
  });

  it.each([token, `./${token}`])('is never shown if it is set instead of the path: %s', (value) => {
    const [fault = ''] = faultsOf({ PERCH_ADMIN_TOKEN_FILE: value });

    expect(fault).toContain('PERCH_ADMIN_TOKEN_FILE is set to a file that does not exist.');
    expect(fault).not.toContain(token);
  });

  it('has no further errors of settings that need it', () => {
    const env = { PERCH_MODEL: 'small', PERCH_MODEL_URL_FILE: '/nowhere/model-url' };

    expect(faultsOf(env)).toEqual([expect.stringContaining('PERCH_MODEL_URL_FILE is')]);
  });
});

it.each([
  ['does not exist', () => '/nowhere/perch.env'],
  ['is a folder', () => temporaryFolder()],
  ['is a named pipe', () => namedPipe()],
  ['is larger than 262144 bytes', () => save('#'.repeat(262_145))],
])('a settings file is an error that names the option or variable if it %s', (reason, create) => {
  const path = create();
  const end = `is "${path}", but this file ${reason}. Set it to a file with NAME=value lines.`;

  expect(faultsOf({ PERCH_CONFIG: path })).toEqual([`PERCH_CONFIG ${end}`]);
  expect(loadConfig({}, './data', { configFile: path })).toMatchObject({
    faults: [`--config ${end}`],
  });
});

function namedPipe(): string {
  const path = `${temporaryFolder()}/pipe`;
  execFileSync('mkfifo', [path]);
  return path;
}

function loopOfLinks(): string {
  const folder = `${temporaryFolder()}/links`;
  mkdirSync(folder);
  symlinkSync(`${folder}/b`, `${folder}/a`);
  symlinkSync(`${folder}/a`, `${folder}/b`);
  return `${folder}/a`;
}
