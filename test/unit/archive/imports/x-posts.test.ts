import { describe, expect, it } from 'vitest';
import { makeNote, readX } from '../../../support/exports/read-x.ts';
import { exporter, makeTweet } from '../../../support/exports/x-export.ts';

const at = '2024-10-01T19:59:18.400Z';
const textsOf = async (rows: readonly object[], notes: readonly object[]) =>
  (await readX({ tweets: rows, 'note-tweet': notes })).posts.map(({ text }) => text);

describe('the full text of a long post', () => {
  it.each([
    [
      'a reply to two accounts',
      '@heron @tern The tide comes in and the…',
      'The tide comes in and the sea rises.',
    ],
    ['entities in both texts', 'R&amp;B &lt;3 and the…', 'R&amp;B &lt;3 and the rest.'],
    ['entities in one text', 'R&amp;B and the…', 'R&B and the rest.'],
    ['a link to the whole post', 'The tide comes… https://t.co/whole1', 'The tide comes in.'],
    [
      'another code of a link',
      'See https://t.co/one1 and the…',
      'See https://t.co/two2 and the rest.',
    ],
    ['no ellipsis', 'tide '.repeat(50), `${'tide '.repeat(50)}and the end.`],
    ['entities that are encoded twice', 'R&amp;amp;B and the…', 'R&amp;B and the rest.'],
    ['another form of an accent', 'Cafe\u0301 and the…', 'Caf\u00e9 and the rest.'],
    ['collapsed spaces', 'The tide\n comes…', 'The  tide \n\n comes in.'],
  ])('is found despite %s', async (_name, full_text, whole) => {
    const texts = await textsOf([makeTweet(20, { full_text })], [makeNote(whole, at)]);

    expect(texts).toEqual([whole.replaceAll('&amp;', '&').replaceAll('&lt;', '<')]);
  });

  it('has the links of the full text, and not those of the media', async () => {
    const note = makeNote('See https://t.co/two2 and the end https://t.co/pic3', at, [
      ['https://t.co/two2', 'https://pages.example/essay'],
    ]);
    const entities = {
      urls: [
        { url: 'https://t.co/one1', expanded_url: 'https://pages.example/essay', indices: [4, 21] },
      ],
      media: [{ url: 'https://t.co/pic3', indices: [30, 47] }],
    };

    const row = makeTweet(20, { full_text: 'See https://t.co/one1 and the…', entities });
    const [post] = (await readX({ tweets: [row], 'note-tweet': [note] })).posts;

    expect(post).toMatchObject({
      text: 'See https://pages.example/essay and the end',
      facets: [{ type: 'link', start: 4, end: 31, url: 'https://pages.example/essay' }],
    });
  });

  it.each([
    ['the second before', '2024-10-01T19:59:17.900Z', true],
    ['the second after', '2024-10-01T19:59:19.100Z', true],
    ['two seconds later', '2024-10-01T19:59:20.000Z', false],
  ])('is searched in %s', async (_name, createdAt, isFound) => {
    const [text] = await textsOf(
      [makeTweet(20, { full_text: 'The tide…' })],
      [makeNote('The tide comes in.', createdAt)],
    );

    expect(text).toBe(isFound ? 'The tide comes in.' : 'The tide…');
  });

  it('is not guessed if two texts of other seconds fit', async () => {
    const [text] = await textsOf(
      [makeTweet(20, { full_text: 'The tide…' })],
      [
        makeNote('The tide comes in.', '2024-10-01T19:59:17.900Z'),
        makeNote('The tide goes out.', '2024-10-01T19:59:19.100Z'),
      ],
    );

    expect(text).toBe('The tide…');
  });

  it('is that of the same second if another second has a fitting text too', async () => {
    const [text] = await textsOf(
      [makeTweet(20, { full_text: 'The tide…' })],
      [
        makeNote('The tide goes out.', '2024-10-01T19:59:19.100Z'),
        makeNote('The tide comes in.', at),
      ],
    );

    expect(text).toBe('The tide comes in.');
  });
});

describe('the full texts of the same second', () => {
  const opening = 'tide '.repeat(54);

  it('are not those of a short post that they begin with', async () => {
    const whole = `Low ${opening}`;

    const texts = await textsOf(
      [
        makeTweet(20, { full_text: 'Low' }),
        makeTweet(21, { full_text: `Low ${'tide '.repeat(40)}` }),
      ],
      [makeNote(`${whole} end`, at)],
    );

    expect(texts).toEqual(['Low', `${whole} end`]);
  });

  it('belong to posts with the same beginning in their order, also if a post comes twice', async () => {
    const rows = [20, 21, 20].map((id) => makeTweet(id, { full_text: `${opening}…` }));

    const texts = await textsOf(rows, [
      makeNote(`${opening}one`, at),
      makeNote(`${opening}two`, at),
    ]);

    expect(texts).toEqual([`${opening}one`, `${opening}two`, `${opening}one`]);
  });

  it('are counted if their posts are missing', async () => {
    const { leftOut } = await readX({
      tweets: [makeTweet(20, { full_text: 'Low tide' }), makeTweet(21, { full_text: 'High…' })],
      'note-tweet': [makeNote('Low tide', at), makeNote('Spring tide', at)],
      'note-tweet-part1': [makeNote('High tide', at), makeNote('Neap tide', 'never')],
    });

    expect(leftOut).toEqual([
      'data/note-tweet.js 1 item the posts of these full texts are not in the export',
      'data/note-tweet-part1.js 1 item the posts of these full texts are not in the export',
    ]);
  });
});

describe('a post whose full text is missing', () => {
  const long = `${'tide '.repeat(30)}and…`;

  it('says so, and is counted for its file', async () => {
    const { posts, leftOut } = await readX({
      tweets: [makeTweet(20, { full_text: long }), makeTweet(21)],
      'tweets-part1': [makeTweet(22, { full_text: `${long} https://t.co/whole1` })],
    });

    expect(posts.map(({ id, left_out }) => [id, left_out])).toEqual([
      ['20', ['text']],
      ['21', undefined],
      ['22', ['text']],
    ]);
    expect(leftOut).toEqual([
      'data/tweets.js 1 item the export lacks the full text of these posts',
      'data/tweets-part1.js 1 item the export lacks the full text of these posts',
    ]);
  });

  it.each([
    ['from before long posts', { full_text: long, created_at: 'Tue Oct 01 19:59:18 +0000 2019' }],
    ['that is short', { full_text: 'Wait for it…' }],
    ['that has only many names', { full_text: `${'@heron_and_the_tern '.repeat(9)}so…` }],
  ])('is not assumed for one %s', async (_name, more) => {
    const { posts, leftOut } = await readX({ tweets: [makeTweet(20, more)] });

    expect(posts[0]?.left_out).toBeUndefined();
    expect(leftOut).toEqual([]);
  });
});

describe('a post that starts with RT', () => {
  const none = { favorite_count: '0', retweet_count: '0' };
  const full_text = 'RT @heron: low tide // so true';
  const authorOf = async (more: object) => {
    const { posts, items } = await readX({
      tweets: [makeTweet(30, { full_text, ...none, ...more })],
    });
    return [
      posts[0]?.author.screen_name,
      posts[0]?.text,
      items.some(({ kind }) => kind === 'repost'),
    ];
  };
  const own = [exporter.handle, full_text, false];
  const other = ['heron', 'low tide // so true', true];

  it.each([
    ['from before reposts existed', { created_at: 'Wed Nov 04 23:59:59 +0000 2009' }, own],
    ['from the day of their introduction', { created_at: 'Thu Nov 05 00:00:00 +0000 2009' }, other],
    ['with likes', { favorite_count: '1' }, own],
    ['with reposts', { retweet_count: 2 }, own],
    ['without counts', { favorite_count: undefined, retweet_count: undefined }, other],
    ['with the counts 0', {}, other],
    ['that replies', { in_reply_to_status_id_str: '29' }, own],
    ['in a community', { community_id: '77' }, own],
    ['with two versions', { edit_info: { initial: { editTweetIds: ['30', '31'] } } }, own],
  ])('%s has the right author', async (_name, more, expected) => {
    expect(await authorOf(more)).toEqual(expected);
  });

  it('is typed if the export has its full text', async () => {
    const whole = `${full_text} ${'tide '.repeat(60)}`.trim();
    const row = makeTweet(30, { ...none, full_text: `${whole.slice(0, 270)}…` });

    const { posts } = await readX({ tweets: [row], 'note-tweet': [makeNote(whole, at)] });

    expect(posts).toMatchObject([{ text: whole, author: { screen_name: exporter.handle } }]);
  });

  it('keeps the mention of the quoted account, whose words are in italics', async () => {
    const mention = { screen_name: 'heron', name: 'Heron', id_str: '9', indices: ['3', '9'] };

    const { posts } = await readX({
      tweets: [makeTweet(30, { full_text, entities: { user_mentions: [mention] } })],
    });

    expect(posts[0]?.facets).toMatchObject([
      { type: 'mention', start: 3, end: 9 },
      { type: 'italic', start: 11, end: 19 },
    ]);
  });

  it('says that its text is incomplete if X has shortened it', async () => {
    const shortened = `RT @heron: ${'t'.repeat(128)}…`;

    const { posts } = await readX({ tweets: [makeTweet(30, { ...none, full_text: shortened })] });

    expect(posts[0]?.left_out).toEqual(['text']);
  });
});

it.each([undefined, 'yesterday', 5])(
  'reads the time in the id of a post whose time is %o',
  async (time) => {
    const { posts } = await readX({
      tweets: [
        makeTweet('1841206275088290279', { created_at: time }),
        makeTweet(20, { created_at: time }),
      ],
    });

    expect(posts).toMatchObject([{ created_at: '2024-10-01T19:59:18Z' }]);
  },
);

describe('the posts of communities', () => {
  it('are imported with their community', async () => {
    const { posts, leftOut } = await readX({
      tweets: [makeTweet(20)],
      'community-tweet': [makeTweet(21, { community_id: '77', community_id_str: '77' })],
      'community-tweet-part1': [makeTweet(22, { community_id: '78' })],
    });

    expect(posts.map(({ id, community }) => [id, community?.id, community?.name])).toEqual([
      ['20', undefined, undefined],
      ['21', '77', 'Community 77'],
      ['22', '78', 'Community 78'],
    ]);
    expect(posts[1]?.community?.url).toBe('https://x.com/i/communities/77');
    expect(leftOut).toEqual([]);
  });
});

describe('the versions of an edited post', () => {
  const ids = ['51', '52', '53'];
  const initial = { edit_info: { initial: { editTweetIds: ids } } };
  const later = {
    edit_info: { edit: { initialTweetId: '51', editControlInitial: { editTweetIds: ids } } },
  };
  const first = makeTweet(51, { ...initial, full_text: 'Frist' });
  const second = makeTweet(52, {
    ...later,
    full_text: 'Second',
    created_at: 'Tue Oct 01 20:05:00 +0000 2024',
  });
  const third = makeTweet(53, {
    ...later,
    full_text: 'Third',
    created_at: 'Tue Oct 01 20:09:00 +0000 2024',
  });

  it.each([
    ['in order', { tweets: [first, second, third] }],
    ['in reverse', { tweets: [third, second, first] }],
    ['in different files', { tweets: [second], 'tweets-part1': [first], 'tweets-part2': [third] }],
    ['twice', { tweets: [first, second, third], 'tweets-part1': [second, first] }],
  ])('become one post, if they come %s', async (_name, files) => {
    const { posts } = await readX(files);

    expect(posts).toMatchObject([
      {
        id: '53',
        text: 'Third',
        created_at: '2024-10-01T20:09:00Z',
        edited_at: '2024-10-01T20:09:00Z',
        earlier_versions: [
          { id: '51', text: 'Frist', created_at: '2024-10-01T19:59:18Z' },
          { id: '52', text: 'Second', created_at: '2024-10-01T20:05:00Z' },
        ],
      },
    ]);
  });

  it('are the last one of those in the export', async () => {
    const { posts } = await readX({ tweets: [first, second, makeTweet(60)] });

    expect(posts.map(({ id }) => id)).toEqual(['60', '52']);
  });

  it('are no edit if only the first one is in the export', async () => {
    const { posts } = await readX({ tweets: [first] });

    expect(posts).toMatchObject([{ id: '51', text: 'Frist' }]);
    expect(posts[0]).not.toHaveProperty('edited_at');
    expect(posts[0]).not.toHaveProperty('earlier_versions');
  });

  it.each([
    ['the first one lists only itself', { initial: { editTweetIds: ['61'] } }, ['61', '62']],
    ['the later one names only the first', { initial: { editTweetIds: ['61'] } }, undefined],
    ['the first one has no list', undefined, undefined],
  ])('are found if %s', async (_name, edit_info, editTweetIds) => {
    const edit = {
      initialTweetId: '61',
      ...(editTweetIds && { editControlInitial: { editTweetIds } }),
    };
    const none = { favorite_count: '0', retweet_count: '0' };

    const { posts } = await readX({
      tweets: [
        makeTweet(61, { ...none, edit_info, full_text: 'RT @heron: low tide' }),
        makeTweet(62, { ...none, edit_info: { edit }, full_text: 'RT @heron: high tide' }),
        makeTweet(63),
      ],
    });

    expect(posts.map(({ id, author }) => [id, author.screen_name])).toEqual([
      ['63', exporter.handle],
      ['62', exporter.handle],
    ]);
    expect(posts[1]?.earlier_versions).toMatchObject([{ id: '61', text: 'RT @heron: low tide' }]);
  });

  it('are separate posts if the list of versions lacks the post', async () => {
    const { posts } = await readX({ tweets: [first, makeTweet(90, initial)] });

    expect(posts.map(({ id }) => id).sort()).toEqual(['51', '90']);
  });
});
