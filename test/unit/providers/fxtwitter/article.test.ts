import { describe, expect, it } from 'vitest';
import { article as articleSchema } from '../../../../src/model/article.ts';
import { shapeArticle } from '../../../../src/providers/fxtwitter/article.ts';
import { articlePayload } from '../../../../src/providers/fxtwitter/payload.ts';
import type { Fields } from '../../../support/x-payloads.ts';

function block(type: string, text: string, fields: Fields = {}): Fields {
  return { key: 'k', type, text, data: {}, entityRanges: [], inlineStyleRanges: [], ...fields };
}

function atomic(...keys: readonly number[]): Fields {
  return block('atomic', ' ', { entityRanges: keys.map((key) => ({ key, offset: 0, length: 1 })) });
}

function entity(key: string, type: string, data: Fields = {}): Fields {
  return { key, value: { type, mutability: 'Immutable', data } };
}

function shape(blocks: readonly Fields[], entityMap: readonly Fields[] = [], fields: Fields = {}) {
  const payload = articlePayload.parse({
    id: '7',
    title: 'On herons',
    preview_text: 'They stand',
    created_at: '2026-07-10T08:54:15.000Z',
    modified_at: null,
    cover_media: {},
    content: { blocks, entityMap },
    media_entities: [],
    ...fields,
  });
  const article = shapeArticle(payload);
  expect(articleSchema.parse(article)).toEqual(article);
  return article;
}

describe('an article', () => {
  it('has its title and times, without a cover if there is none', () => {
    expect(shape([])).toEqual({
      id: '7',
      title: 'On herons',
      preview_text: 'They stand',
      cover_url: null,
      created_at: '2026-07-10T08:54:15Z',
      modified_at: null,
      blocks: [],
    });
  });

  it('has no blocks if the content was not sent', () => {
    const cover_media = { media_info: { original_img_url: 'https://pbs.example/c.jpg' } };

    expect(shape([], [], { content: null, cover_media })).toMatchObject({
      cover_url: 'https://pbs.example/c.jpg',
      blocks: [],
    });
  });

  it('has each type of block', () => {
    const { blocks } = shape([
      block('header-one', 'One'),
      block('header-two', 'Two'),
      block('header-three', 'Three'),
      block('unstyled', 'Plain'),
      block('unstyled', ' \n'),
      block('unordered-list-item', 'Dot'),
      block('ordered-list-item', 'First'),
      block('blockquote', 'Said'),
      block('code-block', 'let a;'),
      block('unheard-of', 'Kept'),
    ]);

    expect(blocks).toEqual([
      { type: 'heading', level: 1, text: 'One', styles: [] },
      { type: 'heading', level: 2, text: 'Two', styles: [] },
      { type: 'heading', level: 3, text: 'Three', styles: [] },
      { type: 'paragraph', text: 'Plain', styles: [] },
      { type: 'list_item', ordered: false, text: 'Dot', styles: [] },
      { type: 'list_item', ordered: true, text: 'First', styles: [] },
      { type: 'quote', text: 'Said', styles: [] },
      { type: 'code', text: 'let a;' },
      { type: 'paragraph', text: 'Kept', styles: [] },
    ]);
  });

  it('finds the entities of atomic blocks by key, in any order', () => {
    const { blocks } = shape(
      [atomic(10), atomic(2), atomic(1), atomic(3), atomic(4), atomic(5), atomic(99)],
      [
        entity('1', 'TWEET', { tweetId: '20' }),
        entity('5', 'TWEMOJI', { url: 'https://abs.example/emoji.svg' }),
        entity('2', 'DIVIDER'),
        entity('10', 'MARKDOWN', { markdown: '```sh\nls\n```' }),
        entity('3', 'MEDIA', { mediaItems: [{ mediaId: '31' }, { mediaId: '32' }] }),
        entity('4', 'LINK', { url: 'https://perch.example/' }),
      ],
      {
        media_entities: [
          {
            media_id: '31',
            media_info: {
              original_img_url: 'https://pbs.example/31.jpg',
              original_img_width: 640,
              original_img_height: 480,
            },
          },
          {
            media_id: '32',
            media_info: {
              variants: [
                { content_type: 'application/x-mpegURL', url: 'https://video.example/32.m3u8' },
                { content_type: 'video/mp4', bit_rate: 1, url: 'https://video.example/low.mp4' },
                { content_type: 'video/mp4', bit_rate: 2, url: 'https://video.example/high.mp4' },
              ],
            },
          },
        ],
      },
    );

    const link = (end: number, url: string) => ({ style: 'link', start: 0, end, url });
    expect(blocks).toEqual([
      { type: 'markdown', text: '```sh\nls\n```' },
      { type: 'divider' },
      { type: 'post', url: 'https://x.com/i/status/20' },
      { type: 'image', url: 'https://pbs.example/31.jpg', alt: null, width: 640, height: 480 },
      { type: 'paragraph', text: 'Video', styles: [link(5, 'https://video.example/high.mp4')] },
      {
        type: 'paragraph',
        text: 'https://perch.example/',
        styles: [link(22, 'https://perch.example/')],
      },
    ]);
  });

  it('has styles and links in code points', () => {
    const text = '📨 Bold, agents.example @mira_holm and more';
    const { blocks } = shape(
      [
        block('unstyled', text, {
          inlineStyleRanges: [
            { offset: 2, length: 4, style: 'Bold' },
            { offset: 2, length: 900, style: 'Italic' },
            { offset: 0, length: 1, style: 'Sparkling' },
          ],
          entityRanges: [
            { key: 0, offset: 0, length: 1 },
            { key: 1, offset: 39, length: 4 },
          ],
          data: {
            urls: [{ fromIndex: 8, toIndex: 22, text: 'agents.example' }],
            mentions: [{ fromIndex: 23, toIndex: 33, text: 'mira_holm' }],
            hashtags: [{ fromIndex: 0, toIndex: 4, text: 'nowhere' }],
          },
        }),
      ],
      [
        entity('0', 'TWEMOJI', { url: 'https://abs.example/emoji.svg' }),
        entity('1', 'LINK', { url: 'https://perch.example/more' }),
      ],
    );

    expect(blocks).toMatchObject([
      {
        styles: [
          { style: 'bold', start: 2, end: 6 },
          { style: 'link', start: 8, end: 22, url: 'https://agents.example' },
          { style: 'link', start: 23, end: 33, url: 'https://x.com/mira_holm' },
        ],
      },
    ]);
  });

  it('omits malformed blocks', () => {
    expect(shape([{ type: 'unstyled' }, block('unstyled', 'Kept')]).blocks).toHaveLength(1);
  });
});
