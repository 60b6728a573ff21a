import { describe, expect, it } from 'vitest';
import { adminEndpoints } from '../../src/server/endpoints.ts';
import { listAdminPaths } from '../support/admin-routes.ts';
import { asAdmin, buildTestApp, shareTestApp, type TestClient } from '../support/build-app.ts';
import { createDescription, expectDescribed } from '../support/described-replies.ts';
import { type OpenApiDocument, parseDocument } from '../support/openapi.ts';

const app = shareTestApp();
const path = '/api/admin/openapi.json';

async function readAdminDocument(app: TestClient) {
  const reply = await app.request(path, { headers: asAdmin });
  expect(reply.statusCode).toBe(200);
  return reply;
}

/** Parses the admin description. Adds the members that only the public description has. */
async function parseAdminDocument(app: TestClient): Promise<OpenApiDocument> {
  const [admin, open] = [await readAdminDocument(app), await app.request('/openapi.json')];
  const { components, ...rest } = admin.json();
  const { 'x-api-lifecycle': lifecycle } = open.json();
  return parseDocument({
    ...{ 'x-api-lifecycle': lifecycle, 'x-rate-limit-policies': {} },
    ...rest,
    components: { responses: {}, ...components },
  });
}

function listReferences(document: object): ReadonlySet<string> {
  const found = JSON.stringify(document).matchAll(/"(#\/components\/[^"]+)"/g);
  return new Set([...found].map(([, reference = '']) => reference));
}

/** Returns the references to all components that a document defines, except security schemes. */
function listComponents({ components }: { readonly components: object }): readonly string[] {
  const { securitySchemes: _, ...sections } = components as Record<string, object>;
  return Object.entries(sections).flatMap(([section, members]) =>
    Object.keys(members).map((name) => `#/components/${section}/${name}`),
  );
}

describe(path, () => {
  it('describes exactly the routes for the operator', async () => {
    const app = await buildTestApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    const reply = await readAdminDocument(app);

    const document = await parseAdminDocument(app);
    expect(reply.headers['cache-control']).toBe('private, no-store');
    expect(document.servers).toEqual([{ url: 'https://perch.test/read' }]);
    const described = Object.entries(document.paths).flatMap(([url, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${url}`),
    );
    const expected = adminEndpoints.map((endpoint) => `${endpoint.method} ${endpoint.path}`);
    expect(described.toSorted()).toEqual(expected.toSorted());
    const routed = listAdminPaths(app.server)
      .filter((url) => url.startsWith('/api/admin/') && !url.endsWith('*'))
      .map((url) => url.replaceAll(/:(\w+)/g, '{$1}'));
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(routed));
  });

  it('describes the replies of the routes', async () => {
    const app = await buildTestApp();
    const document = await parseAdminDocument(app);
    const description = createDescription(document);
    const { id } = await app.createKey({ label: 'Ada' });
    const headers = { ...asAdmin, 'content-type': 'application/json' };
    const keys = '/api/admin/keys';
    const requests: readonly (readonly [string, string, string?])[] = [
      ['GET', path],
      ['GET', keys],
      ['POST', keys, '{"label":"Mira"}'],
      ['POST', keys, '{"label":""}'],
      ['GET', `${keys}/${id}`],
      ['PATCH', `${keys}/${id}`, '{"enabled":false}'],
      ['POST', `${keys}/${id}/rotate`],
      ['DELETE', `${keys}/${id}`],
      ['GET', '/metrics'],
    ];

    for (const [method, url, payload] of requests) {
      const body = payload === undefined ? { headers: asAdmin } : { headers, payload };
      expectDescribed(description, await app.request(url, { method, ...body }));
      expectDescribed(description, await app.request(url, { method }));
    }
  });

  it('answers HEAD, and 405 to other methods', async () => {
    const app = await buildTestApp();

    const head = await app.request(path, { method: 'HEAD', headers: asAdmin });
    const post = await app.request(path, { method: 'POST', headers: asAdmin });

    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('the public and the admin description', () => {
  it('have no route in common', async () => {
    const open = Object.keys((await app.request('/openapi.json')).json().paths);
    const admin = Object.keys((await readAdminDocument(app)).json().paths);

    expect(open.filter((url) => admin.includes(url))).toEqual([]);
    expect(open.filter((url) => /^\/(?:api\/)?admin/.test(url))).toEqual([]);
  });

  it.each(['/openapi.json', path])('define exactly the used components: %s', async (url) => {
    const app = await buildTestApp();

    const document = (await app.request(url, { headers: asAdmin })).json();

    expect([...listReferences(document)].toSorted()).toEqual(listComponents(document).toSorted());
  });

  it('keep the admin token and the admin API out of the public documents', async () => {
    const open = (await app.request('/openapi.json')).json();
    const { surfaces } = (await app.request('/api')).json();

    expect(Object.keys(open.components.securitySchemes)).not.toContain('adminToken');
    expect(open.tags.map(({ name }: { name: string }) => name)).not.toContain('operator');
    expect(JSON.stringify(open)).not.toContain('/api/admin');
    expect(JSON.stringify(surfaces)).not.toContain('admin');
    expect((await app.request('/llms.txt')).body).not.toContain('/api/admin');
  });
});
