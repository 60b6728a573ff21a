import { describe, expect, it } from 'vitest';
import { buildTestApp, shareTestApps } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { navigation } from '../support/dashboard.ts';
import { ownPicture, parsePage } from '../support/render-html.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const thread = '/ada.example/status/1900000000000000001';
const base = 'http://localhost:8080';
const discord = 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)';

const reads = [
  ['a post', thread],
  ['the same post under /api/v1', '/api/v1/posts?handle=ada.example&id=1900000000000000001'],
  ['a deprecated route', `/api/convert?url=${base}${thread}`],
  ['a whole URL', `/${base}${thread}`],
  ['the replies to a post', '/api/v1/posts/1900000000000000001/replies?handle=ada.example'],
  ['a profile', '/ada.example'],
  ['followers', '/ada.example/followers'],
  ['accounts that are followed', '/ada.example/following'],
  ['a search', '/search?q=heron&platform=sample'],
  ['a search for accounts', '/search?q=ada&platform=sample&feed=users'],
] as const;

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(text));
  return `sha256-${Buffer.from(digest).toString('base64')}`;
}

const withFormat = (url: string, format: string) =>
  `${url}${url.includes('?') ? '&' : '?'}format=${format}`;

describe('format=html', () => {
  clause('read.v1.page_when_format_html').each(reads)('returns %s as a page', async (_, url) => {
    const reply = await app.request(withFormat(url, 'HTML'), {
      headers: { accept: 'application/json' },
    });

    expect(reply.statusCode).toBe(200);
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(reply.headers.etag).toMatch(/^"/);
    const page = parsePage(reply.body);
    expect(page.errors).toEqual([]);
    expect(page.elements.filter(({ tag }) => tag === 'h1')).toHaveLength(1);
    expect(page.elements.filter(({ tag }) => tag === 'main')).toHaveLength(1);
  });

  clause('read.v1.page_without_scripts').each(reads)(
    'contains all that the page of %s needs',
    async (_, url) => {
      const { body, headers } = await app.request(withFormat(url, 'html'));

      const { elements } = parsePage(body);
      const loading = elements.filter(
        ({ tag, attributes: { src, href, rel } }) =>
          /^(?:iframe|object|embed|base)$/.test(tag) ||
          (src !== undefined && !src.startsWith('data:') && !ownPicture.test(src)) ||
          (tag === 'link' && /icon|stylesheet/.test(rel ?? '') && !href?.startsWith('data:')),
      );
      expect(loading).toEqual([]);
      const policy = String(headers['content-security-policy']);
      const [, styles = ''] = /<style>(.*?)<\/style>/s.exec(body) ?? [];
      const [, script] = /<script>(.*?)<\/script>/s.exec(body) ?? [];
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        `style-src '${await hashOf(styles)}'`,
        ...(script === undefined ? [] : [`script-src '${await hashOf(script)}'`]),
        "img-src 'self' data:",
        "base-uri 'none'",
        `form-action ${base}`,
        "frame-ancestors 'none'",
      ]);
    },
  );

  clause('read.v1.page_without_scripts').each(reads)(
    'has a script for %s only if it shows a post with others',
    async (_, url) => {
      const { body } = await app.request(withFormat(url, 'html'));
      const alone = await app.request(`${thread}?thread=off&format=html`);

      const { elements } = parsePage(body);
      const hasThread =
        elements.find(({ tag }) => tag === 'h1')?.text.startsWith('Thread') === true;
      expect(elements.filter(({ tag }) => tag === 'script')).toHaveLength(hasThread ? 1 : 0);
      expect(alone.body).not.toContain('<script');
    },
  );

  it('links to the other formats and to the next page, with all parameters', async () => {
    const url = '/api/v1/profiles/ada.example/followers?limit=2&full=true&format=html';

    const { body } = await app.request(url);

    const { elements } = parsePage(body);
    const linked = (rel: string) =>
      elements.flatMap(({ attributes }) => (attributes.rel === rel ? [attributes.href ?? ''] : []));
    const alternates = linked('alternate').map((href) => href.replace(base, ''));
    expect(alternates).toEqual([
      '/api/v1/profiles/ada.example/followers?limit=2&full=true&format=markdown',
      '/api/v1/profiles/ada.example/followers?limit=2&full=true&format=json',
    ]);
    const [next = ''] = linked('next');
    expect(next).toMatch(/followers\?limit=2&cursor=[^&]+&full=true&format=html$/);
    const second = parsePage((await app.request(next.replace(base, ''))).body);
    const previous = second.elements.flatMap(({ tag, attributes: { rel, href } }) =>
      rel === 'prev' ? [`${tag} ${href?.replace(base, '')}`] : [],
    );
    expect(previous).toEqual([`link ${url}`, `a ${url}`]);
    const own = second.elements.find(({ attributes }) => attributes.rel === 'alternate');
    expect(own?.attributes.href).toBe(next.replace('format=html', 'format=markdown'));
  });

  it.each([
    '/ada.example',
    '/ada.example?with_replies=true',
    '/ada.example?page=2&limit=2',
    '/ada.example/followers',
    '/search?q=from:ada.example&platform=sample',
  ])('leads from %s to the lists of the account, as pages', async (url) => {
    const { body } = await app.request(withFormat(url, 'html'));

    const parts = [/<nav class="tabs".*?<\/nav>/s, /<ul class="numbers">.*?<\/ul>/s].map(
      (part) => part.exec(body)?.[0] ?? '',
    );
    const { elements } = parsePage(parts.join(''));
    const linked = elements.flatMap(({ attributes: { href } }) => (href ? [href] : []));
    expect(linked.length).toBeGreaterThanOrEqual(3);
    for (const href of linked) {
      const reply = await app.request(href.replace(base, ''));
      expect([href, reply.statusCode]).toEqual([href, 200]);
      expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    }
    expect(elements.filter(({ attributes }) => attributes['aria-current'] === 'page')).toHaveLength(
      1,
    );
  });

  it('has the tags of link previews, the oEmbed document and the original', async () => {
    const app = await buildTestApp({
      providers: [
        createStubProvider('fxtwitter', async ({ post }) => stubFound(stubPost(post.id))),
      ],
    });
    const url = 'https://x.com/wren/status/20';

    const { body, headers } = await app.request('/wren/status/20?format=html&thread=off');

    const { elements } = parsePage(body);
    const hrefs = elements.flatMap(({ tag, attributes: { rel, href, type } }) =>
      tag === 'link' && rel !== 'icon' ? [[rel, type, href?.replace(base, '')]] : [],
    );
    const query = `url=${encodeURIComponent(url)}`;
    expect(hrefs).toEqual([
      ['canonical', undefined, url],
      ['alternate', 'text/markdown', `/api/v1/posts?${query}&thread=off&format=markdown`],
      ['alternate', 'application/json', `/api/v1/posts?${query}&thread=off&format=json`],
      ['alternate', 'application/atom+xml', `/api/v1/posts?${query}&thread=off&format=atom`],
      ['alternate', 'application/rss+xml', `/api/v1/posts?${query}&thread=off&format=rss`],
      ['alternate', 'application/feed+json', `/api/v1/posts?${query}&thread=off&format=jsonfeed`],
      ['alternate', 'application/json+oembed', `/api/v1/oembed?${query}`],
    ]);
    expect(body).toContain('<meta property="og:title" content="wren (@wren)">');
    expect(body).toContain('<meta name="robots" content="noindex">');
    expect(headers.link).toContain('application/json+oembed');
    const links = elements
      .filter(({ tag }) => tag === 'a')
      .map(({ attributes }) => attributes.href);
    expect(links).toEqual(
      expect.arrayContaining([
        `${base}/wren?format=html`,
        `${base}/wren/status/20?format=html`,
        url,
      ]),
    );
  });

  it.each(['/oembed?url=x&format=html', '/ada.example/posts?format=html'])(
    'is not available at %s',
    async (url) => {
      const reply = await app.request(url);

      expect(['not_implemented', 'invalid_format']).toContain(reply.json().code);
    },
  );
});

describe('PERCH_BROWSER_PAGES', () => {
  const on = { PERCH_BROWSER_PAGES: 'true' };

  clause('read.v1.browser_pages_for_navigations').each(reads)(
    'returns %s as a page to a navigation',
    async (_, url) => {
      const app = sharedApp({ env: on });

      const page = await app.request(url, { headers: navigation });
      const plain = await app.request(url, { headers: { accept: navigation.accept } });
      const markdown = await app.request(url);

      const asked = await app.request(withFormat(url, 'html'));
      expect([page.body, plain.body]).toEqual([asked.body, asked.body]);
      expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8');
      for (const { headers } of [page, plain, markdown]) {
        expect(String(headers.vary).split(', ')).toContain('Sec-Fetch-Mode');
      }
    },
  );

  clause('read.v1.browser_pages_for_navigations', 'read.what.markdown_by_default').each([
    ['Markdown or HTML', { accept: 'text/markdown, text/html' }, 'text/markdown'],
    ['a script', { ...navigation, 'sec-fetch-mode': 'cors' }, 'text/markdown'],
    [
      'a navigation that prefers JSON',
      { ...navigation, accept: 'application/json' },
      'application/json',
    ],
    [
      'a navigation that prefers Markdown',
      { ...navigation, accept: 'text/markdown, text/html;q=0.5' },
      'text/markdown',
    ],
    ['a navigation to any type', { ...navigation, accept: '*/*' }, 'text/markdown'],
  ])('does not change the reply to %s', async (_, headers, type) => {
    const app = sharedApp({ env: on });

    const reply = await app.request(thread, { headers });

    expect(reply.headers['content-type']).toBe(`${type}; charset=utf-8`);
  });

  clause('read.what.markdown_by_default')('is off by default', async () => {
    const reply = await app.request(thread, { headers: navigation });

    expect(reply.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(reply.headers.vary).toBe('Accept, Accept-Encoding');
  });

  it('keeps the preview page for crawlers', async () => {
    const app = sharedApp({ env: { ...on, PERCH_LINK_PREVIEWS: 'true' } });

    const headers = { ...navigation, 'user-agent': discord };
    const [crawler, browser] = [
      await app.request(thread, { headers }),
      await app.request(thread, { headers: navigation }),
    ];

    expect(crawler.headers.vary).toBe('Accept, User-Agent, Sec-Fetch-Mode, Accept-Encoding');
    expect(crawler.body).not.toContain('<main');
    expect(browser.body).toContain('<main');
  });

  clause('read.errors.browser_pages_problem_page')(
    'returns errors of permalinks as pages to navigations, and documents to the rest',
    async () => {
      const app = sharedApp({ env: on });
      const url = '/ada.example/status/1';

      const page = await app.request(url, { headers: navigation });
      const document = await app.request(url);
      const api = await app.request('/api/v1/profiles/nobody.example', { headers: navigation });
      const embed = await app.request('/oembed', { headers: navigation });

      expect([page.statusCode, page.headers['content-type']]).toEqual([
        404,
        'text/html; charset=utf-8',
      ]);
      expect(page.body).toContain('not_found');
      expect(document.json().code).toBe('not_found');
      for (const { headers } of [page, document]) {
        expect(String(headers.vary).split(', ')).toContain('Sec-Fetch-Mode');
      }
      expect(api.json().code).toBe('not_found');
      expect(embed.json().code).toBe('missing_url');
    },
  );

  it('returns documents for errors of permalinks if it is off', async () => {
    const reply = await app.request('/ada.example/status/1', { headers: navigation });

    expect(reply.json().code).toBe('not_found');
  });
});
