import unfurl from 'unfurl.js';
import { describe, expect, it } from 'vitest';
import { embedReply } from '../../src/model/results.ts';
import { shareTestApps } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { listen } from '../support/listen.ts';
import { findUnsafe, parseHtml } from '../support/render-html.ts';
import { withoutCoding } from '../support/vary.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const path = '/ada.example/status/1900000000000000001';
const post = encodeURIComponent(`http://localhost:8080${path}`);
const discord = 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)';

describe('the oEmbed read', () => {
  clause('read.resources.embed_document', 'read.v1.oembed')(
    'returns a document of type rich, at both URLs and for any Accept',
    async () => {
      const replies = await Promise.all([
        app.request(`/api/v1/oembed?url=${post}`),
        app.request(`/oembed?url=${post}&format=JSON`, { headers: { accept: 'text/markdown' } }),
      ]);

      const [reply] = replies;
      expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
      expect(replies[1]?.body).toBe(reply?.body);
      expect(reply?.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(withoutCoding(reply?.headers.vary)).toBeUndefined();
      const document = embedReply.parse(reply?.json());
      expect(document).toMatchObject({
        version: '1.0',
        type: 'rich',
        width: 550,
        author_name: 'Ada Fenwick',
        author_url: 'http://localhost:8080/ada.example',
        provider_name: 'Perch',
        provider_url: 'http://localhost:8080',
        cache_age: 3600,
      });
      expect(findUnsafe(parseHtml(document.html))).toEqual([]);
    },
  );

  clause('read.v1.oembed')('keeps within maxwidth and maxheight', async () => {
    const reply = await app.request(`/oembed?url=${post}&maxwidth=300&maxheight=40`);

    expect(reply.json()).toMatchObject({ width: 300, height: 40 });
    expect(reply.json().thumbnail_url).toBeUndefined();
  });

  clause('read.v1.oembed').each([
    ['/oembed', 400, 'missing_url', '`url` is missing'],
    ['/oembed?url=', 400, 'missing_url', '`url` is empty'],
    ['/oembed?url=https://x.com/jack', 400, 'invalid_path', 'not the URL of a post'],
    ['/oembed?url=https://news.example/1', 400, 'unsupported_host', 'news.example'],
    [`/oembed?url=${post}&format=xml`, 501, 'not_implemented', '"xml"'],
    [`/oembed?url=${post}&maxwidth=wide`, 400, 'invalid_option', '`maxwidth`'],
    [`/oembed?url=${post}&maxheight=0`, 400, 'invalid_option', '`maxheight`'],
  ])('rejects %s with %i %s', async (url, status, code, words) => {
    const reply = await app.request(url);

    expect(reply.json()).toMatchObject({ status, code });
    expect(reply.json().detail).toContain(words);
  });

  clause('read.resources.embed_document').each(['', '?format=json', '?format=obsidian'])(
    'is linked from the post “%s”, and from its 304',
    async (query) => {
      const link = `<http://localhost:8080/api/v1/oembed?url=${post}>; rel="alternate"; type="application/json+oembed"`;

      const reply = await app.request(path + query);
      const known = await app.request(path + query, {
        headers: { 'if-none-match': String(reply.headers.etag) },
      });

      expect(reply.headers.link).toContain(`${link}, `);
      expect(known.headers.link).toBe(reply.headers.link);
      const [, target = ''] = /<([^>]*)>/.exec(link) ?? [];
      const document = await app.request(target.replace('http://localhost:8080', ''));
      expect(document.statusCode).toBe(200);
    },
  );
});

it.each(['WordPress/6.8.2; https://blog.example', 'Drupal/11.1.5 (+https://www.drupal.org/)'])(
  'a program that looks for oEmbed only in HTML finds the document of a post: %s',
  async (agent) => {
    const app = sharedApp({ env: { PERCH_LINK_PREVIEWS: 'true' } });

    const page = await app.request(path, { headers: { 'user-agent': agent, accept: '*/*' } });
    const [, href = ''] =
      /<link rel="alternate" type="application\/json\+oembed" href="([^"]*)">/.exec(page.body) ??
      [];
    const target = href.replaceAll('&amp;', '&').replace('http://localhost:8080', '');
    const document = await app.request(target);

    expect(document.json()).toMatchObject({ version: '1.0', type: 'rich' });
  },
);

describe('link previews', () => {
  const request = (headers: Record<string, string>, url = path, previews = 'true') =>
    sharedApp({ env: { PERCH_LINK_PREVIEWS: previews } }).request(url, { headers });

  clause('read.what.markdown_by_default')('are disabled by default', async () => {
    const reply = await app.request(path, { headers: { 'user-agent': discord } });

    expect(reply.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(reply.headers.vary).toBe('Accept, Accept-Encoding');
  });

  clause('read.what.markdown_by_default').each([
    discord,
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'TelegramBot (like TwitterBot)',
    'WhatsApp/2.23.20.0',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
    'Synapse (bot; +https://github.com/matrix-org/synapse)',
  ])('return an Open Graph page to %s', async (agent) => {
    const reply = await request({ 'user-agent': agent, accept: '*/*' });

    expect(reply.statusCode).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      vary: 'Accept, User-Agent, Accept-Encoding',
    });
    expect(reply.headers.link).toContain('application/json+oembed');
    expect(reply.body).toContain('<meta property="og:title"');
  });

  clause('read.what.markdown_by_default').each([
    ['a reader', { 'user-agent': 'curl/8.5.0' }, path],
    ['a browser', { 'user-agent': 'Mozilla/5.0 (X11) Firefox/140.0', accept: 'text/html' }, path],
    ['a crawler that names JSON', { 'user-agent': discord, accept: 'application/json' }, path],
    ['a crawler that names Markdown', { 'user-agent': discord, accept: 'text/markdown' }, path],
    ['a crawler with a format', { 'user-agent': discord }, `${path}?format=markdown`],
    ['a crawler at /api/v1', { 'user-agent': discord }, `/api/v1/posts?url=${post}`],
    ['a crawler at a profile', { 'user-agent': discord }, '/ada.example'],
  ])('do not change the reply to %s', async (_, headers, url) => {
    const [on, off] = [await request(headers, url), await request(headers, url, 'false')];

    expect(on.headers['content-type']).toBe(off.headers['content-type']);
    expect(on.body).toBe(off.body);
    const vary = withoutCoding(on.headers.vary);
    if (url.startsWith(path)) expect(vary).toBe('Accept, User-Agent');
    else expect(on.headers.vary).toBe(off.headers.vary);
  });

  clause('read.resources.embed_document')('are understood by an independent client', async () => {
    const { url, app } = await listen({
      PERCH_LINK_PREVIEWS: 'true',
      PERCH_BASE_URL: 'http://localhost:8080',
    });
    await app.request(path);

    const found = await unfurl.unfurl(`${url}${path}`, {
      oembed: false,
      headers: { 'user-agent': discord },
    });

    expect(found.open_graph).toMatchObject({
      site_name: 'Perch',
      url: `http://localhost:8080${path}`,
      title: expect.stringContaining('Ada Fenwick'),
    });
    expect(found.open_graph?.description?.length).toBeGreaterThan(20);
  });
});
