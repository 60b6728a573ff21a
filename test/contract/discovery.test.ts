import { readFileSync } from 'node:fs';
import LinkHeader from 'http-link-header';
import { describe, expect, it } from 'vitest';
import { moveDocExamples } from '../../src/lib/http/base-url-of-examples.ts';
import { discoveryRoutes } from '../../src/routes/discovery/documents.ts';
import { isApiPage, navigation } from '../../src/routes/pages/docs/navigation.ts';
import type { Endpoint } from '../../src/routes/route.ts';
import { buildTestApp, shareTestApps } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { mayFetch } from '../support/robots.ts';
import { withoutCoding } from '../support/vary.ts';

const sharedApp = shareTestApps();

const env = { PERCH_BASE_URL: 'https://perch.example.org' };
const documents = discoveryRoutes;

/** The first kind of content of a successful reply, and its schema. */
function contentOf({ replies }: Endpoint) {
  const [content] = Object.entries(replies[0]?.content ?? {});
  if (content === undefined) throw new Error('A document has content.');
  return content;
}

describe.each(documents)('$path', (endpoint) => {
  it('matches the table, for every caller', async () => {
    const app = await sharedApp({ env });
    const [mediaType, schema] = contentOf(endpoint);

    const reply = await app.request(endpoint.path);

    expect(reply.statusCode).toBe(200);
    expect(String(reply.headers['content-type']).replace('; charset=utf-8', '')).toBe(mediaType);
    expect(reply.headers['cache-control']).toBe('public, max-age=60');
    if (typeof schema !== 'string') expect(schema.parse(reply.json())).toEqual(reply.json());
    const names = Object.keys(endpoint.replies[0]?.headers ?? {});
    expect(reply.headers.link !== undefined).toBe(names.includes('Link'));
    expect(withoutCoding(reply.headers.vary) !== undefined).toBe(names.includes('Vary'));
  });

  it('answers HEAD, 304 and, to other methods, 405', async () => {
    const app = await buildTestApp({ env });
    const get = await app.request(endpoint.path);
    const etag = String(get.headers.etag);

    const head = await app.request(endpoint.path, { method: 'HEAD' });
    const known = await app.request(endpoint.path, { headers: { 'if-none-match': etag } });

    expect([head.statusCode, head.body]).toEqual([200, '']);
    for (const name of ['etag', 'content-type', 'content-length', 'link', 'vary']) {
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    }
    expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, '', etag]);
    expect([known.headers.vary, known.headers.link]).toEqual([get.headers.vary, get.headers.link]);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const reply = await app.request(endpoint.path, { method });
      expect([reply.json().code, reply.headers.allow]).toEqual(['method_not_allowed', 'GET, HEAD']);
    }
  });

  it('does not depend on the host, the forwarded host or the key of the request', async () => {
    const app = await sharedApp({ env: { ...env, HOST: '0.0.0.0' } });
    const plain = await app.request(endpoint.path);

    const other = await app.request(`${endpoint.path}?format=json&x=%3Cscript%3E`, {
      headers: {
        host: 'evil.test',
        'x-forwarded-host': 'evil.test',
        'x-forwarded-proto': 'gopher',
        authorization: 'Bearer perch_made-up',
      },
    });

    expect([other.statusCode, other.body]).toEqual([200, plain.body]);
    expect(other.headers.etag).toBe(plain.headers.etag);
    if (endpoint.id !== 'getLlmsFullText') expect(plain.body).not.toContain('localhost');
  });
});

it('has a unique id and path for each document', () => {
  const named = documents.flatMap(({ id, path }) => [id, path]);

  expect(new Set(named).size).toBe(2 * documents.length);
});

describe('/api', () => {
  it('is Markdown if Accept prefers it, with another entity tag', async () => {
    const app = await sharedApp({ env });
    const json = await app.request('/api', { headers: { accept: '*/*' } });

    const markdown = await app.request('/api', { headers: { accept: 'text/markdown' } });

    expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect([json.headers.vary, markdown.headers.vary]).toEqual(
      Array(2).fill('Accept, Accept-Encoding'),
    );
    expect(markdown.headers.etag).not.toBe(json.headers.etag);
    expect(markdown.body).toMatch(/^# Perch\n\nReads public/);
    for (const { routes } of json.json().surfaces) {
      for (const { method, path } of routes) expect(markdown.body).toContain(`${method} ${path}\``);
    }
    const swapped = await app.request('/api', {
      headers: { accept: 'text/markdown', 'if-none-match': String(json.headers.etag) },
    });
    expect(swapped.statusCode).toBe(200);
  });

  clause(
    ['read.discovery.api_description', 'read.what.discovery_describes_surfaces'],
    'describes documents, formats, keys, limits, errors and pages',
    async () => {
      const app = await buildTestApp({
        env: { ...env, PERCH_PUBLIC_ALLOWANCE: '7', PERCH_CONTACT_URL: 'mailto:k@example.org' },
      });

      const api = (await app.request('/api')).json();

      expect(api.documents.map(({ url }: { url: string }) => url)).toEqual(
        documents.map(({ path }) => `${env.PERCH_BASE_URL}${path}`),
      );
      expect(api.formats).toEqual([
        {
          name: 'markdown',
          media_type: 'text/markdown; charset=utf-8',
          reads: [
            'getPost',
            'listReplies',
            'getProfile',
            'listFollowers',
            'listFollowing',
            'searchPosts',
          ],
        },
        {
          name: 'json',
          media_type: 'application/json; charset=utf-8',
          reads: [
            'getPost',
            'listReplies',
            'getProfile',
            'listFollowers',
            'listFollowing',
            'searchPosts',
            'getOEmbed',
            'importProfilePosts',
          ],
        },
        {
          name: 'obsidian',
          media_type: 'text/markdown; charset=utf-8',
          reads: ['getPost'],
        },
        {
          name: 'html',
          media_type: 'text/html; charset=utf-8',
          reads: [
            'getPost',
            'listReplies',
            'getProfile',
            'listFollowers',
            'listFollowing',
            'searchPosts',
          ],
        },
        ...[
          ['atom', 'application/atom+xml'],
          ['rss', 'application/rss+xml'],
          ['jsonfeed', 'application/feed+json'],
        ].map(([name, type]) => ({
          name,
          media_type: `${type}; charset=utf-8`,
          reads: ['getPost', 'listReplies', 'getProfile', 'searchPosts', 'importProfilePosts'],
        })),
        {
          name: 'ndjson',
          media_type: 'application/x-ndjson; charset=utf-8',
          reads: ['importProfilePosts'],
        },
      ]);
      expect(api.authentication).toMatchObject({
        required: false,
        key: { request_url: 'mailto:k@example.org', header: 'Authorization', scheme: 'Bearer' },
      });
      expect(api.authentication.key.surfaces).toContain('/api/v1/search');
      expect(api.authentication.key.surfaces).not.toContain('/api/v1/posts');
      expect(api.limits.allowances.map((one: object) => Object.values(one).slice(0, 2))).toEqual([
        ['public', 7],
        ['key', 600],
        ['post', 600],
      ]);
      expect(api.errors.codes).toMatchObject({ rate_limited: 429, invalid_key: 401 });
      expect(api.documentation).toMatchObject({
        index: 'https://perch.example.org/docs',
        errors: 'https://perch.example.org/docs/errors',
        versioning: 'https://perch.example.org/docs/versioning',
      });
    },
  );

  clause(
    'read.discovery.admin_not_public',
    'does not describe the operator’s routes in any document',
    async () => {
      const app = await sharedApp({ env });
      for (const { path } of documents.filter(
        ({ id }) => !['getOpenApi', 'getLlmsFullText'].includes(id),
      )) {
        expect((await app.request(path)).body).not.toMatch(/\/admin\//);
      }
    },
  );

  it('links to the other documents', async () => {
    const app = await sharedApp({ env });

    const { headers } = await app.request('/api');

    const { refs } = LinkHeader.parse(String(headers.link));
    expect(refs).toEqual([
      { rel: 'service-desc', uri: `${env.PERCH_BASE_URL}/openapi.json`, type: 'application/json' },
      { rel: 'service-doc', uri: `${env.PERCH_BASE_URL}/docs`, type: 'text/html' },
      { rel: 'status', uri: `${env.PERCH_BASE_URL}/health/ready`, type: 'application/json' },
      {
        rel: 'api-catalog',
        uri: `${env.PERCH_BASE_URL}/.well-known/api-catalog`,
        type: 'application/linkset+json',
      },
      { rel: 'ard', uri: `${env.PERCH_BASE_URL}/.well-known/ard.json`, type: 'application/json' },
      { rel: 'describedby', uri: `${env.PERCH_BASE_URL}/llms.txt`, type: 'text/plain' },
    ]);
  });
});

describe('/llms.txt', () => {
  it('follows the convention: a title, a quote, sections of links', async () => {
    const app = await sharedApp({ env });

    const { body } = await app.request('/llms.txt');

    const [head = '', ...sections] = body.split(/^## /m);
    expect(head).toMatch(/^# Perch\n\n> .+\n\n/);
    expect(head).not.toMatch(/^#{2,} /m);
    expect(sections.map((section) => section.split('\n', 1)[0])).toEqual([
      'Descriptions for programs',
      'Documentation',
    ]);
    for (const section of sections) {
      const items = section
        .split('\n')
        .slice(2, -1)
        .filter((line) => line !== '');
      expect(items.length).toBeGreaterThan(3);
      for (const item of items) {
        expect(item).toMatch(/^- \[[^\]]+\]\(https:\/\/perch\.example\.org\/[^)\s]+\): \S.*$/);
      }
    }
    expect(body).toContain('](https://perch.example.org/docs/start): ');
  });
});

describe('/llms-full.txt', () => {
  const userPages = navigation
    .filter(({ title }) => title !== 'Working on Perch')
    .flatMap(({ pages }) => pages.map(({ name }) => name))
    .filter((name) => !isApiPage(name));

  it('has all user documentation in the order of the navigation, below titles and URLs', async () => {
    const app = await sharedApp({ env });

    const { body, headers } = await app.request('/llms-full.txt');

    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const texts = body.replaceAll(/^```[\s\S]*?^```$/gm, '');
    const found = [...texts.matchAll(/^# .+\n\n<https:\/\/perch\.example\.org\/docs\/(.+)>$/gm)];
    expect(found.map(([, name]) => name)).toEqual(userPages);
    for (const name of userPages) {
      const path = `docs/${name}.md`;
      const page = moveDocExamples(readFileSync(path, 'utf8'), {
        path,
        baseUrl: env.PERCH_BASE_URL,
      });
      const [title = '', ...lines] = page.trim().split('\n');
      const url = `<https://perch.example.org/docs/${name}>`;
      expect(body).toContain(`${title.replaceAll('`', '')}\n\n${url}\n${lines.join('\n')}\n`);
    }
    expect(body).not.toContain('/docs/development>');
  });

  it('is named by /llms.txt and by /api', async () => {
    const app = await sharedApp({ env });

    const llms = await app.request('/llms.txt');
    const { documents: listed } = (await app.request('/api')).json();

    expect(llms.body).toContain('](https://perch.example.org/llms-full.txt): ');
    expect(listed.map(({ url }: { url: string }) => url)).toContain(
      'https://perch.example.org/llms-full.txt',
    );
  });
});

describe('/robots.txt', () => {
  it('allows the documents and disallows the reads', async () => {
    const app = await sharedApp({ env });

    const { body } = await app.request('/robots.txt');

    for (const { path } of documents) expect([path, mayFetch(body, path)]).toEqual([path, true]);
    for (const path of [
      '/jack',
      '/jack/status/20',
      '/search?q=a',
      '/api/v1/posts',
      '/mcp',
      '/apis',
    ]) {
      expect([path, mayFetch(body, path)]).toEqual([path, false]);
    }
    expect(body).toContain('\nAgentmap: https://perch.example.org/.well-known/ard.json\n');
  });

  it.each(['ChatGPT-User', 'MistralAI-User', 'meta-externalfetcher', 'Amzn-User'])(
    'allows the fetcher %s, which acts for one person, to read posts and pages',
    async (agent) => {
      const app = await sharedApp({ env });

      const { body } = await app.request('/robots.txt');

      for (const path of ['/jack/status/20', '/https://x.com/jack/status/20', '/docs/mcp', '/']) {
        expect([path, mayFetch(body, path, agent)]).toEqual([path, true]);
      }
      expect(mayFetch(body, '/api/v1/posts', agent)).toBe(false);
    },
  );

  it.each(['GPTBot', 'ClaudeBot', 'Claude-SearchBot', 'PerplexityBot', 'meta-externalagent'])(
    'has no group for the crawler %s, so that the rules for all apply',
    async (agent) => {
      const app = await sharedApp({ env: { ...env, PERCH_LINK_PREVIEWS: 'true' } });

      const { body } = await app.request('/robots.txt');

      expect(body.toLowerCase()).not.toContain(`user-agent: ${agent}\n`.toLowerCase());
    },
  );

  it('allows crawlers of link previews if previews are enabled', async () => {
    const app = await sharedApp({ env: { ...env, PERCH_LINK_PREVIEWS: 'true' } });

    const { body } = await app.request('/robots.txt');

    for (const agent of ['twitterbot', 'facebookexternalhit', 'slackbot', 'whatsapp']) {
      expect(mayFetch(body, '/jack/status/20', agent)).toBe(true);
      expect(mayFetch(body, '/api/v1/posts', agent)).toBe(false);
    }
    expect(mayFetch(body, '/jack/status/20')).toBe(false);
  });

  it('has no group for crawlers of link previews if previews are off', async () => {
    const app = await sharedApp({ env });

    expect((await app.request('/robots.txt')).body).not.toContain('twitterbot');
  });
});

describe('/.well-known/security.txt', () => {
  function fieldsOf(body: string): Readonly<Record<string, string>> {
    const lines = body.trimEnd().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/: (.*)/, 2)));
  }

  it('has the fields of RFC 9116', async () => {
    const clock = createManualClock(Date.UTC(2026, 10, 21, 13, 14, 15));
    const contact = 'mailto:security@example.org';
    const app = await buildTestApp({ env: { ...env, PERCH_SECURITY_CONTACT: contact }, clock });

    const { headers, body } = await app.request('/.well-known/security.txt');

    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(fieldsOf(body)).toEqual({
      Contact: contact,
      Expires: '2027-02-19T00:00:00Z',
      'Preferred-Languages': 'en',
      Canonical: 'https://perch.example.org/.well-known/security.txt',
      Policy: 'https://perch.example.org/docs/security',
    });
  });

  it('names the page on security if no contact is configured', async () => {
    const app = await sharedApp({ env });

    const { body } = await app.request('/.well-known/security.txt');

    expect(fieldsOf(body).Contact).toBe('https://perch.example.org/docs/security');
  });

  it('never expires while it is served, with another entity tag each day', async () => {
    const clock = createManualClock(Date.UTC(2026, 10, 21, 23, 59, 59));
    const app = await buildTestApp({ env, clock });
    const ask = async () => {
      const { headers, body } = await app.request('/.well-known/security.txt');
      return { etag: headers.etag, expiresMs: Date.parse(fieldsOf(body).Expires ?? '') };
    };
    const first = await ask();

    await clock.advance(1000);
    const second = await ask();
    await clock.advance(400 * 86_400_000);
    const later = await ask();

    expect(second.expiresMs - first.expiresMs).toBe(86_400_000);
    expect(new Set([first.etag, second.etag, later.etag]).size).toBe(3);
    expect(later.expiresMs).toBeGreaterThan(clock.now());
    expect(later.expiresMs - clock.now()).toBeLessThan(365 * 86_400_000);
  });
});

describe('the card of the MCP server', () => {
  it('matches the schema of SEP-2127', async () => {
    const app = await sharedApp({ env });

    const reply = await app.request('/mcp/server-card');

    expect(reply.json()).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
      name: 'org.example.perch/perch',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      title: 'Perch',
      description: expect.stringMatching(/^.{1,100}$/),
      websiteUrl: 'https://perch.example.org/',
      remotes: [{ type: 'streamable-http', url: 'https://perch.example.org/mcp' }],
    });
  });

  it.each([
    ['http://localhost:8080', 'localhost/perch'],
    ['http://127.0.0.1:8080', '127.0.0.1/perch'],
    ['http://[2001:db8::5]', '2001-db8--5/perch'],
    ['https://vogelhäuschen.example', 'example.xn--vogelhuschen-lcb/perch'],
  ])('is named after the host of %s', async (baseUrl, name) => {
    const app = await sharedApp({ env: { PERCH_BASE_URL: baseUrl } });

    const reply = await app.request('/mcp/server-card');

    expect(reply.json().name).toBe(name);
    expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  });
});

describe('an unknown well-known path', () => {
  it.each(['/.well-known/', '/.well-known/x', '/.well-known/ard', '/ard.json', '/security.txt'])(
    'is not a route: %s',
    async (path) => {
      const app = await sharedApp();

      expect((await app.request(path)).json().code).toBe('route_not_found');
    },
  );
});
