import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../scripts/generated.ts';
import { version } from '../src/lib/version.ts';

/**
 * The rungs of imports, lowest first. A module imports from its own member or from a lower rung; within a rung, a member
 * of a chain imports from those after it.
 */
const rungs: readonly (readonly (readonly string[])[])[] = [
  [['model', 'lib']],
  [['providers', 'archive', 'normalize'], ['access'], ['answers']],
  [['fetching']],
  [['reads', 'render']],
  [['sessions', 'routes']],
  [['config']],
  [['server']],
  [['main.ts', 'cli']],
];

/** Maximum number of files that a folder has of its own. */
const maxFiles = 20;

/** Which modules may import a package; a package that is not named may be imported by none. */
const packageOwners: Readonly<Record<string, RegExp>> = {
  zod: /./,
  '@opentelemetry/api': /^lib\/tracing\//,
  '@redis/client': /^lib\/redis\/client\.ts$/,
  undici: /^lib\/http\/(?:http-client|post-client|public-http-client)\.ts$/,
  '@ipld/dag-cbor': /^archive\/imports\/bluesky\//,
  multiformats: /^archive\/imports\/bluesky\//,
  'better-sqlite3': /^lib\/files\/sqlite\.ts$/,
  '@fastify/cors': /^routes\/cors\.ts$/,
  'content-disposition': /^routes\/headers\.ts$/,
  'ipaddr.js': /^lib\/http\/ip-address\.ts$/,
  'lru-cache':
    /^(?:access|answers|archive|fetching|normalize|providers|routes|sessions)\/|^lib\/(?:expiring-cache|http\/request-signatures)\.ts$/,
  'markdown-it': /^routes\/pages\/|^answers\/readers\/markdown\.ts$/,
  yaml: /^answers\/readers\/(?:markdown|openapi)\.ts$/,
  fastify: /^(?:routes|sessions|server)\//,
  '@modelcontextprotocol/server': /^routes\/mcp\//,
  pino: /^cli\/(?:logger|reading\/open-reading|serve)\.ts$/,
  mime: /^normalize\/files\.ts$/,
  parse5: /^answers\/readers\/html\.ts$|^normalize\/html-\w+\.ts$/,
  ignore: /^answers\/corpus\/corpus\.ts$/,
  'tar-stream': /^archive\/imports\/open-files\.ts$/,
  yauzl: /^archive\/imports\/open-files\.ts$|^cli\/restore\.ts$/,
  yazl: /^cli\/backup\.ts$/,
  stemmer: /^answers\/text\/words\.ts$/,
  minisearch: /^routes\/pages\/docs\/search-index\.ts$/,
  'pino-pretty': /^cli\/logger\.ts$/,
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
const importsOf = (folder: string, from: string) =>
  [
    ...readFileSync(join(folder, from), 'utf8').matchAll(
      /(?:^(?:import|export)\b[^;]*?from |\bimport\()'([^'\n]+)'/gms,
    ),
  ].map((match): Import => ({ from, to: match[1] ?? '' }));
const imports = sources.flatMap((from) => importsOf('src', from));
const local = imports
  .filter(({ to }) => to.startsWith('.'))
  .map(({ from, to }) => ({ from, to: normalize(join(dirname(from), to)) }));

/** A package may be imported by a path within it. */
const packageOf = (to: string) => /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to;
const isPackage = (to: string) => !to.startsWith('.') && !to.startsWith('node:');
const isOutside = (path: string) => path.startsWith('../');
const memberOf = (path: string) => path.split('/')[0] ?? path;
const rungOf = (member: string) => rungs.findIndex((chains) => chains.flat().includes(member));

interface PackageFile {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const readPackage = (): PackageFile => JSON.parse(readFileSync('package.json', 'utf8'));

function mayImport(from: string, to: string): boolean {
  if (from === to || rungOf(to) < rungOf(from)) return true;
  const chain = rungs[rungOf(from)]?.find((members) => members.includes(from)) ?? [];
  return chain.includes(to) && chain.indexOf(to) > chain.indexOf(from);
}

/** Sources of the TypeScript client, which is a package of its own, and part of the build of Perch. */
const client = 'clients/typescript/src';
const clientSources = typescriptUnder(client);
const clientImports = clientSources.flatMap((from) => importsOf(client, from));

const generated = await generatedFiles();

describe('the house', () => {
  it('gives every source file a rung', () => {
    expect(sources.filter((path) => rungOf(memberOf(path)) < 0)).toEqual([]);
  });

  it('imports from the own member or a lower rung only', () => {
    const climbing = local.filter(
      ({ from, to }) => !isOutside(to) && !mayImport(memberOf(from), memberOf(to)),
    );
    expect(climbing).toEqual([]);
  });

  it('imports the TypeScript client only in the command line, and nothing else outside of src', () => {
    const outside = local.filter(({ to }) => isOutside(to));
    const astray = outside.filter(
      ({ from, to }) => !from.startsWith('cli/') || !to.startsWith(`../${client}/`),
    );

    expect(outside).not.toEqual([]);
    expect(astray).toEqual([]);
  });

  it('has a TypeScript client without dependencies, which imports only its own files', () => {
    const file = JSON.parse(readFileSync('clients/typescript/package.json', 'utf8'));

    expect(file.dependencies).toBeUndefined();
    expect(file.version).toBe(readPackage().version);
    expect(clientImports.filter(({ to }) => !/^\.\/[\w-]+\.ts$/.test(to))).toEqual([]);
  });

  it('has at most twenty files in a folder', () => {
    const counts = new Map<string, number>([[client, clientSources.length]]);
    for (const path of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > maxFiles)).toEqual([]);
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
    const foreign = imports.filter(({ to }) => isPackage(to));
    const astray = foreign.filter(({ from, to }) => !packageOwners[packageOf(to)]?.test(from));
    expect(astray).toEqual([]);
  });

  it('opens databases through lib/files/sqlite.ts in tests, benchmarks and scripts too', () => {
    const openers = ['test', 'bench', 'scripts'].flatMap((folder) =>
      typescriptUnder(folder)
        .map((path) => join(folder, path))
        .filter((path) => /^import\b.* from 'better-sqlite3'/m.test(readFileSync(path, 'utf8'))),
    );
    // What another module opens is not kept, and Node 24 aborts when it is collected (decision 0011).
    expect(openers).toEqual([]);
  });

  it('calls no function of better-sqlite3 whose native object cannot be kept (decision 0011)', () => {
    const users = sources.filter((path) =>
      /\.(?:iterate|pragma)\(/.test(readFileSync(join('src', path), 'utf8')),
    );
    expect(users).toEqual([]);
  });

  it('declares every package that the sources import, and imports every package with an owner', () => {
    const used = new Set(imports.map(({ to }) => packageOf(to)).filter(isPackage));
    const { dependencies, devDependencies } = readPackage();

    expect([...used].sort()).toEqual(Object.keys(packageOwners).sort());
    expect(Object.keys({ ...dependencies, ...devDependencies })).toEqual(
      expect.arrayContaining([...used]),
    );
  });

  it('loads packages in forms that the build bundles well', () => {
    // esbuild drops what is not used of a namespace, but keeps all of the object `z` of zod.
    const others = /createRequire|import (?:type )?\{ z \} from 'zod'/;
    const users = sources.filter((path) => others.test(readFileSync(join('src', path), 'utf8')));
    expect(users).toEqual([]);
  });

  it('installs only packages that cannot be bundled', () => {
    // The bundle contains all other packages (decision 0080).
    expect(Object.keys(readPackage().dependencies)).toEqual(['better-sqlite3']);
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
    const exempt = /^(?:normalize\/lenient|archive\/imports\/bluesky\/repository)\.ts$/;
    const payloads = sources.filter(
      (path) => /^(?:normalize|providers|archive)\//.test(path) && !exempt.test(path),
    );

    const astray = payloads.filter((path) =>
      unbounded.test(readFileSync(join('src', path), 'utf8')),
    );
    expect(astray).toEqual([]);
    expect(unbounded.test('z.object({ name: z.string(), tags: listOf(url, 9) })')).toBe(true);
    expect(unbounded.test('z\n  .string()\n  .max(9)')).toBe(false);
  });

  it('tells the version of package.json', () => {
    expect(version).toBe(readPackage().version);
  });

  it.each(Object.entries(generated))('has an up-to-date %s', (path, content) => {
    expect(readFileSync(path, 'utf8'), 'run `npm run generate`').toBe(content);
  });
});
