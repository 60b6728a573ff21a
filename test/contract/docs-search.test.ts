import { describe, expect, it } from 'vitest';
import { findReply } from '../../src/routes/pages/docs/search-index.ts';
import { maxQueryLength } from '../../src/routes/pages/layout.ts';
import { shareTestApps, type TestClient } from '../support/build-app.ts';
import { parsePage } from '../support/render-html.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const browser = { accept: 'text/html,*/*;q=0.8' };
const program = { accept: 'application/json' };
const find = (app: TestClient, q: string, headers: Record<string, string> = browser) =>
  app.request(`/docs/find?q=${encodeURIComponent(q)}`, { headers });

describe('the search of the documentation', () => {
  it('returns a page with links to existing sections', async () => {
    const reply = await find(app, 'retry-after');

    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(reply.headers.vary).toBe('Accept, Accept-Encoding');
    const { elements, errors } = parsePage(reply.body);
    expect(errors).toEqual([]);
    expect(elements.some(({ tag, text }) => tag === 'mark' && /^retry$/i.test(text))).toBe(true);
    const list = reply.body.slice(reply.body.indexOf('<ol class="hits">'));
    const links = [...list.matchAll(/<li>.*?href="([^"]+)"/g)].map(([, href]) => href ?? '');
    expect(links.length).toBeGreaterThan(3);
    const places = new Set<string>();
    for (const path of new Set(links.map((link) => link.split('#', 1)[0] ?? ''))) {
      const page = parsePage((await app.request(path)).body);
      places.add(path);
      for (const { attributes } of page.elements) places.add(`${path}#${attributes.id}`);
    }
    expect(links.filter((link) => !places.has(link))).toEqual([]);
  });

  it('returns the same results as JSON', async () => {
    const app = sharedApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

    const reply = await find(app, 'invalid_cursor', program);

    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    const { query, results } = findReply.parse(reply.json());
    expect(query).toBe('invalid_cursor');
    expect(results[0]).toMatchObject({
      title: 'invalid_cursor',
      page: 'Errors',
      url: 'https://perch.test/read/docs/errors#invalid_cursor',
    });
  });

  it.each(['/docs/find', '/docs/find?q=', '/docs/find?q=%20%0a', '/docs/find?x=1'])(
    'is only the form at %s, and a problem as JSON',
    async (url) => {
      const page = await app.request(url, { headers: browser });
      const problem = await app.request(url, { headers: program });

      expect(page.statusCode).toBe(200);
      expect(page.body).not.toContain('class="hits"');
      expect(problem.json()).toMatchObject({ status: 400, code: 'missing_query' });
    },
  );

  it.each([
    ['too long', `/docs/find?q=${'x'.repeat(maxQueryLength + 1)}`, 'invalid_query'],
    ['given twice', '/docs/find?q=a&q=b', 'invalid_option'],
  ])('rejects a text that is %s', async (_, url, code) => {
    const reply = await app.request(url, { headers: program });

    expect(reply.json()).toMatchObject({ status: 400, code });
    expect(reply.json().detail).toContain('`q`');
  });

  it.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onfocus=alert(1) '",
    '</title><script>x</script>',
    '\u0000\u0008\u001b[31m',
    '\u202e\ufffd',
    '(?:(a+)+)+$',
    'a'.repeat(maxQueryLength),
    'a b c d e f g h i j k l m n o p q r s t u v w x y z',
    '%',
    '__proto__ constructor',
  ])('accepts %j', async (q) => {
    const reply = await app.request(`/docs/find?q=${encodeURIComponent(q)}`, {
      headers: browser,
    });

    expect(reply.statusCode).toBe(200);
    const { elements, errors } = parsePage(reply.body);
    expect(errors).toEqual([]);
    expect(elements.filter(({ tag }) => tag === 'img')).toEqual([]);
    expect(
      elements.filter(
        ({ tag, attributes, text }) =>
          (tag === 'script' && (attributes.src === undefined || text !== '')) ||
          Object.keys(attributes).some((name) => name.startsWith('on')),
      ),
    ).toEqual([]);
  });

  it('says that there are no results, with the search text', async () => {
    const reply = await find(app, 'zzzyx <yyzx>');

    const { elements } = parsePage(reply.body);
    const status = elements.find(({ attributes }) => attributes.class === 'status');
    expect(status?.text).toContain('zzzyx <yyzx>');
  });
});
