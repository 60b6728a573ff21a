import { describe, expect, it } from 'vitest';
import { toAccount } from '../../../../src/model/account.ts';
import { post as postSchema, type Status, type Tombstone } from '../../../../src/model/post.ts';
import { parsePost } from '../../../../src/providers/fxtwitter/payload.ts';
import { shapePost } from '../../../../src/providers/fxtwitter/shape.ts';
import { parseRows } from '../../../../src/providers/rows.ts';
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

describe('rows', () => {
  it('are parsed one by one', async () => {
    const list = [fxStatus('1'), { type: 'thread' }, fxTombstone('2', 'deleted'), 7];

    const rows = await parseRows(list, parsePost);

    expect(rows?.rows.map(({ id }) => id)).toEqual(['1', '2']);
    expect(rows?.unreadable).toBe(2);
    expect(await parseRows(null, parsePost)).toBeNull();
  });
});
