import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import unfurl from 'unfurl.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toMediaSet } from '../../../src/model/media.ts';
import type { Post } from '../../../src/model/post.ts';
import type { PostResult } from '../../../src/model/results.ts';
import { renderEmbedJson } from '../../../src/render/json.ts';
import { renderPreviewPage } from '../../../src/render/preview-page.ts';
import { fc } from '../../support/fast-check.ts';
import { findUnsafe, hostileHtml, hostileUrl, parsePage } from '../../support/render-html.ts';
import { runs } from '../../support/render-markdown.ts';
import {
  account,
  ada,
  article,
  bo,
  photo,
  result,
  status,
  tombstone,
} from '../../support/render-posts.ts';

/** Returns the contents of a page's `meta` elements by name, in order. */
function tagsOf(read: PostResult): Readonly<Record<string, readonly string[]>> {
  const tags: Record<string, string[]> = {};
  const page = parsePage(renderPreviewPage(read));
  for (const { tag, attributes } of page.elements) {
    const name = attributes.property ?? attributes.name;
    if (tag !== 'meta' || name === undefined) continue;
    tags[name] = [...(tags[name] ?? []), attributes.content ?? ''];
  }
  return tags;
}

function tagsOfPost(told: Partial<Extract<Post, { type: 'status' }>>, text = 'Words') {
  return tagsOf(result([status(1, ada, text, told)]));
}

const mp4 = (bitrate: number | null, name: string) => ({
  url: `https://media.example/${name}.mp4`,
  content_type: 'video/mp4',
  bitrate,
});
const video = {
  ...photo('v', { alt: 'Waves' }),
  type: 'video' as const,
  thumbnail_url: 'https://media.example/still.jpg',
};

describe('the preview page', () => {
  it('describes the requested post', () => {
    const post = status(1, ada, 'Fog at\nthe "point" <b>', { context: 'post' });
    const read = result([status(0, bo, 'Before', { context: 'parent' }), post]);

    const html = renderPreviewPage(read);

    expect(html).toBe(
      `${[
        '<!doctype html>',
        '<html lang="en">',
        '<head>',
        '<meta charset="utf-8">',
        '<title>Ada Keeper (@ada.example): Fog at the &quot;point&quot; &lt;b&gt;</title>',
        '<meta name="viewport" content="width=device-width">',
        '<meta name="description" content="Fog at the &quot;point&quot; &lt;b&gt;">',
        '<meta property="og:type" content="article">',
        '<meta property="og:site_name" content="Perch">',
        '<meta property="og:title" content="Ada Keeper (@ada.example)">',
        '<meta property="og:description" content="Fog at the &quot;point&quot; &lt;b&gt;">',
        '<meta property="og:url" content="https://perch.example/ada.example/status/1">',
        '<meta name="author" content="Ada Keeper (@ada.example)">',
        '<meta property="article:published_time" content="2026-03-04T09:13:30.000Z">',
        '<meta property="article:author" content="https://perch.example/ada.example">',
        '<meta name="twitter:card" content="summary">',
        '<meta name="twitter:title" content="Ada Keeper (@ada.example)">',
        '<meta name="twitter:description" content="Fog at the &quot;point&quot; &lt;b&gt;">',
        '<link rel="canonical" href="https://perch.example/ada.example/status/1">',
        '<link rel="alternate" type="application/json+oembed" href="https://perch.example/api/v1/oembed?url=https%3A%2F%2Fperch.example%2Fada.example%2Fstatus%2F1">',
        '</head>',
        '<body>',
        '<blockquote dir="auto">',
        '<p dir="auto">Fog at<br />\nthe &quot;point&quot; &lt;b&gt;</p>',
        '<p dir="auto">— Ada Keeper (<a href="https://perch.example/ada.example" rel="nofollow noopener noreferrer">@ada.example</a>) · <a href="https://perch.example/ada.example/status/1" rel="nofollow noopener noreferrer">2026-03-04 09:13 UTC</a></p>',
        '</blockquote>',
        '</body>',
        '</html>',
      ].join('\n')}\n`,
    );
    expect(parsePage(html).errors).toEqual([]);
  });

  it.each([
    ['a quote', { quote: status(9, bo, 'Old\nnews') }, 'Words · quoting @bo.example: Old news'],
    ['a lost quote', { quote: tombstone() }, 'Words · This post was deleted by its author.'],
    [
      'a poll',
      {
        poll: {
          choices: [
            { label: 'Tea', count: 1, percentage: 25 },
            { label: 'Soup', count: null, percentage: null },
          ],
          total_votes: null,
          ends_at: null,
        },
      },
      'Words · Poll: Tea (25.0%) / Soup',
    ],
    ['an article', { article: article('On', { preview_text: 'It was' }) }, 'Words · It was'],
  ])('summarises %s', (_, told, summary) => {
    expect(tagsOfPost(told)['og:description']).toEqual([summary]);
  });

  it('describes media if there is no text, and has an article in the title', () => {
    const told = { media: toMediaSet([photo('a', { alt: 'A lamp' })]) };

    expect(tagsOfPost(told, '')['og:description']).toEqual(['Photo: A lamp']);
    expect(tagsOfPost({ article: article('On lamps') })['og:title']).toEqual([
      'Ada Keeper (@ada.example): On lamps',
    ]);
  });

  it('cuts a long text at a space', () => {
    const [summary = ''] = tagsOfPost({}, 'lamp 😀 '.repeat(100))['og:description'] ?? [];

    expect([...summary].length).toBeLessThanOrEqual(300);
    expect([...summary].length).toBeGreaterThan(290);
    expect(summary).toMatch(/^(?:lamp 😀 )+(?:lamp|lamp 😀)…$/u);
  });

  it('shows up to four pictures, each followed by its properties', () => {
    const all = [
      photo('a', { alt: 'A' }),
      photo('b', { width: null }),
      video,
      photo('c'),
      photo('d'),
    ];

    const html = renderPreviewPage(result([status(1, ada, '', { media: toMediaSet(all) })]));

    expect(html.match(/og:image.*"(?=>)/g)).toEqual([
      'og:image" content="https://media.example/a.jpg"',
      'og:image:width" content="1200"',
      'og:image:height" content="800"',
      'og:image:alt" content="A"',
      'og:image" content="https://media.example/b.jpg"',
      'og:image" content="https://media.example/still.jpg"',
      'og:image:width" content="1200"',
      'og:image:height" content="800"',
      'og:image:alt" content="Waves"',
      'og:image" content="https://media.example/c.jpg"',
      'og:image:width" content="1200"',
      'og:image:height" content="800"',
    ]);
    expect(html).toContain('<meta name="twitter:card" content="summary_large_image">');
  });

  it.each([
    [
      'the best file of a modest rate',
      [mp4(9e6, 'big'), mp4(256e3, 'low'), mp4(2e6, 'mid')],
      'mid',
    ],
    ['else the smallest one', [mp4(9e6, 'big'), mp4(5e6, 'large')], 'large'],
    ['one of unknown rate', [mp4(null, 'only')], 'only'],
  ])('plays %s', (_, variants, name) => {
    const tags = tagsOfPost({ media: toMediaSet([{ ...video, variants }]) });

    expect(tags).toMatchObject({
      'og:video': [`https://media.example/${name}.mp4`],
      'og:video:secure_url': [`https://media.example/${name}.mp4`],
      'og:video:type': ['video/mp4'],
      'og:video:width': ['1200'],
      'og:video:height': ['800'],
    });
  });

  it('links only MP4 videos', () => {
    const hls = {
      url: 'https://a.example/v.m3u8',
      content_type: 'application/x-mpegURL',
      bitrate: null,
    };

    expect(tagsOfPost({ media: toMediaSet([{ ...video, variants: [hls] }]) })).not.toHaveProperty(
      'og:video',
    );
  });

  it('shows the author’s picture if the post has none, and names an author on X', () => {
    const author = account('Bo', 'bo', {
      avatar_url: 'https://media.example/bo.jpg',
      platform: 'x',
    });

    const tags = tagsOf(result([status(1, author, 'Words', { platform: 'x' })]));

    expect(tags).toMatchObject({
      'og:image': ['https://media.example/bo.jpg'],
      'og:image:alt': ['Picture of Bo (@bo)'],
      'twitter:card': ['summary'],
    });
  });

  it.each([
    ['a sensitive post', { possibly_sensitive: true }],
    ['a post with a content warning', { content_warning: 'Gulls' }],
  ])('shows no picture of %s', (_, hidden) => {
    const author = account('Bo', 'bo', { avatar_url: 'https://media.example/bo.jpg' });
    const media = toMediaSet([photo('a'), { ...video, variants: [mp4(1, 'v')] }]);

    const tags = tagsOf(result([status(1, author, 'x', { media, ...hidden })]));

    expect(Object.keys(tags).filter((name) => /image|video/.test(name))).toEqual([]);
  });

  it.each([
    ['a lost post', [tombstone()], 'This post was deleted by its author.'],
    ['no post', [], undefined],
  ])('renders a page for %s', (_, posts, summary) => {
    const tags = tagsOf(result(posts));

    expect(tags['og:title']).toEqual(['Unavailable post']);
    expect(tags['og:description']?.[0]).toBe(summary);
  });

  it('has only known elements in the head and a harmless body, for hostile posts', () => {
    const parts = fc.record({ text: hostileHtml, name: hostileHtml, url: hostileUrl });
    fc.assert(
      fc.property(parts, ({ text, name, url }) => {
        const author = account(name, text, { url, avatar_url: url });
        const quote = status(2, author, text, { url });
        const media = toMediaSet([photo('a', { url, alt: text })]);
        const post = status(1, author, text, { media, quote, article: article(name) });

        const read = { ...result([]), posts: [post], url, embedUrl: url };
        const page = parsePage(renderPreviewPage(read));

        const at = page.elements.findIndex(({ tag }) => tag === 'body');
        const head = page.elements.slice(0, at);
        const body = page.elements.slice(at + 1);
        expect(page.errors).toEqual([]);
        expect(findUnsafe({ ...page, elements: body, others: [] })).toEqual([]);
        expect(page.others).toEqual(['#documentType']);
        expect(new Set(head.map(({ tag }) => tag))).toEqual(allowedInHead(head));
        for (const { attributes } of head) {
          expect(Object.keys(attributes).filter((key) => !headAttributes.has(key))).toEqual([]);
          if ('href' in attributes) expect(attributes.href).toMatch(/^(?:https?|mailto):/);
        }
      }),
      runs,
    );
  });
});

const headAttributes = new Set('lang charset name property content rel type href'.split(' '));

function allowedInHead(head: readonly { readonly tag: string }[]): Set<string> {
  const tags = ['html', 'head', 'meta', 'title', 'link'];
  return new Set(tags.filter((tag) => head.some((element) => element.tag === tag)));
}

it('a client of link previews finds the post and its oEmbed document', async () => {
  const media = toMediaSet([photo('a', { alt: 'A lamp' }), { ...video, variants: [mp4(1, 'v')] }]);
  const post = status(1, ada, 'Fog & "mist" <at> the point', { media });
  const url = await serve(post);

  const found = await unfurl.unfurl(`${url}/post`);

  expect(found).toMatchObject({
    title: 'Ada Keeper (@ada.example): Fog & "mist" <at> the point',
    description: 'Fog & "mist" <at> the point',
    author: 'Ada Keeper (@ada.example)',
    canonical_url: post.url,
    open_graph: {
      type: 'article',
      title: 'Ada Keeper (@ada.example)',
      description: 'Fog & "mist" <at> the point',
      url: post.url,
      site_name: 'Perch',
      images: [
        { url: 'https://media.example/a.jpg', width: 1200, height: 800, alt: 'A lamp' },
        { url: 'https://media.example/still.jpg', width: 1200, height: 800, alt: 'Waves' },
      ],
      videos: [{ url: 'https://media.example/v.mp4', type: 'video/mp4', width: 1200, height: 800 }],
      articles: [{ published_time: post.created_at, author: ada.url }],
    },
    twitter_card: { card: 'summary_large_image', images: [{ alt: 'A lamp' }] },
    oEmbed: {
      type: 'rich',
      version: '1.0',
      title: 'Ada Keeper (@ada.example): Fog & "mist" <at> the point',
      author_name: 'Ada Keeper',
      author_url: ada.url,
      provider_name: 'Perch',
      provider_url: url,
      cache_age: 60,
      html: expect.stringContaining('<blockquote dir="auto">'),
      width: 550,
    },
  });
});

/** Serves the preview page of a post and its oEmbed document on loopback; returns the URL. */
async function serve(post: Post): Promise<string> {
  const server = createServer((request, response) => {
    const isPage = request.url === '/post';
    response.setHeader('content-type', isPage ? 'text/html; charset=utf-8' : 'application/json');
    response.end(isPage ? renderPreviewPage(read) : embedded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // `address()` of a server on a TCP port returns an `AddressInfo`.
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const read = result([post], { embedUrl: `${baseUrl}/oembed?url=a&format=json` });
  const sizes = { maxWidth: null, maxHeight: null, cacheSeconds: 60 };
  const embedded = renderEmbedJson({ kind: 'embed', post, baseUrl, ...sizes });
  return baseUrl;
}
