import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { variables } from '../../src/config/config.ts';
import { shownSettings } from '../../src/config/shown-settings.ts';
import { runHere } from '../support/run-here.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

function save(text: string): string {
  const path = `${temporaryFolder()}/perch.env`;
  writeFileSync(path, text);
  return path;
}

describe('the option --config', () => {
  it.each([
    ['before the command', (path: string) => ['--config', path, 'keys', 'list']],
    ['after the command', (path: string) => ['keys', '--config', path, 'list']],
    ['after the subcommand', (path: string) => ['keys', 'list', `--config=${path}`]],
  ])('is accepted %s', async (_, argsOf) => {
    const path = save('PERCH_DATA_DIR=:memory:');

    const ended = await runHere(argsOf(path), { PERCH_DATA_DIR: '' });

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('PERCH_DATA_DIR is :memory:');
  });

  it('starts the server if there is no command', async () => {
    const perch = spawnPerch(['--config', save('PORT=0\n')]);

    await perch.printed(/Perch is ready/);
    perch.kill('SIGTERM');

    expect(await perch.ended).toMatchObject({ code: 0 });
  });

  it('yields to --port', async () => {
    const { code, stderr } = await runHere(
      ['serve', '--port', 'x', '--config', save('PORT=0')],
      {},
    );

    expect(code).toBe(2);
    expect(stderr).toContain('  --port is "x", but must be a whole number from 0 to 65535.');
  });

  it.each([
    [['--config'], '--config needs the path of a file.'],
    [['--config='], '--config needs the path of a file.'],
    [['serve', '--config', '--port', '1'], '--config needs the path of a file.'],
    [['--config=a', 'serve', '--config=b'], '--config can be used only once.'],
    [['serve', '--confi', 'a'], 'Did you mean --config?'],
    [['ask', '--', '--config'], 'PERCH_SAMPLE is "maybe"'],
  ])('is checked in %j', async (args, message) => {
    const ended = await runHere(args, { PERCH_SAMPLE: 'maybe' });

    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(message);
  });

  it('is in the help of every command', async () => {
    const helps = await Promise.all(
      [[], ...Object.keys(commands).map((name) => [name])].map((args) =>
        runHere([...args, '--help'], {}),
      ),
    );

    for (const { stdout } of helps) expect(stdout).toMatch(/--config FILE/);
  });
});

describe('a settings file with errors', () => {
  it('ends every command with all errors, and without values of secrets', async () => {
    const path = save('PORT=x\nPERCH_ADMIN_TOKEN=swordfish\nLOG_LEVEL\nPERCH_CORPIS=docs\n');

    const { code, stderr } = await runHere(['keys', 'list'], { PERCH_CONFIG: path });

    expect(code).toBe(2);
    expect(stderr.split('\n')).toEqual([
      `perch: PERCH_CORPIS in ${path} (line 4) is set, but Perch has no such variable. Did you mean PERCH_CORPUS?`,
      'perch: The configuration is not valid.',
      `  ${path}, line 3: This line is not of the form NAME=value. Correct it, or start it with # as a comment.`,
      `  PORT in ${path} (line 1) is "x", but must be a whole number from 0 to 65535.`,
      `  PERCH_ADMIN_TOKEN in ${path} (line 2) must have 32 to 512 printable ASCII characters, without spaces, such as the output of \`openssl rand -hex 32\`.`,
      '',
    ]);
  });
});

describe('perch config', () => {
  const token = 'swordfish-'.repeat(4);
  const rowOf = (table: string, name: string) =>
    table.split('\n').find((line) => line.startsWith(`${name} `));

  it('prints each setting with its value and its source', async () => {
    const secretPath = save(`${token}\n`);
    const path = save(`LOG_LEVEL=error\nPERCH_ADMIN_TOKEN_FILE=${secretPath}\n`);

    const { code, stdout } = await runHere(['config', '--port', '9000', '--config', path], {
      PERCH_CORPUS: 'a,b',
      PERCH_CURSOR_KEY: token,
    });

    expect(code).toBe(0);
    expect(rowOf(stdout, 'HOST')).toMatch(/^HOST +127\.0\.0\.1 +default$/);
    expect(rowOf(stdout, 'PORT')).toMatch(/^PORT +9000 +option --port$/);
    expect(rowOf(stdout, 'PERCH_BASE_URL')).toMatch(/ http:\/\/localhost:9000 +default$/);
    expect(rowOf(stdout, 'LOG_LEVEL')).toMatch(/ error +\/\S+perch\.env, line 1$/);
    expect(rowOf(stdout, 'PERCH_CORPUS')).toMatch(/ a,b +environment$/);
    expect(rowOf(stdout, 'PERCH_CURSOR_KEY')).toMatch(/ \*{8} +environment$/);
    expect(rowOf(stdout, 'PERCH_MODEL')).toMatch(/ - +default$/);
    const tokenRow = rowOf(stdout, 'PERCH_ADMIN_TOKEN');
    expect(tokenRow).toMatch(/ \*{8} /);
    expect(tokenRow).toContain(`${secretPath} (PERCH_ADMIN_TOKEN_FILE: ${path}, line 2)`);
    expect(stdout).not.toContain('swordfish');
  });

  it('prints a JSON document with --json', async () => {
    const path = save(`PORT=9000\nPERCH_MODEL_URL=http://localhost/${token}\nPERCH_MODEL=small`);

    const { stdout } = await runHere(['config', '--json'], { PERCH_CONFIG: path });

    const { settings } = shownSettings.parse(JSON.parse(stdout));
    expect(settings.map(({ name }) => name)).toEqual(Object.keys(variables.shape));
    expect(settings).toEqual(
      expect.arrayContaining([
        { name: 'HOST', value: '127.0.0.1', is_secret: false, source: { kind: 'default' } },
        { name: 'PORT', value: '9000', is_secret: false, source: { kind: 'file', path, line: 1 } },
        {
          name: 'PERCH_MODEL_URL',
          value: '********',
          is_secret: true,
          source: { kind: 'file', path, line: 2 },
        },
        { name: 'PERCH_MODEL_KEY', value: null, is_secret: true, source: { kind: 'default' } },
      ]),
    );
    expect(stdout).not.toContain('swordfish');
  });
});

describe('user names and passwords in URLs of settings', () => {
  it.each([
    ['config', 'https://me:swordfish@api.example'],
    ['doctor', 'http://me:sword/swordfish@api.example'],
    ['serve', 'me:swordfish@api.example'],
  ])('are not printed by perch %s for the invalid URL %s', async (command, url) => {
    const env = {
      PERCH_FXTWITTER_URL: url,
      PERCH_X_MIRRORS: 'x.com,https://me:swordfish@b.example',
    };
    // perch doctor ends its process.
    const { stdout, stderr } = await (command === 'doctor'
      ? spawnPerch([command], env).ended
      : runHere([command], env));

    expect(stdout + stderr).toContain('PERCH_FXTWITTER_URL');
    expect(stdout + stderr).toContain('…@api.example');
    expect(stdout + stderr).not.toContain('swordfish');
  });

  it('are masked in valid settings', async () => {
    const { code, stdout } = await runHere(['config'], {
      PERCH_CONTACT_URL: 'https://me:swordfish@example.org/keys',
    });

    expect(code).toBe(0);
    expect(stdout).toMatch(/PERCH_CONTACT_URL +https:\/\/…@example\.org\/keys /);
  });
});
