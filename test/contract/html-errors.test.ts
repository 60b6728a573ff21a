import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import { buildTestApp, shareTestApp } from '../support/build-app.ts';
import { parsePage } from '../support/render-html.ts';
import { createStubProvider } from '../support/stub-provider.ts';
import { withoutCoding } from '../support/vary.ts';

const app = shareTestApp();
const problemType = 'application/problem+json; charset=utf-8';
const pageType = 'text/html; charset=utf-8';

/** Headers of a reply that do not depend on its body or the request's id. */
function lastingHeaders({ headers }: LightMyRequestResponse) {
  const own = /^(?:content-|x-request-id|date|cross-origin-opener|permissions-|referrer-)/;
  const lasting = Object.entries(headers).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(lasting), vary: withoutCoding(headers.vary) };
}

/** Permalinks that fail, without `format=html`. */
const failures: readonly (readonly [url: string, status: number])[] = [
  ['/nobody.example', 404],
  ['/nobody.example/followers', 404],
  ['/ada.example/status/1900000000000000999', 404],
  ['/profile/nobody.example/post/1', 404],
  ['/ja!ck/status/20', 400],
  ['/ada.example?limit=many', 400],
  ['/ada.example?cursor=nonsense', 400],
  ['/ada.example/status/1900000000000000001?replies=best', 400],
  ['/search', 400],
  ['/search?q=heron&feed=hot', 400],
  ['/hashtag/heron?platform=friendster', 400],
  ['/https://x.com/home', 400],
  ['/https://www.tiktok.com/a/1', 400],
  ['/http%3A%2F%2Fx.com%2Fhome', 400],
  ['/jack/likes/all', 404],
  ['/%zz/status/20', 400],
];

const withHtml = (url: string) => `${url}${url.includes('?') ? '&' : '?'}format=html`;

describe('an error of a permalink with format=html', () => {
  it.each(failures)('is a page with the status and headers of the problem: %s', async (...row) => {
    const [url, status] = row;
    const problem = await app.request(url);

    const page = await app.request(withHtml(url));

    expect([problem.headers['content-type'], problem.statusCode]).toEqual([problemType, status]);
    expect([page.headers['content-type'], page.statusCode]).toEqual([pageType, status]);
    expect(lastingHeaders(page)).toEqual(lastingHeaders(problem));
    const { text, errors } = parsePage(page.body);
    expect(errors).toEqual([]);
    expect(text).toContain(`Code ${problem.json().code}, status ${status}`);
  });

  it.each(['/jack/status/20', '/https://x.com/jack/status/20'])(
    'has Retry-After and the allowance: %s',
    async (url) => {
      const throttled = new ProviderError('throttled', 'Busy.', { retryAfterSeconds: 12 });
      const busy = createStubProvider('busy', () => Promise.reject(throttled));
      const app = await buildTestApp({ providers: [busy] });

      const { statusCode, headers } = await app.request(withHtml(url));

      expect([headers['content-type'], statusCode]).toEqual([pageType, 503]);
      expect(headers['retry-after']).toBe('12');
      expect(headers.ratelimit).toMatch(/^"post";/);
    },
  );

  it.each([
    ['FORMAT in upper case', '/nobody.example?format=HTML'],
    ['a second format', '/ada.example?format=html&format=json'],
    ['another method', '/ada.example?format=html', 'POST'],
    ['the method HEAD', '/nobody.example?format=html', 'HEAD'],
  ])('is a page with %s', async (_, url, method = 'GET') => {
    const { statusCode, headers } = await app.request(url, { method: method as 'GET' });

    expect([headers['content-type'], statusCode >= 400]).toEqual([pageType, true]);
  });

  it('is a page while the server is stopping', async () => {
    const app = await buildTestApp();
    app.startDraining();

    const reply = await app.request('/ada.example?format=html');

    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '1']);
    expect(reply.headers['content-type']).toBe(pageType);
  });

  it('names a misspelt parameter in the page of the result', async () => {
    const { statusCode, body } = await app.request('/ada.example?format=html&limt=3');

    expect(statusCode).toBe(200);
    expect(parsePage(body).text).toContain('did you mean');
  });

  it('escapes the input', async () => {
    const { body } = await app.request('/ada.example?format=html&until=%3Cimg%20src=x%3E');

    expect(body).not.toContain('<img src=x>');
    expect(parsePage(body).text).toContain('<img src=x>');
  });
});

it.each([
  '/api/v1/profiles/nobody.example?format=html',
  '/api/v1/search?format=html',
  '/api/v1/posts?format=html',
  '/api/convert?format=html',
  '/api/nope?format=html',
  '/ada.example/posts?format=html',
  '/oembed?format=html',
  '/oembed/?format=html',
  '/mcp/nope?format=html',
  '/.well-known/nope?format=html',
  '/nobody.example?format=htm',
  '/nobody.example?q=format=html',
])('an error with format=html elsewhere is a problem document: %s', async (url) => {
  const { statusCode, headers } = await app.request(url);

  expect([headers['content-type'], statusCode >= 400]).toEqual([problemType, true]);
});
