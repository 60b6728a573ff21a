import { describe, expect, it } from 'vitest';
import { toMediaSet } from '../../../src/model/media.ts';
import { type EmbedResult, embedReply } from '../../../src/model/results.ts';
import { renderEmbedJson } from '../../../src/render/json.ts';
import { fc } from '../../support/fast-check.ts';
import {
  findUnsafe,
  hostileHtml,
  hostileUrl,
  parseHtml,
  squeeze,
  visibleText,
} from '../../support/render-html.ts';
import { runs } from '../../support/render-markdown.ts';
import {
  account,
  ada,
  answerTo,
  article,
  bo,
  facet,
  furtherMembers,
  photo,
  status,
  tombstone,
} from '../../support/render-posts.ts';

function embed(
  post: EmbedResult['post'],
  told: Partial<EmbedResult> = {},
  context: Parameters<typeof renderEmbedJson>[1] = {},
) {
  const result: EmbedResult = {
    kind: 'embed',
    post,
    baseUrl: 'https://perch.example',
    maxWidth: null,
    maxHeight: null,
    cacheSeconds: 3600,
    ...told,
  };
  const body: unknown = JSON.parse(renderEmbedJson(result, context));
  const reply = embedReply.parse(body);
  expect(reply).toEqual(body);
  return reply;
}

const text = 'Fog at the point.\n\nSee #fog';
const plain = status(1, ada, text, {
  facets: [facet(text, '#fog', 'hashtag', 'https://perch.example/search?q=%23fog')],
  lang: 'en',
});
const rel = 'rel="nofollow noopener noreferrer"';

describe('the oEmbed document', () => {
  it('contains the author and the post as a block quote', () => {
    expect(embed(plain)).toEqual({
      version: '1.0',
      type: 'rich',
      html: [
        '<blockquote dir="auto">',
        '<p lang="en" dir="auto">Fog at the point.</p>',
        `<p lang="en" dir="auto">See <a href="https://perch.example/search?q=%23fog" ${rel}>#fog</a></p>`,
        `<p dir="auto">— Ada Keeper (<a href="https://perch.example/ada.example" ${rel}>@ada.example</a>) · ` +
          `<a href="https://perch.example/ada.example/status/1" ${rel}>2026-03-04 09:13 UTC</a></p>`,
        '</blockquote>',
      ].join('\n'),
      width: 550,
      height: expect.any(Number),
      title: 'Ada Keeper (@ada.example): Fog at the point. See #fog',
      author_name: 'Ada Keeper',
      author_url: 'https://perch.example/ada.example',
      provider_name: 'Perch',
      provider_url: 'https://perch.example',
      cache_age: 3600,
    });
  });

  it('renders polls, media, articles, quotes and notes as text and links', () => {
    const post = status(2, bo, 'Which?', {
      ...answerTo(plain),
      possibly_sensitive: true,
      reposted_by: ada,
      media: toMediaSet([
        photo('a', { alt: 'A "lamp"' }),
        { ...photo('b'), type: 'video', duration: 65 },
        photo('c'),
      ]),
      poll: {
        choices: [
          { label: 'Tea & <b>', count: 3, percentage: 75 },
          { label: 'Coffee', count: null, percentage: null },
        ],
        total_votes: 4,
        ends_at: '2026-03-05T10:00:00.000Z',
      },
      article: article('On <lamps>', { preview_text: 'They burn.' }),
      content_warning: 'Lamp *oil*',
      card: {
        url: 'https://light.example/oil',
        title: 'Oil & <lamps>',
        description: 'How they burn.',
        image_url: null,
      },
      quote: tombstone({ author: ada }),
      community_note: 'They do not.',
    });

    const parsed = parseHtml(embed(post).html);

    expect(findUnsafe(parsed)).toEqual([]);
    const blocks = parsed.elements.filter(({ tag }) => ['blockquote', 'p', 'li'].includes(tag));
    expect(new Set(blocks.map(({ attributes }) => attributes.dir))).toEqual(new Set(['auto']));
    expect(parsed.text.split('\n').filter((line) => line !== '')).toEqual([
      'Reposted by Ada Keeper (@ada.example)',
      'In reply to @ada.example',
      'Content warning: Lamp *oil*',
      'Which?',
      'Marked as sensitive content.',
      'Photo: A "lamp"',
      'Video, 1:05',
      'Photo 2 of 2',
      'Tea & <b> (75.0% · 3 votes)',
      'Coffee',
      '4 votes · closes 2026-03-05 10:00 UTC',
      'On <lamps>',
      'They burn.',
      'Only the beginning of this article is known.',
      'Oil & <lamps>',
      'How they burn.',
      'This post was deleted by its author. · Ada Keeper (@ada.example)',
      'Community note',
      'They do not.',
      '— Bo (@bo.example) · 2026-03-04 09:14 UTC',
    ]);
  });

  it('nests quotes up to a maximum depth', () => {
    let post = status(0, ada, 'Number 0');
    for (let id = 1; id <= 8; id += 1) post = status(id, ada, `Number ${id}`, { quote: post });

    const parsed = parseHtml(embed(post).html);

    expect(parsed.elements.filter(({ tag }) => tag === 'blockquote')).toHaveLength(5);
    expect(parsed.text).toContain('Number 5');
    expect(parsed.text).not.toContain('Number 4');
    expect(parsed.text).toContain('Quotes Ada Keeper');
  });

  it('contains the reason for a missing post', () => {
    expect(embed(tombstone())).toEqual({
      version: '1.0',
      type: 'rich',
      html: '<blockquote dir="auto">\n<p dir="auto">This post was deleted by its author.</p>\n</blockquote>',
      width: 550,
      height: expect.any(Number),
      title: 'Unavailable post',
      provider_name: 'Perch',
      provider_url: 'https://perch.example',
      cache_age: 3600,
    });
  });
});

describe('the size of an embedded post', () => {
  it.each([
    [null, 550],
    [320, 320],
    [800, 550],
  ])('is at most %j wide: %i', (maxWidth, width) => {
    expect(embed(plain, { maxWidth })).toMatchObject({ width, height: expect.any(Number) });
  });

  it('has a height of at most the requested maximum', () => {
    const estimated = embed(plain, { maxHeight: 2000 }).height ?? 0;

    expect(estimated).toBeGreaterThan(100);
    expect(estimated).toBeLessThan(300);
    expect(embed(plain, { maxHeight: 100 }).height).toBe(100);
    expect(embed(plain, { maxHeight: 2000, maxWidth: 150 }).height).toBeGreaterThan(estimated);
  });

  const still = 'https://media.example/still.jpg';
  const thumbnail = (url: string) => ({
    thumbnail_url: url,
    thumbnail_width: 1200,
    thumbnail_height: 800,
  });
  const video = { ...photo('v'), type: 'video' as const, thumbnail_url: still };
  const quoted = status(9, bo, '', { media: toMediaSet([photo('q')]) });

  it.each<[string, Parameters<typeof status>[3], string?]>([
    ['a photo', { media: toMediaSet([photo('a')]) }, 'https://media.example/a.jpg'],
    ['a still', { media: toMediaSet([video]) }, still],
    ['a photo of a quote', { quote: quoted }, 'https://media.example/q.jpg'],
    ['nothing of unknown size', { media: toMediaSet([photo('a', { width: null })]) }],
    ['nothing sensitive', { media: toMediaSet([photo('a')]), possibly_sensitive: true }],
    ['nothing with a warning', { media: toMediaSet([photo('a')]), content_warning: 'Gulls' }],
    ['nothing that is no web address', { media: toMediaSet([photo('a', { url: 'data:,' })]) }],
    ['no cover, whose size is unknown', { article: article('A', { cover_url: still }) }],
  ])('comes with a thumbnail of %s', (_, told, url?: string) => {
    const reply = embed(status(3, ada, 'x', told));

    const names = Object.keys(reply).filter((name) => name.startsWith('thumbnail'));
    expect(names).toHaveLength(url === undefined ? 0 : 3);
    if (url !== undefined) expect(reply).toMatchObject(thumbnail(url));
  });

  it('omits thumbnails that are larger than requested', () => {
    const all = [photo('a'), photo('b', { width: 300, height: 200 })];
    const post = status(3, ada, 'x', { media: toMediaSet(all) });

    expect(embed(post, { maxWidth: 1200, maxHeight: 800 })).toMatchObject(
      thumbnail('https://media.example/a.jpg'),
    );
    expect(embed(post, { maxHeight: 799 }).thumbnail_url).toBe('https://media.example/b.jpg');
    expect(embed(post, { maxWidth: 299 })).not.toHaveProperty('thumbnail_url');
  });
});

it('a hostile embedded post has only harmless elements and its whole text', () => {
  const parts = fc.record({ text: hostileHtml, name: hostileHtml, url: hostileUrl });
  fc.assert(
    fc.property(parts, fc.record({ text: hostileHtml, url: hostileUrl }), (one, other) => {
      const author = account(one.name, one.text, { url: one.url });
      const media = { ...photo('a', { url: other.url, alt: other.text }) };
      const post = status(1, author, one.text, {
        url: other.url,
        lang: one.name,
        facets: [
          { type: 'mention', start: 3, end: 9, url: other.url },
          { type: 'link', start: 0, end: 5, url: one.url },
          { type: 'bold', start: 4, end: 2 },
        ],
        media: toMediaSet([media]),
        poll: {
          choices: [{ label: other.text, count: 1, percentage: 100 }],
          total_votes: 1,
          ends_at: other.text,
        },
        article: article(other.text, { preview_text: one.name }),
        replying_to: { screen_name: one.name, status: null, url: one.url },
        reposted_by: author,
        content_warning: one.name,
        ...furtherMembers(other.text, one.url),
        community_note: one.name,
        created_at: other.text,
        quote: tombstone({ text: other.text, url: one.url, author }),
      });

      const reply = embed(post, { maxHeight: 300 });
      const parsed = parseHtml(reply.html);

      expect(findUnsafe(parsed)).toEqual([]);
      expect(squeeze(parsed.text)).toContain(squeeze(visibleText(one.text)));
      expect(`${reply.title}${reply.author_name}`).not.toMatch(/[\p{Cc}\p{Cs}\u2028]/u);
      expect(reply.author_url ?? 'https:').toMatch(/^(?:https?|mailto):/);
      expect(reply.thumbnail_url ?? 'https:').toMatch(/^https?:/);
    }),
    runs,
  );
});

describe('with pictures', () => {
  const context = {
    toPictureUrl: (url: string) =>
      url.startsWith('https:')
        ? `https://perch.example/media/${encodeURIComponent(url)}?a&b`
        : null,
  };
  const imagesOf = (html: string) => parseHtml(html).elements.filter(({ tag }) => tag === 'img');
  const shown = photo('gull', { alt: 'A "gull" <b>' });
  const withMedia = (told: Parameters<typeof status>[3] = {}) =>
    status(1, ada, text, { media: toMediaSet([shown]), ...told });

  it('shows each picture from this server, as a link to the original', () => {
    const { html, thumbnail_url } = embed(withMedia(), {}, context);

    const address = `https://perch.example/media/${encodeURIComponent(shown.url)}?a&b`;
    const [image] = imagesOf(html);
    expect(image?.attributes).toEqual({
      src: address,
      alt: 'A "gull" <b>',
      width: '470',
      height: '313',
      style: 'max-width:100%;height:auto',
      referrerpolicy: 'no-referrer',
    });
    expect(html).toContain(`<a href="${shown.url}" rel="nofollow noopener noreferrer"><img `);
    expect(thumbnail_url).toBe(address);
  });

  it('shows the still picture of a video, and pictures in quotes', () => {
    const video = {
      ...shown,
      type: 'video' as const,
      thumbnail_url: 'https://a.example.org/still.jpg',
    };
    const quote = status(2, bo, text, { media: toMediaSet([video]) });

    const { html } = embed(status(1, ada, text, { quote }), {}, context);

    expect(imagesOf(html)[0]?.attributes.src).toContain(encodeURIComponent(video.thumbnail_url));
  });

  it.each([
    ['a sensitive post', { possibly_sensitive: true }],
    ['a post with a content warning', { content_warning: 'Gulls' }],
  ])('shows no picture of %s', (_, told) => {
    expect(imagesOf(embed(withMedia(told), {}, context).html)).toEqual([]);
  });

  it('shows a link if this server cannot fetch the picture', () => {
    const media = toMediaSet([{ ...shown, url: 'http://a.example.org/gull.jpg' }]);

    const { html, thumbnail_url } = embed(withMedia({ media }), {}, context);

    expect(imagesOf(html)).toEqual([]);
    expect(thumbnail_url).toBe('http://a.example.org/gull.jpg');
  });

  it.each([
    [1200, 800, 300, ['220', '147']],
    [1200, 800, 50, ['50', '33']],
    [100, 50, null, ['100', '50']],
    [1, 1_000_000_000, null, ['1', '576']],
    [1_000_000_000, 1, null, ['470', '1']],
    [null, null, null, ['470', undefined]],
  ])('fits a picture of %s × %s into a width of %s', (width, height, maxWidth, size) => {
    const media = toMediaSet([{ ...shown, width, height }]);

    const [image] = imagesOf(embed(withMedia({ media }), { maxWidth }, context).html);

    expect([image?.attributes.width, image?.attributes.height]).toEqual(size);
  });

  it('counts the heights of pictures', () => {
    const { height } = embed(withMedia(), {}, context);

    expect(height).toBeGreaterThan(embed(withMedia()).height + 280);
  });
});
