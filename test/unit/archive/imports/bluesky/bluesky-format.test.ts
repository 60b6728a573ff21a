import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { blueskyFormat } from '../../../../../src/archive/imports/bluesky/bluesky-format.ts';
import { dids, toBlob, toPostRecord, toTid } from '../../../../support/exports/bluesky-records.ts';
import {
  addressBytes,
  type Block,
  blocksOf,
  buildRepository,
  frame,
  toBlock,
  toFileCid,
  writeCar,
  writeRepository,
} from '../../../../support/exports/car-file.ts';
import { openSource, readExport } from '../../../../support/exports/read-export.ts';
import { temporaryFolder } from '../../../../support/spawn-perch.ts';

const profile = {
  $type: 'app.bsky.actor.profile',
  displayName: 'Ada Fenwick',
  description: 'Draws maps.',
  avatar: toBlob('avatar'),
  createdAt: '2023-04-05T06:07:08.900Z',
};

const hello = toTid(Date.UTC(2024, 0, 2));
const answer = toTid(Date.UTC(2024, 0, 3));

const records = {
  'app.bsky.actor.profile/self': profile,
  'app.bsky.feed.like/3kaaaaaaaaa22': { $type: 'app.bsky.feed.like', subject: {} },
  [`app.bsky.feed.post/${hello}`]: toPostRecord('Hello', '2024-01-02T03:04:05.678Z'),
  [`app.bsky.feed.post/${answer}`]: toPostRecord('And more', '2024-01-03T00:00:00Z', {
    reply: {
      root: { uri: `at://${dids.ada}/app.bsky.feed.post/${hello}`, cid: 'x' },
      parent: { uri: `at://${dids.ada}/app.bsky.feed.post/${hello}`, cid: 'x' },
    },
  }),
  'app.bsky.feed.repost/3kbbbbbbbbb22': {
    $type: 'app.bsky.feed.repost',
    subject: { uri: `at://${dids.ben}/app.bsky.feed.post/3kccccccccc22`, cid: 'x' },
    createdAt: '2024-02-01T00:00:00.000Z',
  },
  'app.bsky.graph.follow/3kddddddddd22': {
    $type: 'app.bsky.graph.follow',
    subject: dids.ben,
    createdAt: '2024-02-02T00:00:00.000Z',
  },
};

function readBytes(bytes: Uint8Array, hints?: { readonly handle?: string }) {
  const path = join(temporaryFolder(), 'repo.car');
  writeFileSync(path, bytes);
  return readExport(blueskyFormat, path, hints);
}

async function readPosts(of: Readonly<Record<string, unknown>>) {
  const items = (await readBytes(writeRepository(dids.ada, of))) ?? [];
  return items.flatMap((item) =>
    item.kind === 'post' && item.post.type === 'status' ? [item.post] : [],
  );
}

async function readPost(record: unknown) {
  const [post] = await readPosts({ [`app.bsky.feed.post/${hello}`]: record });
  return post;
}

describe('the Bluesky format', () => {
  it('yields to the event loop while it reads', async () => {
    const path = join(temporaryFolder(), 'repo.car');
    const many = Array.from({ length: 1000 }, (_, index) => [
      `app.bsky.feed.post/${toTid(Date.UTC(2024, 0, 2) + index)}`,
      toPostRecord(`Post ${index}`, '2024-01-02T03:04:05.678Z'),
    ]);
    writeFileSync(path, writeRepository(dids.ada, Object.fromEntries(many)));
    const source = await openSource(blueskyFormat, path);
    if (source === null) throw new Error('It is not taken for a repository.');
    onTestFinished(() => source.close());
    let read = 0;
    let atTurn: number | undefined;

    for await (const group of source.groups()) {
      if (read === 0) setImmediate(() => (atTurn = read));
      read += group.length;
    }

    expect(read).toBe(1001);
    expect(atTurn).toBeLessThan(500);
  });

  it('reads the account, its posts, reposts and follows', async () => {
    const items = await readBytes(writeRepository(dids.ada, records));

    expect(items).toMatchObject([
      {
        kind: 'account',
        account: {
          id: dids.ada,
          screen_name: dids.ada,
          name: 'Ada Fenwick',
          description: 'Draws maps.',
          avatar_url: `https://cdn.bsky.app/img/avatar/plain/${dids.ada}/${toFileCid('avatar')}@jpeg`,
          joined: '2023-04-05T06:07:08Z',
          protected: false,
        },
      },
      {
        kind: 'post',
        parentId: null,
        created: 1704164645.678,
        post: {
          id: hello,
          text: 'Hello',
          url: `https://bsky.app/profile/${dids.ada}/post/${hello}`,
          created_at: '2024-01-02T03:04:05Z',
          lang: 'en',
        },
      },
      {
        kind: 'post',
        parentId: hello,
        post: { id: answer, replying_to: { screen_name: dids.ada, status: hello } },
      },
      {
        kind: 'repost',
        handle: dids.ada,
        postHandle: dids.ben,
        postId: '3kccccccccc22',
        created: 1706745600,
      },
      { kind: 'follow', follower: dids.ada, followed: dids.ben },
    ]);
  });

  it('uses the handle of the hints', async () => {
    const items = await readBytes(writeRepository(dids.ada, records), { handle: 'ada.test' });

    expect(items).toMatchObject([
      { account: { id: dids.ada, screen_name: 'ada.test' } },
      { post: { url: `https://bsky.app/profile/ada.test/post/${hello}` } },
      { post: { replying_to: { screen_name: 'ada.test' } } },
      { handle: 'ada.test' },
      { follower: 'ada.test' },
    ]);
  });

  it('takes no facts from a profile that only Bluesky knows', async () => {
    const boast = {
      ...profile,
      followersCount: 1_000_000,
      verification: { verifiedStatus: 'valid' },
      handle: 'other.test',
      did: dids.ben,
    };

    const items = await readBytes(
      writeRepository(dids.ada, { ...records, 'app.bsky.actor.profile/self': boast }),
    );

    expect(items).toEqual(await readBytes(writeRepository(dids.ada, records)));
  });

  it('rejects an account that needs a handle', async () => {
    const web = writeRepository('did:web:ada.test', records);
    const local = writeRepository('did:web:localhost%3A8080', records);

    await expect(readBytes(local)).rejects.toThrow('Set --handle to the handle');
    await expect(readBytes(local, { handle: 'ada.test' })).resolves.toHaveLength(5);
    await expect(readBytes(web)).resolves.toHaveLength(5);
  });

  it('reads the same items from any order of blocks', async () => {
    const built = buildRepository(dids.ada, records);
    const upside = writeCar(built.commit.cid, blocksOf(built).toReversed());

    expect(await readBytes(upside)).toEqual(await readBytes(writeRepository(dids.ada, records)));
  });

  it('reads a deep tree in the order of its keys', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 700 }, (_, index) => [
        `app.bsky.feed.post/${toTid(Date.UTC(2024, 0, 1) + index * 60_000)}`,
        toPostRecord(
          `Post ${index}`,
          new Date(Date.UTC(2024, 0, 1) + index * 60_000).toISOString(),
        ),
      ]),
    );

    const posts = await readPosts(many);

    expect(posts.map(({ text }) => text)).toEqual(
      Array.from({ length: 700 }, (_, index) => `Post ${index}`),
    );
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('Hello, this is a letter.')],
    ['a length and no more', Buffer.from([0x3a])],
    ['JSON', Buffer.from('{"roots":[],"version":1}')],
  ])('does not recognize %s as a repository', async (_, bytes) => {
    expect(await readBytes(bytes)).toBeNull();
  });

  it('does not recognize a folder as a repository', async () => {
    expect(await openSource(blueskyFormat, temporaryFolder())).toBeNull();
  });

  it('rejects other versions of CAR', async () => {
    const { cid } = toBlock({});
    const header = toBlock({ roots: [cid], version: 2 });

    await expect(readBytes(frame(header.bytes))).rejects.toThrow('version 2');
    // A file of version 2 starts with a header that has only the version.
    const pragma = toBlock({ version: 2 });
    await expect(readBytes(frame(pragma.bytes))).rejects.toThrow('version 2');
  });

  it('rejects a file without the commit', async () => {
    const { commit, nodes, records: blocks } = buildRepository(dids.ada, records);
    const headless = writeCar(commit.cid, [...nodes, ...blocks.values()]);

    await expect(readBytes(headless)).rejects.toThrow(
      'commit cannot be read. It is not in the file.',
    );
  });
});

describe('a damaged repository', () => {
  const built = buildRepository(dids.ada, records);
  const postPath = `app.bsky.feed.post/${hello}`;
  const spoil = (path: string, swap: (block: Block) => Block | null) => {
    const blocks = blocksOf(built).flatMap((block) => {
      const swapped = block === built.records.get(path) ? swap(block) : block;
      return swapped === null ? [] : [swapped];
    });
    return writeCar(built.commit.cid, blocks);
  };

  const forged = toBlock(toPostRecord('Forged', '2024-01-02T03:04:05.678Z')).bytes;

  it.each([
    ['is missing', () => null, 'It is not in the file.'],
    [
      'has content of another hash',
      ({ cid }: Block) => ({ cid, bytes: forged }),
      'Its content does not match its CID.',
    ],
  ])('reports a record that %s, and reads the rest', async (_, swap, reason) => {
    const items = await readBytes(spoil(postPath, swap));

    expect(items).toHaveLength(5);
    expect(JSON.stringify(items)).not.toContain('Forged');
    expect(items).toContainEqual({ kind: 'skipped', location: postPath, reason, cause: 'fault' });
  });

  it('reads the records of a truncated file', async () => {
    const whole = writeRepository(dids.ada, records);

    const items = await readBytes(whole.subarray(0, whole.length - 10));

    expect(items?.filter(({ kind }) => kind === 'skipped')).toMatchObject([
      {
        location: 'the file',
        reason: expect.stringMatching(/^The file ends within the block at byte/),
      },
      { location: 'app.bsky.graph.follow/3kddddddddd22', reason: 'It is not in the file.' },
    ]);
    expect(items?.filter(({ kind }) => kind === 'post')).toHaveLength(2);
  });

  it('hides an account with an unreadable profile', async () => {
    const items = await readBytes(spoil('app.bsky.actor.profile/self', () => null));

    expect(items?.[0]).toMatchObject({ kind: 'account', account: { protected: true } });
    expect(items?.[1]).toMatchObject({ kind: 'skipped', location: 'app.bsky.actor.profile/self' });
  });

  it('hides an account if the start of the tree is missing', async () => {
    const { commit, records: blocks } = built;

    const items = await readBytes(writeCar(commit.cid, [commit, ...blocks.values()]));

    expect(items).toMatchObject([
      { kind: 'skipped', location: 'the record tree at its start' },
      { kind: 'account', account: { protected: true } },
      { kind: 'skipped', location: 'app.bsky.actor.profile/self' },
    ]);
  });

  it('reads a record once that the repository refers to twice', async () => {
    const record = toPostRecord('Hello', '2024-01-02T03:04:05.678Z');
    const [first, second] = [hello, answer].map((key) => `app.bsky.feed.post/${key}`);

    const items = await readBytes(
      writeRepository(dids.ada, { [`${first}`]: record, [`${second}`]: record }),
    );

    const found = items?.filter(({ kind }) => kind !== 'account');
    expect(found).toMatchObject([
      { kind: 'post', post: { text: 'Hello' } },
      { kind: 'skipped', reason: 'The repository refers to this record twice.' },
    ]);
  });

  it('rejects a repository whose posts quote a large post too often', async () => {
    const large = toPostRecord('Large', '2024-01-02T00:00:00Z', { more: 'x'.repeat(300_000) });
    const uri = `at://${dids.ada}/app.bsky.feed.post/${hello}`;
    const embed = { $type: 'app.bsky.embed.record', record: { uri, cid: 'x' } };
    const quotes = Array.from({ length: 600 }, (_, index) => [
      `app.bsky.feed.post/${toTid(Date.UTC(2024, 1, 2) + index)}`,
      toPostRecord(`Quote ${index}`, '2024-02-02T03:04:05.678Z', { embed }),
    ]);
    const of = { [`app.bsky.feed.post/${hello}`]: large, ...Object.fromEntries(quotes) };

    const reading = readBytes(writeRepository(dids.ada, of));

    await expect(reading).rejects.toThrow('The repository refers to its blocks too often.');
  });

  it('stops at a node that the tree refers to twice', async () => {
    const leaf = built.records.get(postPath) ?? toBlock({});
    const entry = { p: 0, k: Buffer.from(postPath), v: leaf.cid, t: null };
    const shared = toBlock({ l: null, e: [entry] });
    const fork = (l: Block, t: Block, key: string) =>
      toBlock({ l: l.cid, e: [{ ...entry, k: Buffer.from(key), t: t.cid }] });
    const lower = fork(shared, shared, 'app.bsky.feed.post/zz');
    const root = fork(lower, lower, 'app.bsky.feed.post/zzz');
    const commit = toBlock({ did: dids.ada, version: 3, data: root.cid, rev: 'x', prev: null });

    const items = await readBytes(writeCar(commit.cid, [commit, root, lower, shared, leaf]));

    expect(items?.filter(({ kind }) => kind === 'post')).toHaveLength(1);
    expect(items?.filter(({ kind }) => kind === 'skipped')).toMatchObject([
      { reason: 'The tree refers to this node twice.' },
      { reason: 'The tree refers to this node twice.' },
      { reason: 'The repository refers to this record twice.' },
      { reason: 'The repository refers to this record twice.' },
    ]);
  });

  it.each([
    ['no map', 'Hello'],
    ['of another collection', { $type: 'app.bsky.feed.like' }],
    ['without a text', { $type: 'app.bsky.feed.post', createdAt: '2024-01-02T03:04:05Z' }],
    ['with a text of another type', toPostRecord(7 as unknown as string, '2024-01-02T03:04:05Z')],
  ])('reports a post that is %s', async (_, record) => {
    const items = await readBytes(writeRepository(dids.ada, { [postPath]: record }));

    expect(items?.slice(1)).toEqual([
      {
        kind: 'skipped',
        location: postPath,
        reason: 'It is not a valid record of its collection.',
        cause: 'fault',
      },
    ]);
  });

  it.each([
    ['is nested too deeply', Buffer.alloc(500_000, 0x81)],
    ['has a wrong length', Buffer.from('9b00000000ffffffff', 'hex')],
  ])('reports a record that %s', async (_, bytes) => {
    const bomb = addressBytes(bytes);
    const root = toBlock({
      l: null,
      e: [{ p: 0, k: Buffer.from(postPath), v: bomb.cid, t: null }],
    });
    const commit = toBlock({ did: dids.ada, version: 3, data: root.cid, rev: 'x', prev: null });

    const items = await readBytes(writeCar(commit.cid, [commit, root, bomb]));

    expect(items?.slice(1)).toMatchObject([{ location: postPath, reason: 'It is not DAG-CBOR.' }]);
  });

  it('takes the time from the key of a post without a date', async () => {
    expect(await readPost(toPostRecord('Hello', 'yesterday'))).toMatchObject({
      created_at: '2024-01-02T00:00:00Z',
    });
  });
});

describe('an account hidden from logged-out visitors', () => {
  it('is protected and reported', async () => {
    const labels = {
      $type: 'com.atproto.label.defs#selfLabels',
      values: [{ val: '!no-unauthenticated' }],
    };
    const shy = { ...records, 'app.bsky.actor.profile/self': { ...profile, labels } };

    const items = await readBytes(writeRepository(dids.ada, shy));

    expect(items?.slice(0, 2)).toMatchObject([
      { kind: 'account', account: { protected: true } },
      { kind: 'skipped', cause: 'private' },
    ]);
    expect(items).toHaveLength(6);
    for (const item of items ?? []) {
      if (item.kind === 'post') expect(item.post.author?.protected).toBe(true);
    }
  });
});

describe('a post with a label of its author', () => {
  it.each(['!no-unauthenticated', '!hide'])('is skipped with %s', async (val) => {
    const labels = { $type: 'com.atproto.label.defs#selfLabels', values: [{ val }] };
    const record = toPostRecord('Hello', '2024-01-02T03:04:05Z', { labels });
    const path = `app.bsky.feed.post/${hello}`;

    const items = await readBytes(writeRepository(dids.ada, { [path]: record }));

    expect(items?.slice(1)).toMatchObject([{ kind: 'skipped', location: path, cause: 'private' }]);
  });
});

describe('a post of a repository', () => {
  it('has facets by UTF-8 byte offsets', async () => {
    const text = 'Grüße 🐦 an @ben, siehe bsky.app #vögel';
    const bytesOf = (part: string) => {
      const start = Buffer.byteLength(text.slice(0, text.indexOf(part)));
      return { byteStart: start, byteEnd: start + Buffer.byteLength(part) };
    };
    const mark = (part: string, feature: object) => ({ index: bytesOf(part), features: [feature] });
    const facets = [
      mark('#vögel', { $type: 'app.bsky.richtext.facet#tag', tag: 'vögel' }),
      mark('@ben', { $type: 'app.bsky.richtext.facet#mention', did: dids.ben }),
      mark('bsky.app', { $type: 'app.bsky.richtext.facet#link', uri: 'https://bsky.app/about' }),
      {
        index: { byteStart: 3, byteEnd: 9 },
        features: [{ $type: 'app.bsky.richtext.facet#tag', tag: 'cut' }],
      },
      {
        index: { byteStart: 0, byteEnd: 999 },
        features: [{ $type: 'app.bsky.richtext.facet#tag', tag: 'out' }],
      },
      { index: { byteStart: 0, byteEnd: 4 }, features: [{ $type: 'app.bsky.richtext.facet#new' }] },
    ];

    const post = await readPost(toPostRecord(text, '2024-01-02T03:04:05Z', { facets }));

    const letters = [...text];
    expect(
      post?.facets.map(({ start, end, type, url }) => [
        letters.slice(start, end).join(''),
        type,
        url,
      ]),
    ).toEqual([
      ['@ben', 'mention', `https://bsky.app/profile/${dids.ben}`],
      ['bsky.app', 'link', 'https://bsky.app/about'],
      ['#vögel', 'hashtag', 'https://bsky.app/hashtag/v%C3%B6gel'],
    ]);
  });

  it('has the URLs of images, also for old records', async () => {
    const images = [
      { image: toBlob('one'), alt: 'A heron', aspectRatio: { width: 400, height: 300 } },
      { image: { cid: toFileCid('two').toString(), mimeType: 'image/png' }, alt: '' },
      { image: { cid: 'nonsense', mimeType: 'image/png' }, alt: '' },
    ];

    const post = await readPost(
      toPostRecord('Look', '2024-01-02T03:04:05Z', {
        embed: { $type: 'app.bsky.embed.images', images },
      }),
    );

    const url = (name: string) =>
      `https://cdn.bsky.app/img/feed_fullsize/plain/${dids.ada}/${toFileCid(name)}@jpeg`;
    expect(post?.media.photos).toEqual([
      { type: 'photo', url: url('one'), width: 400, height: 300, alt: 'A heron' },
      { type: 'photo', url: url('two'), width: null, height: null, alt: null },
    ]);
  });

  it('has the playlist of a video', async () => {
    const post = await readPost(
      toPostRecord('Look', '2024-01-02T03:04:05Z', {
        embed: { $type: 'app.bsky.embed.video', video: toBlob('film', 'video/mp4') },
      }),
    );

    const folder = `https://video.bsky.app/watch/did%3Aplc%3A${'a'.repeat(24)}/${toFileCid('film')}`;
    expect(post?.media.videos).toMatchObject([
      { type: 'video', url: `${folder}/playlist.m3u8`, thumbnail_url: `${folder}/thumbnail.jpg` },
    ]);
  });

  it('has a card for a web page only', async () => {
    const external = {
      uri: 'https://maps.test/heron',
      title: 'Herons',
      description: 'Where they are',
    };
    const show = (of: object) =>
      readPost(
        toPostRecord('Look', '2024-01-02T03:04:05Z', {
          embed: { $type: 'app.bsky.embed.external', external: of },
        }),
      );

    expect((await show(external))?.card).toEqual({
      url: 'https://maps.test/heron',
      title: 'Herons',
      description: 'Where they are',
      image_url: null,
    });
    expect((await show({ ...external, uri: 'javascript:alert(1)' }))?.card).toBeNull();
  });

  it('contains a quoted post of the same author', async () => {
    const first = toPostRecord('Hello', '2024-01-02T03:04:05Z');
    const uri = `at://${dids.ada}/app.bsky.feed.post/${hello}`;
    const record = { uri, cid: toBlock(first).cid.toString() };

    const posts = await readPosts({
      [`app.bsky.feed.post/${hello}`]: first,
      [`app.bsky.feed.post/${answer}`]: toPostRecord('As I said', '2024-01-03T03:04:05Z', {
        embed: { $type: 'app.bsky.embed.record', record },
      }),
    });

    expect(posts[1]).toMatchObject({ card: null, quote: { id: hello, text: 'Hello' } });
  });

  it('links to a quoted post of another account', async () => {
    const record = { uri: `at://${dids.ben}/app.bsky.feed.post/3kccccccccc22`, cid: 'x' };
    const url = `https://bsky.app/profile/${dids.ben}/post/3kccccccccc22`;
    const external = { uri: 'https://maps.test/', title: 'Maps', description: '' };
    const quoting = { $type: 'app.bsky.embed.record', record };

    const alone = await readPost(
      toPostRecord('So true', '2024-01-02T03:04:05Z', { embed: quoting }),
    );
    const both = await readPost(
      toPostRecord('So true 🐦', '2024-01-02T03:04:05Z', {
        embed: {
          $type: 'app.bsky.embed.recordWithMedia',
          record: quoting,
          media: { $type: 'app.bsky.embed.external', external },
        },
      }),
    );

    expect(alone).toMatchObject({
      quote: null,
      card: { url, title: 'Quoted post' },
      text: 'So true',
    });
    expect(both).toMatchObject({
      card: { title: 'Maps' },
      text: `So true 🐦\n\n${url}`,
      facets: [{ type: 'link', start: 11, end: 11 + url.length, url }],
    });
  });

  it('is sensitive if its author labels it', async () => {
    const labels = {
      $type: 'com.atproto.label.defs#selfLabels',
      values: [{ val: 'graphic-media' }, { val: 'something-else' }, 7],
    };

    expect(await readPost(toPostRecord('Look', '2024-01-02T03:04:05Z', { labels }))).toMatchObject({
      possibly_sensitive: true,
    });
  });
});
