import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/config.ts';
import { parseEngineUrl } from '../../src/core/engine/engine-url.ts';
import { type Fence, listFences } from '../support/doc-examples.ts';
import { createSelfSigned } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

interface Checker {
  /** Program that the check runs; the check is skipped if the program is not on `PATH`. */
  readonly program?: string;
  /** Returns the faults of a block; an empty text if there are none. */
  readonly findFaults: (text: string) => string;
}

/** How the configuration and the programs that the documentation shows are checked, by the language of their block. */
const checkers: Readonly<Record<string, Checker>> = {
  json: { findFaults: findJsonFaults },
  yaml: { findFaults: (text) => parseDocument(text).errors.join('\n') },
  ini: { findFaults: findIniFaults },
  toml: { findFaults: findTomlFaults },
  ts: { findFaults: findTypeScriptFaults },
  js: { findFaults: (text) => run(process.execPath, '--check', save('example.mjs', text)) },
  python: {
    program: 'python3',
    findFaults: (text) => run('python3', '-m', 'py_compile', save('example.py', text)),
  },
  nginx: { program: 'nginx', findFaults: findNginxFaults },
  caddyfile: { program: 'caddy', findFaults: findCaddyFaults },
};

const paths = ['docs', 'docs/contract']
  .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
  .filter((path) => path.endsWith('.md'));
const examples = ['README.md', ...paths].flatMap((path) =>
  listFences(readFileSync(path, 'utf8')).map((fence) => ({ path, ...fence })),
);
const checked = examples.filter(
  ({ language, skipReason }) => Object.hasOwn(checkers, language) && skipReason === undefined,
);

/** Languages of blocks that `docs.test.ts` runs or compares. */
const otherLanguages: ReadonlySet<string> = new Set(['sh', 'text', '']);

describe('configuration and programs in the documentation', () => {
  it('has a check for every language', () => {
    const unchecked = examples.filter(
      ({ language }) => !Object.hasOwn(checkers, language) && !otherLanguages.has(language),
    );

    expect(unchecked.map(({ path, line, language }) => `${path}:${line}: ${language}`)).toEqual([]);
  });

  it.for(checked)('$path line $line: $language', ({ language, text }, { skip }) => {
    const { program, findFaults } = getChecker(language);
    if (program !== undefined && !isOnPath(program)) skip(`${program} is not on PATH`);

    const faults = findFaults(text);

    expect(faults).toBe('');
  });
});

/** Parts of a Docker Compose file that the test below checks. */
const composeFile = z.object({
  services: z.record(
    z.string(),
    z.object({
      build: z.string().optional(),
      image: z.string(),
      command: z.string().optional(),
      environment: z.record(z.string(), z.string()).optional(),
      depends_on: z.record(z.string(), z.unknown()).optional(),
      volumes: z.array(z.string()).optional(),
      configs: z.array(z.object({ source: z.string(), target: z.string() })).optional(),
    }),
  ),
  configs: z.record(z.string(), z.object({ content: z.string() })),
  volumes: z.record(z.string(), z.null()),
});

describe('compose.instances.yaml', () => {
  const text = readFileSync('compose.instances.yaml', 'utf8');
  const document = parseDocument(text, { merge: true });
  const { services, configs, volumes } = composeFile.parse(document.toJS());
  const instances = Object.entries(services).filter(([, { build }]) => build === '.');

  it('has only services, volumes and configurations that it defines', () => {
    const all = Object.values(services);
    const mounted = all.flatMap(({ volumes: own = [] }) => own.map((one) => one.split(':')[0]));
    const sources = all.flatMap(({ configs: own = [] }) => own.map(({ source }) => source));
    const needed = all.flatMap(({ depends_on: own = {} }) => Object.keys(own));

    expect(document.errors).toEqual([]);
    expect(mounted.toSorted()).toEqual(Object.keys(volumes).toSorted());
    expect(sources).toEqual(Object.keys(configs));
    expect(Object.keys(services)).toEqual(expect.arrayContaining(needed));
  });

  it('starts two instances with valid settings and the same engine', () => {
    const loaded = instances.map(([, { environment }]) => loadConfig(environment ?? {}));
    const folders = instances.map(([, { volumes: own }]) => own);

    expect(loaded).toEqual([expect.objectContaining({ ok: true }), loaded[0]]);
    const [first] = loaded;
    const { nodes } = parseEngineUrl((first?.ok && first.config.PERCH_REDIS_URL) || '') ?? {};
    expect(nodes).toEqual([{ host: 'valkey', port: 6379 }]);
    expect(services.valkey?.command).toMatch(/--appendonly yes\b.*--maxmemory-policy noeviction\b/);
    expect(new Set(folders.flat()).size).toBe(instances.length);
  });

  it('distributes requests to all instances', ({ skip }) => {
    const { content = '' } = configs.caddyfile ?? {};

    const upstreams = /reverse_proxy (.*) \{/.exec(content)?.[1]?.split(' ');
    expect(upstreams).toEqual(instances.map(([name]) => `${name}:8080`));
    expect(content).toContain('health_uri /health/ready');
    if (!isOnPath('caddy')) skip('caddy is not on PATH');
    expect(findCaddyFaults(content)).toBe('');
  });
});

describe('the check of configuration and programs', () => {
  it.for([
    ['json', '{"a": 1}', '{"a": 1,}'],
    ['yaml', 'a:\n  - 1', 'a: [1'],
    ['ini', '[Unit]\n# name\nDescription=Perch', 'Description'],
    ['toml', '[a.b]\nc = "d"\ne = { F = "g" }', '[a.b]\nc = d'],
    ['ts', 'const a: string = await b<C>();', 'const a: = 1;'],
    ['js', 'const a = await fetch(url);', 'const a = ;'],
    ['python', 'print(1)', 'print(1'],
    ['nginx', 'server { listen 8080; }', 'server { listens 8080; }'],
    ['caddyfile', ':8080 {\n\trespond "a"\n}', ':8080 {\n\tresponds "a"\n}'],
  ] as const)('accepts right %s and finds what is wrong', ([language, right, wrong], { skip }) => {
    const { program, findFaults } = getChecker(language);
    if (program !== undefined && !isOnPath(program)) skip(`${program} is not on PATH`);

    expect(findFaults(right)).toBe('');
    expect(findFaults(wrong)).not.toBe('');
  });

  it('leaves out blocks that are marked `no-run`', () => {
    const page = '```json no-run="shortened"\n{…}\n```\n\n```json\n{}\n```\n';

    const fences: readonly Partial<Fence>[] = listFences(page);

    expect(fences).toMatchObject([
      { skipReason: 'shortened', text: '{…}', line: 1 },
      { skipReason: undefined, text: '{}', line: 5 },
    ]);
  });
});

function getChecker(language: string): Checker {
  const checker = checkers[language];
  if (checker === undefined) throw new Error(`There is no check for ${language}.`);
  return checker;
}

function isOnPath(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

/** Writes a file into a folder of its own, and returns its path. */
function save(name: string, text: string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** Runs a program, and returns what it printed if it failed. */
function run(program: string, ...args: readonly string[]): string {
  const home = temporaryFolder();
  const env = { PATH: process.env.PATH ?? '', HOME: home, PYTHONPYCACHEPREFIX: home };
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  if (status === 0) return '';
  return `${program}: ${error?.message ?? `exit code ${status}`}\n${stdout}${stderr}`;
}

function findJsonFaults(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return String(error);
  }
}

/** Checks units of systemd and files of environment variables: sections, pairs, comments and empty lines. */
function findIniFaults(text: string): string {
  const isKnown = (line: string) => /^(?:|[#;].*|\[[\w-]+\]|[\w-]+=.*)$/.test(line);
  return text
    .split('\n')
    .filter((line) => !isKnown(line))
    .join('\n');
}

/** Checks the part of TOML that the documentation uses: sections, and pairs with strings, lists and inline tables. */
function findTomlFaults(text: string): string {
  const isKnown = (line: string) =>
    /^(?:|#.*|\[[\w.-]+\]|[\w-]+ = (?:"[^"]*"|\[.*\]|\{.*\}))$/.test(line);
  return text
    .split('\n')
    .filter((line) => !isKnown(line))
    .join('\n');
}

function findTypeScriptFaults(text: string): string {
  try {
    transformSync(text, { loader: 'ts', format: 'esm', logLevel: 'silent' });
    return '';
  } catch (error) {
    return String(error);
  }
}

/** Has nginx test servers, with a certificate that exists and with ports that need no privileges. */
function findNginxFaults(text: string): string {
  const folder = temporaryFolder();
  const { key, cert } = createSelfSigned('perch.example.org');
  writeFileSync(join(folder, 'privkey.pem'), key);
  writeFileSync(join(folder, 'fullchain.pem'), cert);
  const servers = text
    .replaceAll(/\/etc\/letsencrypt\/live\/[\w.-]+/g, folder)
    .replaceAll(/(?<=listen (?:\[::\]:)?)(?=(?:80|443)\b)/g, '10');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  const file = save(
    'nginx.conf',
    `pid ${folder}/nginx.pid;\nevents {}\nhttp {\n${temporary}\naccess_log off;\n${servers}\n}\n`,
  );
  return run('nginx', '-t', '-q', '-p', folder, '-e', 'stderr', '-c', file);
}

/** Has Caddy load a configuration without serving it. */
function findCaddyFaults(text: string): string {
  const file = save('Caddyfile', `${text}\n`);
  return run('caddy', 'validate', '--adapter', 'caddyfile', '--config', file);
}
