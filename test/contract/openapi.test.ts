import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scheduledLifecycle } from '../../src/lib/lifecycle.ts';
import { isHistoryRoute, type Route, routes } from '../../src/routes/reads/routes.ts';
import { listEndpoints } from '../../src/server/endpoints.ts';
import { buildTestApp, shareTestApps, type TestClient } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createDescription, expectDescribed } from '../support/described-replies.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  type OpenApiDocument,
  operationOf,
  operationsOf,
  parseDocument,
  responseOf,
} from '../support/openapi.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';
import { expectSignals } from '../support/signals.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const baseUrl = 'https://perch.test/read';

async function readDocument(app: TestClient): Promise<OpenApiDocument> {
  return parseDocument((await app.request('/openapi.json')).json());
}

describe('/openapi.json', () => {
  clause('read.discovery.openapi_lifecycle', 'read.lifecycle_object.in_openapi')(
    'is OpenAPI 3.1 of this server, with a lifecycle',
    async () => {
      const app = sharedApp({ env: { PERCH_BASE_URL: baseUrl } });

      const reply = await app.request('/openapi.json');

      expect(reply.statusCode).toBe(200);
      expect(reply.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=60',
        'access-control-allow-origin': '*',
        etag: expect.stringMatching(/^"[\w-]{27}"$/),
      });
      expect(reply.headers.vary).toBe('Accept-Encoding');
      const document = parseDocument(reply.json());
      expect(document.servers).toEqual([{ url: baseUrl }]);
      expect(document.info.version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(document['x-api-lifecycle'].deprecation_policy_url).toBe(`${baseUrl}/docs/versioning`);
    },
  );

  clause('read.discovery.openapi_every_route')(
    'lists all routes: reads, permalinks, aliases, documents, pages, MCP, sessions',
    async () => {
      const app = await buildTestApp({
        env: { PERCH_SESSIONS: 'on', PERCH_SESSION_PREFIX: 'ask', PERCH_MEDIA: 'proxy' },
        engine: createScriptedEngine(),
      });

      const { paths } = await readDocument(app);

      const listed = Object.entries(paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method} ${path}`),
      );
      const rows = routes.map(({ path }) => `get ${path}`);
      const others = listEndpoints('ask').map(
        ({ method, path }) => `${method.toLowerCase()} ${path}`,
      );
      expect(listed.toSorted()).toEqual([...rows, ...others].toSorted());
      expect(listed).toEqual(
        expect.arrayContaining(['get /', 'post /mcp', 'get /docs/{page}', 'post /ask/v1/session']),
      );
    },
  );

  it('is short enough for programs with a limit: minified, without recorded responses', async () => {
    const app = await buildTestApp({
      env: { PERCH_SESSIONS: 'on', PERCH_MEDIA: 'proxy' },
      engine: createScriptedEngine(),
    });

    const { body, rawPayload } = await app.request('/openapi.json');

    expect(rawPayload.length).toBeLessThanOrEqual(400_000);
    expect(body).toBe(`${JSON.stringify(JSON.parse(body))}\n`);
    expect(body).not.toContain('"examples":{"');
  });

  it('describes the pages of the documentation as one operation with their names', async () => {
    const { paths } = await readDocument(app);

    const pages = Object.keys(paths).filter((path) => path.startsWith('/docs/'));
    const [page] = paths['/docs/{page}']?.get?.parameters ?? [];
    expect(pages.toSorted()).toEqual([
      '/docs/api/{group}',
      '/docs/assets/{file}',
      '/docs/find',
      '/docs/{page}',
      '/docs/{page}.md',
    ]);
    expect(page).toMatchObject({
      name: 'page',
      in: 'path',
      schema: { enum: expect.arrayContaining(['obsidian', 'formats', 'api']) },
    });
  });

  clause('read.errors.route_not_found').each([
    '/OPENAPI.JSON',
    '/@openapi.json',
    '/openapi.json/followers',
  ])('does not create a route %s', async (path) => {
    const reply = await app.request(path);

    expect(reply.json().code).toBe('route_not_found');
  });

  clause('read.route_lifecycle.deprecated_after_date', 'read.route_lifecycle.sunset_may_stop')(
    'contains the current lifecycle states, as /api does, with other entity tags',
    async () => {
      const clock = createManualClock(scheduledLifecycle.deprecationMs - 1000);
      const app = await buildTestApp({ clock });
      const seen = async () => {
        const [reply, api] = [await app.request('/openapi.json'), await app.request('/api')];
        const { paths } = parseDocument(reply.json());
        const states = ['/api/convert', '/api/browse', '/search'].map(
          (path) => paths[path]?.get?.['x-lifecycle-state'],
        );
        const listed: { state: string }[] = api.json().versioning.deprecated_aliases;
        const tags = [reply.headers.etag, api.headers.etag];
        return { tags, states: [...states, ...listed.map(({ state }) => state)] };
      };

      const [first, again] = [await seen(), await seen()];
      await clock.advance(1000);
      const second = await seen();
      await clock.advance(scheduledLifecycle.sunsetMs - scheduledLifecycle.deprecationMs);
      const third = await seen();

      expect(again).toEqual(first);
      for (const [{ states }, state] of [
        [first, 'announced'],
        [second, 'deprecated'],
        [third, 'past_sunset'],
      ] as const) {
        expect(states).toEqual([state, state, 'current', state, state]);
      }
      expect(new Set([first, second, third].flatMap(({ tags }) => tags)).size).toBe(6);
    },
  );
});

describe('the lifecycle in the OpenAPI document', () => {
  async function readLifecycle() {
    const app = sharedApp({ env: { PERCH_BASE_URL: baseUrl } });
    return (await app.request('/openapi.json')).json()['x-api-lifecycle'];
  }

  clause(
    'read.lifecycle_object.current_major_version',
    'read.lifecycle_object.supported_versions',
    'read.lifecycle_object.minimum_support_window_months',
  )('has the versions and their support period', async () => {
    expect(await readLifecycle()).toEqual({
      current_major_version: 'v1',
      supported_versions: ['v1'],
      minimum_support_window_months: 12,
      deprecation_signals: expect.any(Array),
      deprecation_policy_url: `${baseUrl}/docs/versioning`,
      deprecated_operations: expect.any(Array),
    });
  });

  clause(
    'read.lifecycle_object.deprecation_signals',
    'read.lifecycle_object.deprecated_operations_dates',
  )('has the names of the headers and the dates of each alias', async () => {
    const dates = { deprecated: '2026-09-15T00:00:00Z', sunset: '2027-09-15T00:00:00Z' };

    expect(await readLifecycle()).toMatchObject({
      deprecation_signals: ['Deprecation', 'Sunset', 'Link'],
      deprecated_operations: [
        { operationId: 'getPostLegacy', path: '/api/convert', ...dates },
        { operationId: 'browseLegacy', path: '/api/browse', ...dates },
      ],
    });
  });

  clause(
    'read.lifecycle_object.deprecated_operations_replacement',
    'read.lifecycle_object.successor_single_string',
    'read.lifecycle_object.browse_successor_parameter_and_successors',
  )('has both forms of a replacement for an alias', async () => {
    const dates = { deprecated: expect.any(String), sunset: expect.any(String) };

    const { deprecated_operations: operations } = await readLifecycle();

    expect(operations).toEqual([
      {
        operationId: 'getPostLegacy',
        path: '/api/convert',
        ...dates,
        successor: '/api/v1/posts',
      },
      {
        operationId: 'browseLegacy',
        path: '/api/browse',
        ...dates,
        successor_parameter: 'resource',
        successors: {
          profile: '/api/v1/profiles/{handle}',
          followers: '/api/v1/profiles/{handle}/followers',
          following: '/api/v1/profiles/{handle}/following',
          search: '/api/v1/search',
        },
      },
    ]);
  });

  clause('read.lifecycle_object.deprecated_operations_dates')(
    'has the dates of the headers',
    async () => {
      const document = await readDocument(app);

      for (const { path, ...dates } of document['x-api-lifecycle'].deprecated_operations) {
        const { headers } = await app.request(path, { method: 'HEAD' });
        const { deprecation, sunset } = expectSignals(headers);
        expect([deprecation, sunset]).toEqual([new Date(dates.deprecated), new Date(dates.sunset)]);
      }
    },
  );

  clause(
    'read.lifecycle_object.clients_parse_both_shapes',
    'read.lifecycle_object.convert_x_successor_version',
    'read.lifecycle_object.browse_x_successor_version_map',
  )('has the same replacements as the operations, which are paths of the document', async () => {
    const document = await readDocument(app);
    const { deprecated_operations: aliases } = document['x-api-lifecycle'];

    const told = aliases.map((alias) =>
      'successor' in alias
        ? { 'x-successor-version': alias.successor }
        : { 'x-successor-version-map': alias.successors },
    );

    const operations = aliases.map(({ operationId }) => operationOf(document, operationId));
    expect(operations).toMatchObject(told);
    for (const target of told.flatMap(Object.values).flatMap(toPaths)) {
      expect(document.paths).toHaveProperty([target]);
    }
  });

  clause(
    'read.lifecycle_object.operations_deprecated_true',
    'read.versioning.nothing_else_deprecated',
  )('lists exactly the deprecated operations', async () => {
    const document = await readDocument(app);
    const { deprecated_operations: aliases } = document['x-api-lifecycle'];

    const deprecated = operationsOf(document).filter((one) => one.deprecated === true);

    expect(deprecated.map(({ operationId }) => operationId)).toEqual(
      aliases.map(({ operationId }) => operationId),
    );
  });
});

function toPaths(successors: string | Readonly<Record<string, string>>): readonly string[] {
  return typeof successors === 'string' ? [successors] : Object.values(successors);
}

const given: Readonly<Record<string, string>> = {
  handle: 'ada.example',
  id: '1900000000000000001',
  n: '1',
};
const post = `http://localhost:8080/${given.handle}/status/${given.id}`;

/** Gives a URL of a route, with what its read goes by; `changes` take the place of it. */
function fill({ path }: Route, changes: Readonly<Record<string, string>> = {}): string {
  const values = { ...given, ...changes };
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: keyof typeof values) => values[name] ?? '',
  );
  const others = { url: post, q: 'heron', platform: 'archive', resource: 'profile', ...values };
  return `${filled}?${new URLSearchParams(others)}`;
}

describe('a reply', () => {
  it.each(routes)('of $id matches the description, for each status', async (route) => {
    const description = createDescription(await readDocument(app));
    const check = async (url: string, headers: Record<string, string> = {}) => {
      const reply = await app.request(url, { headers });
      expectDescribed(description, reply);
      return reply;
    };

    const markdown = await check(fill(route));
    const etag = String(markdown.headers.etag);
    const statuses = [
      markdown,
      await check(fill(route), { accept: 'application/json' }),
      await check(fill(route, { full: 'true' }), { accept: 'application/json' }),
      await check(fill(route), { 'if-none-match': etag }),
      await check(fill(route, { nocache: 'perhaps' })),
      // No provider can be reached that knows this one.
      await check(
        fill(route, {
          handle: 'jack',
          id: '20',
          url: 'https://x.com/jack/status/20',
          platform: 'x',
        }),
      ),
    ].map(({ statusCode }) => statusCode);

    // A history is made anew each time.
    const known = isHistoryRoute(route) ? 200 : 304;
    expect(statuses).toEqual([200, 200, 200, known, 400, 503]);
  });

  it('that rejects a key, an allowance or a format matches the description', async () => {
    const app = await buildTestApp({ env: { PERCH_PUBLIC_ALLOWANCE: '1' } });
    const description = createDescription(await readDocument(app));
    const search = '/api/v1/search?q=heron&platform=archive&nocache=true&format=json';
    const requests = [
      ['searchPosts', search, { authorization: 'Bearer perch_unknown' }, 401],
      ['searchPosts', search, {}, 200],
      ['searchPosts', search, {}, 429],
      ['getOEmbed', `/oembed?url=${encodeURIComponent(post)}&format=xml`, {}, 501],
      ['getPost', '/api/v1/posts?handle=ada.example&id=1', {}, 404],
      ['getPost', `/api/v1/posts?url=${'x'.repeat(9000)}`, {}, 414],
      ['getPost', `/api/v1/posts?url=${encodeURIComponent(post)}&format=obsidian`, {}, 200],
    ] as const;

    for (const [id, url, headers, status] of requests) {
      const reply = await app.request(url, { headers });
      expect([id, reply.statusCode]).toEqual([id, status]);
      expectDescribed(description, reply);
    }
  });
});

describe('the committed description', () => {
  const committed = readFileSync('openapi/perch.json', 'utf8');

  it.each(['http://localhost:8080', 'https://perch.test/read'])(
    'matches the document that %s serves, except for the base URL, the states and recorded responses',
    async (address) => {
      const app = await buildTestApp({
        env: { PERCH_BASE_URL: address, PERCH_SESSIONS: 'on', PERCH_MEDIA: 'proxy' },
        engine: createScriptedEngine(),
      });

      const { body } = await app.request('/openapi.json');

      const skipped = ['x-lifecycle-state', 'examples'];
      const keep = (name: string, value: unknown) => (skipped.includes(name) ? undefined : value);
      const moved = committed
        .replaceAll('http://localhost:8080', address)
        .replaceAll(encodeURIComponent('http://localhost:8080'), encodeURIComponent(address));
      expect(JSON.parse(body, keep)).toEqual(JSON.parse(moved, keep));
    },
  );

  it('has the allowances of the server', async () => {
    const app = await buildTestApp({
      env: { PERCH_PUBLIC_ALLOWANCE: '7', PERCH_ALLOWANCE_WINDOW_SECONDS: '30' },
    });

    const document = await readDocument(app);

    const { public: told } = document['x-rate-limit-policies'];
    expect([told?.quota, told?.window_seconds]).toEqual([7, 30]);
    const { headers } = await app.request('/search?q=heron&platform=archive');
    expect(headers['ratelimit-policy']).toBe('"public";q=7;w=30');
  });

  it('has valid examples of every read in every media type', () => {
    const description = createDescription(parseDocument(JSON.parse(committed)));
    const { document, validatorOf } = description;
    const { examples } = document.components;

    const told = operationsOf(document).flatMap((operation) =>
      Object.keys(operation.responses).flatMap((status) => {
        const content = Object.entries(responseOf(document, operation, status).content ?? {});
        return content.map(([mediaType, { schema, examples: named = {} }]) => {
          const values = Object.values(named).map(
            ({ $ref }) => examples[$ref.replace('#/components/examples/', '')]?.value,
          );
          const isValid = values.every((value) => validatorOf(schema)(value));
          const { operationId } = operation;
          return { operationId, status, mediaType, count: values.length, isValid };
        });
      }),
    );

    expect(told.filter(({ isValid }) => !isValid)).toEqual([]);
    const reads = told.filter(
      ({ operationId, status }) => status === '200' && routes.some(({ id }) => id === operationId),
    );
    expect(reads.length).toBeGreaterThan(25);
    // Web pages are long, and their markup is not part of the contract.
    const needed = reads.filter(({ mediaType }) => mediaType !== 'text/html');
    expect(needed.filter(({ count }) => count === 0)).toEqual([]);
    const refused = told.filter(
      ({ status, mediaType }) => status === '429' && mediaType === 'application/problem+json',
    );
    expect(refused.filter(({ count }) => count === 0)).toEqual([]);
  });
});
