import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findReply } from '../../src/routes/pages/docs/search-index.ts';
import { listApiPages, readApiPages } from '../support/api-pages.ts';
import { shareTestApps } from '../support/build-app.ts';
import { parsePage } from '../support/render-html.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const browser = { accept: 'text/html,*/*;q=0.8' };

const described = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        summary: z.string(),
        parameters: z.array(z.object({ name: z.string() })).default([]),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

/** Returns the Markdown under each heading with an id of its own, by this id. */
function sectionsOf(markdown: string): ReadonlyMap<string, string> {
  const parts = markdown.split(/^#{2,3} .+ \{#(\w+)\}$/m).slice(1);
  return new Map(
    parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1] ?? ''] as const] : [])),
  );
}

describe('the pages of the API', () => {
  it('have every operation of the description, with its name, path, parameters and statuses', async () => {
    const app = sharedApp({ env: { PERCH_SESSIONS: 'on' } });
    const { paths } = described.parse((await app.request('/openapi.json')).json());

    const body = await readApiPages(app);

    const sections = sectionsOf(body);
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, one]) => ({ ...one, path, method })),
    );
    expect(operations.length).toBeGreaterThan(45);
    for (const { operationId, summary, path, method, parameters, responses } of operations) {
      expect(body).toContain(`# ${summary} {#${operationId}}\n`);
      const text = sections.get(operationId) ?? '';
      expect([operationId, text.split('`')[1]]).toEqual([
        operationId,
        `${method.toUpperCase()} ${path}`,
      ]);
      const [, first = ''] = /(?:parameters|responses) of \[[^\]]+\]\(#(\w+)\)/.exec(text) ?? [];
      const full = `${text}${sections.get(first) ?? ''}`;
      const rows = [...full.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
      const errors = [...full.matchAll(/^Errors: .*$/gm)].flatMap(([line]) =>
        line.match(/\d{3}(?=` )/g),
      );
      const statuses = Object.keys(responses).filter((status) => status !== 'default');
      expect(rows).toEqual(expect.arrayContaining(parameters.map(({ name }) => name)));
      expect([...rows, ...errors]).toEqual(expect.arrayContaining(statuses));
      expect(text).toMatch(/^curl /m);
    }
  });

  it('name each operation in a few words, without a full stop', async () => {
    const app = sharedApp({ env: { PERCH_SESSIONS: 'on', PERCH_MEDIA: 'proxy' } });
    const { paths } = described.parse((await app.request('/openapi.json')).json());

    const names = Object.values(paths)
      .flatMap((item) => Object.values(item))
      .map(({ summary }) => summary);

    expect(names).toContain('Get a post');
    expect(names.filter((name) => !/^[A-Z][^`]{5,65}$/.test(name) || name.endsWith('.'))).toEqual(
      [],
    );
  });

  it('begin with a list that has the id of every operation and schema', async () => {
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
    const link = elements.find(({ attributes }) => attributes.id === 'getPost');
    expect(link).toMatchObject({
      tag: 'a',
      text: 'Get a post',
      attributes: { href: '/docs/api/posts#getPost' },
    });
  });

  it('have an element with the id of every operation and schema', async () => {
    const { elements } = parsePage((await app.request('/docs/api', { headers: browser })).body);
    const links = elements.flatMap(({ attributes: { id, href } }) =>
      href?.endsWith(`#${id}`) ? href : [],
    );

    const places: string[] = [];
    for (const path of await listApiPages(app)) {
      const page = parsePage((await app.request(path, { headers: browser })).body);
      expect([path, page.errors]).toEqual([path, []]);
      const ids = page.elements.flatMap(({ attributes }) => attributes.id ?? []);
      expect([path, ids]).toEqual([path, [...new Set(ids)]]);
      places.push(...ids.map((id) => `${path}#${id}`));
    }
    expect(links.length).toBeGreaterThan(80);
    expect(links.filter((link) => !places.includes(link))).toEqual([]);
  });

  it('describe a permalink beside its v1 route, by its own parameters', async () => {
    const { body } = await app.request('/docs/api/posts.md');

    const sections = sectionsOf(body);
    const ids = [...sections.keys()];
    expect(ids.indexOf('getPostByPermalink')).toBe(ids.indexOf('getPost') + 1);
    const text = sections.get('getPostByPermalink') ?? '';
    expect(text).toContain(
      'Takes the other parameters of [Get a post](#getPost) except `url`, and gives its responses.',
    );
    expect([...text.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)).toEqual(['handle', 'id']);
  });

  it('collapse each schema below its name in HTML', async () => {
    const { components } = described.parse((await app.request('/openapi.json')).json());

    const { body } = await app.request('/docs/api/schemas', { headers: browser });

    const names = [...body.matchAll(/<details class="folded"><summary><h2 id="(\w+)"/g)];
    expect(names.map(([, name]) => name)).toEqual(Object.keys(components.schemas));
    expect(body.match(/<h2 /g)).toHaveLength(names.length);
  });

  it('link problem codes to their explanations', async () => {
    const { elements } = parsePage(
      (await app.request('/docs/api/posts', { headers: browser })).body,
    );

    const links = elements.flatMap(({ tag, attributes }) => (tag === 'a' ? attributes.href : []));
    expect(links).toContain('/docs/errors#rate_limited');
    expect(links).toContain('/docs/errors#not_found');
    expect(links).toContain('/docs/api/schemas#PostReply');
  });

  it('begin where the header of every page leads', async () => {
    const app = sharedApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    for (const path of ['/', '/docs/keys', '/docs/api', '/docs/api/posts']) {
      const { elements } = parsePage((await app.request(path, { headers: browser })).body);
      const link = elements.find(({ attributes }) => attributes.class === 'to-api');
      expect(link).toMatchObject({ text: 'API', attributes: { href: '/read/docs/api' } });
      expect([path, link?.attributes['aria-current']]).toEqual([
        path,
        { '/docs/api': 'page', '/docs/api/posts': 'true' }[path],
      ]);
    }
  });

  it('show commands for the base URL of this server', async () => {
    const app = sharedApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    const body = await readApiPages(app);

    const commands = [...body.matchAll(/^curl .*$/gm)].map(([line]) => line);
    expect(commands.length).toBeGreaterThan(35);
    expect(commands.filter((line) => !line.includes("'https://perch.test/read/"))).toEqual([]);
    expect(sectionsOf(body).get('getProfile')).toContain(
      "curl 'https://perch.test/read/api/v1/profiles/ada.example?format=json'",
    );
  });

  it('leave out the routes of sessions on servers without them', async () => {
    const app = sharedApp({ env: { PERCH_SESSIONS: 'off' } });

    const { body } = await app.request('/docs/api.md');

    const page = await app.request('/docs/api/sessions', { headers: browser });
    const llms = await app.request('/llms.txt');
    expect(body).toContain('#getPost)');
    expect(body).not.toContain('#startSession)');
    expect(page.statusCode).toBe(404);
    expect(llms.body).toContain('/docs/api/posts)');
    expect(llms.body).not.toContain('/docs/api/sessions)');
  });

  it.each(['/docs/api', '/docs/api/posts'])('%s is Markdown if Accept prefers it', async (url) => {
    const reply = await app.request(url, { headers: { accept: 'text/markdown' } });

    expect(reply.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(reply.body).toBe((await app.request(`${url}.md`)).body);
  });

  it.each([
    ['/docs/api/Posts', 308, '/docs/api/posts'],
    ['/docs/api/Health.MD', 308, '/docs/api/health.md'],
    ['/docs/api/nope', 404, undefined],
    ['/docs/api/keys', 404, undefined],
    ['/docs/api%2Fposts', 404, undefined],
  ])('%s answers %i', async (url, status, location) => {
    const reply = await app.request(url);

    expect([reply.statusCode, reply.headers.location]).toEqual([status, location]);
  });

  it.each([
    ['Get a post', 'http://localhost:8080/docs/api/posts#getPost'],
    ['search posts or accounts', 'http://localhost:8080/docs/api/search#searchPosts'],
  ])('are found by the name of an operation: %s', async (name, url) => {
    const reply = await app.request(`/docs/find?q=${encodeURIComponent(name)}`, {
      headers: { accept: 'application/json' },
    });

    expect(findReply.parse(reply.json()).results[0]?.url).toBe(url);
  });

  it('can be searched by operation id', async () => {
    const reply = await app.request('/docs/find?q=importProfilePosts', {
      headers: { accept: 'application/json' },
    });

    const { results } = findReply.parse(reply.json());
    expect(results.map(({ url }) => url)).toContain(
      'http://localhost:8080/docs/api/history#importProfilePosts',
    );
  });
});
