import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findReply } from '../../src/http/pages/docs/find-page.ts';
import { buildTestApp } from '../support/build-app.ts';
import { parsePage } from '../support/render-html.ts';

const browser = { accept: 'text/html,*/*;q=0.8' };

const described = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        parameters: z.array(z.object({ name: z.string() })).default([]),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

/** Returns the Markdown under each heading, by the text of the heading. */
function sectionsOf(markdown: string): ReadonlyMap<string, string> {
  const parts = markdown.split(/^#{1,4} (.+)$/m).slice(1);
  return new Map(
    parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1] ?? ''] as const] : [])),
  );
}

describe('the page of the API', () => {
  it('has every operation of the description, with its path, parameters and statuses', async () => {
    const app = await buildTestApp({ env: { PERCH_SESSIONS: 'on' } });
    const { paths } = described.parse((await app.request('/openapi.json')).json());

    const { body } = await app.request('/docs/api.md');

    const sections = sectionsOf(body);
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, one]) => ({ ...one, path, method })),
    );
    expect(operations.length).toBeGreaterThan(45);
    for (const { operationId, path, method, parameters, responses } of operations) {
      const text = sections.get(operationId) ?? '';
      expect([operationId, text.split('`')[1]]).toEqual([
        operationId,
        `${method.toUpperCase()} ${path}`,
      ]);
      const [, same] = /the same as \[(\w+)\]/.exec(text) ?? [];
      const full = same === undefined ? text : (sections.get(same) ?? '');
      const rows = [...full.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
      expect(rows).toEqual(expect.arrayContaining(parameters.map(({ name }) => name)));
      expect(rows).toEqual(expect.arrayContaining(Object.keys(responses)));
      expect(full).toMatch(/^curl /m);
    }
  });

  it('has an element with the id of every operation and schema', async () => {
    const app = await buildTestApp();
    const { paths, components } = described.parse((await app.request('/openapi.json')).json());

    const { elements, errors } = parsePage(
      (await app.request('/docs/api', { headers: browser })).body,
    );

    expect(errors).toEqual([]);
    const ids = elements.flatMap(({ attributes }) => attributes.id ?? []);
    expect(ids).toHaveLength(new Set(ids).size);
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    const wanted = [
      ...operations.map(({ operationId }) => operationId),
      ...Object.keys(components.schemas),
    ];
    expect(wanted.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('links problem codes to their explanations', async () => {
    const app = await buildTestApp();

    const { elements } = parsePage((await app.request('/docs/api', { headers: browser })).body);

    const links = elements.flatMap(({ tag, attributes }) => (tag === 'a' ? attributes.href : []));
    expect(links).toContain('/docs/errors#rate_limited');
    expect(links).toContain('/docs/errors#not_found');
  });

  it('is where the header of every page leads', async () => {
    const app = await buildTestApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    for (const path of ['/', '/docs/keys', '/docs/api']) {
      const { elements } = parsePage((await app.request(path, { headers: browser })).body);
      const link = elements.find(({ attributes }) => attributes.class === 'to-api');
      expect(link).toMatchObject({ text: 'API', attributes: { href: '/read/docs/api' } });
      expect([path, link?.attributes['aria-current']]).toEqual([
        path,
        path === '/docs/api' ? 'page' : undefined,
      ]);
    }
  });

  it('shows commands for the base URL of this server', async () => {
    const app = await buildTestApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    const { body } = await app.request('/docs/api.md');

    const commands = [...body.matchAll(/^curl .*$/gm)].map(([line]) => line);
    expect(commands.length).toBeGreaterThan(35);
    expect(commands.filter((line) => !line.includes("'https://perch.test/read/"))).toEqual([]);
    expect(sectionsOf(body).get('getProfile')).toContain(
      "curl 'https://perch.test/read/api/v1/profiles/ada.example?format=json'",
    );
  });

  it('leaves out the routes of sessions on servers without them', async () => {
    const app = await buildTestApp({ env: { PERCH_SESSIONS: 'off' } });

    const { body } = await app.request('/docs/api.md');

    expect(body).toContain('### getPost\n');
    expect(body).not.toContain('### startSession\n');
  });

  it.each(['/docs/api', '/docs/api.md'])(
    '%s has the same bytes each time, answers 304 and HEAD, and rejects other methods',
    async (url) => {
      const app = await buildTestApp();
      const first = await app.request(url);

      const second = await app.request(url);
      const known = await app.request(url, {
        headers: { 'if-none-match': `${first.headers.etag}` },
      });
      const head = await app.request(url, { method: 'HEAD' });
      const post = await app.request(url, { method: 'POST' });

      expect([second.body, second.headers.etag]).toEqual([first.body, first.headers.etag]);
      expect([known.statusCode, known.body]).toEqual([304, '']);
      expect([head.statusCode, head.body]).toEqual([200, '']);
      expect(head.headers['content-length']).toBe(first.headers['content-length']);
      expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD']);
    },
  );

  it('is Markdown if Accept prefers it', async () => {
    const app = await buildTestApp();

    const reply = await app.request('/docs/api', { headers: { accept: 'text/markdown' } });

    expect(reply.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(reply.body).toBe((await app.request('/docs/api.md')).body);
  });

  it('can be searched by operation id', async () => {
    const app = await buildTestApp();

    const reply = await app.request('/docs/find?q=importProfilePosts', {
      headers: { accept: 'application/json' },
    });

    const { results } = findReply.parse(reply.json());
    expect(results.map(({ url }) => url)).toContain(
      'http://localhost:8080/docs/api#importProfilePosts',
    );
  });
});
