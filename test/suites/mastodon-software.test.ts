import { describe, expect, it } from 'vitest';
import type { Account } from '../../src/model/account.ts';
import type { Facet, Status } from '../../src/model/post.ts';
import { createFakeMastodon } from '../support/fake-mastodon.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import {
  accountRow,
  homeHost,
  type Row,
  type StatusRow,
  snowflake,
  statusRow,
} from '../support/mastodon-payloads.ts';
import { createFakedMastodon } from '../support/mastodon-rig.ts';
import { serveHosts } from '../support/public-http.ts';
import { expectSoundFound } from './list-suite.ts';
import { askProvider, expectSound, withProvider } from './provider-suite.ts';

// Software other than Mastodon implements only a part of its API, with additional members.

const wren = accountRow('wren');
const handle = `wren@${homeHost}`;
const account = { platform: 'mastodon', handle } as const;
const id = snowflake(Date.UTC(2026, 0, 1));

async function readPost(statuses: readonly StatusRow[], asked = id) {
  const server = createFakeMastodon();
  for (const status of statuses) server.addStatus(status);
  const handler = serveHosts({ [homeHost]: server.handler });
  const post = { ...account, id: asked };
  const found = await withProvider(createFakedMastodon, { handler }, ({ ask }) =>
    ask({ kind: 'post', post, thread: true, replies: 'top' }),
  );
  expectSound(found);
  return found;
}

async function readOne(fields: Row): Promise<Status> {
  const { post } = await readPost([statusRow(id, wren, fields)]);
  if (post.type !== 'status') throw new Error('The post can be shown.');
  return post;
}

async function readTimeline(rows: readonly Row[]) {
  const handler: FakeHandler = ({ url = '' }, response) =>
    answerJson(response, url.includes('/lookup') ? wren : rows);
  const page = await withProvider(
    createFakedMastodon,
    { handler: serveHosts({ [homeHost]: handler }) },
    ({ provider }) =>
      askProvider<'timeline'>(provider, {
        kind: 'timeline',
        account,
        withReplies: true,
        withReposts: true,
        untilSeconds: null,
        cursor: null,
        count: 20,
      }),
  );
  expectSoundFound(page);
  return page;
}

async function readProfile(fields: Row): Promise<Account> {
  const handler: FakeHandler = (_, response) => answerJson(response, accountRow('wren', fields));
  const found = await withProvider(
    createFakedMastodon,
    { handler: serveHosts({ [homeHost]: handler }) },
    ({ provider }) => askProvider<'profile'>(provider, { kind: 'profile', account }),
  );
  expectSoundFound(found);
  return found.account;
}

/** Ids of Mitra, Pleroma and Misskey, and one with every allowed character. */
const otherIds = [
  '018e1c2a-7b5f-7c3d-9a42-0f6b5d8e1c2a',
  'AXq5rPQ8Y2oQ0yVw6S',
  '9l8k2j1h0g',
  'a_b-C-9',
] as const;

describe('a non-numeric id', () => {
  it.each(otherIds)('is read, alone and in a thread: %s', async (other) => {
    const created_at = '2026-01-01T00:00:00.000Z';
    const root = statusRow('r-0', wren, { created_at });
    const asked = statusRow(other, wren, { created_at, in_reply_to_id: 'r-0' });
    const reply = statusRow('r_1', wren, { created_at, in_reply_to_id: other });

    const found = await readPost([root, asked, reply], other);

    expect(
      [found.ancestors, [found.post], found.continuation].flat().map((post) => post.id),
    ).toEqual(['r-0', other, 'r_1']);
  });

  it('is kept in a list, and unreadable rows are counted', async () => {
    const created_at = '2026-01-01T00:00:00.000Z';
    const rows = [...otherIds, 'a/b', '', 'x'.repeat(65)].map((each) => ({
      ...statusRow('1', wren, { created_at }),
      id: each,
      uri: null,
      url: null,
    }));

    const page = await readTimeline(rows);

    expect(page.items.map((post) => post.id)).toEqual(otherIds);
    expect(page.warnings).toEqual([expect.stringMatching(/^3 posts are missing/)]);
  });
});

describe('a part that is left out of a list', () => {
  it('is counted if it is not public', async () => {
    const hidden = accountRow('wren', { suspended: true });
    const rows = [
      statusRow('1', wren),
      statusRow('2', wren, { visibility: 'private' }),
      statusRow('3', hidden),
    ];

    const page = await readTimeline(rows);

    expect(page.items).toHaveLength(1);
    expect(page.warnings).toEqual(['2 posts are missing, because they are not public.']);
  });

  it('is named if it belongs to a post', async () => {
    const page = await readTimeline([
      statusRow('1', wren, { media_attachments: [{ type: 'image', url: null, remote_url: null }] }),
    ]);

    expect(page.items).toMatchObject([{ media: { all: [] }, left_out: ['media'] }]);
    expect(page.warnings).toEqual([expect.stringContaining('part of the media is missing')]);
  });
});

describe('a quote of Pleroma or of a fork of Mastodon', () => {
  const quoted = statusRow(snowflake(0), accountRow('kelp@kelp.example.net'), {
    content: '<p>Quoted</p>',
  });
  const content =
    '<p>Look<span class="quote-inline"><br/><br/>RE: <a href="https://a.example/1">https://a.example/1</a></span></p>';

  it('replaces the link to the quoted post', async () => {
    const post = await readOne({ content, pleroma: { quote: quoted, quote_visible: true } });

    expect(post).toMatchObject({ text: 'Look', quote: { text: 'Quoted' } });
  });

  it('is read by its id if the post was not sent', async () => {
    const { post } = await readPost([
      statusRow(id, wren, { pleroma: { quote: null, quote_id: quoted.id } }),
      quoted,
    ]);

    expect(post).toMatchObject({ quote: { text: 'Quoted' } });
  });

  it.each([
    [
      'in Pleroma',
      { pleroma: { quote: null, quote_url: 'https://reed.example.org/@sedge/109876543210987654' } },
    ],
    [
      'in forks of Mastodon',
      { quote: null, quote_url: 'https://reed.example.org/@sedge/109876543210987654' },
    ],
  ])('is a tombstone with its URL if the server sent only that: %s', async (_name, fields) => {
    expect(await readOne(fields)).toMatchObject({
      quote: { type: 'tombstone', url: 'https://reed.example.org/@sedge/109876543210987654' },
    });
  });

  it('is read by its id beside the other members of the post', async () => {
    const { post } = await readPost([
      statusRow(id, wren, { quote: null, quote_id: quoted.id }),
      quoted,
    ]);

    expect(post).toMatchObject({ quote: { text: 'Quoted' } });
  });

  it.each([
    [{ quote: null, quote_url: 'https://a.example/1', quote_visible: false }, 'private'],
    [{ quote: { id: 'broken' }, quote_visible: true }, 'unavailable'],
  ])('is a tombstone if it cannot be shown: %j', async (pleroma, reason) => {
    expect(await readOne({ pleroma })).toMatchObject({ quote: { type: 'tombstone', reason } });
  });

  it.each([
    [{ quote: null, quote_id: null, quote_url: null, quote_visible: false }],
    [{ quote: null }],
    [{}],
    ['odd'],
  ])('is absent if nothing is quoted: %j', async (pleroma) => {
    expect((await readOne({ pleroma })).quote).toBeNull();
  });

  it("is counted under Pleroma's name for it", async () => {
    expect(await readOne({ pleroma: { quotes_count: 7 } })).toMatchObject({ quotes: 7 });
    expect(await readOne({ quotes_count: 3, pleroma: { quotes_count: 7 } })).toMatchObject({
      quotes: 3,
    });
  });
});

describe('reactions', () => {
  const list = [
    { name: '👍', count: 2, me: false, url: null },
    { name: 'blobcat', count: 5, url: 'https://files.example.org/blobcat.png' },
    { name: 'gone', count: 0 },
    { name: 'odd', count: -1 },
    { count: 4 },
  ];
  const shown = [
    { name: 'blobcat', count: 5, url: 'https://files.example.org/blobcat.png' },
    { name: '👍', count: 2 },
  ];

  it.each([
    ['Pleroma and Akkoma', { pleroma: { emoji_reactions: list } }],
    ['Fedibird and Mitra', { emoji_reactions: list }],
    ['glitch-soc and Iceshrimp', { reactions: list }],
  ])('are returned with their counts: %s', async (_, fields) => {
    const post = await readOne(fields);

    expect(post.reactions).toEqual(shown);
    expect(post.left_out).toEqual(['reactions']);
  });

  it('are read in the form of Misskey', async () => {
    const { reactions } = await readOne({ reactions: { '❤': 3, ':blobcat@.:': 4, odd: 'many' } });

    expect(reactions).toEqual([
      { name: ':blobcat@.:', count: 4 },
      { name: '❤', count: 3 },
    ]);
  });

  it.each([[{}], [{ reactions: [] }], [{ reactions: 'odd' }], [{ pleroma: null }]])(
    'are absent if there are none: %j',
    async (fields) => {
      expect(await readOne(fields)).not.toHaveProperty('reactions');
    },
  );
});

describe('a post', () => {
  it('has the time of its last edit', async () => {
    expect(await readOne({ edited_at: '2026-01-02T03:04:05.678Z' })).toMatchObject({
      edited_at: '2026-01-02T03:04:05Z',
    });
    expect(await readOne({ edited_at: null })).not.toHaveProperty('edited_at');
    expect(await readOne({ edited_at: 'later' })).not.toHaveProperty('edited_at');
  });

  it('has the number of voters, if it is sent', async () => {
    const options = [{ title: 'a', votes_count: 3 }];
    const poll = { multiple: true, votes_count: 9, options };

    expect(await readOne({ poll: { ...poll, voters_count: 4 } })).toMatchObject({
      poll: { total_votes: 9, total_voters: 4 },
    });
    expect((await readOne({ poll })).poll).not.toHaveProperty('total_voters');
  });

  it('has the site and the author of a linked page', async () => {
    const card = {
      url: 'https://news.example/1',
      title: 'Herons',
      description: 'Of the mill',
      image: 'https://news.example/1.png',
      image_description: 'A heron',
      provider_name: 'The News',
      author_name: 'Ada',
      author_url: 'https://news.example/ada',
    };

    expect((await readOne({ card })).card).toEqual({
      url: card.url,
      title: 'Herons',
      description: 'Of the mill',
      image_url: card.image,
      image_alt: 'A heron',
      provider_name: 'The News',
      author_name: 'Ada',
      author_url: 'https://news.example/ada',
    });
  });

  it.each([
    [[{ name: 'Ada', url: 'https://news.example/ada', account: null }]],
    [
      [
        {
          name: '',
          url: '',
          account: { acct: 'ada', display_name: 'Ada', url: 'https://news.example/ada' },
        },
      ],
    ],
  ])('has the first of several authors: %j', async (authors) => {
    const card = {
      url: 'https://news.example/1',
      title: 'Herons',
      author_name: '',
      author_url: '',
      authors,
    };

    expect((await readOne({ card })).card).toMatchObject({
      author_name: 'Ada',
      author_url: 'https://news.example/ada',
    });
  });

  it('has the hashtags that are not in its text', async () => {
    const tag = (name: string) => ({ name, url: `https://${homeHost}/tags/${name}` });
    const content = `<p>By the <a href="https://${homeHost}/tags/mill" class="mention hashtag">#<span>Mill</span></a></p>`;

    expect(await readOne({ content, tags: [tag('mill'), tag('heron')] })).toMatchObject({
      tags: ['heron'],
    });
    expect(await readOne({ content, tags: [tag('mill')] })).not.toHaveProperty('tags');
  });
});

describe('a profile', () => {
  const runs = ({ description, description_facets = [] }: Account) => {
    const points = [...(description ?? '')];
    return description_facets.map(({ type, start, end, url }: Facet) => [
      type,
      points.slice(start, end).join(''),
      url,
    ]);
  };

  it('keeps the targets of links in its description and fields', async () => {
    const profile = await readProfile({
      note: '<p>🐦 I write at <a href="https://blog.example/wren">my blog</a> with <a href="https://kelp.example.net/@kelp" class="u-url mention">@kelp</a></p>',
      fields: [
        {
          name: ' 🏡 Home ',
          value: '<a href="https://wren.example/">the nest</a>',
          verified_at: null,
        },
        {
          name: 'Tag',
          value: '<a href="https://reef.example.org/tags/reef" class="hashtag">#reef</a>',
        },
      ],
    });

    expect(profile.description).toBe(
      '🐦 I write at my blog with @kelp@kelp.example.net\n\n🏡 Home: the nest\nTag: #reef',
    );
    expect(runs(profile)).toEqual([
      ['link', 'my blog', 'https://blog.example/wren'],
      ['mention', '@kelp@kelp.example.net', 'https://kelp.example.net/@kelp'],
      ['link', 'the nest', 'https://wren.example/'],
      ['hashtag', '#reef', 'https://reef.example.org/tags/reef'],
    ]);
    expect(profile.website).toEqual({ url: 'https://wren.example/', display_url: 'wren.example' });
  });

  it('has no facets without markup', async () => {
    const profile = await readProfile({ note: '<p>Plain</p>', fields: [] });

    expect(profile.description).toBe('Plain');
    expect(profile).not.toHaveProperty('description_facets');
  });
});
