import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mastodonFormat } from '../../../../src/archive/imports/mastodon/mastodon-format.ts';
import {
  actorAddress,
  audiences,
  toActor,
  toAnnounce,
  toCreate,
  toExportFiles,
} from '../../../support/exports/mastodon-export.ts';
import { readExport } from '../../../support/exports/read-export.ts';
import { writeFolder } from '../../../support/exports/read-mastodon.ts';
import { type TarMember, writeTar, writeTarGz } from '../../../support/exports/tar-file.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

function readBytes(bytes: Uint8Array, hints?: { readonly handle?: string }) {
  const path = join(temporaryFolder(), 'archive.tar.gz');
  writeFileSync(path, bytes);
  return readExport(mastodonFormat, path, hints);
}

const readFolder = (members: readonly TarMember[]) =>
  readExport(mastodonFormat, writeFolder(members));

const read = (activities: readonly unknown[], actor?: unknown) =>
  readBytes(writeTarGz(toExportFiles(activities, actor)));

async function readPost(content: string, more: Readonly<Record<string, unknown>> = {}) {
  const items = (await read([toCreate(1, content, more)])) ?? [];
  const [post] = items.flatMap((item) => (item.kind === 'post' ? [item] : []));
  return post;
}

const account = {
  kind: 'account',
  account: {
    id: actorAddress,
    screen_name: 'Ada@social.example.org',
    name: 'Ada Fenwick',
    description: 'Draws maps.',
    url: 'https://social.example.org/@Ada',
    avatar_url: 'export:ada@social.example.org/avatar.png',
    joined: '2022-11-05T00:00:00Z',
    protected: false,
  },
};

describe('the Mastodon format', () => {
  it('reads the account, its posts and its boosts', async () => {
    const items = await read([
      toCreate(1, '<p>Hello</p>'),
      toCreate(2, '<p>And more</p>', { inReplyTo: `${actorAddress}/statuses/1` }),
      toAnnounce('https://other.example.org/users/ben/statuses/77'),
    ]);

    expect(items).toMatchObject([
      account,
      {
        kind: 'post',
        parentId: null,
        created: 1672531260,
        post: {
          id: '1',
          text: 'Hello',
          url: 'https://social.example.org/@Ada/1',
          created_at: '2023-01-01T00:01:00Z',
          lang: 'en',
          replying_to: null,
        },
      },
      {
        kind: 'post',
        parentId: '1',
        post: { replying_to: { screen_name: 'ada@social.example.org', status: '1' } },
      },
      {
        kind: 'repost',
        handle: 'ada@social.example.org',
        postHandle: 'ben@other.example.org',
        postId: '77',
        created: 1677628800,
      },
    ]);
  });

  it('reads the time of an edit and the number of voters', async () => {
    const poll = { oneOf: [{ name: 'a', replies: { totalItems: 2 } }], votersCount: 2 };
    const more = { updated: '2023-02-01T00:00:00Z', ...poll };

    expect((await readPost('<p>Hello</p>', more))?.post).toMatchObject({
      edited_at: '2023-02-01T00:00:00Z',
      poll: { total_voters: 2 },
    });
  });

  it('keeps link targets in the description and fields of the account', async () => {
    const value = '<a href="https://ada.example.org/">the map room</a>';
    const attachment = [{ type: 'PropertyValue', name: 'Home', value }];
    const [owner] = (await read([], toActor({ attachment }))) ?? [];

    expect(owner).toMatchObject({
      account: {
        description: 'Draws maps.\n\nHome: the map room',
        description_facets: [{ type: 'link', start: 19, end: 31, url: 'https://ada.example.org/' }],
      },
    });
  });

  it('reads the uncompressed tar file and the folder', async () => {
    const files = toExportFiles([toCreate(1, '<p>Hello</p>')]);

    const expected = await readBytes(writeTarGz(files));

    expect(expected).toHaveLength(2);
    expect(await readBytes(writeTar(files))).toEqual(expected);
    expect(await readFolder(files)).toEqual(expected);
  });

  it('reads files between others with long names', async () => {
    const long = { name: `media_attachments/${'x'.repeat(200)}.png`, content: 'x' };
    const folder = toExportFiles([toCreate(1, 'Hi')]).map((member) => ({
      ...member,
      name: `${'archive-'.repeat(20)}/${member.name}`,
    }));

    expect(await readBytes(writeTarGz([long, ...folder]))).toHaveLength(2);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('Dear diary, '.repeat(100))],
    ['another compressed file', gzipSync('Dear diary')],
    ['another tar file', writeTarGz([{ name: 'diary.txt', content: 'Dear diary' }])],
  ])('does not recognize %s as an export', async (_, bytes) => {
    expect(await readBytes(bytes)).toBeNull();
  });

  it('rejects an outbox without an actor', async () => {
    const files = toExportFiles([]).filter(({ name }) => name !== 'actor.json');

    await expect(readBytes(writeTarGz(files))).rejects.toThrow('There is no actor.json');
  });

  it.each([
    ['no actor', { type: 'Person' }],
    ['an actor of nobody', toActor({ preferredUsername: '' })],
    ['an actor without a server', toActor({ id: 'acct:ada' })],
    ['an actor of a local name', toActor({ id: 'https://localhost/users/ada' })],
  ])('rejects %s', async (_, actor) => {
    await expect(read([], actor)).rejects.toThrow('actor.json');
  });

  it('uses the handle of the hints', async () => {
    const files = writeTarGz(toExportFiles([toCreate(1, 'Hi')]));

    expect(await readBytes(files, { handle: 'ada@maps.example.org' })).toMatchObject([
      { account: { screen_name: 'ada@maps.example.org' } },
      { post: { author: { screen_name: 'ada@maps.example.org' } } },
    ]);
  });

  it('reads a truncated export and reports it', async () => {
    const texts = Array.from({ length: 400 }, (_, index) => toCreate(index + 1, `Post ${index}`));
    const files = toExportFiles(texts);
    const [media, outbox, , , actor] = files as TarMember[];
    const whole = writeTarGz([actor, media, outbox] as TarMember[]);

    const items = (await readBytes(whole.subarray(0, whole.length - 800))) ?? [];

    expect(items[0]).toMatchObject(account);
    expect(items.length).toBeGreaterThan(100);
    expect(items.at(-1)).toMatchObject({ kind: 'skipped', cause: 'fault', isCutOff: true });
  });
});

describe('private and public data', () => {
  it.each(['followers', 'direct'] as const)('is skipped: %s', async (audience) => {
    const items = await read([
      toCreate(1, '<p>Only for you</p>', { audience }),
      toAnnounce('https://other.example.org/users/ben/statuses/77', audience),
    ]);

    const skipped = { kind: 'skipped', reason: 'It is not public.', cause: 'private' };
    expect(items?.slice(1)).toEqual([
      { ...skipped, location: 'outbox.json, record 1' },
      { ...skipped, location: 'outbox.json, record 2' },
    ]);
    expect(JSON.stringify(items)).not.toContain('Only for you');
  });

  it.each([
    ['the post names other recipients than the activity', {}, audiences.direct],
    ['the activity names other recipients than the post', audiences.followers, audiences.public],
    ['nobody is named', { to: undefined, cc: undefined }, { to: undefined, cc: undefined }],
    ['the lists are empty', { to: [], cc: [] }, { to: [], cc: [] }],
    ['recipients are of another type', { to: 7, cc: {} }, { to: true, cc: null }],
  ])('is skipped if %s', async (_, ofActivity, ofPost) => {
    const create = toCreate(1, 'Secret', ofPost);

    const items = await read([{ ...create, ...ofActivity }]);

    expect(items?.slice(1)).toMatchObject([{ kind: 'skipped', cause: 'private' }]);
  });

  it.each([
    ['unlisted', audiences.unlisted],
    ['as:Public', { to: 'as:Public', cc: [] }],
    ['Public', { to: [], cc: 'Public' }],
  ])('includes a public post: %s', async (_, audience) => {
    const create = { ...toCreate(1, 'Hello', audience), ...audience };

    expect(await read([create])).toMatchObject([account, { kind: 'post' }]);
  });

  it('includes likes and bookmarks, which are never read', async () => {
    expect(JSON.stringify(await read([toCreate(1, 'Hello')]))).not.toContain('secret.test');
  });
});

describe('broken records of an outbox', () => {
  it.each([
    ['of another type', { ...toCreate(1, 'x'), type: 'Delete' }, 'field type'],
    ['that is text', 'Create', 'expected structure'],
    ['without a post', { ...toCreate(1, 'x'), object: undefined }, 'field object'],
    ['with another address', toCreate(1, 'x', { id: 'tag:x', url: null }), 'not the address'],
    [
      'with a foreign address',
      toAnnounce('https://other.example.org/display/1-2'),
      'no Mastodon address',
    ],
    [
      'of an unknown author',
      toAnnounce('https://other.example.org/objects/1-2'),
      'author of the boosted post',
    ],
    [
      'with no time',
      { ...toAnnounce('https://other.example.org/@b/1'), published: 'now' },
      'no date',
    ],
  ])('are reported: one %s', async (_, record, why) => {
    const items = await read([record, toCreate(2, 'After')]);

    expect(items).toMatchObject([
      account,
      { kind: 'skipped', location: 'outbox.json, record 1', reason: expect.stringContaining(why) },
      { kind: 'post', post: { text: 'After' } },
    ]);
  });

  it('are reported if the JSON is invalid', async () => {
    const files = toExportFiles([toCreate(1, 'One'), toCreate(2, 'Two')]).map((member) => ({
      ...member,
      content: String(member.content).replace('"type":"Note"', '"type":Note'),
    }));

    expect(await readBytes(writeTarGz(files))).toMatchObject([
      account,
      { kind: 'skipped', location: 'outbox.json, record 1', cause: 'fault' },
      { kind: 'post', post: { text: 'Two' } },
    ]);
  });
});

describe('a post of an export', () => {
  it('has text with facets from its HTML', async () => {
    const html =
      '<p>Grüße an <span class="h-card"><a href="https://other.example.org/@ben" class="u-url mention">@<span>ben</span></a></span> &amp; <strong>alle</strong> <a href="https://social.example.org/tags/karten" class="mention hashtag" rel="tag">#<span>karten</span></a></p><p>Ende :heron:</p>';

    const post = await readPost(html, {
      tag: [
        {
          type: 'Mention',
          href: 'https://other.example.org/users/ben',
          name: '@ben@other.example.org',
        },
      ],
    });

    expect(post?.post).toMatchObject({
      text: 'Grüße an @ben@other.example.org & alle #karten\n\nEnde :heron:',
      facets: [
        { type: 'mention', start: 9, end: 31, url: 'https://other.example.org/@ben' },
        { type: 'bold', start: 34, end: 38 },
        { type: 'hashtag', start: 39, end: 46, url: 'https://social.example.org/tags/karten' },
      ],
    });
  });

  it('has its content warning', async () => {
    expect((await readPost('x', { summary: 'Spiders', sensitive: true }))?.post).toMatchObject({
      content_warning: 'Spiders',
      possibly_sensitive: false,
    });
  });

  it("has the URLs of files on the account's server", async () => {
    const attachment = [
      {
        type: 'Document',
        mediaType: 'image/png',
        url: 'media_attachments/files/1/original/heron.png',
        name: 'A heron',
        width: 800,
        height: 600,
      },
      {
        type: 'Document',
        mediaType: 'video/mp4',
        url: 'https://files.example.org/film.mp4',
        name: null,
      },
    ];

    expect((await readPost('Look', { attachment }))?.post).toMatchObject({
      media: {
        photos: [
          {
            url: 'https://social.example.org/system/media_attachments/files/1/original/heron.png',
            alt: 'A heron',
            width: 800,
            height: 600,
          },
        ],
        videos: [{ url: 'https://files.example.org/film.mp4', alt: null }],
      },
    });
  });

  it('has a placeholder for the URL of a file whose server is unknown', async () => {
    const path = '/bucket/media_attachments/files/1/original/heron.png';
    const attachment = [{ mediaType: 'image/png', url: path }];

    const read = await readPost('One', { attachment });

    const url = `export:ada@social.example.org${path}`;
    expect(read?.post).toMatchObject({ media: { photos: [{ url }] } });
    expect(read?.media).toEqual([{ url, name: path.slice('/bucket/'.length) }]);
  });

  it('has the result of a poll', async () => {
    const poll = {
      type: 'Question',
      oneOf: [
        { type: 'Note', name: 'Tea', replies: { type: 'Collection', totalItems: 3 } },
        { type: 'Note', name: 'Coffee', replies: { type: 'Collection', totalItems: 1 } },
      ],
      endTime: '2023-01-05T00:00:00Z',
      votersCount: 4,
    };

    expect((await readPost('Which?', poll))?.post).toMatchObject({
      poll: {
        choices: [
          { label: 'Tea', count: 3, percentage: 75 },
          { label: 'Coffee', count: 1, percentage: 25 },
        ],
        total_votes: 4,
        ends_at: '2023-01-05T00:00:00Z',
      },
    });
  });

  it.each([
    ['https://other.example.org/users/ben/statuses/77', 'ben@other.example.org', '77'],
    ['https://other.example.org/ap/users/12/statuses/77', null, '77'],
    ['https://other.example.org/objects/a-b-c', null, null],
  ])('replies to %s', async (inReplyTo, screen_name, status) => {
    const post = await readPost('Yes', { inReplyTo });

    expect(post?.post).toMatchObject({ replying_to: { screen_name, status, url: inReplyTo } });
    expect(post?.parentId).toBe(status);
  });
});

describe('the CSV lists beside an outbox', () => {
  it('are read with and without headings', async () => {
    const files = [
      ...toExportFiles([]),
      {
        name: 'following_accounts.csv',
        content:
          'Account address,Show boosts,Notify on new posts,Languages\r\nben@other.example.org,true,false,\r\nCleo,true,false,"en, de"\r\n',
      },
      {
        name: 'followers.csv',
        content: 'dora@third.example.org\n"eve@third.example.org"\nnot a handle!\n',
      },
    ];

    const items = await readFolder(files);

    const own = 'ada@social.example.org';
    expect(items?.slice(1)).toEqual([
      { kind: 'follow', follower: own, followed: 'ben@other.example.org' },
      { kind: 'follow', follower: own, followed: 'cleo@social.example.org' },
      { kind: 'follow', follower: 'dora@third.example.org', followed: own },
      { kind: 'follow', follower: 'eve@third.example.org', followed: own },
      {
        kind: 'skipped',
        location: 'followers.csv, line 3',
        reason: 'It does not start with a handle.',
        cause: 'fault',
      },
    ]);
  });
});
