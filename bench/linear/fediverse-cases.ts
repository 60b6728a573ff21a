import {
  bskyActor,
  bskyImages,
  bskyNode,
  bskyPost,
  bskyQuoted,
  bskyRecordEmbed,
} from '../../test/support/bluesky-payloads.ts';
import { accountRow, imageRow, type Row, statusRow } from '../../test/support/mastodon-payloads.ts';
import type { Fields } from '../../test/support/x-payloads.ts';
import {
  writeAnyText as anyText,
  type RandomSource,
  writeRowText as rowText,
} from './random-text.ts';
import { type Case, createCase, fill } from './upstreams.ts';

/** HTML fragments that are expensive to parse. Each fragment is repeated, alone or with text in between. */
const html: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'list items': ['<li>', '<ul><li>', '<ol><li>a'],
  'end tags': ['</i>', '</p></b>', '</li></a></div>'],
  'crossing tags': ['<b><p>a</b></p>', '<a href="https://a.example"><div>', '<i><b></i>'],
  'deep tags': ['<blockquote>', '<div><b>', '<ul>'],
  tables: ['<table><tr><td>', '<td>', '<tr><th>a<td><p>', '</td></table>', '<table><caption>a'],
  'numbered lists': ['<ol reversed><li>', '<li value="9">', '<ol start="9"></ol>'],
  formulas: ['<math><mi>x</mi>', '<annotation encoding="TeX">a', '<math><mn>1</mn></math>'],
  links: [
    '<a href="https://a.example/b" class="mention">@a</a> ',
    '<a href="https://a.example"><span class="invisible">b</span><span class="ellipsis">c</span></a>',
    '<a href="https://a.example">',
  ],
  attributes: ['<p class="', '<p a=b ', ' c=d e'],
  'raw elements': ['<script>', '<style>a', '<textarea></textarea', '<title>'],
  comments: ['<!--', '<!-- a --', '<![CDATA[', '<?'],
  breaks: ['<br>', '<p>\n', '<br>\n<br />', '<hr>'],
  references: ['&amp;', '&lt;b&gt;', '&#60;', '&notit'],
  verbatim: ['<pre>\n', '<pre><code>a\n', '<code>'],
};

function writeHtml(random: RandomSource, kind: string, length: number): string {
  const piece = random.pick(html[kind] ?? ['a']);
  const rows = random.pick(['', 'a', ' heron ', '\n', '<b>']);
  const unit = piece + rows;
  return unit.repeat(Math.ceil(length / unit.length));
}

const mira = accountRow('mira');
const id = '110';

type Members = (random: RandomSource, bytes: number) => Row;

const members: Readonly<Record<string, Members>> = {
  ...Object.fromEntries(
    Object.keys(html).map((kind): [string, Members] => [
      `HTML of ${kind}`,
      (random, bytes) => ({ content: writeHtml(random, kind, bytes) }),
    ]),
  ),
  'HTML of different attributes': (_, bytes) => ({
    content: `<p ${fill(bytes, (at) => at.toString(36)).join('=a ')}>`,
  }),
  text: (random, bytes) => ({ content: anyText(random, bytes) }),
  media: (_, bytes) => ({
    media_attachments: fill(bytes, (at) => imageRow(`a${at}`, { description: null })),
  }),
  mentions: (random, bytes) => ({
    mentions: fill(bytes / 2, (at) => ({
      id: String(at),
      username: `a${at}`,
      acct: `a${at}@b.example`,
      url: `https://b.example/@a${at}`,
    })),
    content: fill(bytes / 2, () => {
      const name = `a${random.below(3000)}`;
      return `<a class="u-url mention" href="https://b.example/@${name}">@${name}</a> `;
    }).join(''),
  }),
  poll: (random, bytes) => ({
    poll: { options: fill(bytes, (at) => ({ title: rowText(random, at, 12), votes_count: 1 })) },
  }),
  profile: (random, bytes) => ({
    account: {
      ...mira,
      display_name: anyText(random.for('name'), bytes / 4),
      note: writeHtml(random.for('note'), 'links', bytes / 4),
      fields: fill(bytes / 4, (at) => ({ name: `a${at}`, value: writeHtml(random, 'links', 60) })),
    },
    spoiler_text: anyText(random.for('warning'), bytes / 4),
  }),
};

const mastodonPosts = Object.entries(members).map(([name, make]) =>
  createCase({
    provider: 'mastodon',
    read: 'post',
    name,
    write: (random, bytes) => ({
      context: { ancestors: [], descendants: [] },
      'statuses/': statusRow(id, mira, make(random, bytes)),
    }),
  }),
);

function otherRow(random: RandomSource, at: number): Row {
  const author = accountRow(random.pick(['mira', 'otto', 'tove@b.example']));
  // Kinds alternate, so that twice the rows need about twice the work. The seed determines the first one.
  const kinds = Object.keys(html);
  const first = random.for('kinds').below(kinds.length);
  return statusRow(String(200 + at), author, {
    in_reply_to_id: String(random.below(3) === 0 ? id : 199 + random.below(at + 1)),
    content: writeHtml(
      random.for(String(at % 24)),
      kinds[(first + at) % kinds.length] ?? '',
      at % 2 === 0 ? 30 : 3000,
    ),
  });
}

const mastodonLists: readonly Case[] = [
  createCase({
    provider: 'mastodon',
    read: 'post',
    name: 'thread and replies',
    write: (random, bytes) => ({
      context: {
        ancestors: fill(bytes / 3, (at) => otherRow(random, at)),
        descendants: fill(bytes / 1.5, (at) => otherRow(random, 5000 + at)),
      },
      'statuses/': statusRow(id, mira),
    }),
  }),
  createCase({
    provider: 'mastodon',
    read: 'timeline',
    name: 'posts',
    write: (random, bytes) => ({
      statuses: fill(bytes, (at) =>
        statusRow(String(9000 - at), mira, { content: writeHtml(random, 'links', 60) }),
      ),
      lookup: mira,
    }),
  }),
];

function nestQuotes(random: RandomSource, bytes: number): Fields {
  let quoted = bskyQuoted(bskyPost({ rkey: '3k1', text: 'a' }));
  for (let depth = 0; depth < Math.min(800, bytes / 1500); depth += 1) {
    quoted = bskyQuoted(bskyPost({ rkey: '3k1', text: anyText(random, 300) }), [
      bskyRecordEmbed(quoted),
    ]);
  }
  return bskyRecordEmbed(quoted);
}

const blueskyMembers: Readonly<Record<string, (random: RandomSource, bytes: number) => Fields>> = {
  text: (random, bytes) => bskyPost({ rkey: '3kabc', text: anyText(random, bytes) }),
  facets: (random, bytes) => {
    const words = 'heron mill '.repeat(bytes / 44);
    const facets = fill((bytes * 3) / 4, (at) => ({
      index: { byteStart: at * 6, byteEnd: at * 6 + random.pick([5, 11, 900]) },
      features: [{ $type: 'app.bsky.richtext.facet#tag', tag: 'heron' }],
    }));
    return bskyPost({ rkey: '3kabc', text: words, record: { facets } });
  },
  entities: (random, bytes) => {
    const entities = fill((bytes * 3) / 4, (at) => ({
      index: { start: at * 6, end: at * 6 + random.pick([5, 11, 900]) },
      type: 'link',
      value: 'https://a.example/',
    }));
    return bskyPost({ rkey: '3kabc', text: anyText(random, bytes / 4), record: { entities } });
  },
  pictures: (_, bytes) => {
    const names = Array.from({ length: Math.ceil(bytes / 200) }, (_one, at) => `a${at}`);
    return bskyPost({ rkey: '3kabc' }, { embed: bskyImages(...names) });
  },
  quotes: (random, bytes) => bskyPost({ rkey: '3kabc' }, { embed: nestQuotes(random, bytes) }),
};

const blueskyPosts = Object.entries(blueskyMembers).map(([name, make]) =>
  createCase({
    provider: 'bluesky',
    read: 'post',
    name,
    write: (random, bytes) => ({ getPostThread: { thread: bskyNode(make(random, bytes)) } }),
  }),
);

function replyRow(random: RandomSource, at: number): Fields {
  const handle = random.pick(['mira.test', 'otto.test']);
  return bskyPost({ handle, rkey: `3k${at.toString(32)}`, text: rowText(random, at, 60) });
}

const blueskyLists: readonly Case[] = [
  createCase({
    provider: 'bluesky',
    read: 'post',
    name: 'replies',
    write: (random, bytes) => {
      const replies = fill(bytes, (at) => bskyNode(replyRow(random, at)));
      return { getPostThread: { thread: bskyNode(bskyPost({ rkey: '3kabc' }), { replies }) } };
    },
  }),
  createCase({
    provider: 'bluesky',
    read: 'post',
    name: 'parents and replies within replies',
    write: (random, bytes) => {
      let parent: Fields | undefined;
      let replies: readonly Fields[] = [];
      for (let depth = 0; depth < Math.min(800, bytes / 2000); depth += 1) {
        parent = bskyNode(replyRow(random, depth), { parent });
        replies = [bskyNode(replyRow(random, depth), { replies })];
      }
      return {
        getPostThread: { thread: bskyNode(bskyPost({ rkey: '3kabc' }), { parent, replies }) },
      };
    },
  }),
  createCase({
    provider: 'bluesky',
    read: 'timeline',
    name: 'posts',
    write: (random, bytes) => ({
      getAuthorFeed: { feed: fill(bytes, (at) => ({ post: replyRow(random, at) })) },
      getProfile: bskyActor('mira.test'),
    }),
  }),
  createCase({
    provider: 'bluesky',
    read: 'followers',
    name: 'accounts',
    write: (random, bytes) => ({
      getFollowers: {
        followers: fill(bytes, (at) =>
          bskyActor(`a${at}.test`, { description: rowText(random, at, 60) }),
        ),
      },
    }),
  }),
];

/** Test cases with expensive responses of Mastodon servers and of Bluesky. */
export const fediverseCases: readonly Case[] = [
  ...mastodonPosts,
  ...mastodonLists,
  ...blueskyPosts,
  ...blueskyLists,
];
