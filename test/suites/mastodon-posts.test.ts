import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/post.ts';
import type { PostFound, PostQuery } from '../../src/model/queries.ts';
import { createFakeMastodon, type FakeMastodon } from '../support/fake-mastodon.ts';
import { answerHtml, answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import {
  accountRow,
  homeHost,
  imageRow,
  type Row,
  type StatusRow,
  snowflake,
  statusRow,
} from '../support/mastodon-payloads.ts';
import { createFakedMastodon } from '../support/mastodon-rig.ts';
import { serveHosts } from '../support/public-http.ts';
import { expectSound, failureOf, withProvider } from './provider-suite.ts';

const startMs = Date.UTC(2026, 0, 1);
const idAt = (minutes: number) => snowflake(startMs + minutes * 60_000);
const wren = accountRow('wren');
const kelp = accountRow('kelp@kelp.example.net');

const queryOf = (id: string, fields: Partial<PostQuery> = {}): PostQuery => ({
  kind: 'post',
  post: { platform: 'mastodon', handle: `wren@${homeHost}`, id },
  thread: true,
  replies: 'top',
  ...fields,
});

async function read(
  handler: FakeHandler,
  id: string,
  fields: Partial<PostQuery> = {},
): Promise<PostFound> {
  const hosts = serveHosts({ [homeHost]: handler });
  const found = await withProvider(createFakedMastodon, { handler: hosts }, ({ ask }) =>
    ask(queryOf(id, fields)),
  );
  expectSound(found);
  return found;
}

async function failToRead(handler: FakeHandler, id: string) {
  const hosts = serveHosts({ [homeHost]: handler });
  return withProvider(createFakedMastodon, { handler: hosts }, ({ ask }) =>
    failureOf(ask(queryOf(id))),
  );
}

function serverWith(...statuses: readonly StatusRow[]): FakeMastodon {
  const server = createFakeMastodon();
  for (const status of statuses) server.addStatus(status);
  return server;
}

async function readOne(fields: Row, account = wren): Promise<Status> {
  const { post } = await read(serverWith(statusRow(idAt(0), account, fields)).handler, idAt(0), {
    thread: false,
    replies: 'off',
  });
  if (post.type !== 'status') throw new Error('The post can be shown.');
  return post;
}

const replyTo = (parent: StatusRow, minutes: number, account = wren, fields: Row = {}) =>
  statusRow(idAt(minutes), account, {
    in_reply_to_id: parent.id,
    in_reply_to_account_id: parent.account.id,
    ...fields,
  });

const answerWith =
  (post: StatusRow, context: object): FakeHandler =>
  ({ url = '' }, response) =>
    answerJson(response, url.endsWith('/context') ? context : post);

const idsOf = (posts: PostFound['replies']) => posts.map(({ id }) => id);

const toldOfCopies = `Posts from other servers are copies stored on ${homeHost}, and may differ from the originals.`;

describe('a post of Mastodon', () => {
  it('has all members that its server sends', async () => {
    const post = await readOne({
      content: '<p>Low <b>tide</b></p>',
      spoiler_text: 'mud',
      sensitive: true,
      application: { name: 'Elk', website: null },
      language: 'en',
      quotes_count: 4,
      media_attachments: [imageRow('mud')],
      card: { url: 'https://news.example.org/', title: 'Tides', description: '', image: null },
    });

    expect(post).toMatchObject({
      id: idAt(0),
      url: `https://${homeHost}/@wren/${idAt(0)}`,
      text: 'Low tide',
      facets: [{ type: 'bold', start: 4, end: 8 }],
      created_at: '2026-01-01T00:00:00Z',
      author: {
        screen_name: `wren@${homeHost}`,
        name: 'wren :wave:',
        description: 'wren writes',
        avatar_url: 'https://files.example.org/wren.png',
        banner_url: null,
        followers: 3,
        joined: '2022-11-07T00:00:00Z',
        protected: false,
      },
      content_warning: 'mud',
      possibly_sensitive: true,
      source: 'Elk',
      lang: 'en',
      replies: 0,
      reposts: 1,
      likes: 2,
      quotes: 4,
      bookmarks: null,
      views: null,
      card: {
        url: 'https://news.example.org/',
        title: 'Tides',
        description: null,
        image_url: null,
      },
      platform: 'mastodon',
    });
    expect(post.media.photos).toEqual([
      {
        type: 'photo',
        url: 'https://files.example.org/mud.png',
        width: 800,
        height: 600,
        alt: 'A picture of mud',
      },
    ]);
  });

  it.each([
    [{ type: 'video', meta: { original: { width: 9, height: 5, duration: 7.5 } } }, 'video', 7.5],
    [{ type: 'gifv', meta: { original: { duration: 2 } } }, 'gif', null],
    [{ type: 'audio', meta: { original: { duration: 61 } } }, 'audio', 61],
    [{ type: 'unknown', url: null, remote_url: 'https://kelp.example.net/a.mp3' }, 'audio', null],
    [{ type: 'unknown', url: null, remote_url: 'https://kelp.example.net/a.webm' }, 'video', null],
    [{ type: 'hologram', url: 'https://kelp.example.net/a' }, 'file', undefined],
    [{ type: 'unknown', url: 'https://kelp.example.net/tide-table.odp' }, 'file', undefined],
    [{ type: 'unknown', url: 'https://kelp.example.net/reef.JPEG' }, 'photo', undefined],
  ])('has media by their type: %j', async (fields, type, duration) => {
    const { media } = await readOne({ media_attachments: [imageRow('mud', fields)] });

    expect(media.all.map((item) => [item.type, item.duration])).toEqual([[type, duration]]);
  });

  it('omits media without a URL', async () => {
    const rows = [{ url: null }, { url: 'javascript:alert(1)' }, { url: '' }];

    const { media } = await readOne({ media_attachments: rows.map((row) => imageRow('mud', row)) });

    expect(media.all).toEqual([]);
  });

  it.each([
    [{ multiple: false, votes_count: 4, voters_count: 4 }, [1, 3], [25, 75]],
    [{ multiple: true, votes_count: 6, voters_count: 4 }, [3, 3], [75, 75]],
    [{ multiple: true, votes_count: 6, voters_count: null }, [3, 3], [50, 50]],
    [{ multiple: false, votes_count: 0, voters_count: 0 }, [0, 0], [0, 0]],
    [{ multiple: false, votes_count: 4, voters_count: 4 }, [null, null], [null, null]],
  ])('has a poll with the shares of its options: %j', async (fields, counts, shares) => {
    const options = counts.map((votes_count, at) => ({ title: `Choice ${at}`, votes_count }));
    const row = { id: '1', expires_at: '2026-01-02T00:00:00.000Z', expired: true, options };

    const { poll } = await readOne({ poll: { ...row, ...fields } });

    expect(poll?.choices.map(({ percentage }) => percentage)).toEqual(shares);
    expect(poll).toMatchObject({
      total_votes: fields.votes_count,
      ends_at: '2026-01-02T00:00:00Z',
    });
  });

  it('has mentions with their servers', async () => {
    const url = 'https://kelp.example.net/@kelp';
    const mention = `<a href="${url}" class="u-url mention">@<span>kelp</span></a>`;
    const mentions = [{ id: '9', username: 'kelp', acct: 'kelp@kelp.example.net', url }];

    expect((await readOne({ content: mention, mentions })).text).toBe('@kelp@kelp.example.net');
    const local = [{ id: '9', username: 'kelp', acct: 'kelp', url: `https://${homeHost}/@kelp` }];
    expect((await readOne({ content: mention, mentions: local })).text).toBe(`@kelp@${homeHost}`);
    expect((await readOne({ content: mention })).text).toBe('@kelp@kelp.example.net');
  });

  it.each(['private', 'direct', 'list', 'local', 'mutuals_only', null])(
    'is not served if its visibility is %s',
    async (visibility) => {
      const status = statusRow(idAt(0), wren, { visibility });

      const failure = await failToRead(serverWith(status).handler, idAt(0));

      expect(failure).toMatchObject({ kind: 'missing' });
    },
  );

  it('has a warning if its author is limited', async () => {
    const limited = { ...wren, limited: true };
    const server = serverWith(statusRow(idAt(0), limited));

    for (const thread of [true, false]) {
      const { warnings } = await read(server.handler, idAt(0), { thread, replies: 'off' });
      expect(warnings).toEqual([
        `The moderators of ${homeHost} limit the account that wrote this post.`,
      ]);
    }
  });

  it('is served if it is unlisted', async () => {
    expect((await readOne({ visibility: 'unlisted' })).type).toBe('status');
  });

  it('is not served if its author is suspended', async () => {
    const status = statusRow(idAt(0), accountRow('wren', { suspended: true }));

    const failure = await failToRead(serverWith(status).handler, idAt(0));

    expect(failure).toMatchObject({ kind: 'missing' });
    expect(failure.message).toContain('suspended');
  });
});

describe('a boost', () => {
  const inner = statusRow(idAt(1), wren, { content: '<p>boosted</p>' });
  const boostBy = (fields: Row = {}, of = inner) =>
    statusRow(idAt(9), kelp, { content: '', reblog: of, ...fields });

  it('is shown as the boosted post, with its thread and the boosting account', async () => {
    const server = serverWith(inner, boostBy(), replyTo(inner, 2, kelp));

    const { post, replies } = await read(server.handler, idAt(9));

    expect(post).toMatchObject({
      id: idAt(1),
      text: 'boosted',
      reposted_by: { screen_name: 'kelp@kelp.example.net' },
    });
    expect(replies).toHaveLength(1);
  });

  it.each([
    ['a post that is not public', boostBy({}, { ...inner, visibility: 'private' } as StatusRow)],
    ['a public post for followers alone', boostBy({ visibility: 'private' })],
    ['a post by an account that is suspended', boostBy({ account: { ...kelp, suspended: true } })],
  ])('is not served if it is of %s', async (_name, boost) => {
    const failure = await failToRead(serverWith(boost).handler, idAt(9));

    expect(failure.kind).toBe('missing');
  });
});

describe('a boost of an unreadable post', () => {
  it('is not taken for a post of the boosting account', async () => {
    const boost = statusRow(idAt(9), kelp, { content: '<p>copied</p>', reblog: { id: '7' } });

    expect((await failToRead(serverWith(boost).handler, idAt(9))).kind).toBe('malformed');
  });
});

describe('a server that describes others', () => {
  const lie = { url: 'https://victim.example.net/@vera/7', uri: 'https://victim.example.net/7' };

  it('cannot give its own posts URLs on another server', async () => {
    const post = await readOne(lie);

    expect(post.url).toBe(`https://${homeHost}/@wren/${idAt(0)}`);
    expect(post.author.screen_name).toBe(`wren@${homeHost}`);
  });

  it('cannot give its own accounts URLs on another server', async () => {
    const { author } = await readOne({}, accountRow('wren', lie));

    expect(author.url).toBe(`https://${homeHost}/@wren`);
  });

  it('cannot give a post of one server a URL on another', async () => {
    const post = await readOne(lie, kelp);

    expect([post.id, post.url]).toEqual([
      idAt(0),
      `https://${homeHost}/@kelp@kelp.example.net/${idAt(0)}`,
    ]);
  });

  it('may have a host name below the domain of its handles', async () => {
    const post = await readOne({ url: 'https://social.kelp.example.net/@kelp/7' }, kelp);

    expect([post.id, post.url]).toEqual(['7', 'https://social.kelp.example.net/@kelp/7']);
  });

  it('is named if it describes a quoted post', async () => {
    const quoted = statusRow(idAt(5), kelp);
    const server = serverWith(statusRow(idAt(0), wren, { quote: quoted }));

    const { warnings } = await read(server.handler, idAt(0), { thread: false, replies: 'off' });

    expect(warnings).toEqual([toldOfCopies]);
  });
});

describe('a copy of a post', () => {
  const remote = (fields: Row = {}) => ({
    url: 'https://kelp.example.net/@kelp/777',
    uri: 'https://kelp.example.net/users/kelp/statuses/777',
    ...fields,
  });

  it('has the id of its origin, with a note that it is a copy', async () => {
    const server = serverWith(statusRow(idAt(0), kelp, remote()));

    const { post, warnings } = await read(server.handler, idAt(0));

    expect(post).toMatchObject({ id: '777', url: 'https://kelp.example.net/@kelp/777' });
    expect(post.author?.screen_name).toBe('kelp@kelp.example.net');
    expect(warnings).toEqual([
      `This is a copy of the post on ${homeHost}. Its counts and replies may be incomplete.`,
    ]);
  });

  it('has the URL of the server that holds it if its origin cannot be read', async () => {
    const foreign = {
      url: 'https://kelp.example.net/display/abc',
      uri: 'https://kelp.example.net/n/1',
    };

    const post = await readOne(remote(foreign), kelp);

    expect([post.id, post.url]).toEqual([
      idAt(0),
      `https://${homeHost}/@kelp@kelp.example.net/${idAt(0)}`,
    ]);
  });

  it('has its identifier as the URL if it has no page', async () => {
    const post = await readOne(remote({ url: null }), kelp);

    expect([post.id, post.url]).toEqual([
      '777',
      'https://kelp.example.net/users/kelp/statuses/777',
    ]);
  });
});

describe('a quote', () => {
  const quoted = statusRow(idAt(5), kelp, { content: '<p>Kelp is edible</p>' });
  const content =
    '<p class="quote-inline">RE: <a href="https://x.example.org/1">x</a></p><p>Yes</p>';

  it.each([
    ['Mastodon', { quote: { state: 'accepted', quoted_status: quoted } }],
    ['a fork with the post itself', { quote: quoted }],
    ['a fork with a post beside it', { quoted_status: quoted }],
  ])('is shown as %s sends it, without the link that replaces it', async (_name, fields) => {
    const post = await readOne({ content, ...fields });

    expect(post).toMatchObject({ text: 'Yes', quote: { type: 'status', text: 'Kelp is edible' } });
  });

  it.each([
    ['pending', 'unavailable', 'pending'],
    ['rejected', 'blocked', 'blocked'],
    ['revoked', 'blocked', 'blocked'],
    ['deleted', 'deleted', 'deleted'],
    ['unauthorized', 'private', 'protected'],
    ['blocked_account', 'blocked', 'blocked'],
    ['blocked_domain', 'blocked', 'blocked'],
    ['muted_account', 'blocked', 'blocked'],
    ['something_new', 'unavailable', 'unknown'],
  ])('is not shown while it is %s', async (state, reason, why) => {
    const { text, quote } = await readOne({ content, quote: { state, quoted_status: quoted } });

    expect(quote).toMatchObject({ type: 'tombstone', reason, id: null, author: null });
    expect(quote).toMatchObject({ unavailable: { reason: why } });
    expect(text).toBe('RE: x\n\nYes');
    expect(JSON.stringify(quote)).not.toContain('edible');
  });

  it('is hidden by its state, even if the post is sent', async () => {
    const post = await readOne({ quote: { state: 'revoked' }, quoted_status: quoted });

    expect(post.quote).toMatchObject({ type: 'tombstone', reason: 'blocked' });
  });

  it('is hidden together with the preview of its page', async () => {
    const card = { url: 'https://kelp.example.net/@kelp/5', title: 'kelp', description: 'quoted' };
    const hidden = await readOne({ card, quote: { state: 'revoked' } });
    const open = await readOne({ card });

    expect([hidden.card, open.card?.description]).toEqual([null, 'quoted']);
  });

  it('is hidden if the quoted post is not public', async () => {
    const hidden = { ...quoted, visibility: 'private' };

    const { quote } = await readOne({ quote: { state: 'accepted', quoted_status: hidden } });

    expect(quote).toMatchObject({ type: 'tombstone', reason: 'private' });
  });

  it('is requested if only its id is sent', async () => {
    const quote = { state: 'accepted', quoted_status_id: quoted.id };
    const post = statusRow(idAt(9), wren, { quote });

    const whole = await read(serverWith(quoted, post).handler, post.id);
    const without = await read(serverWith(post).handler, post.id);

    expect(whole.post).toMatchObject({ quote: { type: 'status', text: 'Kelp is edible' } });
    expect(without.post).toMatchObject({
      quote: { type: 'tombstone', url: `https://${homeHost}/web/statuses/${quoted.id}` },
    });
  });

  it('within a quote is shown, up to the third level', async () => {
    let row: StatusRow = quoted;
    for (let depth = 0; depth < 6; depth += 1) {
      row = statusRow(idAt(10 + depth), wren, { quote: { state: 'accepted', quoted_status: row } });
    }

    let post = await readOne({ quote: { state: 'accepted', quoted_status: row } });
    let depth = 0;
    for (; post.quote?.type === 'status'; post = post.quote) depth += 1;

    expect(depth).toBe(3);
  });
});

describe('a thread', () => {
  const root = statusRow(idAt(0), kelp);
  const focal = replyTo(root, 1);
  const next = replyTo(focal, 2);
  const last = replyTo(next, 3);
  const liked = replyTo(focal, 5, kelp, { favourites_count: 9 });
  const late = replyTo(next, 6, kelp);
  const under = replyTo(liked, 7);
  const lost = statusRow(idAt(8), kelp, { in_reply_to_id: idAt(99), in_reply_to_account_id: '5' });
  const server = serverWith(root, focal, next, last, liked, late, under);

  it('has ancestors, the author’s continuation, and each reply with its own replies', async () => {
    const found = await read(server.handler, focal.id);

    expect(idsOf(found.ancestors)).toEqual([root.id]);
    expect(idsOf(found.continuation)).toEqual([next.id, last.id]);
    expect(idsOf(found.replies)).toEqual([liked.id, under.id, late.id]);
    expect(found.warnings).toEqual([toldOfCopies]);
    expect(found.post).toMatchObject({
      replying_to: { screen_name: 'kelp@kelp.example.net', status: root.id },
    });
  });

  it('has the newest replies first on request', async () => {
    const found = await read(server.handler, focal.id, { replies: 'recent' });

    expect(idsOf(found.replies)).toEqual([late.id, liked.id, under.id]);
  });

  it('has replies to hidden posts at the end', async () => {
    const context = { ancestors: [root], descendants: [lost, liked, { id: 'odd' }] };

    const { replies, warnings } = await read(answerWith(focal, context), focal.id);

    expect(idsOf(replies)).toEqual([liked.id, lost.id]);
    expect(warnings).toEqual([
      toldOfCopies,
      '1 post is missing, because the server sent unreadable data for it.',
    ]);
  });

  it('has a tombstone in place of a post that is not public', async () => {
    const context = { ancestors: [{ ...root, visibility: 'private' }], descendants: [] };

    const { ancestors } = await read(answerWith(focal, context), focal.id);

    expect(ancestors).toMatchObject([
      { type: 'tombstone', reason: 'private', id: null, url: null },
    ]);
  });

  it('has each reply once, even if the server sends it several times', async () => {
    const focal = statusRow(idAt(0), kelp);
    const chain = Array.from({ length: 40 }, (_, at) => ({
      ...statusRow(idAt(at + 1), wren),
      in_reply_to_id: idAt(at),
    }));
    const context = { ancestors: [], descendants: [...chain, ...chain] };
    const { replies } = await read(answerWith(focal, context), focal.id);

    expect(idsOf(replies)).toEqual(chain.map(({ id }) => id));
  });

  it('has each post once if posts are sent as replies to each other', async () => {
    const focal = statusRow(idAt(0), kelp);
    const [one, two] = [statusRow(idAt(1), wren), statusRow(idAt(2), wren)];
    const loop = [
      { ...one, in_reply_to_id: two.id },
      { ...two, in_reply_to_id: one.id },
    ];
    const own = { ...statusRow(idAt(3), wren), in_reply_to_id: idAt(3) };
    const context = { ancestors: [focal, own], descendants: [...loop, own, focal] };
    const found = await read(answerWith(focal, context), focal.id);

    expect(idsOf(found.ancestors)).toEqual([own.id]);
    expect(idsOf(found.replies)).toEqual([one.id, two.id]);
  });

  it('is read as far as a server allows without a login', async () => {
    const focal = statusRow(idAt(0), kelp);
    const context = { ancestors: Array(5000).fill({}), descendants: Array(5000).fill({}) };
    const { warnings } = await read(answerWith(focal, context), focal.id);

    expect(warnings.join(' ')).toContain('1000 posts are missing');
  });

  it('warns if a server does not know the parent of the post', async () => {
    const orphan = statusRow(idAt(9), wren, {
      in_reply_to_id: idAt(98),
      in_reply_to_account_id: '5',
      mentions: [{ id: '5', username: 'otter', acct: 'otter@otter.example.net', url: null }],
    });

    const { post, warnings } = await read(serverWith(orphan).handler, orphan.id);

    expect(post).toMatchObject({
      replying_to: {
        screen_name: 'otter@otter.example.net',
        status: null,
        url: `https://${homeHost}/@otter@otter.example.net/${idAt(98)}`,
      },
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('The post that this thread replies to is missing');
  });

  it('warns if a server may have truncated it', async () => {
    const many = Array.from({ length: 70 }, (_, at) => replyTo(focal, 100 + at, kelp));
    const chain = [statusRow(idAt(200), wren)];
    for (let at = 1; at <= 45; at += 1) chain.push(replyTo(chain.at(-1) ?? root, 200 + at, wren));
    const end = chain.at(-1)?.id ?? '';

    const busy = await read(serverWith(root, focal, ...many).handler, focal.id);
    const long = await read(serverWith(...chain).handler, end);

    expect(busy.replies).toHaveLength(60);
    expect(busy.warnings.join()).toContain('the server sends up to 60 replies');
    expect(long.ancestors).toHaveLength(40);
    expect(long.warnings.join()).toContain('up to 40 earlier posts of a thread');
  });

  it.each([
    ['fails', answerHtml],
    ['is none', (response: Parameters<typeof answerHtml>[0]) => answerJson(response, [])],
  ])('is missing if the request for it %s, but the post is not', async (_name, respond) => {
    const handler: FakeHandler = (request, response) => {
      if (request.url?.endsWith('/context')) respond(response);
      else server.handler(request, response);
    };

    const found = await read(handler, focal.id);

    expect(found.missing).toEqual(['thread', 'replies']);
    expect(found.warnings).toHaveLength(2);
    expect(found.post.id).toBe(focal.id);
  });
});

it.each([null, 'some day'])(
  'a post with the time %j is of the time in its id',
  async (created_at) => {
    const post = await readOne({ created_at });

    expect(post.created_timestamp).toBe(Math.floor(Number(BigInt(post.id) >> 16n) / 1000));
  },
);

it('a post from before 1970 has its time', async () => {
  const post = await readOne({ created_at: '1969-07-20T20:17:00.000Z' });

  expect(post.created_at).toBe('1969-07-20T20:17:00Z');
});
