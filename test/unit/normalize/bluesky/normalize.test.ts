import { describe, expect, it } from 'vitest';
import type { Status } from '../../../../src/model/post.ts';
import { shapePost } from '../../../../src/normalize/bluesky/normalize.ts';
import { parseActor, parsePost } from '../../../../src/normalize/bluesky/wire.ts';
import {
  bskyActor,
  bskyDid,
  bskyExternal,
  bskyImages,
  bskyLabel,
  bskyPost,
  bskyPrivateActor,
  bskyQuoted,
  bskyRecordEmbed,
  bskyUri,
  bskyVideo,
} from '../../../support/bluesky-payloads.ts';
import type { Fields } from '../../../support/x-payloads.ts';

const nowMs = Date.UTC(2026, 10, 21);

function shape(fields: Fields, options: { readonly parent?: string; readonly by?: Fields } = {}) {
  const { parent, by } = options;
  const post = parsePost(bskyPost({ rkey: '3k', ...(parent !== undefined && { parent }) }, fields));
  if (post === null) throw new Error('The post is readable.');
  return shapePost(post, { nowMs, parentAuthor: by === undefined ? null : parseActor(by) });
}

function shapeStatus(...args: Parameters<typeof shape>): Status {
  const post = shape(...args);
  if (post.type !== 'status') throw new Error(`No post but: ${post.text}`);
  return post;
}

const quoteOf = (embed: Fields) => shapeStatus({ embed }).quote;
const uri = bskyUri('tove.test', '3kquoted');
const quoted = bskyPost({ handle: 'tove.test', rkey: '3kquoted', text: 'Secret words' });

describe('a post of Bluesky', () => {
  it('has its URL, its counts and the earlier of its two times', () => {
    const post = shapeStatus({ indexedAt: '2026-03-04T09:00:00.500Z' });

    expect(post).toMatchObject({
      id: '3k',
      url: 'https://bsky.app/profile/mira.test/post/3k',
      created_at: '2026-03-04T09:00:00Z',
      replies: 4,
      reposts: 3,
      likes: 2,
      quotes: 1,
      bookmarks: 5,
      views: null,
      lang: 'en',
      platform: 'bluesky',
    });
  });

  it('shows the DID of an account whose handle is not verified', () => {
    const did = bskyDid('mira.test');
    const author = bskyActor('mira.test', { handle: 'handle.invalid', displayName: '' });

    expect(shapeStatus({ author })).toMatchObject({
      author: { screen_name: did, name: did, url: `https://bsky.app/profile/${did}` },
      url: `https://bsky.app/profile/${did}/post/3k`,
    });
  });

  it.each([
    ['its own author', { parent: bskyUri('mira.test', '3kup') }, 'mira.test', 'mira.test'],
    [
      'the author of the parent',
      { parent: uri, by: bskyActor('tove.test') },
      'tove.test',
      'tove.test',
    ],
    ['an account that was not', { parent: uri }, null, bskyDid('tove.test')],
  ] as const)('is named in replying_to for %s', (_title, options, name, account) => {
    const { replying_to: target } = shapeStatus({}, options);

    expect(target?.screen_name).toBe(name);
    expect(target?.url).toBe(`https://bsky.app/profile/${account}/post/${target?.status}`);
  });

  it('is not named if the account is only for logged-in users', () => {
    const options = { parent: uri, by: bskyPrivateActor('tove.test') };

    expect(JSON.stringify(shapeStatus({}, options))).not.toContain(bskyDid('tove.test'));
  });
});

const { record } = bskyPost({ rkey: '3k' }) as { readonly record: Fields };

it('the tags of a post are those beside its text', () => {
  const { tags } = shapeStatus({ record: { ...record, tags: ['heron', '', 'mill'] } });

  expect(tags).toEqual(['heron', 'mill']);
  expect(shapeStatus({ record })).not.toHaveProperty('tags');
});

describe('the embeds of a post', () => {
  it('are omitted without a valid web URL', () => {
    const images = [{ fullsize: 'javascript:alert(1)', thumb: 'x', alt: '' }];

    expect(shapeStatus({ embed: { images } }).media.all).toEqual([]);
    expect(shapeStatus({ embed: { playlist: 'data:text/html,x' } }).media.all).toEqual([]);
  });

  it('are images', () => {
    const { media } = shapeStatus({ embed: bskyImages('heron', 'stork') });

    expect(media.photos).toEqual([
      {
        type: 'photo',
        url: 'https://cdn.bsky.example/full/heron@jpeg',
        width: 1200,
        height: 800,
        alt: 'A heron',
      },
      expect.objectContaining({ alt: 'A stork' }),
    ]);
  });

  it('are a gallery, whose images have another member for the thumbnail', () => {
    const item = {
      thumbnail: 'https://cdn.bsky.example/t',
      fullsize: 'https://cdn.bsky.example/f',
    };
    const items = [{ ...item, alt: '', aspectRatio: { width: 16, height: 9 } }, { alt: 'broken' }];
    const { media } = shapeStatus({ embed: { $type: 'app.bsky.embed.gallery#view', items } });

    expect(media.all).toEqual([
      { type: 'photo', url: item.fullsize, width: null, height: null, alt: null },
    ]);
  });

  it.each([
    [{}, 'video'],
    [{ presentation: 'default' }, 'video'],
    [{ presentation: 'gif' }, 'gif'],
  ])('are a video: %j', (fields, type) => {
    const { media } = shapeStatus({ embed: bskyVideo('heron', fields) });

    expect(media.videos).toEqual([
      {
        type,
        url: 'https://video.bsky.example/watch/heron/playlist.m3u8',
        width: 884,
        height: 872,
        alt: 'A moving heron',
        thumbnail_url: 'https://video.bsky.example/watch/heron/thumbnail.jpg',
        duration: null,
        variants: [
          {
            url: 'https://video.bsky.example/watch/heron/playlist.m3u8',
            content_type: 'application/x-mpegURL',
            bitrate: null,
          },
        ],
      },
    ]);
  });

  it('are the preview of a page', () => {
    const embed = bskyExternal('https://nowhere.example/', { thumb: 'https://cdn.bsky.example/t' });

    expect(shapeStatus({ embed })).toMatchObject({
      card: {
        url: 'https://nowhere.example/',
        title: 'On herons',
        description: 'They stand',
        image_url: 'https://cdn.bsky.example/t',
      },
      media: { all: [] },
    });
    expect(shapeStatus({ embed: bskyExternal('javascript:alert(1)') }).card).toBeNull();
  });

  it.each([
    ...[
      'https://help.giphy.com/heron.gif',
      'https://giphy.com/gifs/heron-a1',
      'https://giphy.com/',
    ],
    ...['https://media.tenor.com/', 'https://media.tenor.com/view/heron?f=x.gif'],
    ...['https://static.klipy.com/about', 'https://media.giphy.com.nest.example/a.gif'],
  ])('are a web page if a GIF service sends no file: %s', (url) => {
    expect(shapeStatus({ embed: bskyExternal(url) })).toMatchObject({
      card: { url },
      media: { all: [] },
    });
  });

  it.each([
    ...['media.tenor.com', 'media1.tenor.com', 'static.klipy.com', 'media2.giphy.com'],
    'i.giphy.com',
  ])('are a GIF in place of a link to %s', (host) => {
    const url = `https://${host}/heron.gif?hh=280&ww=498`;
    const { card, media } = shapeStatus({
      embed: bskyExternal(url, { description: 'Alt: It flies' }),
    });

    expect(card).toBeNull();
    expect(media.videos).toMatchObject([
      { type: 'gif', url, width: 498, height: 280, alt: 'It flies' },
    ]);
  });

  it('are a quoted post with its media and its own quote', () => {
    const deeper = bskyRecordEmbed(bskyQuoted(bskyPost({ rkey: '3kdeep' })));
    const embed = bskyRecordEmbed(bskyQuoted({ ...quoted, embed: bskyImages('heron') }, [deeper]));

    expect(quoteOf(embed)).toMatchObject({
      type: 'status',
      text: 'Secret words',
      author: { screen_name: 'tove.test' },
      likes: 2,
      media: { photos: [{ alt: 'A heron' }] },
      quote: { id: '3kdeep', quote: null },
    });
  });

  it('do not contain a private post that a quoted post quotes', () => {
    const hidden = bskyPost(
      { rkey: '3kdeep', text: 'Hidden words' },
      { author: bskyPrivateActor('otto.test') },
    );
    const embed = bskyRecordEmbed(bskyQuoted(quoted, [bskyRecordEmbed(bskyQuoted(hidden))]));

    expect(quoteOf(embed)).toMatchObject({
      quote: { type: 'tombstone', reason: 'private', url: null },
    });
    expect(JSON.stringify(quoteOf(embed))).not.toContain('Hidden words');
  });

  it.each([
    [{ notFound: true }, 'deleted'],
    [{ blocked: true }, 'blocked'],
    [{ detached: true }, 'unavailable'],
  ])('are a tombstone for a post that a quoted post quotes: %j', (fields, reason) => {
    const deeper = bskyRecordEmbed({ uri, ...fields });

    expect(quoteOf(bskyRecordEmbed(bskyQuoted(quoted, [deeper])))).toMatchObject({
      quote: { type: 'tombstone', reason },
    });
  });

  it('are a quoted post and media', () => {
    const record = bskyRecordEmbed(bskyQuoted(quoted));
    const embed = {
      $type: 'app.bsky.embed.recordWithMedia#view',
      media: bskyImages('stork'),
      record,
    };
    const post = shapeStatus({ embed });

    expect(post.quote).toMatchObject({ id: '3kquoted', media: { all: [] } });
    expect(post.media.photos).toMatchObject([{ alt: 'A stork' }]);
  });

  it.each([
    [{ notFound: true }, 'deleted', 'was deleted'],
    [{ blocked: true, author: { did: bskyDid('tove.test') } }, 'blocked', 'blocks'],
    [{ detached: true }, 'unavailable', 'has removed it'],
    [{ $type: 'app.bsky.embed.record#viewRecord', notFound: true }, 'deleted', 'was deleted'],
    [{ author: 'broken' }, 'unavailable', 'Perch cannot read'],
  ])('are a tombstone for a quoted post: %j', (fields, reason, words) => {
    const quote = quoteOf(bskyRecordEmbed({ uri, ...fields }));

    expect(quote).toMatchObject({ type: 'tombstone', reason, author: null });
    expect(quote?.text).toContain(words);
  });

  it('do not contain a quoted post only for logged-in users', () => {
    const author = bskyPrivateActor('tove.test');
    const post = shapeStatus({ embed: bskyRecordEmbed(bskyQuoted({ ...quoted, author })) });

    expect(post.quote).toMatchObject({ type: 'tombstone', id: null, url: null, reason: 'private' });
    const json = JSON.stringify(post);
    for (const secret of ['Secret words', 'tove.test', bskyDid('tove.test'), '3kquoted']) {
      expect(json).not.toContain(secret);
    }
  });

  const creator = bskyActor('tove.test');
  const base = `https://bsky.app/profile/tove.test`;
  it.each([
    ['app.bsky.feed.generator', { displayName: 'Herons' }, `${base}/feed/3kx`],
    ['app.bsky.graph.list', { name: 'Herons' }, `${base}/lists/3kx`],
    [
      'app.bsky.graph.starterpack',
      { record: { name: 'Herons' } },
      'https://bsky.app/starter-pack/tove.test/3kx',
    ],
    ['app.bsky.labeler.service', { creator: { ...creator, displayName: 'Herons' } }, base],
  ])('are a preview of a record that is not a post: %s', (collection, fields, url) => {
    const shown = { uri: `at://${bskyDid('tove.test')}/${collection}/3kx`, creator, ...fields };
    const post = shapeStatus({ embed: bskyRecordEmbed(shown) });
    const hidden = shapeStatus({
      embed: bskyRecordEmbed({ ...shown, creator: bskyPrivateActor('tove.test') }),
    });

    expect([post.quote, post.card?.url, post.card?.title]).toEqual([null, url, 'Herons']);
    expect([hidden.quote, hidden.card]).toEqual([null, null]);
    const labels = [bskyLabel('!takedown', shown.uri)];
    expect(shapeStatus({ embed: bskyRecordEmbed({ ...shown, labels }) }).card).toBeNull();
  });

  it('link to a record that is not a post only once', () => {
    const shown = { uri: `at://${bskyDid('tove.test')}/app.bsky.graph.list/3kx`, creator };
    const url = `${base}/lists/3kx`;
    const read = (text: string, page: string) => {
      const { record } = bskyPost({ rkey: '3k', text });
      const media = bskyExternal(page);
      return shapeStatus({ record, embed: { media, record: bskyRecordEmbed(shown) } }).text;
    };

    expect(read('Look', url)).toBe('Look');
    expect(read(`See ${url}, all`, 'https://nest.example/')).toBe(`See ${url}, all`);
    expect(read(`See ${url}2`, 'https://nest.example/')).toBe(`See ${url}2\n\n${url}`);
  });

  it.each([
    ['app.bsky.feed.generator', 'Feed'],
    ['app.bsky.graph.list', 'List'],
    ['app.bsky.graph.starterpack', 'Starter pack'],
    ['app.bsky.labeler.service', 'Labeler'],
  ])('are a link to a record that is missing or has no name: %s', (collection, title) => {
    const did = bskyDid('tove.test');
    const missing = { uri: `at://${did}/${collection}/3kx`, notFound: true };
    const unnamed = { uri: missing.uri, creator: { ...creator, displayName: title } };
    const cards = [missing, unnamed].map(
      (row) => shapeStatus({ embed: bskyRecordEmbed(row) }).card,
    );

    expect(cards.map((card) => card?.title)).toEqual([title, title]);
    expect(cards[0]?.url).toContain(did);
    expect(cards[1]?.url).toContain('tove.test');
  });

  it.each([null, '', [], {}, bskyImages()])('are omitted if they are empty: %j', (embed) => {
    const post = shapeStatus({ embed });

    expect(post).toMatchObject({ quote: null, card: null, media: { all: [] } });
    expect(post).not.toHaveProperty('left_out');
  });

  const recipe = bskyRecordEmbed({ uri: `at://${bskyDid('tove.test')}/app.soup.recipe/3kx` });
  it.each([
    ['a type', { embed: { $type: 'app.bsky.embed.hologram#view', hologram: { of: 'gull' } } }],
    ['a collection', { embed: recipe }],
    ['a collection below media', { embed: { media: bskyImages('gull'), record: recipe } }],
    ['a link that is no web page', { embed: bskyExternal('ftp://gull.test/') }],
    [
      'a type that was not sent',
      {
        record: {
          ...Object(bskyPost({ rkey: '3k' }).record),
          embed: { $type: 'app.bsky.embed.hologram', hologram: { of: 'gull' } },
        },
      },
    ],
  ])('are named if they are unknown: %s', (_name, fields) => {
    expect(shapeStatus(fields)).toMatchObject({ quote: null, card: null, left_out: ['embed'] });
  });
});
