import { describe, expect, it } from 'vitest';
import type { Post } from '../../src/model/post.ts';
import type { Page, RepliesQuery } from '../../src/model/queries.ts';
import type { PostReference } from '../../src/model/reference.ts';
import { createBluesky } from '../../src/providers/bluesky/index.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import { createFakeBluesky } from '../support/fake-bluesky.ts';
import { createFakeMastodon } from '../support/fake-mastodon.ts';
import { answerHtml, answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { accountRow, homeHost, snowflake, statusRow } from '../support/mastodon-payloads.ts';
import { createFakedMastodon } from '../support/mastodon-rig.ts';
import { serveHosts } from '../support/public-http.ts';
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
  serveFxTwitter,
} from '../support/x-payloads.ts';
import {
  askProvider,
  expectSoundPosts,
  expectUnique,
  failingCases,
  failWith,
  type ProviderSetup,
  withProvider,
} from './provider-suite.ts';

const xPost: PostReference = { platform: 'x', handle: null, id: fxConversation.id };

function queryOf(post: PostReference, fields: Partial<RepliesQuery> = {}): RepliesQuery {
  return { kind: 'replies', post, order: 'top', cursor: null, count: 20, ...fields };
}

/** Requests a page, and returns it with the paths of the upstream requests. */
function readPage(create: ProviderSetup['create'], handler: FakeHandler, query: RepliesQuery) {
  return withProvider(create, { handler }, async ({ provider, upstream }) => {
    const page: Page<Post> = await askProvider<'replies'>(provider, query);
    expectSoundPosts(page.items);
    expectUnique(page.items);
    return { page, paths: upstream.requests.map(({ url }) => decodeURIComponent(url)) };
  });
}

const idsOf = ({ items }: Page<Post>) => items.map(({ id }) => id);
const ofX = (routes: FxRoutes, fields: Partial<RepliesQuery> = {}) =>
  readPage(createFxTwitter, serveFxTwitter(routes), queryOf(xPost, fields));

failingCases('fxtwitter, of replies', {
  create: createFxTwitter,
  healthy: serveFxTwitter(fxConversationRoutes),
  queries: [queryOf(xPost)],
  single: [queryOf(xPost)],
});

describe('the replies on X', () => {
  it("are those of the conversation that lead to the post, including the author's own", async () => {
    const { page, paths } = await ofX(fxConversationRoutes);

    expect(idsOf(page)).toEqual([
      ...['2020', '2010', '2012', '2016', '2018'],
      ...['2002', '2003', '2017'],
    ]);
    expect(page).toMatchObject({ cursor: 'there-is-more', rows: 14, warnings: [] });
    expect(page.answered).toMatchObject({ id: '2001', author: { screen_name: 'mira_holm' } });
    expect(paths).toEqual(['/2/conversation/2001?ranking_mode=likes']);
  });

  it('are requested with the cursor of the service and in the requested order', async () => {
    const routes = { 'conversation/2001': fxBody(fxConversation.focal, { replies: [] }) };

    const { paths } = await ofX(routes, { order: 'recent', cursor: 'a=b&c' });

    expect(paths).toEqual(['/2/conversation/2001?ranking_mode=recency&cursor=a=b&c']);
  });

  it.each([
    ['is null', { replies: [fxReply('2040', '2001', 'tove_ek')], cursor: null }],
    ['is the one that was sent', { replies: [], cursor: { bottom: 'sent' } }],
    ['stands below an empty page', { replies: [], cursor: { bottom: 'on' } }],
    [
      'continue after a page of unrelated posts',
      { replies: [fxStatus('2041', { author: fxUser('shop') })], cursor: { bottom: 'on' } },
    ],
  ])('end if the cursor %s', async (_, lists) => {
    const routes = { 'conversation/2001': fxBody(fxConversation.focal, lists) };

    const { page } = await ofX(routes, { cursor: 'sent' });

    expect(page.cursor).toBeNull();
  });

  it.each([
    [3, ['X counts 3 replies to this post, but sent none.']],
    [0, []],
  ])('are known to be absent at once if X counts %i', async (replies, warnings) => {
    const lists = { replies: [], cursor: { bottom: 'on' } };
    const routes = { 'conversation/2001': fxBody({ ...fxConversation.focal, replies }, lists) };

    const { page } = await ofX(routes);

    expect(page).toMatchObject({ items: [], cursor: null, warnings });
  });

  it('end with a warning if a later page is missing, because an outage looks the same', async () => {
    const { page } = await ofX({}, { cursor: 'later' });
    const gone: FakeHandler = (_, response) => answerJson(response, fxNothing, { status: 404 });

    expect(page).toMatchObject({ items: [], cursor: null });
    expect(page.warnings.join(' ')).toContain('X sent no further replies.');
    expect(await failWith(createFxTwitter, gone, queryOf(xPost))).toMatchObject({
      kind: 'ambiguous',
    });
  });

  it('are missing with their post', async () => {
    const gone = fxBody(fxTombstone('2001', 'deleted'));

    const failure = await failWith(
      createFxTwitter,
      serveFxTwitter({ 'conversation/2001': gone }),
      queryOf(xPost, { cursor: 'later' }),
    );

    expect(failure.kind).toBe('missing');
  });

  it('are not reported as absent if the service sent no list', async () => {
    const routes = { 'conversation/2001': fxBody(fxConversation.focal) };

    const failure = await failWith(createFxTwitter, serveFxTwitter(routes), queryOf(xPost));

    expect(failure).toMatchObject({
      kind: 'unavailable',
      message: 'The replies could not be read.',
    });
  });
});

describe('the replies on Bluesky', () => {
  function createConversation() {
    const fake = createFakeBluesky();
    const root = fake.addPost('mira.test', { rkey: '3kroot' });
    const own = fake.addPost('mira.test', { rkey: '3kown', parent: root, likes: 2 });
    const liked = fake.addPost('tove.test', { rkey: '3kliked', parent: root, likes: 9 });
    fake.addPost('wren.test', { rkey: '3kunder', parent: liked });
    fake.addPost('wren.test', { rkey: '3kbelow', parent: own });
    const gone = fake.addPost('ulla.test', { rkey: '3kgone', parent: root });
    fake.addPost('wren.test', { rkey: '3kkept', parent: gone });
    gone.isDeleted = true;
    return fake;
  }

  const root: PostReference = { platform: 'bluesky', handle: 'mira.test', id: '3kroot' };

  it('are the whole tree below the post, on a single page', async () => {
    const { page, paths } = await readPage(
      createBluesky,
      createConversation().handler,
      queryOf(root),
    );

    expect(idsOf(page).slice(0, 4)).toEqual(['3kliked', '3kunder', '3kown', '3kbelow']);
    expect(page.items.every(({ type }) => type === 'status')).toBe(true);
    expect(page).toMatchObject({ cursor: null, answered: { id: '3kroot' } });
    expect(paths).toHaveLength(1);
  });

  it('are compared with the count of Bluesky', async () => {
    const fake = createFakeBluesky();
    let last = fake.addPost('mira.test', { rkey: '3kroot' });
    for (let depth = 1; depth <= 8; depth += 1) {
      last = fake.addPost('tove.test', { rkey: `3k${depth}`, parent: last });
    }

    const { page } = await readPage(createBluesky, fake.handler, queryOf(root));

    expect(page.items).toHaveLength(6);
    expect(page.warnings).toEqual([
      'Bluesky counts 1 more reply than it sent. Bluesky sends up to 6 levels of replies, and may omit some replies.',
    ]);
  });

  failingCases('bluesky, of replies', {
    create: createBluesky,
    healthy: createConversation().handler,
    queries: [queryOf(root)],
    single: [],
  });
});

describe('the replies on Mastodon', () => {
  const startMs = Date.UTC(2026, 0, 1);
  const wren = accountRow('wren');
  const replyTo = (parent: { readonly id: string }, minute: number, fields = {}) =>
    statusRow(snowflake(startMs + minute * 60_000), wren, {
      in_reply_to_id: parent.id,
      in_reply_to_account_id: wren.id,
      ...fields,
    });
  const focal = statusRow(snowflake(startMs), wren);
  const post: PostReference = { platform: 'mastodon', handle: `wren@${homeHost}`, id: focal.id };

  it('are the context of the post, as one page', async () => {
    const [late, liked] = [replyTo(focal, 1), replyTo(focal, 2, { favourites_count: 4 })];
    const server = createFakeMastodon();
    for (const status of [focal, late, liked, replyTo(late, 3)]) server.addStatus(status);
    const hosts = serveHosts({ [homeHost]: server.handler });

    const { page, paths } = await readPage(createFakedMastodon, hosts, queryOf(post));

    expect(idsOf(page)).toEqual([liked.id, late.id, expect.any(String)]);
    expect(page).toMatchObject({ cursor: null, answered: { id: focal.id }, warnings: [] });
    expect(paths).toHaveLength(2);
  });

  it('have a warning if the server sends its maximum without a login', async () => {
    const server = createFakeMastodon();
    server.addStatus(focal);
    for (let minute = 1; minute <= 80; minute += 1) server.addStatus(replyTo(focal, minute));
    const hosts = serveHosts({ [homeHost]: server.handler });

    const { page } = await readPage(createFakedMastodon, hosts, queryOf(post));

    expect(page.warnings.join(' ')).toContain('the server sends up to 60 replies');
  });

  it('fail if the context does, even if the post can be read', async () => {
    const server = createFakeMastodon();
    server.addStatus(focal);
    const handler: FakeHandler = (request, response) => {
      if (request.url?.endsWith('/context')) answerHtml(response, { status: 503 });
      else server.handler(request, response);
    };

    const failure = await failWith(
      createFakedMastodon,
      serveHosts({ [homeHost]: handler }),
      queryOf(post),
    );

    expect(failure).toMatchObject({ kind: 'unavailable', isProviderWide: false });
  });
});
