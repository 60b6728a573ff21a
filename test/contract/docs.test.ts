import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { problemKinds } from '../../src/lib/problem.ts';
import { isApiPage, navigation } from '../../src/routes/pages/docs/navigation.ts';
import { buildTestApp, shareTestApps, type TestClient } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { parsePage } from '../support/render-html.ts';

/** Link in a page, and its target. */
interface FollowedLink {
  readonly from: string;
  readonly to: string;
  readonly status: number;
  /** Whether the page has the element of the fragment. True without a fragment. */
  readonly hasAnchor: boolean;
}

/** Follows all links below a prefix, recursively. */
async function crawl(
  app: TestClient,
  start: string,
  prefix: string,
): Promise<readonly FollowedLink[]> {
  const pages = new Map<
    string,
    { status: number; ids: ReadonlySet<string>; links: readonly string[] }
  >();
  const waiting = [start];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const page = await open(app, path);
    pages.set(path, page);
    waiting.push(...page.links.map(withoutFragment).filter((link) => link.startsWith(prefix)));
  }
  return [...pages].flatMap(([from, { links }]) =>
    links.flatMap((to) => {
      const target = pages.get(withoutFragment(to) || from);
      const [, fragment] = to.split('#');
      if (target === undefined) return [];
      const hasAnchor = fragment === undefined || target.ids.has(fragment);
      return [{ from, to, status: target.status, hasAnchor }];
    }),
  );
}

async function open(app: TestClient, path: string) {
  const reply = await app.request(path, { headers: { accept: 'text/html' } });
  const isHtml = `${reply.headers['content-type']}`.startsWith('text/html');
  const { elements } = isHtml ? parsePage(reply.body) : { elements: [] };
  return {
    status: reply.statusCode,
    ids: new Set(elements.flatMap(({ attributes }) => attributes.id ?? [])),
    links: elements.flatMap(({ tag, attributes: { href, src, rel } }) =>
      tag === 'link' && rel === 'canonical' ? [] : (href ?? src ?? []),
    ),
  };
}

function withoutFragment(link: string): string {
  return link.split('#', 1)[0] ?? '';
}

const sharedApp = shareTestApps();
const app = sharedApp();

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
/** Pages of a server without sessions, which the apps of these tests are. */
const names = navigation
  .flatMap(({ pages }) => pages.map(({ name }) => name))
  .filter((name) => name !== 'api/sessions');
/** Pages that are files; the pages of the API are written from its description. */
const named = names.filter((name) => !isApiPage(name));
const files = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.slice(0, -3));
const isListed = ({ name }: { readonly name: string }) => names.includes(name);
const sourceOf = (name: string) => readFileSync(join('docs', `${name}.md`), 'utf8');

describe('the navigation', () => {
  it('lists every page of docs/ once', () => {
    expect([...named].sort()).toEqual([...files].sort());
  });

  it('does not use the names of other paths', () => {
    expect(names.filter((name) => ['assets', 'find', 'ask'].includes(name))).toEqual([]);
  });
});

describe('a page of the documentation', () => {
  it('is HTML for a browser, with one heading of level 1', async () => {
    for (const name of names)
      expectPage(name, await app.request(`/docs/${name}`, { headers: browser }));
  });

  function expectPage(name: string, reply: LightMyRequestResponse): void {
    expect([name, reply.statusCode]).toEqual([name, 200]);
    expect(reply.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      vary: 'Accept, Accept-Encoding',
      'cache-control': 'public, max-age=60, stale-while-revalidate=300',
    });
    const { elements, errors } = parsePage(reply.body);
    expect(errors).toEqual([]);
    expect(elements.filter(({ tag }) => tag === 'h1')).toHaveLength(1);
    const levels = elements.flatMap(({ tag }) => /^h([1-6])$/.exec(tag)?.[1] ?? []).map(Number);
    expect(levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1)).toEqual([]);
    const current = elements.filter(({ attributes }) => attributes['aria-current'] === 'page');
    expect(new Set(current.map(({ attributes }) => attributes.href))).toEqual(
      new Set([`/docs/${name}`]),
    );
  }

  it('shows no marks of its blocks', async () => {
    for (const name of names) {
      const { body } = await app.request(`/docs/${name}`, { headers: browser });
      const blocks = parsePage(body).elements.filter(({ tag }) => tag === 'pre');
      const marked = blocks.filter(({ text }) => text.includes('no-run'));
      expect([name, marked.map(({ text }) => text)]).toEqual([name, []]);
    }
  });

  it('is the Markdown file if Accept prefers it', async () => {
    for (const name of named) {
      const negotiated = await app.request(`/docs/${name}`, {
        headers: { accept: 'text/markdown' },
      });
      const named = await app.request(`/docs/${name}.md`, { headers: browser });

      expect([negotiated.body, named.body]).toEqual([sourceOf(name), sourceOf(name)]);
      expect([negotiated.headers.vary, named.headers.vary]).toEqual([
        'Accept, Accept-Encoding',
        'Accept-Encoding',
      ]);
      for (const { headers } of [negotiated, named]) {
        expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
      }
    }
  });

  it.each([undefined, '*/*', 'application/json', 'image/png'])(
    'is HTML for Accept: %s',
    async (accept) => {
      const reply = await app.request(
        '/docs/keys',
        accept === undefined ? {} : { headers: { accept } },
      );

      expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    },
  );

  it.each(['/docs', '/docs/keys', '/docs/keys.md', '/docs/api.md', '/docs/api/posts'])(
    '%s has the same bytes each time, and answers 304',
    async (url) => {
      const first = await app.request(url);

      const second = await app.request(url);
      const known = await app.request(url, {
        headers: { 'if-none-match': `${first.headers.etag}` },
      });
      const head = await app.request(url, { method: 'HEAD' });

      expect([second.body, second.headers.etag]).toEqual([first.body, first.headers.etag]);
      expect([known.statusCode, known.body]).toEqual([304, '']);
      expect([head.statusCode, head.body]).toEqual([200, '']);
      expect(head.headers['content-length']).toBe(first.headers['content-length']);
    },
  );

  it('has another entity tag in another format', async () => {
    const html = await app.request('/docs/keys');

    const reply = await app.request('/docs/keys', {
      headers: { accept: 'text/markdown', 'if-none-match': `${html.headers.etag}` },
    });

    expect(reply.statusCode).toBe(200);
  });

  it('allows a browser to load only files of this server', async () => {
    for (const url of ['/docs', '/docs/keys', '/docs/find?q=key']) {
      const { headers } = await app.request(url, { headers: browser });

      const policy = new Map(
        `${headers['content-security-policy']}`
          .split(';')
          .map((one) => one.trim().split(' '))
          .map(([name = '', ...sources]) => [name, sources.join(' ')]),
      );
      expect(Object.fromEntries(policy)).toMatchObject({
        'default-src': "'none'",
        'script-src': "'self'",
        'style-src': "'self'",
        'connect-src': "'self'",
        'form-action': "'self'",
        'base-uri': "'none'",
        'frame-ancestors': "'none'",
      });
      expect(headers['referrer-policy']).toBe('same-origin');
      expect(headers['permissions-policy']).toContain('camera=()');
    }
  });

  it('loads nothing from other hosts, and has no inline script or style', async () => {
    for (const url of ['/docs', '/docs/find?q=key', ...names.map((name) => `/docs/${name}`)]) {
      const { elements } = parsePage((await app.request(url, { headers: browser })).body);
      const loaded = elements.flatMap(({ tag, attributes: { src, href, rel, action } }) =>
        tag === 'a' || rel === 'canonical' ? [] : (src ?? href ?? action ?? []),
      );
      const inline = elements.filter(
        ({ tag, attributes, text }) =>
          Object.keys(attributes).some((name) => name === 'style' || name.startsWith('on')) ||
          tag === 'style' ||
          (tag === 'script' && text !== ''),
      );
      expect([url, loaded.filter((to) => !to.startsWith('/docs')), inline]).toEqual([url, [], []]);
    }
  });

  it('has no broken links or anchors', async () => {
    const links = await crawl(app, '/docs', '/docs');

    expect(links.length).toBeGreaterThan(names.length * 10);
    expect(links.filter(({ status, hasAnchor }) => status !== 200 || !hasAnchor)).toEqual([]);
  });

  it('links under the path of the base URL', async () => {
    const app = sharedApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    const page = await app.request('/docs/start');
    const redirect = await app.request('/docs/START');

    const { elements } = parsePage(page.body);
    const paths = elements.flatMap(({ attributes: { href, src } }) => href ?? src ?? []);
    expect(paths.filter((path) => /^\/(?!read\/)/.test(path))).toEqual([]);
    expect(redirect.headers.location).toBe('/read/docs/start');
  });
});

describe('the documentation that the API links to', () => {
  clause('read.errors.problem_documents')('explains the type of every problem', async () => {
    const { elements } = parsePage((await app.request('/docs/errors', { headers: browser })).body);

    const ids = new Set(elements.flatMap(({ attributes }) => attributes.id ?? []));
    expect(Object.keys(problemKinds).filter((code) => !ids.has(code))).toEqual([]);
  });

  clause('read.versioning.link_deprecation', 'read.versioning.link_sunset')(
    'is HTML at the URL of the deprecation policy',
    async () => {
      const app = sharedApp({ env: { PERCH_BASE_URL: 'https://perch.test' } });
      const { headers } = await app.request('/api/convert?handle=ada.example&id=1');

      const policies = [
        ...`${headers.link}`.matchAll(
          /<https:\/\/perch\.test([^>]+)>; rel="(?:deprecation|sunset)"/g,
        ),
      ];
      expect(policies).toHaveLength(2);
      for (const [, path = ''] of policies) {
        const reply = await app.request(path, { headers: browser });
        expect([reply.statusCode, reply.headers['content-type']]).toEqual([
          200,
          'text/html; charset=utf-8',
        ]);
      }
    },
  );
});

describe('the list of all pages', () => {
  it('lists every page with its summary', async () => {
    const { elements } = parsePage((await app.request('/docs', { headers: browser })).body);

    const cards = elements.filter(
      ({ tag, attributes }) => tag === 'ul' && attributes.class === 'cards',
    );
    const text = cards.map((card) => card.text).join(' ');
    for (const { summary } of navigation.flatMap(({ pages }) => pages).filter(isListed))
      expect(text).toContain(`${summary}.`);
  });

  it('is Markdown if Accept prefers it, with links to Markdown', async () => {
    const reply = await app.request('/docs', { headers: { accept: 'text/markdown' } });

    const links = [...reply.body.matchAll(/\]\(http:\/\/localhost:8080([^)]+)\)/g)].map(
      ([, path]) => path ?? '',
    );

    expect(reply.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(links).toEqual(names.map((name) => `/docs/${name}.md`));
    for (const link of links) expect((await app.request(link)).statusCode).toBe(200);
  });
});

describe('another spelling of a page’s path', () => {
  it.each([
    ['/docs/Keys', '/docs/keys'],
    ['/docs/KEYS.MD', '/docs/keys.md'],
    ['/docs/DePloy/', '/docs/deploy'],
    ['/docs/self-hosting', '/docs/deploy'],
    ['/docs/Self-Hosting/', '/docs/deploy'],
    ['/docs/self-hosting.md', '/docs/deploy.md'],
  ])('%s redirects to %s', async (url, location) => {
    for (const method of ['GET', 'HEAD']) {
      const reply = await app.request(url, { method });
      expect([reply.statusCode, reply.headers.location, reply.body]).toEqual([308, location, '']);
    }
  });

  it('is the page itself if only its characters are encoded', async () => {
    const reply = await app.request('/docs/%6beys');

    expect(reply.statusCode).toBe(200);
  });

  it.each([
    ['/docs/key', '/docs/keys'],
    ['/docs/cachng', '/docs/caching'],
    ['/docs/deployment', '/docs/deploy'],
    ['/docs/formats.html', '/docs/formats'],
  ])('%s is not found, and the detail suggests %s', async (url, near) => {
    const reply = await app.request(url);

    expect(reply.json()).toMatchObject({ status: 404, code: 'route_not_found' });
    expect(reply.json().detail).toContain(`\`${near}\``);
  });

  it.each([
    '/docs/no-such-page',
    '/docs/..%2fpackage.json',
    '/docs/..%2f..%2fetc%2fpasswd.md',
    '/docs/%2e%2e%2fREADME.md',
    '/docs/decisions%2f0001-tools-and-packages.md',
    '/docs/decisions/0001-tools-and-packages.md',
    '/docs/keys%00.md',
    '/docs/keys%2F',
    '/docs/.md',
    '/docs/__proto__',
    '/docs/constructor.md',
    '/docs/keys.md.md',
    '/docs/keys/more',
    `/docs/${'k'.repeat(4000)}`,
    '/docs/%3Cscript%3E',
  ])('%s is not found', async (url) => {
    const reply = await app.request(url);

    expect([reply.statusCode, reply.json().code]).toEqual([404, 'route_not_found']);
  });

  it.each(['/docs', '/docs/keys', '/docs/self-hosting', '/docs/find', '/docs/api/posts.md'])(
    'rejects other methods at %s',
    async (url) => {
      const app = await buildTestApp();

      const reply = await app.request(url, { method: 'POST' });

      expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
    },
  );
});
