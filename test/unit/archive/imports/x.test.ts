import { expect, it, onTestFinished } from 'vitest';
import type { ExportItem, ExportSource } from '../../../../src/archive/imports/export-source.ts';
import { xFormat } from '../../../../src/archive/imports/x/x-format.ts';
import type { Status } from '../../../../src/model/post.ts';
import { openSource } from '../../../support/exports/read-export.ts';
import {
  exporter,
  makeTweet,
  makeXExport,
  toScript,
  writeExport,
} from '../../../support/exports/x-export.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

/** Opens a small export with some replaced files. */
async function openChanged(
  files: Readonly<Record<string, string | undefined>>,
): Promise<ExportSource> {
  const all = new Map(makeXExport({ posts: 0, followers: 2, following: 1 }));
  for (const [name, text] of Object.entries(files)) {
    if (text === undefined) all.delete(`data/${name}`);
    else all.set(`data/${name}`, text);
  }
  const source = await openSource(xFormat, writeExport(temporaryFolder(), all));
  if (source === null) throw new Error('It is not taken for an export.');
  onTestFinished(() => source.close());
  return source;
}

async function readAll(source: ExportSource): Promise<readonly ExportItem[]> {
  const items: ExportItem[] = [];
  for await (const group of source.groups()) items.push(...group);
  return items.filter(({ kind }) => kind !== 'left-out');
}

async function readTweets(...rows: readonly object[]): Promise<readonly ExportItem[]> {
  const tweets = toScript(
    'tweets',
    rows.map((row) => JSON.stringify(row)),
  );
  const items = await readAll(await openChanged({ 'tweets.js': tweets }));
  return items.filter(({ kind }) => kind !== 'account' && kind !== 'follow');
}

async function readPost(more: Readonly<Record<string, unknown>>): Promise<Status> {
  const [item] = await readTweets(makeTweet(20, more));
  if (item?.kind !== 'post' || item.post.type !== 'status') throw new Error('It is no post.');
  return item.post;
}

it('reads the account, its posts and its connections', async () => {
  const source = await openChanged({
    'tweets.js': toScript('tweets', [JSON.stringify(makeTweet(20))]),
  });

  const [account, post, ...follows] = await readAll(source);

  expect(source).toMatchObject({ title: 'X export', exported: 1_769_940_000 });
  expect(source.bytesRead).toBe(source.totalBytes);
  expect(account).toMatchObject({
    kind: 'account',
    account: {
      id: exporter.id,
      screen_name: exporter.handle,
      name: 'Wren & Co',
      url: 'https://x.com/Wren_Example',
      description: 'Small bird, loud.',
      location: 'A hedge',
      website: { url: 'https://t.co/wren', display_url: 't.co/wren' },
      avatar_url: 'https://pictures.example/wren_400x400.jpg',
      followers: 2,
      following: 1,
      statuses: 0,
      joined: '2011-05-01T08:30:00Z',
      protected: false,
    },
  });
  expect(post).toMatchObject({
    kind: 'post',
    parentId: null,
    created: 1_727_812_758,
    post: {
      id: '20',
      url: 'https://x.com/Wren_Example/status/20',
      text: 'Hello there',
      created_at: '2024-10-01T19:59:18Z',
      likes: 3,
      reposts: 1,
      lang: 'en',
      source: 'Mobile Web',
    },
  });
  expect(follows).toEqual([
    { kind: 'follow', follower: 'id:2000000', followed: 'wren_example' },
    { kind: 'follow', follower: 'id:2000007', followed: 'wren_example' },
    { kind: 'follow', follower: 'wren_example', followed: 'id:2000003' },
  ]);
});

it('expands links, decodes entities and counts code points', async () => {
  const { text, facets } = await readPost({
    full_text: '🦉 R&amp;B https://t.co/aaa @Heron #tide https://t.co/pic',
    entities: {
      urls: [
        {
          url: 'https://t.co/aaa',
          expanded_url: 'https://pages.example/long',
          indices: ['10', '26'],
        },
      ],
      user_mentions: [{ screen_name: 'heron', name: 'Heron', id_str: '9', indices: ['27', '33'] }],
      hashtags: [{ text: 'tide', indices: ['34', '39'] }],
      symbols: [],
      media: [{ url: 'https://t.co/pic', indices: ['40', '56'] }],
    },
  });

  expect(text).toBe('🦉 R&B https://pages.example/long @Heron #tide');
  expect(
    facets.map(({ type, start, end }) => [type, [...text].slice(start, end).join('')]),
  ).toEqual([
    ['link', 'https://pages.example/long'],
    ['mention', '@Heron'],
    ['hashtag', '#tide'],
  ]);
});

it('finds links whose offsets are wrong', async () => {
  const url = {
    url: 'https://t.co/aaa',
    expanded_url: 'https://pages.example/',
    indices: ['0', '3'],
  };

  const { text, facets } = await readPost({
    full_text: 'So: https://t.co/aaa',
    entities: { urls: [url] },
  });

  expect(text).toBe('So: https://pages.example/');
  expect(facets).toEqual([{ type: 'link', start: 4, end: 26, url: 'https://pages.example/' }]);
});

it('reads images and videos', async () => {
  const size = { large: { w: '1200', h: '675', resize: 'fit' } };
  const { media } = await readPost({
    extended_entities: {
      media: [
        {
          type: 'photo',
          url: 'https://t.co/pic',
          media_url_https: 'https://pictures.example/1.jpg',
          ext_alt_text: 'A heron',
          sizes: size,
          indices: ['0', '5'],
        },
        {
          type: 'video',
          url: 'https://t.co/pic',
          media_url_https: 'https://pictures.example/2.jpg',
          sizes: size,
          video_info: {
            duration_millis: '12500',
            variants: [
              { content_type: 'application/x-mpegURL', url: 'https://pictures.example/2.m3u8' },
              { bitrate: '832', content_type: 'video/mp4', url: 'https://pictures.example/s.mp4' },
              { bitrate: '2176', content_type: 'video/mp4', url: 'https://pictures.example/l.mp4' },
            ],
          },
        },
      ],
    },
  });

  expect(media.photos).toEqual([
    {
      type: 'photo',
      url: 'https://pictures.example/1.jpg',
      width: 1200,
      height: 675,
      alt: 'A heron',
    },
  ]);
  expect(media.videos).toMatchObject([
    { type: 'video', url: 'https://pictures.example/l.mp4', duration: 12.5, width: 1200 },
  ]);
});

it('reads a post that starts with RT as a repost of another account', async () => {
  const mention = { screen_name: 'Heron', name: 'The Heron', id_str: '9', indices: ['3', '9'] };

  const items = await readTweets(
    makeTweet(30, {
      full_text: 'RT @Heron: Low tide, so much of it that…',
      entities: { user_mentions: [mention] },
      favorite_count: '0',
      retweet_count: '0',
    }),
  );

  expect(items).toMatchObject([
    {
      kind: 'post',
      post: {
        id: '30',
        text: 'Low tide, so much of it that…',
        facets: [],
        author: { id: '9', screen_name: 'Heron', name: 'The Heron' },
        likes: null,
      },
    },
    { kind: 'repost', handle: 'wren_example', postHandle: 'heron', postId: '30' },
  ]);
});

it('reads the post that a reply answers', async () => {
  const items = await readTweets(
    makeTweet(21, { in_reply_to_status_id_str: '20', in_reply_to_screen_name: exporter.handle }),
  );

  expect(items).toMatchObject([
    { parentId: '20', post: { replying_to: { screen_name: exporter.handle, status: '20' } } },
  ]);
});

it('reads the full text of a long post', async () => {
  const whole = `${'long '.repeat(70)}https://t.co/aaa end &amp; #tide`;
  const note = {
    noteTweet: {
      noteTweetId: '5',
      createdAt: '2024-10-01T19:59:18.000Z',
      core: {
        text: whole,
        urls: [{ shortUrl: 'https://t.co/aaa', expandedUrl: 'https://pages.example/' }],
      },
    },
  };
  const source = await openChanged({
    'note-tweet.js': toScript('note_tweet', [JSON.stringify(note)]),
    'tweets.js': toScript('tweets', [
      JSON.stringify(makeTweet(20, { full_text: `${whole.slice(0, 200)}… https://t.co/bbb` })),
      JSON.stringify(makeTweet(21)),
    ]),
  });

  const posts = (await readAll(source)).filter((item) => item.kind === 'post');

  expect(posts).toMatchObject([
    { post: { text: `${'long '.repeat(70)}https://pages.example/ end & #tide` } },
    { post: { text: 'Hello there' } },
  ]);
  expect(posts[0]?.post).toMatchObject({ facets: [{ type: 'link' }, { type: 'hashtag' }] });
});

it('reads exports from before 2020', async () => {
  const { tweet } = makeTweet(20, { in_reply_to_status_id_str: undefined, retweet_count: 4 });
  const source = await openChanged({
    'tweets.js': undefined,
    'manifest.js': undefined,
    'tweet.js': toScript('tweet', [JSON.stringify(tweet)]),
  });

  expect(source.exported).toBeUndefined();
  expect((await readAll(source))[1]).toMatchObject({
    kind: 'post',
    post: { id: '20', reposts: 4 },
  });
});

it.each([
  ['Protect', true],
  ['Unprotect', false],
])('reads the protection of an account whose last change is %s', async (action, isProtected) => {
  const changes = [
    { protectedAt: '2026-01-01T00:00:00.000Z', action },
    { protectedAt: '2025-12-01T00:00:00.000Z', action: 'Protect' },
  ].map((protectedHistory) => JSON.stringify({ protectedHistory }));
  const source = await openChanged({
    'protected-history.js': toScript('protected_history', changes),
  });

  expect((await readAll(source))[0]).toMatchObject({ account: { protected: isProtected } });
});

it('reports skipped records', async () => {
  const items = await readTweets(
    makeTweet(1, { id_str: undefined, id: undefined }),
    makeTweet(2, { created_at: '2024' }),
    makeTweet(3, { full_text: 5 }),
    { tweet: null },
  );

  const reasons = [
    'Its field id_str is missing or cannot be read.',
    'There is no readable time.',
    'Its field full_text is missing or cannot be read.',
    'Its field id_str is missing or cannot be read.',
  ];
  expect(items).toEqual(
    reasons.map((reason, at) => {
      const location = `data/tweets.js, record ${at + 1}`;
      return { kind: 'skipped', cause: 'fault', location, reason };
    }),
  );
});

it('reports a truncated file', async () => {
  const tweets = toScript('tweets', [JSON.stringify(makeTweet(1)), JSON.stringify(makeTweet(2))]);

  const items = await readAll(await openChanged({ 'tweets.js': tweets.slice(0, -40) }));

  expect(items.filter(({ kind }) => kind !== 'follow').slice(1)).toMatchObject([
    { kind: 'post', post: { id: '1' } },
    { kind: 'skipped', isCutOff: true },
  ]);
});

it('rejects an export with an unreadable account', async () => {
  const source = await openChanged({ 'account.js': toScript('account', ['{}']) });

  await expect(readAll(source)).rejects.toThrow('account.js does not contain an account');
});

it('does not recognize other files', async () => {
  expect(await openSource(xFormat, temporaryFolder())).toBeNull();
});
