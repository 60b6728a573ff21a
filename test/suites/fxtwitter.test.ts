import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/post.ts';
import type { PostQuery } from '../../src/model/queries.ts';
import type { ProviderError } from '../../src/normalize/provider-error.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import { answerHtml, answerJson, type FakeHandler, hang } from '../support/fake-upstream.ts';
import {
  type FxRoutes,
  fxBody,
  fxConversation,
  fxConversationRoutes,
  fxNothing,
  fxReply,
  fxStatus,
  fxTombstone,
  fxUser,
  fxV1Status,
  serveFxTwitter,
} from '../support/x-payloads.ts';
import {
  expectSound,
  failureOf,
  failWith,
  postsOf,
  providerSuite,
  withProvider,
} from './provider-suite.ts';

providerSuite('fxtwitter', {
  create: createFxTwitter,
  post: { platform: 'x', handle: 'mira_holm', id: fxConversation.id },
  healthy: serveFxTwitter(fxConversationRoutes),
  absent: serveFxTwitter({}),
});

function query(fields: Partial<Omit<PostQuery, 'post'>> = {}, id: string = fxConversation.id) {
  const post = { platform: 'x', handle: null, id } as const;
  return { kind: 'post', post, thread: true, replies: 'top', ...fields } as const;
}

const alone = { thread: false, replies: 'off' } as const;
const down: FakeHandler = (_, response) => answerHtml(response, { status: 500 });

async function read(routes: FxRoutes, asked: PostQuery) {
  return withProvider(createFxTwitter, { handler: serveFxTwitter(routes) }, async (rig) => {
    const found = await rig.ask(asked);
    expectSound(found);
    return { found, paths: rig.upstream.requests.map(({ url }) => url) };
  });
}

const fail = (handler: FakeHandler, asked: PostQuery) => failWith(createFxTwitter, handler, asked);

function idsOf(posts: readonly { readonly id: string | null }[]) {
  return posts.map(({ id }) => id);
}

describe('the requests to fxtwitter', () => {
  it.each([
    [alone, ['/2/status/2001']],
    [{ thread: true, replies: 'off' }, ['/2/thread/2001']],
    [{ thread: false, replies: 'top' }, ['/2/conversation/2001?ranking_mode=likes']],
    [{ thread: false, replies: 'recent' }, ['/2/conversation/2001?ranking_mode=recency']],
    [
      { thread: true, replies: 'top' },
      ['/2/conversation/2001?ranking_mode=likes', '/2/thread/2001'],
    ],
  ] as const)('for %o are %o', async (fields, expected) => {
    const { paths } = await read(fxConversationRoutes, query(fields));

    expect(paths.toSorted()).toEqual(expected);
  });

  it('include the path of the API address', async () => {
    const handler: FakeHandler = (_, response) => answerJson(response, fxNothing, { status: 404 });
    const create: typeof createFxTwitter = ({ apiUrl, ...options }) =>
      createFxTwitter({ ...options, apiUrl: `${apiUrl}/mirror/` });

    const paths = await withProvider(create, { handler }, async ({ ask, upstream }) => {
      await failureOf(ask(query(alone)));
      return upstream.requests.map(({ url }) => url);
    });

    expect(paths).toEqual(['/mirror/2/status/2001']);
  });
});

describe('a thread with replies', () => {
  it('is split at the post, with only real replies, in order', async () => {
    const { found } = await read(fxConversationRoutes, query());

    expect(idsOf(found.ancestors)).toEqual(['1999', '2000']);
    expect(found.ancestors[1]).toMatchObject({ type: 'tombstone', reason: 'deleted' });
    expect(found.post.id).toBe('2001');
    expect(idsOf(found.continuation)).toEqual(['2002', '2003']);
    expect(idsOf(found.replies)).toEqual(['2017', '2020', '2010', '2012', '2016', '2018']);
    expect(found).toMatchObject({ missing: [], warnings: [] });
  });

  it('has the newest direct replies first on request', async () => {
    const { found } = await read(fxConversationRoutes, query({ replies: 'recent' }));

    expect(idsOf(found.replies)).toEqual(['2020', '2017', '2010', '2012', '2016', '2018']);
  });

  it('counts the author’s continuation as replies if the thread is not requested', async () => {
    const { found } = await read(fxConversationRoutes, query({ thread: false }));

    expect(idsOf(postsOf(found)).slice(0, 2)).toEqual(['2001', '2020']);
    expect(idsOf(found.replies)).toContain('2002');
  });

  it('lacks the replies if the conversation fails', async () => {
    const { found } = await read({ ...fxConversationRoutes, 'conversation/2001': down }, query());

    expect(idsOf(found.continuation)).toEqual(['2002', '2003']);
    expect(found).toMatchObject({
      replies: [],
      missing: ['replies'],
      warnings: ['The replies could not be read.'],
    });
  });

  it.each([
    ['down', down],
    ['malformed', ((_, response) => answerHtml(response)) as FakeHandler],
  ])('is taken from the conversation if the thread is %s', async (_title, thread) => {
    const { found } = await read({ ...fxConversationRoutes, 'thread/2001': thread }, query());

    expect(idsOf(found.ancestors)).toEqual(['1999', '2000']);
    expect(idsOf(found.continuation)).toEqual(['2002', '2003']);
    expect(idsOf(found.replies)).toEqual(['2017', '2020', '2010', '2012', '2016', '2018']);
    expect(found.missing).toEqual([]);
    expect(found.warnings).toHaveLength(1);
  });

  it('fails with the error of the thread if both requests fail', async () => {
    expect(await fail(serveFxTwitter({ 'thread/2001': down }), query())).toMatchObject({
      kind: 'unavailable',
    });
  });

  it('omits rows that cannot be read, and counts them', async () => {
    const bad = { ...fxStatus('1998'), author: null };
    const { found } = await read(
      {
        'thread/2001': fxBody(fxConversation.focal, {
          thread: [bad, fxConversation.root, fxConversation.focal],
        }),
        'conversation/2001': fxBody(fxConversation.focal, {
          thread: [],
          replies: [
            null,
            { ...fxReply('2010', '2001', 'otto_lind'), text: 7 },
            fxReply('2020', '2001', 'x'),
          ],
        }),
      },
      query(),
    );

    expect(idsOf(found.ancestors)).toEqual(['1999']);
    expect(idsOf(found.replies)).toEqual(['2020']);
    expect(found.warnings).toEqual([
      '1 post is missing, because the source sent unreadable data for it.',
      '2 posts are missing, because the source sent unreadable data for them.',
    ]);
  });

  it.each([
    ['the author did not continue it', [fxReply('2010', '2001', 'otto_lind')], [], 'more'],
    [
      'all replies to its last post are known',
      [fxReply('2002', '2001', 'mira_holm', { replies: 1 }), fxReply('2010', '2002', 'otto_lind')],
      ['2002'],
      'more',
    ],
    ['there are no further replies', [fxReply('2002', '2001', 'mira_holm')], ['2002'], null],
  ])('is one request if %s', async (_title, replies, continuation, bottom) => {
    const body = fxBody(fxConversation.focal, {
      thread: [fxConversation.root, fxConversation.gone, fxConversation.focal],
      replies,
      cursor: bottom && { bottom },
    });

    const { found, paths } = await read({ 'conversation/2001': body }, query());

    expect(paths).toEqual(['/2/conversation/2001?ranking_mode=likes']);
    expect(idsOf(found.ancestors)).toEqual(['1999', '2000']);
    expect(idsOf(found.continuation)).toEqual(continuation);
    expect(found).toMatchObject({ missing: [], warnings: [] });
  });

  it('falls back to the single post if nothing around it can be read', async () => {
    const nothing: FakeHandler = (_, response) => answerJson(response, fxNothing, { status: 404 });

    const { found } = await read(
      {
        'thread/2001': nothing,
        'conversation/2001': nothing,
        'status/2001': fxBody(fxConversation.focal),
      },
      query(),
    );

    expect(found).toMatchObject({
      post: { id: '2001' },
      missing: ['thread', 'replies'],
      warnings: ['The rest of the thread could not be read.', 'The replies could not be read.'],
    });
  });

  it('prefers a conversation that has the post to an empty thread', async () => {
    const { found } = await read(
      {
        'thread/2001': (_, response) => answerJson(response, fxNothing, { status: 404 }),
        'conversation/2001': fxBody(fxConversation.focal, { replies: [] }),
      },
      query(),
    );

    expect(found.post.id).toBe('2001');
  });
});

describe('a thread that the service could not read', () => {
  const parents = {
    'status/1999': fxBody(fxConversation.root),
    'status/2000': fxBody(fxReply('2000', '1999', 'otto_lind')),
  };
  const single = { 'thread/2001': fxBody(fxConversation.focal) };

  it('is read parent by parent', async () => {
    const { found, paths } = await read({ ...single, ...parents }, query({ replies: 'off' }));

    expect(idsOf(found.ancestors)).toEqual(['1999', '2000']);
    expect(found.missing).toEqual(['thread']);
    expect(found.warnings).toEqual(['The rest of the author’s thread could not be read.']);
    expect(paths).toEqual(['/2/thread/2001', '/2/status/2000', '/2/status/1999']);
  });

  it('has the parents that can be read', async () => {
    const { found } = await read(
      { ...single, ...parents, 'status/1999': down },
      query({ replies: 'off' }),
    );

    expect(idsOf(found.ancestors)).toEqual(['2000']);
    expect(found.missing).toEqual(['thread']);
    expect(found.warnings).toHaveLength(2);
  });

  it('is read for up to 20 parents', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => 2000 - index);
    const chain = ids.map((id) => [
      `status/${id}`,
      fxBody(fxReply(`${id}`, `${id - 1}`, 'mira_holm')),
    ]);
    const { found } = await read(
      { ...single, ...Object.fromEntries(chain) },
      query({ replies: 'off' }),
    );

    expect(found.ancestors).toHaveLength(20);
    expect(found.warnings).toHaveLength(2);
  });

  it('ends if the parents form a circle', async () => {
    const circle = { 'status/2000': fxBody(fxReply('2000', '2001', 'otto_lind')) };
    const { found, paths } = await read({ ...single, ...circle }, query({ replies: 'off' }));

    expect(idsOf(found.ancestors)).toEqual(['2000']);
    expect(paths).toHaveLength(2);
  });

  it('is taken from the conversation if that has it', async () => {
    const { found, paths } = await read({ ...fxConversationRoutes, ...single }, query());

    expect(idsOf(found.ancestors)).toEqual(['1999', '2000']);
    expect(idsOf(found.continuation)).toEqual(['2002', '2003']);
    expect(paths).toHaveLength(2);
  });
});

describe('a protected account', () => {
  const author = fxUser('owl', { protected: true });
  const secret = fxReply('2000', '1999', 'owl', { author, text: 'Secret' });
  const focal = fxConversation.focal;
  const hidden = { type: 'tombstone', reason: 'private', author: null };

  it.each([
    [alone, { 'status/2001': fxBody(fxStatus('2001', { author })) }],
    [{ replies: 'off' }, { 'thread/2001': fxBody(fxStatus('2001', { author }), { thread: [] }) }],
    [{ thread: false }, { 'conversation/2001': fxBody(fxStatus('2001', { author })) }],
    [
      {},
      {
        'thread/2001': fxBody(fxStatus('2001', { author }), { thread: [] }),
        'conversation/2001': fxBody(fxStatus('2001', { author }), { replies: [] }),
      },
    ],
    [{}, { 'conversation/2001': fxBody(fxStatus('2001', { author }), { replies: [] }) }],
    [{}, { 'status/2001': fxBody(fxStatus('2001', { author })) }],
  ] as const)('has no posts: %o', async (fields, routes) => {
    const failure = await fail(serveFxTwitter(routes), query(fields));

    expect(failure).toMatchObject({
      kind: 'missing',
      message: 'This post is from an account that is not public.',
    });
  });

  it('has tombstones in a thread, but not among the replies', async () => {
    const after = { author, text: 'Secret' };
    const { found } = await read(
      {
        'thread/2001': fxBody(focal, {
          thread: [fxConversation.root, secret, focal, fxReply('2002', '2001', 'owl', after)],
        }),
        'conversation/2001': fxBody(focal, {
          thread: [focal],
          replies: [fxReply('2010', '2001', 'owl', after), fxReply('2011', '2001', 'tove_ek')],
        }),
      },
      query(),
    );

    expect(found.ancestors).toMatchObject([
      { id: '1999', type: 'status' },
      { id: '2000', ...hidden },
    ]);
    expect(found.continuation).toMatchObject([{ id: '2002', ...hidden }]);
    expect(idsOf(found.replies)).toEqual(['2011']);
    expect(JSON.stringify(found)).not.toMatch(/Secret|owl/);
  });

  it('has a tombstone in a thread that only the conversation has', async () => {
    const { found } = await read(
      { 'conversation/2001': fxBody(focal, { thread: [secret, focal], replies: [] }) },
      query(),
    );

    expect(found.ancestors).toMatchObject([{ id: '2000', ...hidden }]);
  });

  it.each([
    ['a protected account', 401, { code: 401, status: null }, 'private'],
    ['nobody any more', 404, { ...fxNothing, status: fxTombstone('2000', 'deleted') }, 'deleted'],
  ])('has a tombstone if a parent is said to be of %s', async (_title, status, body, reason) => {
    const { found } = await read(
      {
        'thread/2001': fxBody(focal),
        'status/2000': (_, response) => answerJson(response, body, { status }),
      },
      query({ replies: 'off' }),
    );

    expect(found.ancestors).toMatchObject([
      { id: '2000', type: 'tombstone', reason, url: 'https://x.com/i/status/2000' },
    ]);
    expect(found.warnings).toHaveLength(2);
  });

  it('has a tombstone when parents are read one by one, which continues above it', async () => {
    const { found } = await read(
      {
        'thread/2001': fxBody(focal),
        'status/2000': fxBody(secret),
        'status/1999': fxBody(fxConversation.root),
      },
      query({ replies: 'off' }),
    );

    expect(found.ancestors).toMatchObject([
      { id: '1999', type: 'status' },
      { id: '2000', ...hidden },
    ]);
    expect(found.warnings).toEqual(['The rest of the author’s thread could not be read.']);
  });
});

describe('a throttled request beside a successful one', () => {
  const busy: FakeHandler = (_, response) => answerHtml(response, { status: 429 });
  const single = { 'thread/2001': fxBody(fxConversation.focal) };

  async function toldOf(routes: FxRoutes, asked: PostQuery) {
    const throttled: ProviderError[] = [];
    const handler = serveFxTwitter(routes);
    await withProvider(createFxTwitter, { handler }, async ({ provider }) => {
      const { signal } = new AbortController();
      await provider.fetch.post?.(asked, {
        signal,
        onThrottled: (error) => void throttled.push(error),
      });
    });
    return throttled.map(({ kind }) => kind);
  }

  it.each([
    ['if it is the conversation', { ...fxConversationRoutes, 'conversation/2001': busy }, 'top'],
    ['if it is a parent', { ...single, 'status/2000': busy }, 'off'],
  ] as const)('is reported %s', async (_title, routes, replies) => {
    expect(await toldOf(routes, query({ replies }))).toEqual(['throttled']);
  });

  it('is not reported for another failure', async () => {
    const routes = { ...single, 'status/2000': down, 'conversation/2001': down };

    expect(await toldOf(routes, query())).toEqual([]);
  });
});

describe('a post', () => {
  it('is the original if the id is that of a repost', async () => {
    const reposter = { ...fxUser('tove_ek'), followers: undefined };
    const { found } = await read(
      { 'status/3000': fxBody(fxStatus('2001', { reposted_by: reposter })) },
      query(alone, '3000'),
    );

    expect(found.post).toMatchObject({ id: '2001', reposted_by: { screen_name: 'tove_ek' } });
  });

  it('is also read from a v1 body', async () => {
    const { found } = await read(
      { 'status/2001': { code: 200, message: 'OK', tweet: fxV1Status('2001') } },
      query(alone),
    );

    expect(found.post).toMatchObject({
      id: '2001',
      reposts: 3,
      author: { statuses: 45 },
      replying_to: {
        screen_name: 'otto_lind',
        status: '1900',
        url: 'https://x.com/otto_lind/status/1900',
      },
      media: { all: [], photos: [], videos: [] },
    });
  });

  it('needs no optional member', async () => {
    const bare = {
      id: '2001',
      text: 'Bare',
      author: { id: '1', screen_name: 'mira_holm' },
      created_at: 'Tue Mar 21 20:50:14 +0000 2006',
    };
    const { found } = await read({ 'status/2001': { status: bare } }, query(alone));

    const post = found.post as Status; // `status` is not a tombstone
    expect(post).toMatchObject({
      created_at: '2006-03-21T20:50:14Z',
      created_timestamp: 1142974214,
      likes: null,
      possibly_sensitive: false,
      quote: null,
    });
    expect(post.author).toMatchObject({ name: 'mira_holm', joined: null, protected: false });
  });

  it.each([
    ['no author', { author: null }],
    ['no id', { id: 2001 }],
    ['no text', { text: null }],
    ['no readable time', { created_at: 'yesterday', created_timestamp: null }],
    ['a handle that is none', { author: fxUser('../evil') }],
  ])('with %s is malformed', async (_title, fields) => {
    const handler = serveFxTwitter({ 'status/2001': fxBody(fxStatus('2001', fields)) });

    expect((await fail(handler, query(alone))).kind).toBe('malformed');
  });
});

describe('a failure of fxtwitter', () => {
  const html = '<html>Secret page</html>';

  it.each([
    [200, fxNothing.status, 'malformed'],
    [200, { code: 200, status: null }, 'malformed'],
    [200, { code: 404, status: null }, 'ambiguous'],
    [401, { code: 401, status: null }, 'missing'],
    [401, { code: 401, message: 'PRIVATE_TWEET', tweet: null }, 'missing'],
    [401, { error: 'You must identify yourself' }, 'malformed'],
    [404, { code: 404, status: null }, 'ambiguous'],
    [404, { code: 404, message: 'NOT_FOUND', tweet: null }, 'ambiguous'],
    [404, { code: 404, message: 'Not found' }, 'malformed'],
    [404, html, 'malformed'],
    [400, { code: 400, message: 'id: no' }, 'ambiguous'],
    [400, html, 'malformed'],
    [403, html, 'throttled'],
    [429, html, 'throttled'],
    [429, { code: 429 }, 'throttled'],
    [500, html, 'unavailable'],
    [504, { code: 504 }, 'unavailable'],
    [204, '', 'malformed'],
    [418, { code: 418 }, 'malformed'],
  ])('with status %i and %o is %s', async (status, body, kind) => {
    const handler: FakeHandler = (_, response) =>
      typeof body === 'string'
        ? answerHtml(response, { status })
        : answerJson(response, body, { status });

    const failure = await fail(handler, query(alone));

    expect(failure.kind).toBe(kind);
    expect(failure.retryAfterSeconds).toBeUndefined();
  });

  it.each([
    ['deleted', /deleted/],
    ['suspended', /suspended/],
    ['private', /not public/],
    ['blocked', /limits who/],
    ['unavailable', /not available/],
    ['unheard-of', /not available/],
  ])('that is a tombstone for %s has a matching message', async (reason, sentence) => {
    const handler: FakeHandler = (_, response) =>
      answerJson(response, { ...fxNothing, status: fxTombstone('2001', reason) }, { status: 404 });

    const failure = await fail(handler, query(alone));

    expect(failure.kind).toBe('missing');
    expect(failure.message).toMatch(sentence);
  });

  it('of the thread is reported if it hangs and the conversation has no post', async () => {
    const failure = await withProvider(
      createFxTwitter,
      { handler: serveFxTwitter({ 'thread/2001': hang }), attemptTimeoutMs: 100 },
      ({ ask }) => failureOf(ask(query())),
    );

    expect(failure.kind).toBe('unavailable');
  });

  it('of the thread yields to a conversation that reports the post as gone', async () => {
    const gone = { ...fxNothing, status: fxTombstone('2001', 'deleted') };
    const handler = serveFxTwitter({ 'thread/2001': down, 'conversation/2001': gone });

    const failure = await fail(handler, query());

    expect(failure).toMatchObject({ kind: 'missing', message: 'This post was deleted.' });
  });
});
