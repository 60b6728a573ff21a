import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blueskyFormat } from '../../src/archive/imports/bluesky/bluesky-format.ts';
import type { Post } from '../../src/model/post.ts';
import { shapePost } from '../../src/normalize/bluesky/normalize.ts';
import { parsePost } from '../../src/normalize/bluesky/wire.ts';
import { type ViewedRepository, viewPost } from '../support/bluesky-appview.ts';
import { dids, toBlob, toPostRecord, toTid } from '../support/exports/bluesky-records.ts';
import { toFileCid, writeRepository } from '../support/exports/car-file.ts';
import { readExport } from '../support/exports/read-export.ts';
import { fc, runs } from '../support/fast-check.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const handle = 'ada.test';
const did = dids.ada;
const firstMs = Date.UTC(2024, 0, 2);
const times: Readonly<Record<string, number>> = Object.fromEntries(
  [0, 1, 2, 3].map((hours) => [toTid(firstMs + hours * 3_600_000), firstMs + hours * 3_600_000]),
);
const keys = Object.keys(times);
const [key = ''] = keys;

type Records = ViewedRepository['records'];

/** Records of Ada that posts embed. */
const others: Records = {
  'app.bsky.actor.profile/self': {
    $type: 'app.bsky.actor.profile',
    displayName: 'Ada Fenwick',
    avatar: toBlob('avatar'),
    createdAt: '2023-04-05T06:07:08.900Z',
  },
  'app.bsky.feed.generator/herons': {
    displayName: 'Herons today',
    description: 'All of them',
    avatar: toBlob('feed'),
  },
  'app.bsky.graph.list/birds': { name: 'Bird people', description: 'They look up' },
  'app.bsky.graph.starterpack/3abc': { name: 'Start here', description: 'A few people' },
  'app.bsky.labeler.service/self': { policies: {} },
};

const embeddable = [
  ...Object.keys(others).filter((path) => !path.includes('profile')),
  ...keys.map((each) => `app.bsky.feed.post/${each}`),
].map((path) => `at://${did}/${path}`);

const refer = (uri: string) => ({ uri, cid: 'bafyx' });
const quoting = (uri: string) => ({ $type: 'app.bsky.embed.record', record: refer(uri) });

/** Reads each post of a repository from the AppView: by key, the post, or `null` if it is unreadable. */
function readLive(records: Records): ReadonlyMap<string, Post | null> {
  const of = { did, handle, records, seenMs: (tid: string) => times[tid] ?? 0 };
  const read = (tid: string) => {
    const payload = parsePost(viewPost(tid, of));
    return payload && shapePost(payload, { nowMs: Date.now(), parentAuthor: null });
  };
  const paths = Object.keys(records).filter((path) => path.includes('.feed.post/'));
  return new Map(paths.map((path) => [path.slice(-13), read(path.slice(-13))]));
}

/** Reads each post of a repository from its CAR file: by key, the post, or why it is skipped. */
async function readImported(records: Records): Promise<ReadonlyMap<string, Post | string>> {
  const path = join(temporaryFolder(), 'repo.car');
  writeFileSync(path, writeRepository(did, records));
  const items = (await readExport(blueskyFormat, path, { handle })) ?? [];
  return new Map(
    items.flatMap((item): readonly [string, Post | string][] => {
      if (item.kind === 'skipped') return [[item.location.slice(-13), item.cause]];
      return item.kind === 'post' ? [[item.post.id ?? '', item.post]] : [];
    }),
  );
}

/**
 * Returns the facts of a post that both sources have. Only the AppView has counts. It sends no description, banner and
 * website of an author, and no embeds of a quote within a quote. A repository has neither handles nor records of other
 * accounts, so the records of this suite embed only records of the same account.
 */
function pickShared(post: Post, depth = 0): unknown {
  if (post.type === 'tombstone') return post;
  const { author, replying_to: target, quote } = post;
  const isOwn = target?.url?.includes(`/profile/${handle}/`);
  return {
    ...post,
    ...{ replies: null, reposts: null, likes: null, quotes: null, bookmarks: null },
    author: { ...author, description: null, banner_url: null, website: null },
    replying_to: target && !isOwn ? { ...target, screen_name: null } : target,
    quote: quote && pickShared(quote, depth + 1),
    ...(depth === 2 && { text: null, facets: [], media: null, card: null, quote: null }),
    ...(depth === 2 && { left_out: [] }),
  };
}

async function expectSame(records: Records): Promise<ReadonlyMap<string, Post | null>> {
  const live = readLive(records);
  const imported = await readImported(records);
  for (const [tid, post] of live) {
    const found = imported.get(tid);
    if (post === null) expect(found).toBe('fault');
    else if (post.type === 'tombstone') expect(found).toBe('private');
    else
      expect(typeof found === 'string' ? found : found && pickShared(found)).toEqual(
        pickShared(post),
      );
  }
  return live;
}

const picture = { image: toBlob('one'), alt: 'A heron', aspectRatio: { width: 400, height: 300 } };
const external = {
  uri: 'https://maps.example/heron',
  title: 'Herons',
  description: 'Where they are',
  thumb: toBlob('thumb'),
};
const gif = {
  uri: 'https://media.tenor.com/x/heron.gif?hh=280&ww=498',
  title: 'a heron',
  description: 'ALT: a heron waves',
};

const cases: readonly (readonly [string, Readonly<Record<string, unknown>>, object])[] = [
  ['tags beside its text', { tags: ['sea', 'kites'] }, { tags: ['sea', 'kites'] }],
  [
    'images, also of old records',
    {
      embed: {
        $type: 'app.bsky.embed.images',
        images: [picture, { image: { cid: toFileCid('two').toString(), mimeType: 'x' }, alt: '' }],
      },
    },
    { media: { photos: [{ alt: 'A heron', width: 400 }, { alt: null }] } },
  ],
  [
    'a gallery',
    { embed: { $type: 'app.bsky.embed.gallery', items: [picture] } },
    { media: { photos: [{ alt: 'A heron' }] } },
  ],
  [
    'a video that is shown as a GIF',
    { embed: { $type: 'app.bsky.embed.video', video: toBlob('film'), presentation: 'gif' } },
    { media: { videos: [{ type: 'gif' }] } },
  ],
  [
    'a link to a GIF',
    { embed: { $type: 'app.bsky.embed.external', external: gif } },
    { card: null, media: { videos: [{ type: 'gif', alt: 'a heron waves', width: 498 }] } },
  ],
  [
    'a web page with a picture',
    { embed: { $type: 'app.bsky.embed.external', external } },
    { card: { title: 'Herons', image_url: expect.stringContaining('/feed_thumbnail/') } },
  ],
  [
    'a feed',
    { embed: quoting(`at://${did}/app.bsky.feed.generator/herons`) },
    {
      card: {
        url: 'https://bsky.app/profile/ada.test/feed/herons',
        title: 'Herons today',
        description: 'All of them',
        image_url: expect.stringContaining('/avatar/'),
      },
    },
  ],
  [
    'a starter pack',
    { embed: quoting(`at://${did}/app.bsky.graph.starterpack/3abc`) },
    { card: { url: 'https://bsky.app/starter-pack/ada.test/3abc', title: 'Start here' } },
  ],
  [
    'a labeler',
    { embed: quoting(`at://${did}/app.bsky.labeler.service/self`) },
    { card: { url: 'https://bsky.app/profile/ada.test', title: 'Ada Fenwick' } },
  ],
  [
    'a list below a web page',
    {
      text: '',
      embed: {
        $type: 'app.bsky.embed.recordWithMedia',
        record: quoting(`at://${did}/app.bsky.graph.list/birds`),
        media: { $type: 'app.bsky.embed.external', external },
      },
    },
    { card: { title: 'Herons' }, text: 'https://bsky.app/profile/ada.test/lists/birds' },
  ],
  [
    'an unreadable facet, tag and picture',
    {
      tags: ['sea', 7],
      facets: [{ index: {} }],
      embed: { $type: 'app.bsky.embed.images', images: [{ ...picture, alt: 7 }] },
    },
    { tags: ['sea'], left_out: ['facets', 'tags'], media: { photos: [{ alt: null }] } },
  ],
  [
    'links and mentions in the form of 2022',
    {
      text: '🐦 a.example @ben',
      entities: [
        { index: { start: 3, end: 12 }, type: 'link', value: 'https://a.example/' },
        { index: { start: 13, end: 17 }, type: 'mention', value: dids.ben },
        { index: { start: 13, end: 18 }, type: 'link', value: 'https://b.example/' },
      ],
    },
    {
      facets: [
        { type: 'link', start: 2, end: 11, url: 'https://a.example/' },
        { type: 'mention', start: 12, end: 16, url: `https://bsky.app/profile/${dids.ben}` },
      ],
    },
  ],
  [
    'a label for adult content',
    { labels: { values: [{ val: 'sexual' }] } },
    { possibly_sensitive: true, content_warning: null },
  ],
  [
    'a time long before it was seen',
    { createdAt: '2011-08-06T20:06:00.000Z' },
    { created_at: '2011-08-06T20:06:00Z', indexed_at: '2024-01-02T00:00:00Z' },
  ],
  ['no time', { createdAt: 'yesterday' }, { created_at: '2024-01-02T00:00:00Z' }],
  [
    'a time in the future',
    { createdAt: '2999-01-01T00:00:00Z' },
    { created_at: '2024-01-02T00:00:00Z' },
  ],
];

describe('a Bluesky record', () => {
  it.each(cases)('is the same post live and imported: %s', async (_, more, shown) => {
    const record = { ...toPostRecord('Hello', '2024-01-01T23:59:59.500Z'), ...more };

    const posts = await expectSame({ ...others, [`app.bsky.feed.post/${key}`]: record });

    expect(posts.get(key)).toMatchObject(shown);
  });

  it('has a quote by the address of the post, and the quote in this quote', async () => {
    const toRecord = (text: string, quoted?: string) => {
      const embed =
        quoted === undefined ? {} : { embed: quoting(`at://${did}/app.bsky.feed.post/${quoted}`) };
      return toPostRecord(text, '2024-01-01T23:59:59.500Z', embed);
    };
    const texts = keys.map((tid, index) => [
      `app.bsky.feed.post/${tid}`,
      toRecord(`Post ${index}`, keys[index - 1]),
    ]);

    const posts = await expectSame({ ...others, ...Object.fromEntries(texts) });

    expect(posts.get(keys[2] ?? '')).toMatchObject({
      text: 'Post 2',
      quote: { text: 'Post 1', quote: { text: 'Post 0', quote: null } },
    });
  });

  it('is the same post live and imported for arbitrary records', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(post, post, post, post), async (records) => {
        const posts = records.map((record, index) => [`app.bsky.feed.post/${keys[index]}`, record]);
        await expectSame({ ...others, ...Object.fromEntries(posts) });
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('an imported post', () => {
  it.each([
    ['feed.post/3kabc', 'profile/%/post/3kabc', 'Quoted post'],
    ['feed.generator/herons', 'profile/%/feed/herons', 'Feed'],
    ['graph.list/birds', 'profile/%/lists/birds', 'List'],
    ['graph.starterpack/3abc', 'starter-pack/%/3abc', 'Starter pack'],
    ['labeler.service/self', 'profile/%', 'Labeler'],
  ])('links to a record of another account: %s', async (path, page, title) => {
    const embed = quoting(`at://${dids.ben}/app.bsky.${path}`);
    const record = toPostRecord('Look', '2024-01-02T00:00:00Z', { embed });

    const posts = await readImported({ [`app.bsky.feed.post/${key}`]: record });

    const url = `https://bsky.app/${page.replace('%', dids.ben)}`;
    expect(posts.get(key)).toMatchObject({
      quote: null,
      card: { url, title, description: null, image_url: null },
    });
  });

  const images = { $type: 'app.bsky.embed.images', images: [picture] };
  const both = { $type: 'app.bsky.embed.recordWithMedia', media: images };
  it.each([
    ['no record', both, ['A heron'], undefined],
    ['an odd record', { ...both, record: 7 }, ['A heron'], ['embed']],
    ['a record without address', { ...both, record: { record: 'odd' } }, ['A heron'], undefined],
    ['a video without file', { $type: 'app.bsky.embed.video', video: { size: 7 } }, [], ['embed']],
    ['an unknown type', { $type: 'app.test.embed.map', map: { of: 'sea' } }, [], ['embed']],
  ])('names what is unreadable of its embed, and keeps the rest: %s', async (...row) => {
    const [, embed, alts, lost] = row;
    const record = toPostRecord('Look', '2024-01-02T00:00:00Z', { embed });

    const post = (await readImported({ [`app.bsky.feed.post/${key}`]: record })).get(key);

    expect(post).toMatchObject({ media: { all: alts.map((alt) => ({ alt })) } });
    expect(typeof post === 'object' ? { ...post } : post).toHaveProperty('text', 'Look');
    expect(Object(post).left_out).toEqual(lost);
  });

  it('is skipped if it has no time, and its key only one in the future', async () => {
    const ahead = toTid(Date.UTC(2099, 0));

    const posts = await readImported({
      [`app.bsky.feed.post/${ahead}`]: toPostRecord('Hello', 'tomorrow'),
    });

    expect(posts.get(ahead)).toBe('fault');
  });

  it('keeps its time if its key is older or was made up', async () => {
    const toRecord = (createdAt: string) => toPostRecord('Hello', createdAt);
    const madeUp = toTid(Date.UTC(2020, 0, 1));

    const posts = await readImported({
      [`app.bsky.feed.post/${key}`]: toRecord('2024-03-01T00:00:00Z'),
      [`app.bsky.feed.post/${madeUp}`]: toRecord('2011-01-01T00:00:00Z'),
      [`app.bsky.feed.post/${toTid(Date.UTC(2099, 0))}`]: toPostRecord(
        'Hi',
        '2011-01-01T00:00:00Z',
      ),
      'app.bsky.feed.post/first': toPostRecord('Hello again', '2011-01-01T00:00:00Z'),
    });

    expect([...posts.values()]).toMatchObject([
      { created_at: '2011-01-01T00:00:00Z' },
      { created_at: '2024-03-01T00:00:00Z' },
      { created_at: '2011-01-01T00:00:00Z' },
      { created_at: '2011-01-01T00:00:00Z' },
    ]);
    for (const each of posts.values()) expect(each).not.toHaveProperty('indexed_at');
  });
});

// Arbitrary records. A list has valid rows and others.

const odd = fc.constantFrom<unknown>(null, 7, '', 'odd', [], {}, { val: 7 }, true);
const orOdd = (valid: fc.Arbitrary<unknown>) => fc.oneof({ weight: 6, arbitrary: valid }, odd);
const listOf = (row: fc.Arbitrary<unknown>) => orOdd(fc.array(orOdd(row), { maxLength: 4 }));
const words = fc.string({ unit: 'binary', maxLength: 30 });
const byte = fc.integer({ min: -1, max: 40 });

const feature = fc.oneof(
  fc.record({
    $type: fc.constant('app.bsky.richtext.facet#link'),
    uri: fc.constantFrom('https://a.example/', 'javascript:alert(1)', ''),
  }),
  fc.record({
    $type: fc.constant('app.bsky.richtext.facet#mention'),
    did: fc.constantFrom(dids.ben, 'did:', 'ben'),
  }),
  fc.record({ $type: fc.constant('app.bsky.richtext.facet#tag'), tag: words }),
  fc.record({ $type: fc.constant('app.bsky.richtext.facet#new') }),
);
const facet = fc.record({
  index: orOdd(fc.record({ byteStart: byte, byteEnd: byte })),
  features: listOf(feature),
});

const entity = fc.record({
  index: orOdd(fc.record({ start: byte, end: byte })),
  type: fc.constantFrom('link', 'mention', 'hashtag', 'new'),
  value: fc.constantFrom('https://a.example/', dids.ben, 'ben.test', 'javascript:alert(1)', ''),
});

const file = fc.constantFrom<unknown>(toBlob('one'), toBlob('two', 'image/png'), {
  cid: toFileCid('old').toString(),
  mimeType: 'image/png',
});
const size = fc.record({ width: fc.nat(2000), height: fc.nat(2000) });
const described = { alt: orOdd(words), aspectRatio: orOdd(size) };
const pictures = fc.array(fc.record({ image: file, ...described }, { requiredKeys: ['image'] }), {
  maxLength: 3,
});
const media = fc.oneof(
  fc.record({ $type: fc.constant('app.bsky.embed.images'), images: pictures }),
  fc.record({ $type: fc.constant('app.bsky.embed.gallery'), items: pictures }),
  fc.record(
    {
      $type: fc.constant('app.bsky.embed.video'),
      video: file,
      ...described,
      presentation: fc.constantFrom('gif', 'default'),
    },
    { requiredKeys: ['$type', 'video'] },
  ),
  fc.record({
    $type: fc.constant('app.bsky.embed.external'),
    external: fc.record(
      {
        uri: fc.constantFrom(
          external.uri,
          gif.uri,
          'https://static.klipy.com/a.gif',
          'ftp://x',
          '',
        ),
        title: orOdd(words),
        description: orOdd(fc.constantFrom('', 'Alt: a heron', 'A page')),
        thumb: file,
      },
      { requiredKeys: ['uri'] },
    ),
  }),
);
const embedded = fc.constantFrom(...embeddable).map(quoting);

const post = fc.record(
  {
    $type: fc.constant('app.bsky.feed.post'),
    text: fc.oneof({ weight: 9, arbitrary: words }, odd),
    // A time between that of the key and now is left out: only the AppView knows that the post is older.
    createdAt: fc.oneof(
      fc
        .integer({ min: 0, max: 4000 })
        .map((days) => new Date(firstMs - days * 43_200_000).toISOString()),
      fc.constantFrom<unknown>('2999-01-01T00:00:00Z', 'yesterday', 7),
    ),
    facets: listOf(facet),
    entities: listOf(entity),
    langs: listOf(fc.constantFrom('en', 'pt-BR', 'x', 'not a language')),
    tags: listOf(words),
    labels: orOdd(
      fc.record({
        values: fc.array(
          orOdd(fc.constantFrom('porn', 'gore', '!hide', '!warn', 'spam').map((val) => ({ val }))),
          { maxLength: 2 },
        ),
      }),
    ),
    reply: orOdd(
      fc
        .constantFrom(...embeddable, `at://${dids.ben}/app.bsky.feed.post/3kabc`)
        .map((uri) => ({ root: refer(uri), parent: refer(uri) })),
    ),
    embed: fc.oneof(
      media,
      embedded,
      fc.record({ $type: fc.constant('app.bsky.embed.recordWithMedia'), record: embedded, media }),
      fc.constant({ $type: 'app.bsky.embed.hologram', hologram: {} }),
    ),
  },
  { requiredKeys: ['$type', 'text'] },
);
