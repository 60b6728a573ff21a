import { expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';

const run = (line: string) => runHere(line.split(' '), {});

it.each([
  ['--versoin', 'Did you mean perch --version?'],
  ['-version', 'Did you mean perch --version?'],
  ['-v', 'Did you mean perch --version?'],
  ['--hlep', 'Did you mean --help?'],
  ['-help', 'Did you mean --help?'],
  ['--prot 80', 'Did you mean --port?'],
  ['--confg=a.env read @ada.example', 'Did you mean --config?'],
  ['serve --hsot=::1', 'Did you mean --host?'],
  ['read @ada.example --fromat json', 'Did you mean --format?'],
  ['read @ada.example --versoin', 'Did you mean perch --version?'],
  ['read @ada.example --version', 'Did you mean perch --version?'],
  ['search heron --hlep', 'Did you mean --help?'],
  ['watch @ada.example --backlgo 1', 'Did you mean --backlog?'],
  ['ask question --jsno', 'Did you mean --json?'],
  ['mcp --hlep', 'Did you mean --help?'],
  ['config --josn', 'Did you mean --json?'],
  ['keys --hlep', 'Did you mean --help?'],
  ['keys list --jsn', 'Did you mean --json?'],
  ['archive import x.zip --hadnle ada', 'Did you mean --handle?'],
  ['completion bash --hlep', 'Did you mean --help?'],
])('perch %s suggests the right option', async (line, suggestion) => {
  const { code, stdout, stderr } = await run(line);

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^perch: --?[a-z]+ is not an option of /);
  expect(stderr.split('\n')[0]).toContain(suggestion);
  expect(stderr).toContain('\nUsage: perch ');
});

it('lists the options of a command if none is similar', async () => {
  const { stderr } = await run('serve --nonsense');

  expect(stderr).toContain(
    'perch: --nonsense is not an option of this command. Its options are --port, --host, --config, --help.\n',
  );
});

it('does not print the value of an unknown option', async () => {
  const { stderr } = await run('keys list --tokn=hush');

  expect(stderr).toContain('--tokn is not an option of this command.');
  expect(stderr).not.toContain('hush');
});

it.each(['-1', '-1000000', '1001', '1.5', '1e2', 'all', 'NaN'])(
  'perch watch --backlog %s names the valid numbers',
  async (value) => {
    for (const option of [`--backlog ${value}`, `--backlog=${value}`]) {
      const { code, stderr } = await run(`watch @ada.example ${option}`);

      expect(code).toBe(2);
      expect(stderr).toContain(
        `perch: --backlog must be a number from 0 to 1000, not "${value}".\nUsage: perch watch`,
      );
    }
  },
);

it('names the valid numbers for a negative --limit', async () => {
  const { code, stderr } = await run('read @ada.example --limit -5');

  expect(code).toBe(2);
  expect(stderr).toContain('--limit must be a number from 1 to 1000000, not -5.');
});

it.each(['watch @ada.example --backlog --once', 'watch @ada.example --backlog'])(
  'perch %s reports the missing value',
  async (line) => {
    const { code, stderr } = await run(line);

    expect(code).toBe(2);
    expect(stderr).toMatch(/^perch: --backlog needs a value\.\n/);
  },
);
