import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../../src/lib/json-schema.ts';
import { problemKinds } from '../../../../src/lib/problem.ts';
import { allReads } from '../../../../src/reads/index.ts';
import { describeOpenApi } from '../../../../src/routes/openapi/document.ts';
import { readExamples } from '../../../../src/routes/openapi/examples.ts';
import { isBrowseRoute, type Route, routes } from '../../../../src/routes/reads/routes.ts';
import { endpoints } from '../../../../src/server/endpoints.ts';
import { operationOf, operationsOf, parseDocument, responseOf } from '../../../support/openapi.ts';

const facts = {
  baseUrl: 'https://perch.test/read',
  version: '1.2.3',
  nowMs: null,
  endpoints,
  examples: readExamples('https://perch.test/read'),
  limits: { windowSeconds: 60, public: 60, key: 600, post: 600, media: 600, pool: 800 },
};
const json: unknown = JSON.parse(JSON.stringify(describeOpenApi(facts)));
const document = parseDocument(json);
const all = operationsOf(document);
/** Operations of reads. The others are in `endpoint-paths.test.ts`. */
const operations = all.filter(({ operationId }) => routes.some(({ id }) => id === operationId));

/** Returns the target of a reference (RFC 6901); `undefined` if there is none. */
function resolve(reference: string): unknown {
  const steps = reference.replace(/^#\//, '').split('/');
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], json);
}

/** Returns the names of all members, except within examples and the properties of schemas. */
function namesOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value).filter(([name]) => name !== 'examples');
  return members.flatMap(([name, inner]) =>
    name === 'properties' ? Object.values(inner).flatMap(namesOf) : [name, ...namesOf(inner)],
  );
}

const isBrowse = (id: string) => {
  const route = routes.find((row) => row.id === id);
  return route !== undefined && isBrowseRoute(route);
};

describe('the document', () => {
  it('names the service and its URL', () => {
    expect(document.info).toMatchObject({
      title: 'Perch',
      version: '1.2.3',
      license: { name: 'MIT', identifier: 'MIT' },
    });
    expect(document.servers).toEqual([{ url: 'https://perch.test/read' }]);
  });

  it('has no dangling references', () => {
    const references = findReferences(json);

    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((one) => resolve(one) === undefined)).toEqual([]);
  });

  it('has no unused components', () => {
    const { schemas, responses, headers } = document.components;
    const kept = Object.entries({ schemas, responses, headers }).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`),
    );
    const referred = new Set(findReferences(json));

    expect(kept.filter((one) => !referred.has(one))).toEqual([]);
  });

  it('contains no internal names of schemas', () => {
    const names = new Set(namesOf(json));

    expect([...names].filter((name) => /^\$(?!ref$)/.test(name))).toEqual([]);
    // Only schemas of requests are closed.
    const replies = [document.components, operations.map(({ responses }) => responses)];
    expect(JSON.stringify(replies)).not.toContain('"additionalProperties":false');
  });

  it('has no closed enumerations in replies', () => {
    const { schemas } = document.components;

    expect(namesOf(schemas)).not.toContain('enum');
    expect(schemas.Problem).toMatchObject({
      properties: {
        code: { type: 'string', 'x-extensible-enum': Object.keys(problemKinds) },
      },
    });
  });

  it('lists the known values of open sets', () => {
    const knownOf = (schema: string, member: string) =>
      resolve(`#/components/schemas/${schema}/properties/${member}/x-extensible-enum`);

    expect(knownOf('BrowseReply', 'resource')).toContain('followers');
    expect(knownOf('BrowseReply', 'feed')).toContain('latest');
    expect(knownOf('BrowseReply', 'source')).toContain('archive');
    expect(knownOf('PostReply', 'source')).toContain('archive');
    expect(knownOf('PostReply', 'format')).toEqual(['json']);
    expect(JSON.stringify(resolve('#/components/schemas/Account'))).toContain(
      '"x-extensible-enum":["individual","organization","government"]',
    );
    expect(document.components.headers['X-Source']?.schema).toHaveProperty('x-extensible-enum');
  });

  it('describes exactly the tags of its operations', () => {
    const used = new Set(all.flatMap(({ tags }) => tags));

    expect(document.tags.map(({ name }) => name).sort()).toEqual([...used].sort());
  });

  it('is deterministic', () => {
    expect(JSON.stringify(describeOpenApi(facts))).toBe(JSON.stringify(json));
  });
});

describe('the catalogue of problems', () => {
  const codes = document['x-problem-codes'];

  it('contains each code with its status and texts', () => {
    expect(Object.keys(codes)).toEqual(Object.keys(problemKinds));
    expect(codes.upstream_unavailable).toEqual({
      type: 'https://perch.test/read/docs/errors#upstream_unavailable',
      status: 503,
      title: problemKinds.upstream_unavailable.title,
      when: problemKinds.upstream_unavailable.when,
      resolution: problemKinds.upstream_unavailable.resolution,
      retry_after: 30,
    });
  });

  it('contains each code of a response, with the same status', () => {
    const told = all.flatMap((operation) =>
      Object.keys(operation.responses).flatMap((status) =>
        [...responseOf(document, operation, status).description.matchAll(/^`(\w+)`:/gm)].map(
          ([, code = '']) => [code, Number(status)] as const,
        ),
      ),
    );

    expect(told.length).toBeGreaterThan(200);
    expect(told.filter(([code, status]) => codes[code]?.status !== status)).toEqual([]);
  });
});

describe('the operations', () => {
  it('match the route tables', () => {
    expect(all.map(({ operationId, method, path }) => [operationId, method, path])).toEqual([
      ...routes.map(({ id, path }) => [id, 'get', path]),
      ...endpoints.map(({ id, method, path }) => [id, method.toLowerCase(), path]),
    ]);
  });

  it('have unique ids', () => {
    const ids = all.map(({ operationId }) => operationId);

    expect(new Set(ids).size).toBe(ids.length);
    // All documented paths except those of reads.
    expect(ids).toEqual(
      expect.arrayContaining([
        ...['getPost', 'getProfile', 'listFollowers', 'listFollowing', 'searchPosts', 'getOEmbed'],
        ...['getPostByPermalink', 'getProfileByHandle', 'listFollowersByHandle'],
        ...['listFollowingByHandle', 'searchByPath', 'getPostLegacy', 'browseLegacy'],
      ]),
    );
  });

  it.each(operations)('declare the parameters of $path', ({ path, parameters }) => {
    const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const inPath = parameters.filter((one) => one.in === 'path');
    const names = parameters.map(({ name }) => name);

    expect(inPath.map(({ name }) => name)).toEqual(inTemplate);
    expect(inPath.every(({ required }) => required)).toBe(true);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(routes)('accept the parameters of the read of $path', (route: Route) => {
    const { read, path } = route;
    const ids = typeof read === 'string' ? [read] : Object.values(read.reads);
    const taken = new Set(ids.flatMap((id) => Object.keys(allReads[id].params.shape)));
    if (path.includes('{id}')) taken.delete('url');
    if (path.includes('{n}')) taken.add('n');
    if (typeof read !== 'string') taken.add(read.parameter);

    const names = operationOf(document, route.id).parameters.map(({ name }) => name);

    expect(names.toSorted()).toEqual([...taken].sort());
  });

  it('require no key, and accept one only on the browse surface', () => {
    expect(document.security).toEqual([]);
    for (const { operationId, security } of operations) {
      expect([operationId, security]).toEqual([
        operationId,
        isBrowse(operationId) ? [{}, { bearerKey: [] }] : undefined,
      ]);
    }
    expect(document.components.securitySchemes.bearerKey).toMatchObject({
      type: 'http',
      scheme: 'bearer',
    });
  });

  it('name the allowances that they spend, which the document describes', () => {
    const told = operations.map((one) => [one.operationId, one['x-rate-limit-policies']]);

    expect(told).toEqual(
      routes.map((route) => [route.id, isBrowseRoute(route) ? ['public', 'key'] : ['post']]),
    );
    expect(document['x-rate-limit-policies']).toMatchObject({
      public: { quota: 60, window_seconds: 60 },
      key: { quota: 600, window_seconds: 60 },
      post: { quota: 600, window_seconds: 60 },
    });
  });
});

describe('the responses', () => {
  it.each(operations)('of $path have every status', ({ operationId, responses }) => {
    const expected = [
      ...(operationId.startsWith('importProfilePosts') ? [] : ['304']),
      ...['200', '400', '404', '414', '429', '500', '502', '503', 'default'],
      ...(isBrowse(operationId) ? ['401'] : []),
      ...(operationId.startsWith('getOEmbed') ? ['501'] : []),
    ];

    expect(Object.keys(responses).sort()).toEqual(expected.sort());
  });

  it.each(operations)('of $path are problem documents for errors', (operation) => {
    for (const status of Object.keys(operation.responses)) {
      const { content } = responseOf(document, operation, status);
      if (status === '200' || status === '304') continue;
      expect(content).toMatchObject({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      });
    }
  });

  it('have each media type of the read', () => {
    const typesOf = (id: string) =>
      Object.entries(responseOf(document, operationOf(document, id), 200).content ?? {}).map(
        ([type, { schema }]) => [type, schema.$ref ?? schema.type],
      );

    const feeds = [
      ['application/atom+xml', 'string'],
      ['application/rss+xml', 'string'],
      ['application/feed+json', '#/components/schemas/JsonFeed'],
    ];
    expect(typesOf('getPostByPermalink')).toEqual([
      ['text/markdown', 'string'],
      ['application/json', '#/components/schemas/PostReply'],
      ['text/html', 'string'],
      ...feeds,
    ]);
    expect(typesOf('browseLegacy')).toEqual([
      ['text/markdown', 'string'],
      ['application/json', '#/components/schemas/BrowseReply'],
      ['text/html', 'string'],
      ...feeds,
    ]);
    // Lists of accounts have no feeds.
    expect(typesOf('listFollowers').map(([type]) => type)).toEqual([
      'text/markdown',
      'application/json',
      'text/html',
    ]);
    expect(typesOf('getOEmbed')).toEqual([['application/json', '#/components/schemas/EmbedReply']]);
  });

  it.each(operations)('of $path list the headers of their surface', (operation) => {
    for (const status of Object.keys(operation.responses)) {
      if (status === 'default') continue;
      const { headers = {} } = responseOf(document, operation, status);
      expect(Object.hasOwn(headers, 'X-Api-Key-Status')).toBe(isBrowse(operation.operationId));
      expect(Object.hasOwn(headers, 'Deprecation')).toBe(operation.deprecated === true);
      expect(Object.hasOwn(headers, 'Sunset')).toBe(operation.deprecated === true);
      expect(Object.hasOwn(headers, 'Retry-After')).toBe(status === '429' || status === '503');
      expect(headers).toHaveProperty('RateLimit');
    }
  });
});
