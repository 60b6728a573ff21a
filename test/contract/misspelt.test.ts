import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { eras, sendMcp } from '../support/mcp.ts';

const thread = 'handle=ada.example&id=1900000000000000001';
const tell = (name: string, known: string) =>
  `The parameter \`${name}\` does not exist and was ignored; did you mean \`${known}\`?`;

describe('a misspelt parameter', () => {
  it.each([
    ['/api/v1/search?q=heron&platform=sample&limt=3', 'limt', 'limit'],
    ['/api/v1/profiles/ada.example?include_post=false', 'include_post', 'include_posts'],
    ['/api/v1/profiles/ada.example/followers?Limit=3', 'Limit', 'limit'],
    ['/api/v1/profiles/ada.example/following?curser=x', 'curser', 'cursor'],
    [`/api/v1/posts?${thread}&tread=off`, 'tread', 'thread'],
    ['/api/v1/profiles/ada.example/posts?max_post=5', 'max_post', 'max_posts'],
  ])('is ignored, and named in a warning: %s', async (url, name, known) => {
    const app = await buildTestApp();

    const { warnings } = (await app.request(`${url}&format=json`)).json();

    expect(warnings).toEqual([tell(name, known)]);
  });

  it('is named in the Markdown', async () => {
    const app = await buildTestApp();

    const { body } = await app.request('/ada.example?limt=3');

    expect(body).toContain('did you mean \\`limit\\`?');
  });

  it('is named in the last line of a history', async () => {
    const app = await buildTestApp();

    const { body } = await app.request('/ada.example/posts?max_post=5&format=ndjson');

    expect(body.trimEnd().split('\n').at(-1)).toContain('did you mean `max_posts`?');
  });

  it.each([
    ['/api/v1/profiles/ada.example?limt=3', '/ada.example?limt=3'],
    [`/api/v1/posts?${thread}&tread=off`, '/ada.example/status/1900000000000000001?tread=off'],
    ['/api/v1/search?q=a&platform=sample&limt=3', '/search?q=a&platform=sample&limt=3'],
  ])('has the same bytes and entity tag at both URLs: %s', async (versioned, permalink) => {
    const app = await buildTestApp();

    for (const accept of ['text/markdown', 'application/json']) {
      const [one, other] = [
        await app.request(versioned, { headers: { accept } }),
        await app.request(permalink, { headers: { accept } }),
      ];
      expect(other.body).toBe(one.body);
      expect(other.headers.etag).toBe(one.headers.etag);
    }
  });

  it('changes only the reply of its own URL, regardless of the cache', async () => {
    const app = await buildTestApp();
    const plain = '/ada.example?format=json';

    const replies = [];
    for (const url of [plain, `${plain}&limt=3`, plain, `${plain}&limt=3`, `${plain}&fulll=1`]) {
      replies.push(await app.request(url));
    }

    expect(replies.map(({ headers }) => headers['x-cache'])).toEqual([
      'miss',
      'hit',
      'hit',
      'hit',
      'hit',
    ]);
    expect(replies.map((reply) => reply.json().warnings)).toEqual([
      [],
      [tell('limt', 'limit')],
      [],
      [tell('limt', 'limit')],
      [tell('fulll', 'full')],
    ]);
    expect(new Set(replies.map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it.each([
    '/ada.example?utm_source=x&fbclid=y&s=20&t=abc&lang=de',
    `/ada.example?${Array.from({ length: 2000 }, (_, n) => `x${n}`).join('&')}`.slice(0, 8000),
    '/ada.example?limit%E2%80%AE=1&%3Climit%3E=1',
  ])('is not suspected if no name is similar: %s', async (url) => {
    const app = await buildTestApp();

    const { warnings } = (await app.request(`${url}&format=json`)).json();

    expect(warnings).toEqual([]);
  });

  it('is not named in a document without warnings', async () => {
    const app = await buildTestApp();
    const url = '/oembed?url=http://localhost:8080/ada.example/status/1900000000000000001';

    const [plain, misspelt] = [await app.request(url), await app.request(`${url}&maxwith=300`)];

    expect(misspelt.body).toBe(plain.body);
  });

  it('does not change the body of deprecated aliases', async () => {
    const app = await buildTestApp();

    const alias = await app.request('/api/browse?resource=profile&handle=ada.example&limt=3');
    const [, successor = ''] =
      /<http:\/\/localhost:8080([^>]+)>/.exec(String(alias.headers.link)) ?? [];

    expect(alias.body).toBe((await app.request(successor)).body);
  });

  it.each(eras)('is named in the result of a tool, as over HTTP: %s', async (era) => {
    const app = await buildTestApp();
    const args = { handle: 'ada.example', limt: 3, colour: 'red' };
    const params = { name: 'list_followers', arguments: { ...args, format: 'json' } };

    const { result } = (await sendMcp(app, era, { method: 'tools/call', params })).json();

    expect(result.structuredContent.warnings).toEqual([
      expect.stringMatching(/^Ignored: "colour"\. The tool list_followers takes /),
      tell('limt', 'limit'),
    ]);
  });
});
