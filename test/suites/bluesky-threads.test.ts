import { describe, expect, it } from 'vitest';
import type { PostFound, PostQuery } from '../../src/model/queries.ts';
import { createBluesky } from '../../src/providers/bluesky/index.ts';
import {
  bskyActor,
  bskyBlocked,
  bskyDid,
  bskyLabel,
  bskyNode,
  bskyNotFound,
  bskyPost,
  bskyPrivateActor,
  bskyUri,
} from '../support/bluesky-payloads.ts';
import { createFakeBluesky, type FakePost } from '../support/fake-bluesky.ts';
import { answerHtml, answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import type { Fields } from '../support/x-payloads.ts';
import { expectSound, expectTellable, failureOf, withProvider } from './provider-suite.ts';

const handle = 'mira.test';
const firstMs = Date.UTC(2026, 2, 4, 9, 12);

type Options = Partial<Pick<PostQuery, 'thread' | 'replies'>>;

function queryOf(id: string, options: Options = {}): PostQuery {
  const post = { platform: 'bluesky', handle, id } as const;
  return { kind: 'post', post, thread: true, replies: 'top', ...options };
}

/** Asks for a post, and returns the result with the URLs of the requests. */
function read(handler: FakeHandler, query: PostQuery) {
  return withProvider(createBluesky, { handler }, async ({ ask, upstream }) => {
    const found = await ask(query);
    expectSound(found);
    return { found, urls: upstream.requests.map(({ url }) => decodeURIComponent(url)) };
  });
}

function serve(thread: unknown): FakeHandler {
  return (_, response) => answerJson(response, { thread });
}

async function readNode(thread: Fields, options: Options = {}): Promise<PostFound> {
  const { found } = await read(serve(thread), queryOf('3k', options));
  return found;
}

const idsOf = (posts: readonly { readonly id: string | null }[]) => posts.map(({ id }) => id);

function chain(length: number) {
  const fake = createFakeBluesky();
  const posts: FakePost[] = [];
  for (let index = 0; index < length; index += 1) {
    const parent = posts.at(-1);
    posts.push(
      fake.addPost(handle, { rkey: `3k${index}`, ...(parent !== undefined && { parent }) }),
    );
  }
  return { fake, posts };
}

describe('a thread of Bluesky', () => {
  function createConversation() {
    const { fake, posts } = chain(3);
    const [root, asked, more] = posts;
    if (root === undefined || asked === undefined || more === undefined) throw new Error('Three.');
    const reply = (by: string, rkey: string, parent: FakePost, likes: number) =>
      fake.addPost(by, { rkey, parent, likes });
    const early = reply('tove.test', '3kearly', asked, 1);
    reply('wren.test', '3klate', asked, 9);
    reply('ulla.test', '3kbelow', more, 5);
    const under = reply('wren.test', '3kunder', early, 0);
    reply('tove.test', '3kdeepest', under, 0);
    reply('ulla.test', '3kunder2', early, 7);
    reply('ulla.test', '3kelsewhere', root, 99);
    return fake.handler;
  }

  it('has the ancestors, the continuation of the author, and replies by likes', async () => {
    const { found, urls } = await read(createConversation(), queryOf('3k1'));

    expect(idsOf(found.ancestors)).toEqual(['3k0']);
    expect(idsOf(found.continuation)).toEqual(['3k2']);
    expect(idsOf(found.replies)).toEqual([
      '3klate',
      '3kbelow',
      '3kearly',
      '3kunder',
      '3kdeepest',
      '3kunder2',
    ]);
    expect(found).toMatchObject({ missing: [], warnings: [] });
    expect(found.replies[0]).toMatchObject({ replying_to: { screen_name: handle, status: '3k1' } });
    expect(urls).toHaveLength(1);
  });

  it('has replies by two authors with the same record key', async () => {
    const { fake, posts } = chain(1);
    const [root] = posts;
    if (root === undefined) throw new Error('One.');
    fake.addPost('tove.test', { rkey: '3ksame', parent: root });
    fake.addPost('wren.test', { rkey: '3ksame', parent: root });

    const { found } = await read(fake.handler, queryOf(root.rkey));

    expect(found.replies.map(({ author }) => author?.screen_name).sort()).toEqual([
      'tove.test',
      'wren.test',
    ]);
  });

  it('has the newest replies first on request', async () => {
    const { found } = await read(createConversation(), queryOf('3k1', { replies: 'recent' }));

    expect(idsOf(found.replies)).toEqual([
      '3kbelow',
      '3klate',
      '3kearly',
      '3kunder',
      '3kdeepest',
      '3kunder2',
    ]);
  });

  it('is not requested for a single post', async () => {
    const query = queryOf('3k1', { thread: false, replies: 'off' });
    const { found, urls } = await read(createConversation(), query);

    expect(found).toMatchObject({ ancestors: [], continuation: [], replies: [], warnings: [] });
    expect(urls).toEqual([
      `/xrpc/app.bsky.feed.getPostThread?uri=at://${handle}/app.bsky.feed.post/3k1&parentHeight=0&depth=0`,
    ]);
  });

  it.each([
    ['off', 1 + 2],
    ['top', 1 + 3],
  ] as const)(
    'follows a long thread of the author to its end, replies %s',
    async (replies, asks) => {
      const { fake } = chain(50);

      const { found, urls } = await read(fake.handler, queryOf('3k0', { replies }));

      expect(idsOf(found.continuation)).toEqual(Array.from({ length: 49 }, (_, i) => `3k${i + 1}`));
      expect([found.replies, found.warnings]).toEqual([[], []]);
      expect(urls).toHaveLength(asks);
    },
  );

  it('has the replies to the end of a long thread', async () => {
    const { fake, posts } = chain(10);
    const last = posts.at(-1);
    if (last !== undefined) fake.addPost('tove.test', { rkey: '3kend', parent: last });

    const { found } = await read(fake.handler, queryOf('3k0'));

    expect(idsOf(found.replies)).toEqual(['3kend']);
  });

  it('warns that a chain may continue if it could not be followed', async () => {
    const { fake } = chain(50);
    const handler: FakeHandler = (request, response) => {
      if (request.url?.includes('3k0')) fake.handler(request, response);
      else answerHtml(response, { status: 500 });
    };

    const { found } = await read(handler, queryOf('3k0', { replies: 'off' }));

    expect(found.continuation).toHaveLength(20);
    expect(found.missing).toEqual(['thread']);
    expect(found.warnings).toEqual([
      'The author’s thread may continue, but Perch could not read more posts of it.',
    ]);
  });

  it('warns that the thread begins earlier if the start was not sent', async () => {
    const { fake } = chain(103);

    const { found } = await read(fake.handler, queryOf('3k102'));

    expect(found.ancestors).toHaveLength(100);
    expect(found.ancestors[0]).toMatchObject({ id: '3k2' });
    expect(found.warnings).toEqual([
      'Earlier posts of this thread are missing, because Bluesky did not send them.',
    ]);
  });

  it('is read with only direct replies if it exceeds the limit of a body', async () => {
    const { fake, posts } = chain(3);
    const [root, more] = posts;
    for (let index = 0; index < 4; index += 1) {
      const parent = fake.addPost('tove.test', { text: 'Short', ...(root && { parent: root }) });
      fake.addPost('wren.test', { text: 'x'.repeat(90_000), parent });
      if (more !== undefined) fake.addPost('wren.test', { text: 'Short', parent: more });
    }

    const { found, urls } = await read(fake.handler, queryOf('3k0'));

    expect(urls.map((url) => /depth=\d+/.exec(url)?.[0])).toEqual([
      'depth=6',
      'depth=1',
      'depth=20',
    ]);
    expect(idsOf(found.continuation)).toEqual(['3k1', '3k2']);
    expect(found.replies).toHaveLength(8);
    expect(found.warnings).toEqual([
      'This thread is too large to read completely. Only the direct replies are included.',
    ]);
  });

  it('has no warning about replies that were not requested if it exceeds the limit of a body', async () => {
    const { fake, posts } = chain(3);
    const [root] = posts;
    for (let index = 0; index < 4; index += 1) {
      const parent = fake.addPost('tove.test', { text: 'Short', ...(root && { parent: root }) });
      fake.addPost('wren.test', { text: 'x'.repeat(90_000), parent });
    }

    const { found } = await read(fake.handler, queryOf('3k0', { replies: 'off' }));

    expect(idsOf(found.continuation)).toEqual(['3k1', '3k2']);
    expect(found.replies).toEqual([]);
    expect(found.warnings).toEqual([]);
  });

  it('is read even without the type names of its parts', async () => {
    const { $type: _, ...root } = bskyNode(bskyPost({ rkey: '3kroot' }));
    const parent = { uri: bskyUri('tove.test', '3kgone'), notFound: true };
    const post = bskyPost({ rkey: '3k', parent: bskyUri(handle, '3kroot') });

    const found = await readNode({ post, parent: { ...root, parent } });

    expect(found.ancestors).toMatchObject([
      { type: 'tombstone', reason: 'deleted', id: '3kgone' },
      { type: 'status', id: '3kroot' },
    ]);
    expect(found.warnings).toEqual([]);
  });

  const gone = bskyUri('tove.test', '3kgone');
  const did = bskyDid('tove.test');
  it.each([
    ['deleted', bskyNotFound(gone), 'deleted'],
    ['behind a block', bskyBlocked(gone, did), 'blocked'],
    ['of an unknown kind', { $type: 'app.bsky.feed.defs#hologram' }, 'unavailable'],
    [
      'for those who are signed in',
      bskyNode(
        bskyPost(
          { handle: 'tove.test', rkey: '3kgone', text: 'Secret words' },
          { author: bskyPrivateActor('tove.test') },
        ),
      ),
      'private',
    ],
    [
      'hidden',
      bskyNode(
        bskyPost(
          { handle: 'tove.test', rkey: '3kgone', text: 'Secret words' },
          { labels: [bskyLabel('!hide', gone)] },
        ),
      ),
      'unavailable',
    ],
  ])('has a placeholder for a post that is %s, above and below', async (_title, other, reason) => {
    const post = bskyPost({ rkey: '3k', parent: gone });

    const above = await readNode(bskyNode(post, { parent: other }));
    const below = await readNode(bskyNode(post, { replies: [other] }));

    expect(above.ancestors).toMatchObject([{ type: 'tombstone', reason, author: null }]);
    expect(below.replies).toMatchObject([{ type: 'tombstone', reason, author: null }]);
    expect(JSON.stringify([above, below])).not.toContain('Secret words');
    if (reason === 'private') expect(JSON.stringify(above.ancestors)).not.toContain(did);
  });

  it('keeps replies to a post that cannot be shown', async () => {
    const hidden = bskyPost(
      { handle: 'tove.test', rkey: '3kgone' },
      { author: bskyPrivateActor('tove.test') },
    );
    const answer = bskyNode(bskyPost({ handle: 'wren.test', rkey: '3kx', parent: gone }));
    const replies = [bskyNode(hidden, { replies: [answer] })];

    const found = await readNode(bskyNode(bskyPost({ rkey: '3k' }), { replies }));

    expect(found.replies).toMatchObject([
      { type: 'tombstone', reason: 'private' },
      { id: '3kx', replying_to: { screen_name: null, status: null, url: null } },
    ]);
  });
});

describe('the placeholder of a reply', () => {
  it('is omitted further down if nothing is below it', async () => {
    const fake = createFakeBluesky();
    const root = fake.addPost(handle, { rkey: '3k' });
    const reply = fake.addPost('tove.test', { rkey: '3kreply', parent: root });
    const gone = fake.addPost('wren.test', { rkey: '3kgone', parent: reply });
    const bare = fake.addPost('wren.test', { rkey: '3kbare', parent: reply });
    fake.addPost('tove.test', { rkey: '3kunder', parent: gone });
    for (const post of [gone, bare]) post.isDeleted = true;

    const { found } = await read(fake.handler, queryOf('3k'));
    // The AppView sends nothing below a deleted post.
    expect(idsOf(found.replies)).toEqual(['3kreply']);

    const shown = bskyNode(bskyPost({ handle: 'tove.test', rkey: '3kunder' }));
    const below = bskyNode(
      bskyPost({ handle: 'shy.test', rkey: '3kshy' }, { author: bskyPrivateActor('shy.test') }),
      { replies: [shown] },
    );
    const replies = [
      bskyNode(bskyPost({ handle: 'wren.test', rkey: '3kx' }), { replies: [below] }),
    ];
    const held = await readNode(bskyNode(bskyPost({ rkey: '3k' }), { replies }));

    expect(idsOf(held.replies)).toEqual(['3kx', null, '3kunder']);
  });
});

describe('a single post of Bluesky', () => {
  const own = bskyUri(handle, '3k');
  const labelled = (val: string) =>
    bskyNode(bskyPost({ rkey: '3k', text: 'Secret words' }, { labels: [bskyLabel(val, own)] }));

  it.each([
    ['gone', bskyNotFound(own), 'deleted'],
    ['behind a block', bskyBlocked(own, bskyDid(handle)), 'blocks'],
    [
      'for those who are signed in',
      bskyNode(
        bskyPost({ rkey: '3k', text: 'Secret words' }, { author: bskyPrivateActor(handle) }),
      ),
      'not signed in',
    ],
    ['hidden', labelled('!hide'), 'hidden by Bluesky’s moderation'],
    ['taken down', labelled('!takedown'), 'taken down'],
  ])('is missing if it is %s', async (_title, thread, words) => {
    await withProvider(createBluesky, { handler: serve(thread) }, async ({ ask, upstream }) => {
      const failure = await failureOf(ask(queryOf('3k')));

      expectTellable(failure, upstream);
      expect(failure.kind).toBe('missing');
      expect(failure.message).toContain(words);
      expect(failure.message).not.toContain('Secret words');
    });
  });

  it.each([undefined, null, 'odd', {}, { post: { uri: own } }])(
    'is malformed as %j',
    async (thread) => {
      await withProvider(createBluesky, { handler: serve(thread) }, async ({ ask }) => {
        expect(await failureOf(ask(queryOf('3k')))).toMatchObject({ kind: 'malformed' });
      });
    },
  );

  it('is requested by the DID of its account once that is known', async () => {
    const fake = createFakeBluesky();
    fake.addPost(handle, { rkey: '3k', ms: firstMs });
    await withProvider(createBluesky, { handler: fake.handler }, async ({ ask, upstream }) => {
      await ask(queryOf('3k'));
      await ask(queryOf('3k'));

      const uris = upstream.requests.map(({ url }) =>
        new URL(url, 'http://bsky.example').searchParams.get('uri'),
      );
      expect(uris).toEqual([`at://${handle}/app.bsky.feed.post/3k`, own]);
    });
  });

  it('is found by the DID of its account', async () => {
    const fake = createFakeBluesky();
    fake.addPost(handle, { rkey: '3k' });
    const { did } = bskyActor(handle);
    const post = { platform: 'bluesky', handle: String(did), id: '3k' } as const;

    const { found } = await read(fake.handler, { ...queryOf('3k'), post });

    expect(found.post).toMatchObject({ author: { id: did, screen_name: handle } });
  });
});
