import { readdirSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clause } from '../support/clause.ts';
import type { FakeHandler } from '../support/fake-upstream.ts';
import { answerText } from '../support/fake-upstream.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  buildPictureRig,
  type PictureRig,
  pictureUrl,
  png,
  readPicturePath,
  sendPng,
} from '../support/picture-rig.ts';
import { signPicture } from '../support/signed-picture.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const html = '<!doctype html><script>alert(1)</script>';
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

describe('a picture of a post', () => {
  clause('read.pictures.response_headers')('is fetched from its host', async () => {
    const rig = await buildPictureRig();
    const path = await readPicturePath(rig);

    const reply = await rig.app.request(path);

    expect(reply.statusCode).toBe(200);
    expect(reply.rawPayload.equals(png)).toBe(true);
    expect(reply.headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(png.length),
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=86400, immutable',
      'ratelimit-policy': '"media";q=600;w=60',
      ratelimit: '"media";r=599;t=60',
    });
    expect(rig.picturesAsked()).toEqual(['/heron.png']);
  });

  clause('read.pictures.request_headers')('is fetched without headers of the reader', async () => {
    const rig = await buildPictureRig();
    const path = await readPicturePath(rig);

    await rig.app.request(path, {
      headers: { cookie: 'a=b', referer: 'https://reader.example/', 'user-agent': 'Reader' },
    });

    const [request] = rig.internet.site.requests.slice(-1);
    expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual(
      ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'].toSorted(),
    );
    expect(request?.headers['user-agent']).toMatch(/^Perch\//);
    expect(request?.headers.accept).toMatch(/^image\//);
  });

  clause('read.pictures.cached_costs_nothing')('is in the cache for the next request', async () => {
    const rig = await buildPictureRig();
    const path = await readPicturePath(rig);
    const first = await rig.app.request(path);

    const second = await rig.app.request(path);
    const known = await rig.app.request(path, {
      headers: { 'if-none-match': String(first.headers.etag) },
    });
    const head = await rig.app.request(path, { method: 'HEAD' });

    expect(second.rawPayload.equals(png)).toBe(true);
    expect(second.headers.ratelimit).toMatch(/^"media";r=599;/);
    expect([known.statusCode, known.body]).toEqual([304, '']);
    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(String(png.length));
    expect(rig.picturesAsked()).toHaveLength(1);
  });

  it('is in the cache after a restart', async () => {
    const env = { PERCH_DATA_DIR: temporaryFolder() };
    const first = await buildPictureRig({ env });
    const path = await readPicturePath(first);
    await first.app.request(path);
    await first.app.server.close();
    const second = await buildPictureRig({ env });

    const reply = await second.app.request(path);

    expect(reply.rawPayload.equals(png)).toBe(true);
    expect(second.picturesAsked()).toEqual([]);
    expect(readdirSync(`${env.PERCH_DATA_DIR}/media-cache`)).toHaveLength(1);
  });

  it('is not read from the cache for HEAD and 304', async () => {
    const env = { PERCH_DATA_DIR: temporaryFolder() };
    const rig = await buildPictureRig({ env });
    const path = await readPicturePath(rig);
    const { headers } = await rig.app.request(path);
    const folder = `${env.PERCH_DATA_DIR}/media-cache`;
    for (const name of readdirSync(folder)) truncateSync(`${folder}/${name}`);

    const head = await rig.app.request(path, { method: 'HEAD' });
    const known = await rig.app.request(path, {
      headers: { 'if-none-match': String(headers.etag) },
    });
    const asked = rig.picturesAsked().length;
    const again = await rig.app.request(path);

    expect([head.statusCode, head.headers['content-length']]).toEqual([200, String(png.length)]);
    expect([known.statusCode, known.headers.etag]).toEqual([304, headers.etag]);
    expect(again.rawPayload.equals(png)).toBe(true);
    expect([asked, rig.picturesAsked().length]).toEqual([1, 2]);
  });

  it('is fetched once for concurrent requests', async () => {
    const rig = await buildPictureRig();
    const path = await readPicturePath(rig);

    const replies = await Promise.all(Array.from({ length: 20 }, () => rig.app.request(path)));

    expect(replies.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200));
    expect(rig.picturesAsked()).toHaveLength(1);
  });

  it('has the type of its content, not the type that its host sends', async () => {
    const rig = await buildPictureRig({
      onPicture: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(png),
    });

    const reply = await rig.app.request(await readPicturePath(rig));

    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'image/png']);
  });

  it('is shown in the HTML of an embed', async () => {
    const rig = await buildPictureRig();

    const reply = await rig.app.request(`/api/v1/oembed?url=${encodeURIComponent(rig.postUrl)}`);

    const { html, thumbnail_url } = reply.json();
    expect(html).toContain(
      `<img src="${thumbnail_url}" alt="A picture of heron" width="470" height="353"`,
    );
    expect(rig.picturesAsked()).toEqual([]);
  });

  clause('read.pictures.original_urls')('keeps its address in JSON and Markdown', async () => {
    const rig = await buildPictureRig();

    for (const format of ['json', 'markdown']) {
      const query = `url=${encodeURIComponent(rig.postUrl)}&format=${format}`;
      const { body } = await rig.app.request(`/api/v1/posts?${query}`);
      expect(body).toContain(pictureUrl);
      expect(body).not.toContain('/media/');
    }
  });
});

describe('a response that is not a picture', () => {
  const refused: readonly (readonly [string, FakeHandler])[] = [
    ['HTML', (_, response) => answerText(response, { type: 'image/png', text: html })],
    ['SVG', (_, response) => answerText(response, { type: 'image/svg+xml', text: svg })],
    ['SVG as PNG', (_, response) => answerText(response, { type: 'image/png', text: svg })],
    ['nothing', (_, response) => answerText(response, { type: 'image/png', text: '' })],
    ['a video', (_, response) => answerText(response, { type: 'image/png', text: '....ftypisom' })],
    [
      'a compressed picture',
      (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(png),
    ],
    ['status 206', (_, response) => response.writeHead(206).end(png)],
  ];

  clause('read.pictures.type_by_content').each(refused)('is refused: %s', async (_, onPicture) => {
    const rig = await buildPictureRig({ onPicture });
    const path = await readPicturePath(rig);

    const reply = await rig.app.request(path);
    const again = await rig.app.request(path);

    expect([reply.statusCode, reply.json().code]).toEqual([502, 'upstream_error']);
    expect(again.json().detail).toBe(reply.json().detail);
    expect(rig.picturesAsked()).toHaveLength(1);
  });

  const failures = [
    [404, 404, 'picture_not_found'],
    [410, 404, 'picture_not_found'],
    [403, 404, 'picture_not_found'],
    [500, 503, 'upstream_unavailable'],
    [429, 503, 'upstream_rate_limited'],
  ] as const;

  clause('read.pictures.own_problems').each(failures)(
    'has a problem: status %s',
    async (sent, status, code) => {
      const rig = await buildPictureRig({
        onPicture: (_, response) => response.writeHead(sent).end(),
      });

      const reply = await rig.app.request(await readPicturePath(rig));

      expect([reply.statusCode, reply.json().code]).toEqual([status, code]);
    },
  );

  it('is requested again after half a minute', async () => {
    const clock = createManualClock();
    const rig = await buildPictureRig({
      clock,
      onPicture: (_, response) => response.writeHead(404).end(),
    });
    const path = signPicture(pictureUrl);
    await rig.app.request(path);
    await clock.advance(29_999);
    await rig.app.request(path);
    expect(rig.picturesAsked()).toHaveLength(1);

    await clock.advance(1);
    await rig.app.request(path);

    expect(rig.picturesAsked()).toHaveLength(2);
  });
});

describe('an address that this server has not signed', () => {
  const signed = signPicture(pictureUrl);
  const addresses: readonly (readonly [string, string])[] = [
    ['with another end', `${signed.slice(0, -2)}AA`],
    ['with another start', signed.replace('/media/AdU', '/media/AdV')],
    [
      'of another server',
      signPicture(pictureUrl, { secret: 'another secret of a server, 32 chars' }),
    ],
    ['of another version', signPicture(pictureUrl, { version: 2 })],
    ['without a signature', `/media/${Buffer.from(pictureUrl).toString('base64url')}`],
    ['without a URL', signPicture('https://').padEnd(50, 'A')],
  ];

  clause('read.pictures.signed_addresses').each(addresses)('is refused: %s', async (_, path) => {
    const rig = await buildPictureRig();

    const reply = await rig.app.request(path);

    expect([reply.statusCode, reply.json().code]).toEqual([403, 'invalid_picture_address']);
    expect(rig.internet.connectedTo).toEqual([]);
  });

  clause('read.pictures.expiry')('is refused after its expiry', async () => {
    const clock = createManualClock();
    const rig = await buildPictureRig({ clock });
    const today = Math.floor(clock.now() / 86_400_000);

    const reply = await rig.app.request(signPicture(pictureUrl, { day: today }));
    const valid = await rig.app.request(signPicture(pictureUrl, { day: today + 1 }));

    expect([reply.statusCode, reply.json().code]).toEqual([410, 'expired_picture_address']);
    expect(valid.statusCode).toBe(200);
    expect(rig.picturesAsked()).toHaveLength(1);
  });

  it('gets `route_not_found` if it is too short or too long', async () => {
    const rig = await buildPictureRig();

    for (const path of ['/media/abc', `/media/${'A'.repeat(4097)}`, `${signed}/more`]) {
      const reply = await rig.app.request(path);
      expect([path, reply.json().code]).toEqual([path, 'route_not_found']);
    }
    expect(rig.internet.connectedTo).toEqual([]);
  });
});

it('does not affect the permalinks of an account with the handle media', async () => {
  const rig = await buildPictureRig();

  for (const path of ['/media', '/media/followers', '/media/with_replies', '/media/status/20']) {
    const reply = await rig.app.request(path);
    expect([path, reply.json().code]).toEqual([path, 'unsupported_platform']);
  }
});

async function readFormats({ app, postUrl }: PictureRig) {
  const post = `/api/v1/posts?url=${encodeURIComponent(postUrl)}&format=`;
  const embed = (await app.request(`/api/v1/oembed?url=${encodeURIComponent(postUrl)}`)).json();
  const page = await app.request(`${post}html`);
  const front = await app.request(`/?q=${encodeURIComponent(postUrl)}`, {
    headers: { accept: 'text/html' },
  });
  const feed = await app.request(`${post}rss`);
  const markdown = await app.request(`${post}markdown`);
  return { embed, page, front, feed, markdown };
}

describe('PERCH_MEDIA', () => {
  clause('read.pictures.proxy_by_default')('shows pictures from this server', async () => {
    const rig = await buildPictureRig();

    const { embed, page, front, feed, markdown } = await readFormats(rig);

    const own = /<img [^>]*?src="https?:\/\/[^"/]+\/media\/[\w-]{32,}"/;
    for (const html of [embed.html, page.body, front.body]) expect(html).toMatch(own);
    expect(feed.body).toMatch(/&lt;img src="https?:\/\/[^"/]+\/media\/[\w-]{32,}"/);
    expect(markdown.body).toContain(`](${pictureUrl})`);
    for (const { headers } of [page, front])
      expect(headers['content-security-policy']).toContain("img-src 'self' data:;");
  });

  clause('read.pictures.direct')('links the addresses of the platform', async () => {
    const rig = await buildPictureRig({ env: { PERCH_MEDIA: 'direct' } });

    const { embed, page, front, feed } = await readFormats(rig);
    const signed = await rig.app.request(signPicture(pictureUrl));

    for (const html of [embed.html, page.body, front.body])
      expect(html).toMatch(
        new RegExp(`<img src="${pictureUrl}"[^>]* referrerpolicy="no-referrer" />`),
      );
    expect(feed.body).toContain(`&lt;img src="${pictureUrl}"`);
    expect([signed.statusCode, signed.json().code]).toEqual([404, 'route_not_found']);
    expect(rig.picturesAsked()).toEqual([]);
  });

  clause('read.pictures.direct')('widens only the sources of pictures', async () => {
    const policies = async (media: string) => {
      const { page, front } = await readFormats(
        await buildPictureRig({ env: { PERCH_MEDIA: media } }),
      );
      return [page, front].map(({ headers }) => {
        expect(headers['referrer-policy']).toBe('same-origin');
        return String(headers['content-security-policy']);
      });
    };

    const widened = (await policies('proxy')).map((policy) =>
      policy.replace("img-src 'self' data:;", "img-src 'self' data: https:;"),
    );
    expect(await policies('direct')).toEqual(widened);
  });

  clause('read.pictures.off')('nothing is signed or fetched', async () => {
    const rig = await buildPictureRig({ env: { PERCH_MEDIA: 'off' } });

    const { embed, page, front } = await readFormats(rig);
    const reply = await rig.app.request(signPicture(pictureUrl));

    expect(embed.thumbnail_url).toBe(pictureUrl);
    for (const html of [embed.html, page.body, front.body]) expect(html).not.toContain('<img');
    expect([reply.statusCode, reply.json().code]).toEqual([404, 'route_not_found']);
    expect(rig.picturesAsked()).toEqual([]);
    expect(rig.internet.lookedUp).not.toContain('files.example.org');
  });
});

describe('the allowance for pictures', () => {
  clause('read.pictures.allowance')(
    'limits the fetches of each address, but not hits',
    async () => {
      const rig = await buildPictureRig({ env: { PERCH_MEDIA_ALLOWANCE: '2' } });
      const [a, b, c] = ['a', 'b', 'c'].map((name) =>
        signPicture(`https://files.example.org/${name}`),
      );
      const ask = async (path = '', remoteAddress = '192.0.2.1') =>
        (await rig.app.request(path, { remoteAddress })).statusCode;

      expect([await ask(a), await ask(b), await ask(c), await ask(a)]).toEqual([
        200, 200, 429, 200,
      ]);
      expect(await ask(c, '192.0.2.2')).toBe(200);
    },
  );

  it('is separate from the allowance for posts', async () => {
    const rig = await buildPictureRig({ onPicture: sendPng, env: { PERCH_POST_ALLOWANCE: '1' } });

    const path = await readPicturePath(rig);

    expect((await rig.app.request(path)).statusCode).toBe(200);
  });
});
