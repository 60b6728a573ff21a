import { describe, expect, it } from 'vitest';
import { bskyDid, bskyFacet, bskyImages, bskyLabel } from '../support/bluesky-payloads.ts';
import { buildTestApp } from '../support/build-app.ts';
import { createFakeBluesky, type FakeBluesky } from '../support/fake-bluesky.ts';
import { fillArchive } from '../support/imported-archive.ts';
import { upstream } from '../support/listen.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const handle = 'mira.test';
const did = bskyDid(handle);
const encoded = encodeURIComponent(did);

async function setUp(prepare: (fake: FakeBluesky) => void = () => {}) {
  const fake = createFakeBluesky();
  const text = 'Ä heron at nowhere… @tove.test #birds';
  const root = fake.addPost(handle, {
    rkey: '3kroot',
    text,
    embed: bskyImages('heron'),
    record: {
      facets: [
        bskyFacet(text, 'nowhere…', {
          $type: 'app.bsky.richtext.facet#link',
          uri: 'https://nowhere.example/herons',
        }),
        bskyFacet(text, '#birds', { $type: 'app.bsky.richtext.facet#tag', tag: 'birds' }),
      ],
    },
  });
  fake.addPost(handle, { rkey: '3kmore', text: 'It stands', parent: root });
  fake.addPost('tove.test', { rkey: '3kreply', text: 'Still?', parent: root });
  fake.follow('tove.test', handle);
  prepare(fake);
  const host = await upstream(fake.handler);
  const folder = temporaryFolder();
  fillArchive(folder, ['bluesky']);
  const app = await buildTestApp({
    env: { PERCH_BLUESKY_URL: host.url, PERCH_DATA_DIR: folder },
  });
  return { app, fake, host, root };
}

const postUrl = `https://bsky.app/profile/${handle}/post/3kroot`;

describe('a post of Bluesky', () => {
  it('is read by its URL, by its permalink, by handle and id, and by DID', async () => {
    const { app } = await setUp();

    const replies = await Promise.all(
      [
        `/api/v1/posts?url=${postUrl}`,
        `/${handle}/status/3kroot`,
        `/api/v1/posts?handle=@Mira.Test&id=3kroot`,
        `/api/v1/posts?url=https://bsky.app/profile/${did}/post/3kroot`,
        `/${encoded}/status/3kroot`,
        `/api/v1/posts?handle=${encoded}&id=3kroot`,
      ].map((path) => app.request(path)),
    );

    expect(replies.map(({ statusCode }) => statusCode)).toEqual(Array(6).fill(200));
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
    expect(replies[0]?.body).toMatchInlineSnapshot(`
      "# Thread by mira of Nowhere (@mira.test): Ä heron at nowhere… @tove.test #birds

      ## mira of Nowhere ([@mira.test](https://bsky.app/profile/mira.test)) · [2026-01-01 00:01 UTC](https://bsky.app/profile/mira.test/post/3kroot) · 1/2

      Ä heron at [nowhere…](https://nowhere.example/herons) @tove.test [#birds](https://bsky.app/hashtag/birds)

      ![A heron](https://cdn.bsky.example/full/heron@jpeg)

      2 replies · 3 reposts

      ## mira of Nowhere ([@mira.test](https://bsky.app/profile/mira.test)) · [2026-01-01 00:02 UTC](https://bsky.app/profile/mira.test/post/3kmore) · 2/2

      It stands

      3 reposts

      ## Replies

      ### tove of Nowhere ([@tove.test](https://bsky.app/profile/tove.test)) · [2026-01-01 00:03 UTC](https://bsky.app/profile/tove.test/post/3kreply)

      Still?

      3 reposts
      "
    `);
    expect(replies[0]?.headers['x-source']).toBe('bluesky');
  });

  it('is served as JSON, as an Obsidian note and as an embed', async () => {
    const { app } = await setUp();

    const json = await app.request(`/api/v1/posts?url=${postUrl}&format=json`);
    const note = await app.request(`/api/v1/posts?url=${postUrl}&format=obsidian`);
    const embed = await app.request(`/api/v1/oembed?url=${postUrl}`);

    expect(json.json()).toMatchObject({
      source: 'bluesky',
      url: postUrl,
      postCount: 3,
      posts: [
        {
          id: '3kroot',
          context: 'post',
          author: { id: did, screen_name: handle },
          facets: [
            { type: 'link', start: 11, end: 19, url: 'https://nowhere.example/herons' },
            { type: 'hashtag', start: 31, end: 37, url: 'https://bsky.app/hashtag/birds' },
          ],
        },
        { id: '3kmore', context: 'thread' },
        { id: '3kreply', context: 'reply' },
      ],
    });
    expect(note.body).toMatch(/^---\n/);
    expect(embed.json()).toMatchObject({
      author_url: `https://bsky.app/profile/${handle}`,
      title: expect.stringContaining('mira of Nowhere'),
    });
  });

  it('explains why it cannot be shown', async () => {
    const { app } = await setUp((fake) => {
      fake.addAccount('shy.test', { isPrivate: true });
      fake.addPost('shy.test', { rkey: '3kshy', text: 'Secret words' });
      fake.addPost(handle, { rkey: '3khid' }).labels.push(bskyLabel('!hide', 'at://it'));
    });

    for (const [path, words] of [
      ['/shy.test/status/3kshy', 'not signed in'],
      [`/${handle}/status/3khid`, 'moderation'],
      [`/${handle}/status/3kgone`, 'no such post'],
      ['/nobody.test/status/3kgone', 'no such post'],
    ] as const) {
      const reply = await app.request(path);
      expect(reply.json()).toMatchObject({ status: 404, code: 'not_found' });
      expect(reply.json().detail).toContain(words);
      expect(reply.body).not.toContain('Secret words');
    }
  });

  it.each([handle, did])(
    'is removed from the cache once its author restricts it: found by %s',
    async (name) => {
      const { app, fake } = await setUp();
      await app.request(`/${handle}/status/3kroot`);
      await app.request(`/${encoded}/status/3kroot`);

      fake.addAccount(handle, { isPrivate: true });
      const anew = await app.request(`/api/v1/profiles/${name}?nocache=true`);
      const kept = await app.request(`/${handle}/status/3kroot`);
      const byDid = await app.request(`/${encoded}/status/3kroot`);

      expect([anew.statusCode, kept.statusCode, byDid.statusCode]).toEqual([404, 404, 404]);
    },
  );

  it('is removed from the cache once it is missing by the DID of its author', async () => {
    const { app, root } = await setUp();
    await app.request(`/${handle}/status/3kroot`);

    root.isDeleted = true;
    await app.request(`/${encoded}/status/3kroot?nocache=true`);
    const kept = await app.request(`/${handle}/status/3kroot`);

    expect(kept.statusCode).toBe(404);
  });
});

describe('an account of Bluesky', () => {
  it('is found by handle in any case and by DID', async () => {
    const { app } = await setUp();

    const replies = await Promise.all(
      [
        `/api/v1/profiles/${handle}`,
        '/MIRA.test',
        `/api/v1/profiles/${encoded}`,
        `/${encoded}`,
        `/api/v1/profiles/${did}`,
      ].map((path) => app.request(`${path}?format=json`)),
    );

    for (const reply of replies) {
      expect(reply.json()).toMatchObject({
        profile: { id: did, screen_name: handle, followers: 12 },
        posts: [{ id: '3kmore' }, { id: '3kroot' }],
        source: 'bluesky',
        warnings: [],
      });
    }
  });

  it('has followers and followed accounts', async () => {
    const { app } = await setUp();

    const followers = await app.request(`/${encoded}/followers?format=json`);
    const following = await app.request(`/api/v1/profiles/tove.test/following?format=json`);

    expect(followers.json().users).toMatchObject([{ screen_name: 'tove.test', followers: null }]);
    expect(following.json().users).toMatchObject([{ screen_name: handle, platform: 'bluesky' }]);
  });

  it.each(['', '/followers', '/following'])(
    'is not served if its owner restricts it: %s',
    async (list) => {
      const { app } = await setUp((fake) => void fake.addAccount('shy.test', { isPrivate: true }));

      const reply = await app.request(`/shy.test${list}`);

      expect(reply.json()).toMatchObject({
        code: 'not_found',
        detail: 'This account asks not to be shown to people who are not signed in to Bluesky.',
      });
    },
  );
});

describe('a search of Bluesky', () => {
  it('finds posts and accounts', async () => {
    const { app } = await setUp();

    const posts = await app.request('/search?platform=bluesky&q=stands&format=json');
    const users = await app.request('/search?platform=bluesky&q=tove&feed=users&format=json');

    expect(posts.json()).toMatchObject({ source: 'bluesky', posts: [{ id: '3kmore' }] });
    expect(users.json()).toMatchObject({
      source: 'bluesky',
      users: [{ screen_name: 'tove.test' }],
    });
  });

  it('is answered by the archive if Bluesky refuses it, with a warning', async () => {
    const { app, fake } = await setUp();
    fake.habits.isSearchBarred = true;

    const reply = await app.request('/search?platform=bluesky&q=heron&format=json');

    expect(reply.json()).toMatchObject({ source: 'archive', degraded: true });
    expect(reply.headers['x-search-degraded']).toBe('true');
  });

  it('is unavailable if no other provider can search', async () => {
    const fake = createFakeBluesky();
    fake.habits.isSearchBarred = true;
    const host = await upstream(fake.handler);
    const env = { PERCH_PROVIDERS: 'bluesky', PERCH_BLUESKY_URL: host.url };
    const app = await buildTestApp({ env });

    const reply = await app.request('/search?q=heron');

    expect(reply.json()).toMatchObject({
      code: 'upstream_unavailable',
      detail: expect.stringContaining(
        'Bluesky does not allow searches from this server at the moment.',
      ),
    });
  });

  it('is sent to the search host', async () => {
    const fake = createFakeBluesky();
    fake.addPost(handle, { text: 'A heron' });
    const [host, other] = [await upstream(fake.handler), await upstream(fake.handler)];
    const env = { PERCH_BLUESKY_URL: other.url, PERCH_BLUESKY_SEARCH_URL: host.url };
    const app = await buildTestApp({ env });

    await app.request('/search?platform=bluesky&q=heron');
    await app.request(`/${handle}/status/3k`);

    expect(host.requests.map(({ url }) => url.split('?', 1)[0])).toEqual([
      '/xrpc/app.bsky.feed.searchPosts',
    ]);
    expect(other.requests.map(({ url }) => url.split('?', 1)[0])).toEqual([
      '/xrpc/app.bsky.feed.getPostThread',
    ]);
  });
});
