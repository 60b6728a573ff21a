import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { type ProblemCode, problemKinds } from '../../src/lib/problem.ts';
import { buildTestApp, shareTestApps, type TestClient } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { parsePage } from '../support/render-html.ts';
import { withoutCoding } from '../support/vary.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const navigation = { accept, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
/** Headers of a browser that opens a page over plain HTTP. */
const plainNavigation = { accept };

/** Requests that fail at paths for people. */
const failures: readonly (readonly [method: string, url: string, code: ProblemCode])[] = [
  ['GET', '/docs/nope', 'route_not_found'],
  ['GET', '/docs/nope/more', 'route_not_found'],
  ['GET', '/docs/nope?a=b', 'route_not_found'],
  ['GET', '/docs/%zz', 'malformed_request'],
  ['GET', `/docs/find?q=${'x'.repeat(600)}`, 'invalid_query'],
  ['GET', '/docs/assets/nope.css', 'route_not_found'],
  ['POST', '/docs/keys', 'method_not_allowed'],
  ['POST', '/', 'method_not_allowed'],
  ['GET', '/admin', 'unauthorized'],
  ['GET', '/admin/keys', 'unauthorized'],
  ['GET', '/no/such/route', 'route_not_found'],
  ['GET', '/nope.html', 'route_not_found'],
  ['POST', '/no/such/route', 'route_not_found'],
  ['GET', '/health/nope', 'route_not_found'],
];

/** Requests that fail at paths of programs. */
const others: readonly (readonly [method: string, url: string])[] = [
  ['GET', '/api/nope'],
  ['GET', '/api/v1/posts'],
  ['GET', '/api/admin/keys'],
  ['GET', '/mcp/nope'],
  ['GET', '/svc'],
  ['GET', '/.well-known/nope'],
  ['GET', '/nobody.example/status/1'],
  ['GET', '/search'],
  ['POST', '/ada.example'],
  ['POST', '/llms.txt'],
];

const askFor = (app: TestClient, [method, url]: readonly [string, string, ...unknown[]]) => {
  return (headers: Record<string, string>) => app.request(url, { method, headers });
};

/** Headers of a reply that do not depend on its body or the request's id. */
function lastingHeaders({ headers }: LightMyRequestResponse) {
  const own = /^(?:content-|x-request-id|date|cross-origin-opener|permissions-|referrer-)/;
  const lasting = Object.entries(headers).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(lasting), vary: withoutCoding(headers.vary) };
}

const namesOf = ({ headers }: LightMyRequestResponse) => String(headers.vary ?? '').split(', ');

describe('a failed navigation of a browser', () => {
  it.each(failures)(
    '%s %s is a page with the problem’s status, headers and words',
    async (...row) => {
      const ask = askFor(app, row);
      const problem = await ask({});

      const page = await ask(navigation);
      const plainPage = await ask(plainNavigation);

      expect(problem.json().code).toBe(row[2]);
      expect(page.statusCode).toBe(problem.statusCode);
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(lastingHeaders(page)).toEqual(lastingHeaders(problem));
      expect(namesOf(page)).toEqual(expect.arrayContaining(['Accept', 'Sec-Fetch-Mode']));
      expect([plainPage.statusCode, plainPage.body]).toEqual([page.statusCode, page.body]);
      const policy = (await app.request('/docs')).headers['content-security-policy'];
      expect(page.headers['content-security-policy']).toBe(policy);
      const { title, detail, code, status } = problem.json();
      const { elements, text, errors } = parsePage(page.body);
      expect(errors).toEqual([]);
      const headings = elements.filter(({ tag }) => tag === 'h1');
      expect(headings.map((heading) => heading.text)).toEqual([title]);
      expect(text).toContain(detail.replaceAll('`', ''));
      expect(text).toContain(`Code ${code}, status ${status}`);
      expect(elements.map(({ attributes }) => attributes.href)).toContain(`/docs/errors#${code}`);
    },
  );

  it.each(failures.filter(([method]) => method === 'GET'))(
    '%s %s has the same headers for HEAD',
    async (_, url) => {
      const get = await app.request(url, { headers: navigation });

      const head = await app.request(url, { method: 'HEAD', headers: navigation });

      expect([head.statusCode, head.body]).toEqual([get.statusCode, '']);
      for (const name of ['content-type', 'content-length', 'vary', 'cache-control']) {
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
      }
    },
  );

  it('says how long to wait, with Retry-After', async () => {
    const app = await buildTestApp();
    app.startDraining();

    const reply = await app.request('/docs', { headers: navigation });

    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '1']);
    expect(parsePage(reply.body).text).toContain('Try again in 1 second.');
  });

  it('lists the supported methods in Allow', async () => {
    const app = await buildTestApp();

    const reply = await app.request('/docs', { method: 'POST', headers: navigation });

    expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('links to the documentation and its search below /docs', async () => {
    const app = sharedApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    const { body } = await app.request('/docs/nope', { headers: navigation });

    const main = body.slice(body.indexOf('<main'), body.indexOf('</main>'));
    expect(main).toContain('href="/read/docs"');
    expect(main).toContain('href="/read/docs/find"');
    expect(main).not.toContain('<form');
  });

  it('offers the box of the front page at an unknown path', async () => {
    const { body } = await app.request('/docs-of-mine/x/y', { headers: navigation });

    const main = body.slice(body.indexOf('<main'), body.indexOf('</main>'));
    const { elements } = parsePage(main);
    const form = elements.find(({ tag }) => tag === 'form');
    expect(form?.attributes).toMatchObject({ method: 'get', action: '/#result' });
    expect(elements.filter(({ attributes }) => attributes.name === 'q')).toHaveLength(1);
  });

  it.each([
    '/<script>alert(1)</script>/x/y',
    '/docs/<img src=x onerror=alert(1)>',
    '/"><svg onload=alert(1)>/x/y',
    '/docs/%3Cscript%3Ealert(1)%3C%2Fscript%3E',
    '/docs/%22%20onfocus=alert(1)%20autofocus=',
    '/`<b>`/x/y',
    "/'/x/y",
    '//evil.example/x/y',
    '/x/y/perch_uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu',
  ])('escapes %s', async (url) => {
    const reply = await app.request(url, { headers: navigation });

    expect([reply.statusCode, reply.headers['content-type']]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    const { elements, errors } = parsePage(reply.body);
    expect(errors).toEqual([]);
    const hostile = elements.filter(
      ({ tag, attributes, text }) =>
        ['img', 'b'].includes(tag) ||
        (tag === 'script' && (attributes.src === undefined || text !== '')) ||
        Object.keys(attributes).some((name) => name.startsWith('on')),
    );
    expect(hostile).toEqual([]);
    expect(reply.body).not.toContain('evil.example/x/y"');
    expect(reply.body).not.toContain('uuuuuuuuuu');
  });
});

describe('any other failed request', () => {
  clause('read.errors.problem_documents', 'read.problem.media_type').each([
    {},
    { accept: '*/*' },
    { accept: 'application/json, text/html' },
    { accept, 'sec-fetch-mode': 'cors' },
    { accept: '*/*', 'sec-fetch-mode': 'navigate' },
    { accept: 'application/json', 'sec-fetch-mode': 'navigate' },
    { accept: 'application/problem+json,text/html;q=0.5', 'sec-fetch-mode': 'navigate' },
  ])('gets a problem document with %j', async (headers) => {
    for (const row of failures) {
      const reply = await askFor(app, row)({ ...headers });
      expect([row[1], reply.headers['content-type']]).toEqual([
        row[1],
        'application/problem+json; charset=utf-8',
      ]);
      expect(reply.json()).toMatchObject({ code: row[2], status: problemKinds[row[2]].status });
      expect(namesOf(reply)).toEqual(expect.arrayContaining(['Accept', 'Sec-Fetch-Mode']));
    }
  });

  it.each(others)('gets a problem document at paths of programs: %s %s', async (...row) => {
    for (const headers of [navigation, plainNavigation]) {
      const reply = await askFor(app, row)(headers);
      expect(reply.statusCode).toBeGreaterThanOrEqual(400);
      expect(reply.headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(namesOf(reply)).not.toContain('Sec-Fetch-Mode');
    }
  });
});
