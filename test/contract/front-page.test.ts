import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { toLine } from '../../src/render/markdown/characters.ts';
import { frontRoutes } from '../../src/routes/pages/endpoints.ts';
import { buildTestApp, shareTestApps, type TestClient, xOnly } from '../support/build-app.ts';
import { startFakeFxTwitter } from '../support/fake-fxtwitter.ts';
import { fc, runs } from '../support/fast-check.ts';
import { ownPicture, parsePage } from '../support/render-html.ts';
import { hostileText } from '../support/render-markdown.ts';
import { createStubProvider, stubAccount, stubFound, stubPost } from '../support/stub-provider.ts';
import { withoutCoding } from '../support/vary.ts';

const sharedApp = shareTestApps();
const app = sharedApp();
const offline = sharedApp({ env: { PERCH_PROVIDERS: 'archive' } });

const base = 'http://localhost:8080';
const thread = `${base}/ada.example/status/1900000000000000001`;
const html = 'text/html; charset=utf-8';
const markdown = 'text/markdown; charset=utf-8';

/** What browsers send for a page, word for word. */
const browsers = {
  chromium:
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  firefox: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  lynx: 'text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01',
};
const asBrowser = { accept: browsers.firefox };

const ask = (app: TestClient, q: string, headers: Record<string, string> = asBrowser) =>
  app.request(`/?q=${encodeURIComponent(q)}`, { headers });

/** Gives the page as a browser parses it, after what every page must have. */
function readPage(reply: LightMyRequestResponse) {
  expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, html]);
  expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none'; /);
  expect(reply.headers['content-security-policy']).not.toMatch(/unsafe|https?:|\*/);
  const page = parsePage(reply.body);
  expect(page.errors).toEqual([]);
  const ids = page.elements.flatMap(({ attributes: { id } }) => (id === undefined ? [] : [id]));
  expect(new Set(ids).size).toBe(ids.length);
  for (const { tag, attributes } of page.elements) {
    expect(Object.keys(attributes).filter((name) => /^(?:on|style$|srcset$)/.test(name))).toEqual(
      [],
    );
    if (tag === 'script' || (tag === 'img' && !ownPicture.test(attributes.src ?? '')))
      expect(attributes.src).toMatch(/^(?:\/read)?\/docs\/assets\//);
    if (tag === 'script') expect(page.elements.find((one) => one.tag === tag)?.text).toBe('');
    if (tag === 'a') expect(attributes.href).toMatch(/^(?:\/|#|https?:\/\/)/);
  }
  const byId = (id: string) => page.elements.find(({ attributes }) => attributes.id === id);
  return { ...page, byId };
}

describe('the front page', () => {
  it.each([
    ...Object.values(browsers).map((accept) => [accept, html]),
    ['text/html', html],
    ['application/xhtml+xml', html],
    ['text/html;q=0.9, text/markdown;q=0.5', html],
    ['text/html, text/markdown', html],
    ['*/*', markdown],
    ['text/*', markdown],
    ['text/markdown', markdown],
    ['text/markdown, text/html;q=0.9', markdown],
    ['text/html;q=0', markdown],
    ['application/json', markdown],
    ['image/png', markdown],
    ['text/plain', markdown],
    [',,;;q=,', markdown],
  ])('answers Accept %s with %s', async (accept, type) => {
    const reply = await app.request('/', { headers: { accept } });

    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, type]);
    expect(reply.headers).toMatchObject({
      vary: 'Accept, Accept-Encoding',
      'cache-control': 'public, max-age=60, stale-while-revalidate=300',
      etag: expect.stringMatching(/^"[\w-]{27}"$/),
    });
  });

  it('describes the service to curl in Markdown', async () => {
    const reply = await app.request('/');

    expect(reply.headers['content-type']).toBe(markdown);
    expect(reply.body).toMatch(/^# Perch\n\nPerch reads public posts on X, Bluesky and Mastodon/);
    for (const text of ['curl -G', '/api/v1/', '/mcp', `${base}/openapi.json`, `${base}/docs`]) {
      expect(reply.body).toContain(text);
    }
  });

  it('describes the service to a browser, with an input and links for developers', async () => {
    const page = readPage(await app.request('/', { headers: asBrowser }));

    expect(page.elements.filter(({ tag }) => tag === 'h1')).toHaveLength(1);
    expect(page.byId('ask')?.attributes).toMatchObject({ method: 'get', action: '/#result' });
    expect(page.byId('q')?.attributes).toMatchObject({ name: 'q', value: '' });
    expect(page.byId('result')?.text).toBe('');
    const links = page.elements.map(({ attributes: { href } }) => href);
    expect(links).toEqual(expect.arrayContaining(['/docs', '/docs/mcp', '/openapi.json']));
  });

  it('has the same bytes each time, and answers HEAD and 304', async () => {
    const get = await app.request('/', { headers: asBrowser });
    const etag = String(get.headers.etag);

    const again = await app.request('/?other=1', { headers: asBrowser });
    const head = await app.request('/', { method: 'HEAD', headers: asBrowser });
    const known = await app.request('/', { headers: { ...asBrowser, 'if-none-match': etag } });
    const other = await app.request('/', { headers: { 'if-none-match': etag } });

    expect(again.body).toBe(get.body);
    expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', etag]);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, '', etag]);
    expect([other.statusCode, other.headers['content-type']]).toEqual([200, markdown]);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('answers %s with 405', async (method) => {
    const reply = await app.request('/', { method, headers: { accept: '*/*' } });

    expect([reply.json().code, reply.headers.allow]).toEqual(['method_not_allowed', 'GET, HEAD']);
  });

  it('has examples from the sample, or other ones without the sample', async () => {
    const withSample = app;
    const without = sharedApp({ env: { PERCH_SAMPLE: 'false' } });

    const page = readPage(await withSample.request('/', { headers: asBrowser }));
    const names = ['a thread', 'a profile', 'followers', 'a search'];
    const examples = page.elements
      .filter(({ tag, text }) => tag === 'a' && names.includes(text))
      .map(({ attributes: { href = '' } }) => href);
    const other = await without.request('/', { headers: asBrowser });

    expect(examples).toHaveLength(4);
    for (const href of examples) {
      const shown = readPage(await withSample.request(href, { headers: asBrowser }));
      expect([href, shown.byId('result-source')?.text]).toEqual([
        href,
        expect.stringMatching(/^# \S/),
      ]);
    }
    expect(other.body).not.toContain('ada.example');
  });

  it('shows the start of a thread as a page and as Markdown, with links to its other formats', async () => {
    const page = readPage(await app.request('/', { headers: asBrowser }));

    const thread = await app.request('/ada.example/status/1900000000000000001');
    expect(page.elements.filter(({ tag }) => tag === 'article')).toHaveLength(3);
    expect(thread.body).toContain(page.byId('example-source')?.text.split('\n\n')[2]);
    for (const name of ['Web page', 'Markdown', 'JSON', 'Atom feed', 'RSS feed', 'JSON Feed']) {
      const link = page.elements.find(({ tag, text }) => tag === 'a' && text === name);
      const { pathname, search } = new URL(link?.attributes.href ?? '');
      expect((await app.request(`${pathname}${search}`)).statusCode).toBe(200);
    }
    const again = await app.request('/', { headers: asBrowser });
    expect(readPage(again).byId('example-title')?.text).toBe('A thread, as Perch shows it');
  });

  it('sends less than 60 KB of HTML', async () => {
    const reply = await app.request('/', { headers: asBrowser });

    expect(reply.rawPayload.length).toBeLessThan(60_000);
  });

  it('searches words on the chosen platform', async () => {
    const reply = await app.request('/?q=heron&platform=sample', { headers: asBrowser });

    const page = readPage(reply);
    expect(page.byId('result-source')?.text).toContain('# Search: heron');
    const chosen = page.elements.filter(({ attributes }) => 'selected' in attributes);
    expect(chosen.map(({ attributes: { value } }) => value)).toEqual(['sample']);
    expect(page.byId('result-watch')?.text).toBe('npx perch watch search heron --platform sample');
    const url = await app.request('/?q=%40ada.example&platform=sample', { headers: asBrowser });
    expect(readPage(url).byId('result-watch')?.text).toBe('npx perch watch @ada.example');
    const wrong = await app.request('/?q=heron&platform=twitter', { headers: asBrowser });
    expect([wrong.statusCode, wrong.body]).toEqual([200, expect.stringContaining('Did you mean')]);
  });

  it('says what to try after an address that cannot be read', async () => {
    const instagram = 'https://www.instagram.com/p/abc/';

    const page = readPage(
      await app.request(`/?q=${encodeURIComponent(instagram)}`, { headers: asBrowser }),
    );

    const links = page.elements.filter(({ tag }) => tag === 'a');
    const hrefOf = (name: string) => links.find(({ text }) => text === name)?.attributes.href;
    expect(hrefOf('the original address')).toBe(instagram);
    expect(hrefOf('a thread of the sample')).toMatch(/^\/\?q=.*1900000000000000001#result$/);
  });

  it('links below the path of the base URL', async () => {
    const app = sharedApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    const page = readPage(await app.request('/?q=%40ada.example', { headers: asBrowser }));

    expect(page.byId('ask')?.attributes.action).toBe('/read/#result');
    expect(page.byId('result-curl')?.text).toBe('curl https://perch.test/read/ada.example');
    const own = page.elements
      .map(({ attributes: { href = '' } }) => href)
      .filter((href) => href.startsWith('/'));
    expect(own.filter((href) => !href.startsWith('/read/'))).toEqual([]);
    expect(own).toContainEqual(expect.stringMatching(/^\/read\/\?q=https%3A%2F%2Fperch\.test%2Fr/));
  });

  it('is described in OpenAPI with its problem codes', () => {
    expect(Object.values(frontRoutes).map(({ method, path, tag }) => [method, path, tag])).toEqual([
      ['GET', '/', 'pages'],
    ]);
  });
});

describe('a question to the front page', () => {
  it('shows the thread, its source and the commands for a terminal', async () => {
    const app = await buildTestApp();
    const direct = await app.request('/ada.example/status/1900000000000000001');

    const reply = await ask(app, ` ${thread}\n`);

    const page = readPage(reply);
    expect(page.byId('result-source')?.text).toBe(direct.body);
    expect(page.byId('result-curl')?.text).toBe(`curl ${thread}`);
    expect(page.byId('result-curl-json')?.text).toBe(
      `curl -H 'Accept: application/json' ${thread}`,
    );
    expect(page.byId('q')?.attributes.value).toBe(thread);
    expect(page.elements.find(({ tag }) => tag === 'title')?.text).toBe(
      'Thread by Ada Fenwick (@ada.example): The heron at gate 3 arrives six minutes before I open it.… · Perch',
    );
    expect(reply.headers).toMatchObject({
      vary: 'Accept, Accept-Encoding',
      'x-source': 'archive',
      'ratelimit-policy': '"post";q=600;w=60',
      etag: expect.stringMatching(/^"[\w-]{27}"$/),
    });
    expect(reply.headers['x-api-key-status']).toBeUndefined();
  });

  it.each([
    ['@ada.example', '/ada.example'],
    ['ada.example', '/ada.example'],
    ['@ada.example/followers', '/ada.example/followers'],
    [`${base}/profile/ada.example`, '/ada.example'],
    ['http://127.0.0.1:8080/ada.example/following', '/ada.example/following'],
    [`${base}/ada.example/followers?limit=2`, '/ada.example/followers?limit=2'],
    [`${base}/search?platform=archive&q=heron&format=json`, '/search?platform=archive&q=heron'],
    [`${base}/api/v1/profiles/ada.example?limit=1`, '/ada.example?limit=1'],
  ])('returns for %s the bytes and headers of %s', async (q, address) => {
    const app = await buildTestApp();
    const direct = await app.request(address);

    const page = await ask(app, q);
    const text = await ask(app, q, {});

    expect(readPage(page).byId('result-source')?.text).toBe(direct.body);
    expect([text.headers['content-type'], text.body]).toEqual([markdown, direct.body]);
    for (const { headers } of [page, text]) {
      expect(headers).toMatchObject({
        'x-api-key-status': 'anonymous',
        'x-cache': 'hit',
        'x-source': 'archive',
        'ratelimit-policy': '"public";q=60;w=60',
      });
      expect(withoutCoding(headers.vary)).toBe('Accept, Authorization');
    }
    expect(text.headers.etag).toBe(direct.headers.etag);
    expect(page.headers.etag).not.toBe(direct.headers.etag);
  });

  it('searches for a single word, and offers the account of that name', async () => {
    const direct = await offline.request('/search?q=heron');

    const page = readPage(await ask(offline, 'heron'));
    const handle = readPage(await ask(offline, '@heron'));

    expect(page.byId('result-source')?.text).toBe(direct.body);
    expect(page.text).toContain('Did you mean the account @heron?');
    expect(page.elements).toContainEqual(
      expect.objectContaining({ attributes: { href: '/?q=%40heron#result' }, text: '@heron' }),
    );
    expect(handle.text).not.toContain('Did you mean');
  });

  it('offers a search for a word with a dot that is not an account', async () => {
    const page = readPage(await ask(offline, 'nobody.example'));

    expect(page.byId('result-title')?.text).toBe('Not found');
    expect(page.text).toContain('Search posts for nobody.example?');
    const href = '/?q=%22nobody.example%22#result';
    expect(page.elements.some(({ attributes }) => attributes.href === href)).toBe(true);
  });

  it('answers HEAD and 304 to a question too', async () => {
    await ask(app, '@ada.example');
    const { headers } = await ask(app, '@ada.example');
    const url = '/?q=%40ada.example';
    const etag = String(headers.etag);

    const head = await app.request(url, { method: 'HEAD', headers: asBrowser });
    const known = await app.request(url, { headers: { ...asBrowser, 'if-none-match': etag } });

    expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', etag]);
    expect([known.statusCode, known.body]).toEqual([304, '']);
  });

  it.each([
    ['', 'missing_query', 400],
    ['   ', 'missing_query', 400],
    ['https://x.com/home', 'invalid_path', 400],
    ['https://shop.test/a/b/c', 'unsupported_host', 400],
    ['ftp://x.com/jack/status/20', 'invalid_url', 400],
    ['https://me:secret@x.com/jack/status/20', 'invalid_url', 400],
    [`${base}/docs/start`, 'invalid_path', 400],
    [`${base}/ada.example?cursor=nonsense`, 'invalid_cursor', 400],
    [`${base}/ada.example/status/1900000000000000001?thread=1`, 'invalid_thread', 400],
    ['nobody.example', 'not_found', 404],
    ['https://bsky.app/profile/a.bsky.social/post/3k', 'unsupported_platform', 400],
    ['word '.repeat(200), 'invalid_query', 400],
    ['@jack', 'upstream_unavailable', 503],
  ] as const)('describes the problem with %j', async (q, code, status) => {
    const app = sharedApp({ env: xOnly });

    const reply = await ask(app, q);
    const problem = await ask(app, q, { accept: '*/*' });

    const page = readPage(reply);
    const shown = page.elements.find(({ attributes }) => attributes.class === 'problem')?.text;
    expect([problem.statusCode, problem.json().code]).toEqual([status, code]);
    const { title, detail } = problem.json();
    for (const text of [title, detail, code, String(status)]) {
      expect(shown).toContain(text.replaceAll('`', ''));
    }
    expect(shown).not.toMatch(/Percent-encode|Retry-After/);
    expect(detail).not.toContain('`url`');
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(page.byId('result-title')?.text).toBe(title);
    expect(page.byId('q')?.attributes.value).toBe(q.trim());
    for (const { headers } of [reply, problem]) expect(headers.vary).toMatch(/^Accept\b/);
  });

  it('rejects a repeated question, and a URL that is too long', async () => {
    const twice = await app.request('/?q=a&q=b', { headers: asBrowser });
    const long = await app.request(`/?q=${'a'.repeat(9000)}`, { headers: { accept: '*/*' } });

    expect(readPage(twice).text).toContain('more than once');
    expect([long.statusCode, long.json().code]).toEqual([414, 'uri_too_long']);
  });

  it('spends the caller’s allowance, and says how long to wait', async () => {
    const fake = await startFakeFxTwitter();
    fake.addAccount('wren');
    fake.addTimeline('wren', { length: 5 });
    const env = {
      PERCH_PROVIDERS: 'fxtwitter',
      PERCH_FXTWITTER_URL: fake.url,
      PERCH_PUBLIC_ALLOWANCE: '1',
    };
    const app = await buildTestApp({ env });

    const first = await ask(app, '@wren');
    const again = await ask(app, '@wren');
    const spent = await ask(app, '@robin');
    const program = await ask(app, '@robin', {});
    const keyed = await ask(app, '@robin', { ...asBrowser, ...(await app.createKey()).headers });

    expect(first.headers['x-cache']).toBe('miss');
    expect(again.headers).toMatchObject({ 'x-cache': 'hit', ratelimit: '"public";r=0;t=60' });
    expect(readPage(spent).text).toMatch(/Rate limit exceeded[\s\S]*Try again in 60 seconds\./);
    expect(spent.headers.ratelimit).toBe('"public";r=0;t=60');
    expect([program.statusCode, program.headers['retry-after']]).toEqual([429, '60']);
    expect(readPage(keyed).text).not.toContain('Rate limit exceeded');
    expect(keyed.headers).toMatchObject({ 'x-api-key-status': 'valid' });
    expect(keyed.headers['cache-control']).toBe('private, no-store');
  });

  it('uses keys if the read does', async () => {
    const headers = { ...asBrowser, authorization: `Bearer perch_${'A'.repeat(43)}` };

    const profile = await ask(app, '@ada.example', headers);
    const post = await ask(app, thread, headers);
    const program = await ask(app, '@ada.example', { authorization: headers.authorization });

    expect(readPage(profile).text).toContain('invalid_key');
    expect(profile.headers).toMatchObject({
      'x-api-key-status': 'invalid',
      'cache-control': 'private, no-store',
    });
    expect(readPage(post).text).toContain('The heron at gate 3');
    expect([program.statusCode, program.headers['x-api-key-status']]).toEqual([401, 'invalid']);
  });

  it('redacts a key in the question', async () => {
    const key = `perch_${'k'.repeat(43)}`;

    const reply = await ask(app, `https://x.com/${key}`);

    expect(reply.body).not.toContain(key);
  });

  it('reports an unexpected error without its message', async () => {
    const lines: string[] = [];
    const broken = createStubProvider('fxtwitter', async () => {
      throw new TypeError('a secret of the machine');
    });
    const app = await buildTestApp({ providers: [broken], onLog: (line) => lines.push(line) });

    const reply = await ask(app, 'https://x.com/wren/status/20');

    expect(readPage(reply).byId('result-title')?.text).toMatch(/\S/);
    expect(reply.body).not.toContain('secret of the machine');
  });

  it('rejects questions under load, but not the page', async () => {
    const app = await buildTestApp({ load: { isHigh: true, close: () => undefined } });

    const plain = await app.request('/', { headers: asBrowser });
    const asked = await ask(app, thread);

    expect(plain.statusCode).toBe(200);
    expect(readPage(asked).text).toMatch(/Server overloaded[\s\S]*Try again in 1 second\./);
  });
});

describe('hostile text', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '</pre></article></section><h1>owned</h1>',
    '<!-- --><style>*{display:none}</style>',
    '[click](javascript:alert(1)) ![x](https://evil.test/beacon.png) <a href="data:text/html,x">',
    '{{7*7}} \u0000\u0007\u001b[31m',
    "'; rm -rf / #",
  ];

  it.each(hostile)('shows %j as text in the input and in the problem', async (q) => {
    const page = readPage(await ask(offline, q));

    expect(page.byId('q')?.attributes.value).toBe(toLine(q));
    expect(page.elements.filter(({ tag }) => tag === 'h1' || tag === 'style')).toHaveLength(1);
  });

  it('never becomes markup, and loads nothing from other hosts', async () => {
    let written = { text: '', name: '' };
    const provider = createStubProvider('fxtwitter', async ({ post: { id } }) => {
      const { text, name } = written;
      const url = 'https://evil.test/beacon.png';
      const photo = { type: 'photo' as const, url, width: null, height: null, alt: text };
      const media = { photos: [photo], videos: [], all: [photo] };
      return stubFound(stubPost(id, { text, author: { ...stubAccount('wren'), name }, media }));
    });
    const app = await buildTestApp({ providers: [provider] });
    let id = 20;

    await fc.assert(
      fc.asyncProperty(hostileText, hostileText, async (text, name) => {
        written = { text, name };
        id += 1;

        const page = readPage(await ask(app, `https://x.com/wren/status/${id}`));

        const rels = page.elements
          .map((one) => ({ ...one, url: one.attributes.src ?? one.attributes.href ?? '' }))
          .filter(({ url }) => /^https?:/.test(url) && !url.startsWith(base))
          .map(({ tag, attributes: { rel } }) => `${tag} ${rel}`);
        expect(new Set(rels)).toEqual(new Set(['a nofollow noopener noreferrer']));
        expect(page.elements.filter(({ tag }) => tag === 'h1')).toHaveLength(1);
        expect(page.byId('result-source')?.text).toMatch(/^# /);
      }),
      { numRuns: runs(100) },
    );
  });

  it('cannot end the quotes of the command for a terminal', async () => {
    const page = readPage(await ask(offline, `it's $(touch x) \`y\``));

    expect(page.byId('result-curl')?.text).toBe(
      `curl '${base}/search?q=it%27s%20%24%28touch%20x%29%20%60y%60'`,
    );
  });
});
