import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/post.ts';
import type { PostQuery } from '../../src/model/queries.ts';
import { createBluesky } from '../../src/providers/bluesky/index.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import { createSyndication } from '../../src/providers/syndication/index.ts';
import { bskyPost, bskyQuoted } from '../support/bluesky-payloads.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import {
  accountRow,
  homeHost,
  type Row,
  snowflake,
  statusRow,
} from '../support/mastodon-payloads.ts';
import { createFakedMastodon } from '../support/mastodon-rig.ts';
import { serveHosts } from '../support/public-http.ts';
import { type Fields, fxBody, fxPage, fxStatus, syndicationPost } from '../support/x-payloads.ts';
import { askProvider, expectSound, type ProviderSetup, withProvider } from './provider-suite.ts';

/** Longer than any list may be, but small enough for the body limit of the rig. */
const many = 3000;

const answerWith =
  (body: unknown): FakeHandler =>
  (_, response) =>
    answerJson(response, body);

async function readPost(create: ProviderSetup['create'], body: unknown, query: Partial<PostQuery>) {
  const handler = answerWith(body);
  const found = await withProvider(create, { handler, maxBytes: 1_048_576 }, ({ ask }) =>
    ask({
      kind: 'post',
      post: { platform: 'x', handle: null, id: '20' },
      thread: false,
      replies: 'off',
      ...query,
    }),
  );
  expectSound(found);
  if (found.post.type !== 'status') throw new Error('The post is there.');
  return { ...found, post: found.post };
}

const id = snowflake(Date.UTC(2026, 0, 1));
const ofHome = { post: { platform: 'mastodon', handle: `wren@${homeHost}`, id } } as const;
const ofMira = { post: { platform: 'bluesky', handle: 'mira.test', id: '3kabc' } } as const;

const readMastodon = (fields: Row) =>
  readPost(createFakedMastodon, statusRow(id, accountRow('wren'), fields), ofHome);
const readFxTwitter = (fields: Fields) =>
  readPost(createFxTwitter, fxBody(fxStatus('20', fields)), {});
const readSyndication = (fields: Fields) =>
  readPost(createSyndication, syndicationPost('20', fields), {});
const readBluesky = (fields: Fields, record: Fields = {}) =>
  readPost(
    createBluesky,
    { thread: { post: bskyPost({ rkey: '3kabc', record }, fields) } },
    ofMira,
  );

const rows = <T>(make: (at: number) => T): readonly T[] =>
  Array.from({ length: many }, (_, at) => make(at));
const address = (at: number) => `https://a.example/${at}`;

const lengthsOf = ({ media, poll, facets, article }: Status) => ({
  media: media.all.length,
  variants: media.all[0]?.variants?.length,
  choices: poll?.choices.length,
  facets: facets.length,
  blocks: article?.blocks.length,
});

describe('a list beyond the limit', () => {
  const image = { type: 'image', url: 'https://a.example/1.png' };
  const formats = rows((at) => ({ url: address(at), container: 'mp4' }));
  const video = { type: 'video', url: address(0), formats };
  const range = { byteStart: 0, byteEnd: 1 };
  const link = { $type: 'app.bsky.richtext.facet#link', uri: address(0) };
  const entity = (at: number) => ({ indices: [at, at + 1], text: 'a' });
  const variant = { url: address(0), content_type: 'video/mp4' };

  it.each([
    ['media', { media: 64 }, () => readMastodon({ media_attachments: rows(() => image) })],
    [
      'media',
      { media: 64 },
      () =>
        readMastodon({
          media_attachments: [...Array(64).fill(image), { type: 'image', url: null }],
        }),
    ],
    [
      'poll',
      { choices: 64 },
      () => readMastodon({ poll: { options: rows(() => ({ title: 'a' })) } }),
    ],
    [
      'mentions',
      {},
      () =>
        readMastodon({ mentions: rows(() => ({ id: '1', username: 'a', acct: 'a@b.example' })) }),
    ],
    [
      'media',
      { media: 64 },
      () => readFxTwitter({ media: { all: rows((at) => ({ type: 'photo', url: address(at) })) } }),
    ],
    ['media', { variants: 32 }, () => readFxTwitter({ media: { all: [video] } })],
    [
      'poll',
      { choices: 64 },
      () => readFxTwitter({ poll: { choices: rows(() => ({ label: 'a' })) } }),
    ],
    [
      'facets',
      { facets: 1000 },
      () =>
        readFxTwitter({
          text: 'a'.repeat(many),
          raw_text: {
            text: 'a'.repeat(many),
            facets: rows((at) => ({ type: 'bold', indices: [at, at + 1] })),
          },
        }),
    ],
    [
      'article',
      { blocks: 2000 },
      () =>
        readFxTwitter({
          article: {
            title: 'a',
            content: {
              blocks: Array(2500).fill({ type: 'atomic', text: 'a', entityRanges: [{ key: 0 }] }),
              entityMap: [{ key: '0', value: { type: 'DIVIDER' } }],
            },
          },
        }),
    ],
    [
      'media',
      { media: 64 },
      () =>
        readSyndication({
          mediaDetails: rows((at) => ({ type: 'photo', media_url_https: address(at) })),
        }),
    ],
    [
      'media',
      { variants: 32 },
      () =>
        readSyndication({
          mediaDetails: [
            {
              type: 'video',
              media_url_https: address(0),
              video_info: { variants: rows(() => variant) },
            },
          ],
        }),
    ],
    ['facets', {}, () => readSyndication({ entities: { hashtags: rows(entity) } })],
    [
      'media',
      { media: 64 },
      () => readBluesky({ embed: { images: rows(() => ({ fullsize: address(0) })) } }),
    ],
    [
      'media',
      { media: 64 },
      () => readBluesky({ embed: { media: { items: rows(() => ({ fullsize: address(0) })) } } }),
    ],
    [
      'facets',
      { facets: 1 },
      () => readBluesky({}, { facets: rows(() => ({ index: range, features: [link] })) }),
    ],
    ['labels', {}, () => readBluesky({ labels: [{ val: 'spam' }, { val: 7 }] })],
  ] as const)('is truncated with a warning: %s, %j', async (name, lengths, read) => {
    const { post, warnings } = await read();

    expect(lengthsOf(post)).toMatchObject(lengths);
    expect(post.left_out).toEqual([name]);
    expect(warnings).toContainEqual(expect.stringMatching(/^In 1 post, part of the .* is missing/));
  });

  it('is truncated in a profile', async () => {
    const fields = rows((at) => ({ name: `f${at}`, value: 'a' }));
    const handler = serveHosts({ [homeHost]: answerWith(accountRow('wren', { fields })) });
    const query = {
      kind: 'profile',
      account: { platform: 'mastodon', handle: `wren@${homeHost}` },
    } as const;

    const found = await withProvider(createFakedMastodon, { handler }, ({ provider }) =>
      askProvider<'profile'>(provider, query),
    );

    expect(found.account.description?.match(/f\d+: a/g)).toHaveLength(32);
    expect(found.account.left_out).toEqual(['description']);
    expect(found.warnings).toContainEqual(
      expect.stringContaining('In 1 account, part of the description'),
    );
  });
});

describe('excess items', () => {
  const tags = '#a '.repeat(1500);
  const counts = Object.fromEntries(rows((at) => [`e${at}`, 1]));

  it.each([
    ['X', () => readFxTwitter({ text: tags, raw_text: null })],
    ['X, for embedding', () => readSyndication({ text: tags, entities: null })],
  ])('are omitted from the tags of a text: %s', async (_, read) => {
    const { post } = await read();

    expect([post.facets.length, post.left_out]).toEqual([1000, ['facets']]);
  });

  it('are omitted from reactions in the form of Misskey', async () => {
    const { post } = await readMastodon({ reactions: counts });

    expect([post.reactions?.length, post.left_out]).toEqual([100, ['reactions']]);
  });

  it('include an overlong value of a profile field', async () => {
    const fields = [
      { name: 'a', value: 'b'.repeat(20_000) },
      { name: 'c', value: 'd' },
    ];
    const { post } = await readMastodon({ account: accountRow('wren', { note: '', fields }) });

    expect(post.author).toMatchObject({ description: 'c: d', left_out: ['description'] });
  });
});

describe('a text beyond the limit', () => {
  const long = 'a'.repeat(120_000);

  it.each([
    [
      'text',
      (post: Status) => post.text,
      25_000,
      () => readMastodon({ content: `<p>${long}</p>` }),
    ],
    [
      'content_warning',
      (post: Status) => post.content_warning,
      2000,
      () => readMastodon({ spoiler_text: long }),
    ],
    [
      'media',
      (post: Status) => post.media.all[0]?.alt,
      10_000,
      () =>
        readMastodon({
          media_attachments: [{ type: 'image', url: address(0), description: long }],
        }),
    ],
    [
      'poll',
      (post: Status) => post.poll?.choices[0]?.label,
      2000,
      () => readMastodon({ poll: { options: [{ title: long }] } }),
    ],
    [
      'card',
      (post: Status) => post.card?.title,
      2000,
      () => readMastodon({ card: { url: address(0), title: long } }),
    ],
    [
      'text',
      (post: Status) => post.text,
      25_000,
      () => readFxTwitter({ text: long, raw_text: null }),
    ],
    [
      'community_note',
      (post: Status) => post.community_note,
      10_000,
      () => readFxTwitter({ community_note: { text: long } }),
    ],
    [
      'article',
      (post: Status) => post.article?.title,
      2000,
      () => readFxTwitter({ article: { title: long } }),
    ],
    ['text', (post: Status) => post.text, 25_000, () => readSyndication({ text: long })],
    ['text', (post: Status) => post.text, 25_000, () => readBluesky({}, { text: long })],
  ] as const)(
    'is truncated with an ellipsis and a warning: %s',
    async (name, textOf, max, read) => {
      const { post, warnings } = await read();

      expect(textOf(post)).toHaveLength(max);
      expect(textOf(post)).toMatch(/^a+…$/);
      expect(post.left_out).toEqual([name]);
      expect(warnings).toHaveLength(1);
    },
  );

  it('is truncated in an account', async () => {
    const account = accountRow('wren', { display_name: long, note: `<p>${long}</p>` });
    const { post, warnings } = await readMastodon({ account });

    expect([post.author.name.length, post.author.description?.length]).toEqual([500, 20_000]);
    expect(post.author.left_out?.toSorted()).toEqual(['description', 'name']);
    expect(warnings).toHaveLength(2);
  });

  it('is omitted if it should be a URL or a word', async () => {
    const url = `https://a.example/${long}`;
    const { post } = await readMastodon({
      url,
      uri: url,
      language: long,
      card: { url, title: 'a' },
      media_attachments: [
        { type: 'image', url },
        { type: 'video', url: address(0), preview_url: url },
      ],
      account: accountRow('wren', { avatar: url, url }),
    });

    expect(post).toMatchObject({ lang: null, card: null, left_out: ['media'] });
    expect(JSON.stringify(post).length).toBeLessThan(5000);
    expect(post.media.all).toMatchObject([{ url: address(0), thumbnail_url: null }]);
  });
});

describe('excessive nesting', () => {
  it.each([
    [
      'Mastodon',
      () => {
        let quote: Row | null = null;
        for (let depth = 0; depth < 100; depth += 1) {
          quote = {
            state: 'accepted',
            quoted_status: statusRow(id, accountRow('wren'), { quote }),
          };
        }
        return readMastodon({ quote });
      },
    ],
    [
      'X',
      () => {
        let quote: Fields | undefined;
        for (let depth = 0; depth < 100; depth += 1) quote = fxStatus('19', { quote });
        return readFxTwitter({ quote });
      },
    ],
    [
      'Bluesky',
      () => {
        let quote: Fields | undefined;
        for (let depth = 0; depth < 100; depth += 1) {
          const embed = quote === undefined ? undefined : { record: quote };
          quote = bskyQuoted(bskyPost({ rkey: '3kaaa' }, { embed }));
        }
        return readBluesky({ embed: { record: quote } });
      },
    ],
  ])('is cut after the third quote on %s', async (_, read) => {
    const { post, warnings } = await read();

    const chain: Status[] = [];
    for (let next: unknown = post; next; next = chain.at(-1)?.quote) chain.push(next as Status);
    expect(chain).toHaveLength(4);
    expect(chain.at(-1)?.left_out).toEqual(['quote']);
    expect(warnings).toHaveLength(1);
  });

  it('is not followed in embeds within embeds', async () => {
    let embed: Fields = { images: [{ fullsize: address(0) }] };
    for (let depth = 0; depth < 3000; depth += 1) embed = { media: embed };

    const { post } = await readBluesky({ embed });

    expect(post.media.all).toEqual([]);
  });

  it('is cut after the 500th reply of a thread, direct replies first', async () => {
    const post = (rkey: string) =>
      bskyPost({ rkey, text: '' }, { author: { did: 'did:plc:a', handle: 'a.test' } });
    const lean = (rkey: string) => {
      const { uri, author, record, indexedAt } = post(rkey);
      return {
        uri,
        author,
        record: { text: '', createdAt: (record as Fields).createdAt },
        indexedAt,
      };
    };
    let deep: Fields = { post: lean('3kz') };
    for (let depth = 0; depth < 400; depth += 1)
      deep = { post: lean(`3kd${depth}`), replies: [deep] };
    const direct = Array.from({ length: 300 }, (_, at) => ({ post: lean(`3kr${at}`) }));
    const body = { thread: { post: post('3kabc'), replies: [deep, ...direct] } };

    const { replies, warnings } = await readPost(createBluesky, body, {
      ...ofMira,
      replies: 'top',
    });

    expect(replies).toHaveLength(500);
    expect(replies.filter((each) => each.id?.startsWith('3kr'))).toHaveLength(300);
    expect(warnings).toEqual([expect.stringMatching(/^Perch reads at most 500 replies/)]);
  });
});

describe('a page with too many rows', () => {
  it('is read up to its 500th row on Mastodon', async () => {
    const wren = { id: '1', username: 'wren', acct: 'wren' };
    const sent = Array.from({ length: 700 }, (_, at) => ({
      id: String(at + 1),
      created_at: '2026-01-01T00:00:00Z',
      visibility: 'public',
      account: wren,
    }));
    const handler = serveHosts({
      [homeHost]: ({ url = '' }, response) =>
        answerJson(response, url.includes('/lookup') ? wren : sent),
    });
    const account = { platform: 'mastodon', handle: `wren@${homeHost}` } as const;
    const options = {
      withReplies: true,
      withReposts: true,
      untilSeconds: null,
      cursor: null,
      count: 20,
    };

    const page = await withProvider(createFakedMastodon, { handler }, ({ provider }) =>
      askProvider<'timeline'>(provider, { kind: 'timeline', account, ...options }),
    );

    expect([page.items.length, page.rows]).toEqual([500, 700]);
    expect(page.warnings).toEqual([expect.stringMatching(/^200 posts are missing/)]);
  });

  it('is read up to its 500th row on X', async () => {
    const lean = (at: number) => ({
      id: String(at + 1000),
      text: '',
      author: { id: '1', screen_name: 'mira_holm' },
      created_timestamp: 1,
    });
    const handler = answerWith(fxPage(Array.from({ length: 700 }, (_, at) => lean(at))));
    const query = {
      kind: 'search',
      platform: 'x',
      text: 'a',
      feed: 'latest',
      cursor: null,
      count: 20,
    } as const;

    const page = await withProvider(createFxTwitter, { handler }, ({ provider }) =>
      askProvider<'search'>(provider, { ...query, sinceSeconds: null, untilSeconds: null }),
    );

    expect([page.items.length, page.rows]).toEqual([500, 700]);
    expect(page.warnings).toEqual([expect.stringMatching(/^200 posts are missing/)]);
  });
});
