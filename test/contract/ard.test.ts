import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeArd } from '../../src/routes/discovery/surfaces.ts';
import type { Endpoint } from '../../src/routes/route.ts';
import { buildTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { discoveryFacts } from '../support/discovery-facts.ts';

/** The published schema of the manifest, beside the repository. It is not part of it. */
const schemaPath = fileURLToPath(
  new URL('../../../shared/spec/ard-manifest.schema.json', import.meta.url),
);

const urnPattern = /^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/;

/** The published rules (specification v0.91, §4.2 and §4.3), as far as the manifest uses them. */
const entryRules = z.strictObject({
  identifier: z.string().regex(urnPattern),
  displayName: z.string().min(1),
  type: z.string().regex(/^[a-z]+\/[a-z0-9.+-]+$/),
  // Exactly one of `url` and `data`; here it is `url`.
  url: z.url(),
  description: z.string().min(1),
  tags: z.array(z.string()),
  representativeQueries: z.array(z.string().min(1)).min(2).max(5),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

const manifestRules = z.strictObject({
  specVersion: z.literal('1.0'),
  host: z.strictObject({ displayName: z.string().min(1), documentationUrl: z.url() }),
  entries: z.array(entryRules).min(1),
});

const mcp: Endpoint = {
  id: 'callMcp',
  method: 'POST',
  path: '/mcp',
  tag: 'mcp',
  title: 'Send',
  summary: 'Answers the Model Context Protocol.',
  replies: [],
  problems: [],
  access: 'key',
};

describe('/.well-known/ard.json', () => {
  clause(
    ['read.discovery.ard_every_surface', 'read.what.discovery_describes_surfaces'],
    'has an entry for each surface for programs in /api',
    async () => {
      const app = await buildTestApp({ env: { PERCH_BASE_URL: 'https://perch.example.org' } });
      const { surfaces } = (await app.request('/api')).json();

      const manifest = manifestRules.parse((await app.request('/.well-known/ard.json')).json());

      // Aliases are deprecated, so nobody should find them; the others are no place to read at.
      const others = ['alias', 'discovery', 'media', 'pages', 'health'];
      const machine = surfaces
        .map(({ name }: { name: string }) => name)
        .filter((name: string) => !others.includes(name));
      expect(machine).toEqual(expect.arrayContaining(['v1', 'permalink']));
      expect(manifest.entries.map(({ metadata }) => metadata.surface)).toEqual(machine);
    },
  );

  it('follows the published rules, with unique identifiers', async () => {
    const manifest = manifestRules.parse(describeArd({ ...discoveryFacts, endpoints: [mcp] }));

    const identifiers = manifest.entries.map(({ identifier }) => identifier);
    expect(identifiers).toEqual([
      'urn:air:perch.test:api:v1',
      'urn:air:perch.test:api:permalinks',
      'urn:air:perch.test:mcp:perch',
    ]);
    expect(manifest.entries.map(({ type, url }) => [type, url])).toEqual([
      ['application/vnd.oai.openapi+json', 'https://perch.test/openapi.json'],
      ['application/vnd.oai.openapi+json', 'https://perch.test/openapi.json'],
      ['application/mcp-server-card+json', 'https://perch.test/mcp/server-card'],
    ]);
  });

  it('lists a surface only if it is enabled', () => {
    const { entries } = describeArd(discoveryFacts);

    expect(entries.map(({ metadata }) => metadata.surface)).toEqual(['v1', 'permalink']);
  });

  it.each([
    ['http://localhost:8080', 'localhost'],
    ['http://127.0.0.1:8080', '127.0.0.1'],
    ['http://[::1]:8080', '--1'],
    ['https://perch.example.org:8443/read', 'perch.example.org'],
  ])('has the publisher of the host in %s', (baseUrl, publisher) => {
    const { entries } = describeArd({ ...discoveryFacts, baseUrl });

    for (const { identifier } of entries) {
      expect(identifier).toMatch(urnPattern);
      expect(identifier.split(':')[2]).toBe(publisher);
    }
  });

  it('has the same bytes at the path of the previous format', async () => {
    const app = await buildTestApp();
    const ard = await app.request('/.well-known/ard.json');

    const catalog = await app.request('/.well-known/ai-catalog.json');

    expect(catalog.body).toBe(ard.body);
    expect([catalog.headers.etag, catalog.headers['content-type']]).toEqual([
      ard.headers.etag,
      'application/json; charset=utf-8',
    ]);
  });

  it.skipIf(!existsSync(schemaPath))(`is valid against ${schemaPath}`, async () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(JSON.parse(readFileSync(schemaPath, 'utf8')));
    const app = await buildTestApp();
    const manifests = [
      (await app.request('/.well-known/ard.json')).json(),
      JSON.parse(JSON.stringify(describeArd({ ...discoveryFacts, endpoints: [mcp] }))),
    ];

    for (const manifest of manifests) {
      expect([validate(manifest), validate.errors]).toEqual([true, null]);
      const [entry, ...rest] = manifest.entries;
      const broken = { ...manifest, entries: [{ ...entry, data: {} }, ...rest] };
      expect(validate(broken)).toBe(false);
    }
  });
});
