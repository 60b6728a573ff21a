import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../scripts/generated.ts';
import { version } from '../src/core/version.ts';

/** The rungs of imports, lowest first: a module imports from its own member or a lower rung. */
const rungs: readonly (readonly string[])[] = [
  ['core'],
  ['model'],
  ['providers', 'access', 'answers'],
  ['fetching'],
  ['render'],
  ['reads'],
  ['http', 'mcp', 'sessions'],
  ['config-forms.ts'],
  ['config-sessions.ts', 'config-model.ts', 'config-history.ts', 'config-limits.ts'],
  ['config.ts'],
  ['endpoints.ts'],
  ['open-fetching.ts', 'open-access.ts', 'open-answers.ts', 'open-sessions.ts'],
  ['open-metrics.ts', 'open-answered-sessions.ts'],
  ['open-documents.ts', 'open-asking.ts'],
  ['app.ts'],
  ['commands'],
  ['main.ts'],
];

/** Which modules may import a package; a package that is not named may be imported by none. */
const packageOwners: Readonly<Record<string, RegExp>> = {
  zod: /./,
  undici: /^core\/(?:http-client|http-head|post-client|host-pools)\.ts$/,
  '@ipld/dag-cbor': /^providers\/archive\/imports\/bluesky\//,
  multiformats: /^providers\/archive\/imports\/bluesky\//,
  'better-sqlite3': /^core\/sqlite\.ts$/,
  '@fastify/cors': /^http\/cors\.ts$/,
  'find-my-way': /^http\/methods\.ts$/,
  'content-disposition': /^http\/headers\.ts$/,
  'ipaddr.js': /^core\/ip-address\.ts$/,
  'lru-cache': /^(?:access|answers|fetching|http|providers)\//,
  'markdown-it':
    /^http\/pages\/(?:markdown|result-html|result-links|answer-html)\.ts$|^answers\/readers\/markdown\.ts$/,
  yaml: /^render\/obsidian\.ts$|^answers\/readers\/(?:markdown|openapi)\.ts$/,
  fastify:
    /^(?:http|mcp|sessions)\/|^(?:app|open-fetching|open-access|open-documents|open-sessions)\.ts$/,
  '@modelcontextprotocol/server': /^mcp\//,
  pino: /^commands\/(?:logger|open-reading|serve)\.ts$/,
  parse5: /^answers\/readers\/html\.ts$|^providers\/html-text\.ts$/,
  ignore: /^answers\/corpus\/walk\.ts$/,
  yauzl: /^providers\/archive\/imports\/files\/zip-files\.ts$/,
  stemmer: /^answers\/text\/words\.ts$/,
  minisearch: /^http\/pages\/search-index\.ts$/,
  'pino-pretty': /^commands\/logger\.ts$/,
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const typescriptUnder = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => path.split(sep).join('/'));

const sources = typescriptUnder('src');
const imports = sources.flatMap((from) =>
  [
    ...readFileSync(join('src', from), 'utf8').matchAll(
      /(?:^(?:import|export)\b[^;]*?from |\bimport\()'([^']+)'/gms,
    ),
  ].map((match): Import => ({ from, to: match[1] ?? '' })),
);
const local = imports
  .filter(({ to }) => to.startsWith('.'))
  .map(({ from, to }) => ({ from, to: normalize(join(dirname(from), to)) }));

/** A package may be imported by a path within it. */
const packageOf = (to: string) => /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to;
const memberOf = (path: string) => path.split('/')[0] ?? path;
const rungOf = (path: string) => rungs.findIndex((members) => members.includes(memberOf(path)));

const generated = await generatedFiles();

describe('the house', () => {
  it('gives every source file a rung', () => {
    expect(sources.filter((path) => rungOf(path) < 0)).toEqual([]);
  });

  it('imports from the own member or a lower rung only', () => {
    const climbing = local.filter(
      ({ from, to }) => memberOf(from) !== memberOf(to) && rungOf(to) >= rungOf(from),
    );
    expect(climbing).toEqual([]);
  });

  it('keeps each provider from importing another', () => {
    const provider = (path: string) => /^providers\/([^/]+)\//.exec(path)?.[1];
    const crossing = local.filter(({ from, to }) => {
      const [a, b] = [provider(from), provider(to)];
      return a !== undefined && b !== undefined && a !== b;
    });
    expect(crossing).toEqual([]);
  });

  it('imports packages only where they are owned', () => {
    const foreign = imports.filter(({ to }) => !to.startsWith('.') && !to.startsWith('node:'));
    const astray = foreign.filter(({ from, to }) => !packageOwners[packageOf(to)]?.test(from));
    expect(astray).toEqual([]);
  });

  it('opens databases through core/sqlite.ts in tests, benchmarks and scripts too', () => {
    const openers = ['test', 'bench', 'scripts'].flatMap((folder) =>
      typescriptUnder(folder)
        .map((path) => join(folder, path))
        .filter((path) => /^import\b.* from 'better-sqlite3'/m.test(readFileSync(path, 'utf8'))),
    );
    // What another module opens is not kept, and Node 24 aborts when it is collected (decision 0011).
    expect(openers).toEqual([]);
  });

  it('depends on exactly the packages that the sources import', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const used = new Set(
      imports.map(({ to }) => packageOf(to)).filter((to) => Object.hasOwn(packageOwners, to)),
    );
    expect(Object.keys(dependencies).sort()).toEqual([...used].sort());
  });

  it('reads the environment in main.ts only', () => {
    const readers = sources.filter((path) =>
      readFileSync(join('src', path), 'utf8').includes('process.env'),
    );
    expect(readers).toEqual(['main.ts']);
  });

  it('parses URLs without `URL.canParse`, which Node 20 gets wrong once it is compiled', () => {
    const users = sources.filter((path) =>
      readFileSync(join('src', path), 'utf8').includes('URL.canParse('),
    );
    expect(users).toEqual([]);
  });

  it('bounds every list and every text of a payload', () => {
    // What these schemas read comes from upstreams; `lenient.ts` has the bounded ones that stand for them.
    const unbounded =
      /\bz\s*\.\s*(?:array|record|map|set)\(|\bz\s*\.\s*(?:coerce\s*\.\s*)?(?:string|url)\([^)]*\)(?!\s*\.\s*(?:max|regex)\()/;
    // The blocks of a CAR file, which nobody but its owner imports, have a bound in bytes.
    const exempt = /^providers\/(?:lenient|archive\/imports\/bluesky\/(?:car|tree))\.ts$/;
    const payloads = sources.filter((path) => path.startsWith('providers/') && !exempt.test(path));

    const astray = payloads.filter((path) =>
      unbounded.test(readFileSync(join('src', path), 'utf8')),
    );
    expect(astray).toEqual([]);
    expect(unbounded.test('z.object({ name: z.string(), tags: eachOf(url, 9) })')).toBe(true);
    expect(unbounded.test('z\n  .string()\n  .max(9)')).toBe(false);
  });

  it('tells the version of package.json', () => {
    expect(version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });

  it.each(Object.entries(generated))('has an up-to-date %s', (path, content) => {
    expect(readFileSync(path, 'utf8'), 'run `npm run generate`').toBe(content);
  });
});
