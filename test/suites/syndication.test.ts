import { describe, expect, it } from 'vitest';
import type { PostQuery } from '../../src/model/queries.ts';
import { createSyndication } from '../../src/providers/syndication/index.ts';
import { answerHtml, answerJson, answerText, type FakeHandler } from '../support/fake-upstream.ts';
import {
  type Fields,
  syndicationPost,
  syndicationTombstone,
  syndicationUser,
} from '../support/x-payloads.ts';
import { expectSound, failWith, providerSuite, withProvider } from './provider-suite.ts';

const requestedPost = { platform: 'x', handle: null, id: '2001' } as const;
const alone = { kind: 'post', post: requestedPost, thread: false, replies: 'off' } as const;

function serve(body: unknown, status = 200): FakeHandler {
  return (_, response) => answerJson(response, body, { status });
}

async function read(fields: Fields, query: PostQuery = alone) {
  const handler = serve(syndicationPost('2001', fields));
  return withProvider(createSyndication, { handler }, async ({ ask }) => {
    const found = await ask(query);
    expectSound(found);
    return found;
  });
}

providerSuite('syndication', {
  create: createSyndication,
  post: requestedPost,
  healthy: serve(
    syndicationPost('2001', {
      in_reply_to_screen_name: 'tove_ek',
      in_reply_to_status_id_str: '2000',
      parent: syndicationPost('2000', { user: syndicationUser('tove_ek') }),
      quoted_tweet: syndicationPost('1500'),
      self_thread: { id_str: '2001' },
    }),
  ),
  absent: (_, response) => answerHtml(response, { status: 404 }),
});

describe('a request to syndication', () => {
  it('has the id, the language and the token', async () => {
    const handler = serve(syndicationPost('2001'));
    await withProvider(createSyndication, { handler }, async ({ ask, upstream }) => {
      await ask({ ...alone, post: { ...requestedPost, id: '1841206275088290279' } });

      expect(upstream.requests.map(({ url }) => url)).toEqual([
        '/tweet-result?id=1841206275088290279&lang=en&token=4gobiuxs3yx',
      ]);
    });
  });
});

describe('a post of syndication', () => {
  it('has its parent, and reports the rest of the thread and the replies as missing', async () => {
    const found = await read(
      { parent: syndicationPost('2000'), in_reply_to_status_id_str: '2000' },
      { ...alone, thread: true, replies: 'top' },
    );

    expect(found.ancestors).toMatchObject([{ id: '2000', type: 'status' }]);
    expect(found.post).toMatchObject({ replying_to: { status: '2000' } });
    expect(found.missing).toEqual(['thread', 'replies']);
    expect(found.warnings).toHaveLength(2);
  });

  it('has no parent if no thread is requested', async () => {
    const found = await read({ parent: syndicationPost('2000') });

    expect(found).toMatchObject({ ancestors: [], missing: [], warnings: [] });
  });

  it('has only likes as counts', async () => {
    const { post } = await read({});

    expect(post).toMatchObject({
      likes: 2,
      replies: null,
      reposts: null,
      quotes: null,
      bookmarks: null,
      views: null,
      author: { followers: null, verification: { verified: true, type: 'individual' } },
    });
  });

  it('warns that a long post is truncated', async () => {
    const { warnings } = await read({ note_tweet: { id: 'Tm90ZQ==' } });

    expect(warnings).toEqual([
      'This source sends only the beginning of the text of this long post.',
    ]);
  });

  it('has the beginning of an article', async () => {
    const { post, warnings } = await read({
      article: {
        title: 'On herons',
        preview_text: 'They stand',
        cover_media: { media_info: { original_img_url: 'https://pbs.example/heron.jpg' } },
      },
    });

    expect(post).toMatchObject({
      article: { title: 'On herons', cover_url: 'https://pbs.example/heron.jpg', blocks: [] },
    });
    expect(warnings).toEqual(['This source sends only the beginning of the article.']);
  });

  it('has its poll from the card', async () => {
    const value = (string_value: string) => ({ type: 'STRING', string_value });
    const { post } = await read({
      card: {
        name: 'poll2choice_text_only',
        binding_values: {
          choice1_label: value('Heron'),
          choice1_count: value('2'),
          choice2_label: value('Stork'),
          choice2_count: value('1'),
          end_datetime_utc: value('2026-03-04T09:12:00Z'),
          counts_are_final: { type: 'BOOLEAN', boolean_value: true },
        },
      },
    });

    expect(post).toMatchObject({
      poll: {
        choices: [
          { label: 'Heron', count: 2, percentage: 66.7 },
          { label: 'Stork', count: 1, percentage: 33.3 },
        ],
        total_votes: 3,
        ends_at: '2026-03-04T09:12:00Z',
      },
    });
  });

  it('does not take a link card for a poll', async () => {
    const { post } = await read({ card: { name: 'summary', binding_values: {} } });

    expect(post).toMatchObject({ poll: null });
  });

  it('has its media from mediaDetails', async () => {
    const video = {
      type: 'video',
      media_url_https: 'https://pbs.example/thumb.jpg',
      original_info: { width: 640, height: 360 },
      video_info: {
        duration_millis: 29626,
        variants: [
          { content_type: 'application/x-mpegURL', url: 'https://video.example/a.m3u8' },
          { content_type: 'video/mp4', bitrate: 256000, url: 'https://video.example/low.mp4' },
          { content_type: 'video/mp4', bitrate: 832000, url: 'https://video.example/high.mp4' },
        ],
      },
    };
    const gif = { ...video, type: 'animated_gif' };
    const photo = {
      type: 'photo',
      media_url_https: 'https://pbs.example/heron.jpg',
      ext_alt_text: 'A heron',
    };
    const { post } = await read({ mediaDetails: [photo, video, gif, { type: 'hologram' }] });

    expect(post).toMatchObject({
      media: {
        all: [
          { type: 'photo', url: 'https://pbs.example/heron.jpg', alt: 'A heron', width: null },
          { type: 'video', url: 'https://video.example/high.mp4', duration: 29.626, width: 640 },
          { type: 'gif', duration: null, thumbnail_url: 'https://pbs.example/thumb.jpg' },
        ],
      },
    });
  });
});

describe('a failure of syndication', () => {
  const { user: _, ...anonymous } = syndicationPost('2001');

  it.each([
    ['a post without an author', anonymous, 'ambiguous'],
    ['an empty object', {}, 'unavailable'],
    ['a bare tombstone', { __typename: 'TweetTombstone' }, 'ambiguous'],
    [
      'a tombstone for age',
      syndicationTombstone('Age-restricted adult content. Learn more'),
      'missing',
    ],
    [
      'a tombstone for deletion',
      syndicationTombstone('This Post was deleted by the Post author. Learn more'),
      'missing',
    ],
    [
      'a tombstone for suspension',
      syndicationTombstone('This Post is from a suspended account. Learn more'),
      'missing',
    ],
    [
      'a tombstone for protection',
      syndicationTombstone('This account owner limits who can view their Posts. Learn more'),
      'missing',
    ],
    ['a post without a text', { ...syndicationPost('2001'), text: null }, 'malformed'],
    ['a post without a time', { ...syndicationPost('2001'), created_at: 'now' }, 'malformed'],
    ['a post with a broken author', { ...syndicationPost('2001'), user: 'me' }, 'malformed'],
    ['another thing', { __typename: 'Card' }, 'malformed'],
    ['a nameless thing', { title: 'Card' }, 'malformed'],
  ])('with status 200 and %s is %s', async (_title, body, kind) => {
    const failure = await failWith(createSyndication, serve(body), alone);

    expect(failure.kind).toBe(kind);
    expect(failure.message).not.toContain('Learn more');
  });

  it.each([
    [400, 'ambiguous'],
    [401, 'malformed'],
    [403, 'throttled'],
    [404, 'ambiguous'],
    [429, 'throttled'],
    [503, 'unavailable'],
  ])('with status %i is %s', async (status, kind) => {
    const handler: FakeHandler = (_request, response) =>
      answerText(response, { type: 'text/plain', text: 'Rate limit exceeded' }, { status });

    const failure = await failWith(createSyndication, handler, alone);

    expect(failure.kind).toBe(kind);
    expect(failure.retryAfterSeconds).toBeUndefined();
  });
});

describe('a card of syndication', () => {
  const text = (string_value: string) => ({ type: 'STRING', string_value });
  const image = (name: string) => ({
    type: 'IMAGE',
    image_value: {
      url: `https://pbs.example/${name}.jpg`,
      width: 800,
      height: 419,
      alt: 'A heron',
    },
  });
  const values = {
    title: text('Herons'),
    description: text('Of the mill'),
    domain: text('www.news.example'),
    vanity_url: text('news.example'),
    card_url: text('https://t.co/abc'),
    thumbnail_image: image('thumbnail'),
    photo_image_full_size_large: image('large'),
  };
  const cardOf = async (card: unknown, fields: Fields = {}) => {
    const { post } = await read({ card, ...fields });
    return post.type === 'status' ? post.card : undefined;
  };

  it('is the preview of the page that the post links to', async () => {
    const urls = [
      { indices: [0, 5], url: 'https://t.co/other', expanded_url: 'https://other.example/' },
      { indices: [5, 10], url: 'https://t.co/abc', expanded_url: 'https://news.example/1' },
    ];
    const card = { name: 'summary_large_image', url: 'https://t.co/abc', binding_values: values };

    expect(await cardOf(card, { entities: { urls } })).toEqual({
      url: 'https://news.example/1',
      title: 'Herons',
      description: 'Of the mill',
      image_url: 'https://pbs.example/large.jpg',
      image_alt: 'A heron',
      provider_name: 'news.example',
    });
  });

  it('has the short link if the post does not contain its target', async () => {
    const { title, thumbnail_image } = values;
    const card = {
      name: 'summary',
      url: 'https://t.co/abc',
      binding_values: { title, thumbnail_image },
    };

    expect(await cardOf(card)).toEqual({
      url: 'https://t.co/abc',
      title: 'Herons',
      description: null,
      image_url: 'https://pbs.example/thumbnail.jpg',
      image_alt: 'A heron',
    });
  });

  it.each([
    [{ name: 'poll2choice_text_only', url: 'https://t.co/abc', binding_values: values }],
    [{ name: 'unified_card', url: 'https://t.co/abc', binding_values: {} }],
    [{ name: 'summary', url: 'card://123', binding_values: { title: values.title } }],
    [{ name: 'summary', binding_values: { title: values.title } }],
    [{ name: 'summary', url: 'https://t.co/abc' }],
  ])('is absent without a page: %j', async (card) => {
    expect(await cardOf(card)).toBeNull();
  });
});
