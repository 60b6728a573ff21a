import { describe, expect, it } from 'vitest';
import { toAccount } from '../../../../src/model/account.ts';
import { article as articleSchema } from '../../../../src/model/article.ts';
import { post as postSchema, type Status, type Tombstone } from '../../../../src/model/post.ts';
import { shapeArticle, shapeFacets } from '../../../../src/providers/fxtwitter/article.ts';
import { shapePost } from '../../../../src/providers/fxtwitter/normalize.ts';
import { articlePayload, parsePost } from '../../../../src/providers/fxtwitter/wire.ts';
import { type Fields, fxStatus, fxTombstone, fxUser } from '../../../support/x-payloads.ts';

function shape(fields: Fields): Status {
  const row = parsePost(fxStatus('2001', fields));
  if (row === null) throw new Error('The payload is readable.');
  const shaped = shapePost(row);
  if (shaped.type !== 'status') throw new Error('The payload is a post.');
  expect(postSchema.parse(shaped)).toEqual(shaped);
  return shaped;
}

describe('a post of FxTwitter', () => {
  it('has its time in ISO 8601 and in Unix seconds, from either of the two', () => {
    const stamped = shape({ created_at: null, created_timestamp: 1142974214 });
    const written = shape({
      created_at: 'Tue Mar 21 20:50:14 +0000 2006',
      created_timestamp: 'never',
    });

    expect(stamped.created_at).toBe('2006-03-21T20:50:14Z');
    expect(written).toMatchObject({
      created_at: '2006-03-21T20:50:14Z',
      created_timestamp: 1142974214,
    });
  });

  it.each([
    ['pt-BR', 'pt-BR'],
    ['pt_BR', null],
    ['Portuguese (Brazil)', null],
  ])('with the language %j has the language tag %j', (lang, tag) => {
    expect(shape({ lang }).lang).toBe(tag);
  });

  it('has null for members that the account lacks', () => {
    const author = fxUser('mira_holm', { description: '', joined: '', website: null });

    expect(shape({ author }).author).toMatchObject({
      description: null,
      location: null,
      joined: null,
      website: null,
    });
  });

  it('has the links of its community note at their full addresses', () => {
    const text = 'The pier is 🌊 open: harbour.example/news/20…';
    const link = { type: 'url', indices: [20, 43], display: 'harbour.example/news/20…' };
    const replacement = 'https://harbour.example/news/2026/pier-open-again';
    const outside = { ...link, indices: [40, 90], replacement };

    const noted = shape({ community_note: { text, facets: [{ ...link, replacement }, outside] } });

    expect(noted).toMatchObject({
      community_note: text,
      community_note_facets: [{ type: 'link', start: 20, end: 43, url: replacement }],
    });
    expect(shape({ community_note: { text, facets: [] } })).not.toHaveProperty(
      'community_note_facets',
    );
  });

  it('has the links and mentions in the biography of its author', () => {
    const author = fxUser('mira_holm', {
      description: 'Maps at @chart_office, https://maps.example/mira',
      raw_description: {
        text: 'Maps at @chart_office, https://t.co/Ab1',
        facets: [
          { type: 'mention', indices: [8, 21], original: 'chart_office' },
          {
            type: 'url',
            indices: [23, 39],
            original: 'https://t.co/Ab1',
            replacement: 'https://maps.example/mira',
          },
        ],
      },
    });

    expect(shape({ author }).author.description_facets).toEqual([
      { type: 'mention', start: 8, end: 21, url: 'https://x.com/chart_office' },
      { type: 'link', start: 23, end: 48, url: 'https://maps.example/mira' },
    ]);
  });

  it.each([
    ['RT @tove_ek: low tide // at last', 'mira_holm', null],
    ['RT @tove_ek low tide', 'MIRA_HOLM', null],
    ['rt @tove_ek: low tide', 'mira_holm', null],
    ['Low tide', 'mira_holm', 'mira_holm'],
    ['RT @tove_ek: low tide', 'shop', 'shop'],
  ])('with the text %j, reposted by %s, is reposted by %s', (text, by, expected) => {
    const reposted_by = { ...fxUser(by.toLowerCase()), screen_name: by };

    expect(shape({ text, reposted_by }).reposted_by?.screen_name ?? null).toBe(expected);
  });

  it('lacks counters below zero and blank fields', () => {
    const author = fxUser('mira_holm', { location: ' ', name: '', followers: -1 });

    expect(shape({ author, likes: -1, views: -5, replies: 0 })).toMatchObject({
      likes: null,
      views: null,
      replies: 0,
      author: { location: null, name: 'mira_holm', followers: null },
    });
  });

  it('has labels of a poll and texts of a card without HTML entities', () => {
    const choice = { label: 'Fish &amp; chips', count: 1, percentage: 100 };
    const card = { url: 'https://menu.example/', title: 'A &lt; B', description: 'Salt &amp; ice' };

    const shaped = shape({ poll: { choices: [choice], total_votes: 1, ends_at: null }, card });

    expect(shaped).toMatchObject({
      poll: { choices: [{ label: 'Fish & chips' }] },
      card: { title: 'A < B', description: 'Salt & ice' },
    });
  });

  it('has the website in the form that X displays', () => {
    const website = { url: 'https://a.example/a/long/path', display_url: 'a.example/a/lo…' };
    const unlabelled = { url: website.url };

    const shapeWith = (one: object) => shape({ author: fxUser('mira_holm', { website: one }) });

    expect(shapeWith(website).author.website).toEqual(website);
    expect(shapeWith(unlabelled).author.website).toEqual({
      url: website.url,
      display_url: 'a.example/a/long/path',
    });
  });

  it.each([
    ['https://pbs.example/a_normal.jpg', 'https://pbs.example/a_400x400.jpg'],
    ['https://pbs.example/a_200x200.png', 'https://pbs.example/a_400x400.png'],
    ['https://pbs.example/1/normal.jpg', 'https://pbs.example/1/normal.jpg'],
    [null, null],
  ])('has the avatar %s as %s', (avatar_url, expected) => {
    expect(shape({ author: fxUser('mira_holm', { avatar_url }) }).author.avatar_url).toBe(expected);
  });

  it('has the preview of a linked page', () => {
    const card = {
      url: 'https://news.example/1',
      title: 'Herons',
      description: 'Of the mill',
      domain: 'news.example',
      image: { url: 'https://pbs.example/card.jpg', width: 800, height: 419, alt: 'A heron' },
    };

    expect(shape({ card }).card).toEqual({
      url: card.url,
      title: 'Herons',
      description: 'Of the mill',
      image_url: 'https://pbs.example/card.jpg',
      image_alt: 'A heron',
      provider_name: 'news.example',
    });
    expect(shape({ card: { url: 'http://news.example/2' } }).card).toEqual({
      url: 'http://news.example/2',
      title: '',
      description: null,
      image_url: null,
    });
  });

  it.each([[null], [{ url: 'javascript:alert(1)', title: 'x' }], [{ title: 'x' }], ['x']])(
    'has no preview without a valid link: %j',
    (card) => expect(shape({ card }).card).toBeNull(),
  );

  it('has the preview of a page in its quote', () => {
    const quote = fxStatus('1', { card: { url: 'https://news.example/1', title: 'Herons' } });

    expect(shape({ quote }).quote).toMatchObject({ card: { title: 'Herons' } });
  });

  it('has its community', () => {
    const community = { id: '1506', name: 'Herons', description: 'All of them', is_nsfw: false };

    expect(shape({ community }).community).toEqual({
      id: '1506',
      name: 'Herons',
      url: 'https://x.com/i/communities/1506',
      description: 'All of them',
    });
    expect(shape({ community: { id: 'x', name: 'Herons' } })).not.toHaveProperty('community');
  });

  it('has the account of a repost with nulls', () => {
    const reposted_by = {
      id: '9',
      name: 'Tove',
      screen_name: 'tove_ek',
      avatar_url: 'https://pbs.example/t_normal.jpg',
      url: 'https://x.com/tove_ek',
    };

    expect(shape({ reposted_by }).reposted_by).toMatchObject({
      screen_name: 'tove_ek',
      url: 'https://x.com/tove_ek',
      followers: null,
      verification: { verified: false, type: null },
    });
  });

  it('has its media in display order', () => {
    const photo = {
      type: 'photo',
      id: '1',
      url: 'https://pbs.example/1.jpg?name=orig',
      width: 4,
      height: 3,
      altText: 'A heron',
    };
    const video = {
      type: 'video',
      id: '2',
      url: 'https://video.example/2.mp4',
      thumbnail_url: 'https://pbs.example/2.jpg',
      duration: 29.626,
      width: 16,
      height: 9,
      format: 'video/mp4',
      formats: [
        { url: 'https://video.example/2.m3u8', container: 'm3u8' },
        { url: 'https://video.example/2.mp4', container: 'mp4', bitrate: 256000 },
        { url: 'https://video.example/2.webm', container: 'webm' },
      ],
      publisher: null,
    };
    const gif = { ...video, type: 'gif', duration: 0, formats: [] };
    const { media } = shape({
      media: {
        all: [video, photo, gif, { type: 'hologram', url: 'https://pbs.example/h' }],
        photos: [photo],
        mosaic: { type: 'mosaic_photo', formats: { jpeg: 'https://mosaic.example/1' } },
        external: { type: 'video', url: 'https://tube.example/embed/1', width: 1, height: 1 },
      },
    });

    expect(media.all.map(({ type, duration }) => [type, duration])).toEqual([
      ['video', 29.626],
      ['photo', undefined],
      ['gif', null],
      ['video', null],
    ]);
    expect(media.photos).toEqual([
      {
        type: 'photo',
        url: 'https://pbs.example/1.jpg?name=orig',
        width: 4,
        height: 3,
        alt: 'A heron',
      },
    ]);
    expect(media.videos).toHaveLength(3);
    expect(media.all[0]?.variants).toEqual([
      { url: 'https://video.example/2.m3u8', content_type: 'application/x-mpegURL', bitrate: null },
      { url: 'https://video.example/2.mp4', content_type: 'video/mp4', bitrate: 256000 },
      { url: 'https://video.example/2.webm', content_type: 'video/webm', bitrate: null },
    ]);
  });

  it('uses the variants of version 1 unchanged', () => {
    const variants = [
      { url: 'https://video.example/2.mp4', content_type: 'video/mp4', bitrate: 1 },
    ];
    const { media } = shape({
      media: { all: [{ type: 'video', url: 'https://video.example/2.mp4', variants }] },
    });

    expect(media.all[0]?.variants).toEqual(variants);
  });

  it('has up to three nested quotes', () => {
    const nest = (depth: number): Fields =>
      fxStatus(`${depth}`, depth === 0 ? {} : { quote: nest(depth - 1) });
    let post: Status['quote'] = shape({ quote: nest(9) });
    const ids: (string | null)[] = [];
    while (post?.type === 'status') {
      ids.push(post.id);
      post = post.quote;
    }

    expect(ids).toEqual(['2001', '9', '8', '7']);
  });

  it('has a tombstone for a missing or malformed quote', () => {
    expect(shape({ quote: fxTombstone('5', 'suspended') }).quote).toMatchObject({
      type: 'tombstone',
      id: '5',
      url: 'https://x.com/i/status/5',
      reason: 'suspended',
      text: 'This post is from a suspended account.',
    });
    expect(shape({ quote: { id: 'broken' } }).quote).toMatchObject({
      type: 'tombstone',
      id: null,
      reason: 'unavailable',
    });
    expect(shape({ quote: null }).quote).toBeNull();
  });

  it('has a private tombstone for a quote by a protected account, at every depth', () => {
    const author = fxUser('owl', { protected: true });
    const secret = fxStatus('5', { author, quote: fxStatus('6') });
    const expected: Tombstone = {
      type: 'tombstone',
      id: '5',
      url: 'https://x.com/i/status/5',
      text: 'This post is from an account that is not public.',
      reason: 'private',
      unavailable: {
        reason: 'protected',
        detail: 'This post is from an account that is not public.',
      },
      author: null,
      context: null,
      platform: 'x',
    };

    expect(shape({ quote: secret }).quote).toEqual(expected);
    expect(shape({ quote: fxStatus('4', { quote: secret }) }).quote).toMatchObject({
      id: '4',
      quote: expected,
    });
    expect(
      shape({ quote: fxStatus('3', { quote: fxStatus('4', { quote: secret }) }) }).quote,
    ).toMatchObject({ quote: { quote: expected } });
  });

  it('does not name the author of a private post', () => {
    const quote = { ...fxTombstone('5', 'private'), author: fxUser('owl') };

    expect(shape({ quote }).quote).toMatchObject({ url: 'https://x.com/i/status/5', author: null });
  });

  it('has only the handle of a protected account that reposted it', () => {
    const reposted_by = fxUser('owl', { id: '9', protected: true });

    expect(shape({ reposted_by }).reposted_by).toEqual(
      toAccount({
        id: '9',
        screen_name: 'owl',
        name: 'owl',
        url: 'https://x.com/owl',
        protected: true,
        platform: 'x',
      }),
    );
  });

  it('has its poll and its community note', () => {
    const poll = {
      choices: [{ label: 'Heron', count: 2, percentage: 66.7 }],
      total_votes: 3,
      ends_at: '2025-03-16T22:44:33.000Z',
      time_left_en: 'Final results',
    };

    expect(shape({ poll, community_note: { text: 'It was a stork.', facets: [] } })).toMatchObject({
      poll: { total_votes: 3, ends_at: '2025-03-16T22:44:33Z' },
      community_note: 'It was a stork.',
    });
  });
});

interface Raw {
  readonly raw: string;
  readonly text?: string;
  readonly range?: readonly [number, number];
  readonly facets: readonly Fields[];
}

function facetsOf({ raw, text = raw, range = [0, [...raw].length], facets }: Raw) {
  const raw_text = { text: raw, display_text_range: range, facets };
  const row = parsePost(fxStatus('1', { text, raw_text }));
  if (row?.type !== 'status') throw new Error('The payload is a post.');
  return shapeFacets(row.text, row.raw_text);
}

/** Returns each facet as its type, its text, and its target. */
function textsOf(from: Raw) {
  const points = [...(from.text ?? from.raw)];
  return facetsOf(from).map(({ type, start, end, url }) => [
    type,
    points.slice(start, end).join(''),
    ...(url === undefined ? [] : [url]),
  ]);
}

/** Returns a facet for the first occurrence of `run` in `raw` after `from`, in code points. */
function over(raw: string, run: string, fields: Fields, from = 0): Fields {
  const start = [...raw.slice(0, raw.indexOf(run, from))].length;
  return { indices: [start, start + [...run].length], ...fields };
}

function tag(raw: string, run: string, type: string): Fields {
  return over(raw, run, { type, original: run.slice(1) });
}

describe('the facets of a served text', () => {
  it('count code points, so that emoji before them do not shift them', () => {
    const raw = '🚀💭 hi @mira_holm #poll $PRCH';
    const facets = [
      tag(raw, '@mira_holm', 'mention'),
      tag(raw, '#poll', 'hashtag'),
      tag(raw, '$PRCH', 'symbol'),
    ];

    expect(textsOf({ raw, facets })).toEqual([
      ['mention', '@mira_holm', 'https://x.com/mira_holm'],
      ['hashtag', '#poll', 'https://x.com/hashtag/poll'],
      ['symbol', '$PRCH', 'https://x.com/search?q=%24PRCH'],
    ]);
  });

  it('accept full-width signs and another case', () => {
    const raw = '＠Mira_Holm ＃鷺 ＄PRCH';
    const facets = [
      over(raw, '＠Mira_Holm', { type: 'mention', original: 'mira_holm' }),
      tag(raw, '＃鷺', 'hashtag'),
      tag(raw, '＄PRCH', 'symbol'),
    ];

    expect(textsOf({ raw, facets }).map(([, run]) => run)).toEqual([
      '＠Mira_Holm',
      '＃鷺',
      '＄PRCH',
    ]);
  });

  it('follow links that grow and entities that shrink', () => {
    const raw = 'a &lt; b &amp; https://t.co/abc #tag';
    const text = 'a < b & https://perch.example/?a=1&b=2 #tag';
    const facets = [
      over(raw, 'https://t.co/abc', {
        type: 'url',
        original: 'https://t.co/abc',
        replacement: 'https://perch.example/?a=1&b=2',
        display: 'perch.example',
      }),
      tag(raw, '#tag', 'hashtag'),
    ];

    expect(textsOf({ raw, text, facets })).toEqual([
      ['link', 'https://perch.example/?a=1&b=2', 'https://perch.example/?a=1&b=2'],
      ['hashtag', '#tag', 'https://x.com/hashtag/tag'],
    ]);
  });

  it('are located at their own occurrence of a repeated word', () => {
    const raw = 'mail me@perch.example, @perch';
    const facets = [over(raw, '@perch', { type: 'mention', original: 'perch' }, 10)];

    expect(facetsOf({ raw, facets })).toMatchObject([{ start: 23, end: 29 }]);
  });

  it('link the leading mentions of a reply', () => {
    const raw = '@tove_ek @otto_lind Hey @tove_ek';
    const facets = [
      tag(raw, '@tove_ek', 'mention'),
      tag(raw, '@otto_lind', 'mention'),
      over(raw, '@tove_ek', { type: 'mention', original: 'tove_ek' }, 9),
    ];

    expect(facetsOf({ raw, range: [20, 32], facets })).toMatchObject([
      { start: 0, end: 8, url: 'https://x.com/tove_ek' },
      { start: 9, end: 19, url: 'https://x.com/otto_lind' },
      { start: 24, end: 32, url: 'https://x.com/tove_ek' },
    ]);
  });

  it('skip leading mentions that are not served, also if they occur again', () => {
    const raw = '@tove_ek Hey @otto_lind, @tove_ek';
    const facets = [
      tag(raw, '@tove_ek', 'mention'),
      tag(raw, '@otto_lind', 'mention'),
      over(raw, '@tove_ek', { type: 'mention', original: 'tove_ek' }, 9),
    ];

    expect(textsOf({ raw, text: 'Hey @otto_lind, @tove_ek', range: [9, 33], facets })).toEqual([
      ['mention', '@otto_lind', 'https://x.com/otto_lind'],
      ['mention', '@tove_ek', 'https://x.com/tove_ek'],
    ]);
  });

  it('are located in a long post with many of them', () => {
    const words = Array.from({ length: 900 }, (_, index) => `🐦&amp;${index}`);
    const raw = `https://t.co/abc ${words.join(' ')}`;
    const link = {
      type: 'url',
      original: 'https://t.co/abc',
      replacement: 'https://perch.example/',
    };
    let at = 17;
    const bold = words.map((word) => {
      const start = at;
      at += [...word].length + 1;
      return { type: 'bold', indices: [start, at - 1] };
    });
    const text = raw.replace('https://t.co/abc', link.replacement).replaceAll('&amp;', '&');

    const found = textsOf({ raw, text, facets: [over(raw, 'https://t.co/abc', link), ...bold] });

    expect(found.slice(1)).toEqual(words.map((word) => ['bold', word.replace('&amp;', '&')]));
  });

  it('are read up to the 1,000th', () => {
    const raw = 'a '.repeat(1100);
    const facets = Array.from({ length: 1100 }, (_, index) => ({
      type: 'bold',
      indices: [2 * index, 2 * index + 1],
    }));

    const found = facetsOf({ raw, facets });

    expect(found).toHaveLength(1000);
    expect(found.at(-1)).toEqual({ type: 'bold', start: 1998, end: 1999 });
  });

  it('are located if the served text has no leading mentions', () => {
    const raw = '@tove_ek Hey @otto_lind';
    const facets = [tag(raw, '@tove_ek', 'mention'), tag(raw, '@otto_lind', 'mention')];

    expect(textsOf({ raw, text: 'Hey @otto_lind', range: [9, 23], facets })).toEqual([
      ['mention', '@otto_lind', 'https://x.com/otto_lind'],
    ]);
  });

  it('are omitted if the text differs from their name', () => {
    const raw = 'about #heron and #stork';
    const facets = [
      { type: 'hashtag', indices: [0, 5], original: 'heron' },
      { type: 'hashtag', indices: [17, 900], original: 'stork' },
      { type: 'hashtag', indices: [9, 2], original: 'heron' },
      { type: 'hashtag', indices: ['a', 'b'], original: 'heron' },
      { type: 'mention', indices: [6, 12] },
      { type: 'url', indices: [6, 12], original: '#heron', replacement: 'javascript:alert(1)' },
      { type: 'unheard-of', indices: [6, 12], original: 'heron' },
    ];

    expect(textsOf({ raw, facets })).toEqual([
      ['hashtag', '#stork', 'https://x.com/hashtag/stork'],
    ]);
  });

  it('of media are ignored, because they have wrong offsets in long posts', () => {
    const raw = 'See http://t.co/odE9qJiOg3 now';
    const facets = [
      over(raw, 'http://t.co/odE9qJiOg3', {
        type: 'url',
        original: 'http://t.co/odE9qJiOg3',
        replacement: 'http://fn.example/accounts',
      }),
      { type: 'media', indices: [5, 28], id: '1', original: 'https://t.co/DFggHwFYkw' },
    ];

    expect(textsOf({ raw, text: 'See http://fn.example/accounts now', facets })).toEqual([
      ['link', 'http://fn.example/accounts', 'http://fn.example/accounts'],
    ]);
  });

  it('include the styles of long posts, also around links', () => {
    const raw = '🐦 bold & https://t.co/abc words, then more';
    const text = '🐦 bold & https://perch.example/long words, then more';
    const facets = [
      over(raw, 'bold & https://t.co/abc words', { type: 'bold' }),
      over(raw, 'https://t.co/abc', {
        type: 'url',
        original: 'https://t.co/abc',
        replacement: 'https://perch.example/long',
      }),
      over(raw, 'words, then', { type: 'italic' }),
      over(raw, 'more', { type: 'strikethrough' }),
      over(raw, 'more', { type: 'underline' }),
    ];

    expect(textsOf({ raw, text, facets })).toEqual([
      ['bold', 'bold & https://perch.example/long words'],
      ['link', 'https://perch.example/long', 'https://perch.example/long'],
      ['italic', 'words'],
      ['italic', ', then'],
      ['strikethrough', 'more'],
    ]);
  });

  it('include a style that ends where a link begins', () => {
    const raw = 'bold#tag';
    const facets = [over(raw, 'bold', { type: 'bold' }), tag(raw, '#tag', 'hashtag')];

    expect(textsOf({ raw, facets }).map(([type, run]) => [type, run])).toEqual([
      ['bold', 'bold'],
      ['hashtag', '#tag'],
    ]);
  });

  it('are found in the text if there is no raw text', () => {
    const text = '🐦 @mira_holm, see #heron at https://x.com/@nobody/#top or a@b.example #1';

    expect(shapeFacets(text, null).map(({ type, start, end }) => [type, start, end])).toEqual([
      ['mention', 2, 12],
      ['hashtag', 18, 24],
    ]);
  });
});

function block(type: string, text: string, fields: Fields = {}): Fields {
  return { key: 'k', type, text, data: {}, entityRanges: [], inlineStyleRanges: [], ...fields };
}

function atomic(...keys: readonly number[]): Fields {
  return block('atomic', ' ', { entityRanges: keys.map((key) => ({ key, offset: 0, length: 1 })) });
}

function entity(key: string, type: string, data: Fields = {}): Fields {
  return { key, value: { type, mutability: 'Immutable', data } };
}

function articleOf(
  blocks: readonly Fields[],
  entityMap: readonly Fields[] = [],
  fields: Fields = {},
) {
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
    expect(articleOf([])).toEqual({
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

    expect(articleOf([], [], { content: null, cover_media })).toMatchObject({
      cover_url: 'https://pbs.example/c.jpg',
      blocks: [],
    });
  });

  it('has each type of block', () => {
    const { blocks } = articleOf([
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
    const { blocks } = articleOf(
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
    const { blocks } = articleOf(
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
    expect(articleOf([{ type: 'unstyled' }, block('unstyled', 'Kept')]).blocks).toHaveLength(1);
  });
});
