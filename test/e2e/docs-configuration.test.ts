import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/config.ts';
import { parseEngineUrl } from '../../src/lib/redis/engine-url.ts';
import {
  checkers,
  findCaddyFaults,
  getChecker,
  requireProgram,
} from '../support/config-checkers.ts';
import { type Fence, listFences } from '../support/doc-examples.ts';

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
    if (program !== undefined) requireProgram(program, skip);

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
    const loaded = instances.map(([, { environment }]) =>
      loadConfig({ ...environment, PERCH_ADMIN_TOKEN_FILE: undefined }),
    );
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
    requireProgram('caddy', skip);
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
    if (program !== undefined) requireProgram(program, skip);

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
