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
import { writeAnyText as anyText, type Chance, writeRowText as rowText } from './random-text.ts';
import { type Case, createCase, fill } from './upstreams.ts';

/** HTML that costs a parser: each is repeated, alone or with a text between. */
const html: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'list items': ['<li>', '<ul><li>', '<ol><li>a'],
  'end tags': ['</i>', '</p></b>', '</li></a></div>'],
  'crossing tags': ['<b><p>a</b></p>', '<a href="https://a.example"><div>', '<i><b></i>'],
  'deep tags': ['<blockquote>', '<div><b>', '<ul>'],
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

function writeHtml(chance: Chance, kind: string, length: number): string {
  const piece = chance.pick(html[kind] ?? ['a']);
  const rows = chance.pick(['', 'a', ' heron ', '\n', '<b>']);
  const unit = piece + rows;
  return unit.repeat(Math.ceil(length / unit.length));
}

const mira = accountRow('mira');
const id = '110';

type Members = (chance: Chance, bytes: number) => Row;

const members: Readonly<Record<string, Members>> = {
  ...Object.fromEntries(
    Object.keys(html).map((kind): [string, Members] => [
      `HTML of ${kind}`,
      (chance, bytes) => ({ content: writeHtml(chance, kind, bytes) }),
    ]),
  ),
  'HTML of different attributes': (_, bytes) => ({
    content: `<p ${fill(bytes, (at) => at.toString(36)).join('=a ')}>`,
  }),
  text: (chance, bytes) => ({ content: anyText(chance, bytes) }),
  media: (_, bytes) => ({
    media_attachments: fill(bytes, (at) => imageRow(`a${at}`, { description: null })),
  }),
  mentions: (chance, bytes) => ({
    mentions: fill(bytes / 2, (at) => ({
      id: String(at),
      username: `a${at}`,
      acct: `a${at}@b.example`,
      url: `https://b.example/@a${at}`,
    })),
    content: fill(bytes / 2, () => {
      const name = `a${chance.below(3000)}`;
      return `<a class="u-url mention" href="https://b.example/@${name}">@${name}</a> `;
    }).join(''),
  }),
  poll: (chance, bytes) => ({
    poll: { options: fill(bytes, (at) => ({ title: rowText(chance, at, 12), votes_count: 1 })) },
  }),
  profile: (chance, bytes) => ({
    account: {
      ...mira,
      display_name: anyText(chance.for('name'), bytes / 4),
      note: writeHtml(chance.for('note'), 'links', bytes / 4),
      fields: fill(bytes / 4, (at) => ({ name: `a${at}`, value: writeHtml(chance, 'links', 60) })),
    },
    spoiler_text: anyText(chance.for('warning'), bytes / 4),
  }),
};

const mastodonPosts = Object.entries(members).map(([name, make]) =>
  createCase({
    provider: 'mastodon',
    read: 'post',
    name,
    write: (chance, bytes) => ({
      context: { ancestors: [], descendants: [] },
      'statuses/': statusRow(id, mira, make(chance, bytes)),
    }),
  }),
);

function otherRow(chance: Chance, at: number): Row {
  const author = accountRow(chance.pick(['mira', 'otto', 'tove@b.example']));
  // All kinds in turn, so that twice the rows are about twice the work. Each seed begins with another one.
  const kinds = Object.keys(html);
  const first = chance.for('kinds').below(kinds.length);
  return statusRow(String(200 + at), author, {
    in_reply_to_id: String(chance.below(3) === 0 ? id : 199 + chance.below(at + 1)),
    content: writeHtml(
      chance.for(String(at % 24)),
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
    write: (chance, bytes) => ({
      context: {
        ancestors: fill(bytes / 3, (at) => otherRow(chance, at)),
        descendants: fill(bytes / 1.5, (at) => otherRow(chance, 5000 + at)),
      },
      'statuses/': statusRow(id, mira),
    }),
  }),
  createCase({
    provider: 'mastodon',
    read: 'timeline',
    name: 'posts',
    write: (chance, bytes) => ({
      statuses: fill(bytes, (at) =>
        statusRow(String(9000 - at), mira, { content: writeHtml(chance, 'links', 60) }),
      ),
      lookup: mira,
    }),
  }),
];

function nestQuotes(chance: Chance, bytes: number): Fields {
  let quoted = bskyQuoted(bskyPost({ rkey: '3k1', text: 'a' }));
  for (let depth = 0; depth < Math.min(800, bytes / 1500); depth += 1) {
    quoted = bskyQuoted(bskyPost({ rkey: '3k1', text: anyText(chance, 300) }), [
      bskyRecordEmbed(quoted),
    ]);
  }
  return bskyRecordEmbed(quoted);
}

const blueskyMembers: Readonly<Record<string, (chance: Chance, bytes: number) => Fields>> = {
  text: (chance, bytes) => bskyPost({ rkey: '3kabc', text: anyText(chance, bytes) }),
  facets: (chance, bytes) => {
    const words = 'heron mill '.repeat(bytes / 44);
    const facets = fill((bytes * 3) / 4, (at) => ({
      index: { byteStart: at * 6, byteEnd: at * 6 + chance.pick([5, 11, 900]) },
      features: [{ $type: 'app.bsky.richtext.facet#tag', tag: 'heron' }],
    }));
    return bskyPost({ rkey: '3kabc', text: words, record: { facets } });
  },
  pictures: (_, bytes) => {
    const names = Array.from({ length: Math.ceil(bytes / 200) }, (_one, at) => `a${at}`);
    return bskyPost({ rkey: '3kabc' }, { embed: bskyImages(...names) });
  },
  quotes: (chance, bytes) => bskyPost({ rkey: '3kabc' }, { embed: nestQuotes(chance, bytes) }),
};

const blueskyPosts = Object.entries(blueskyMembers).map(([name, make]) =>
  createCase({
    provider: 'bluesky',
    read: 'post',
    name,
    write: (chance, bytes) => ({ getPostThread: { thread: bskyNode(make(chance, bytes)) } }),
  }),
);

function replyRow(chance: Chance, at: number): Fields {
  const handle = chance.pick(['mira.test', 'otto.test']);
  return bskyPost({ handle, rkey: `3k${at.toString(32)}`, text: rowText(chance, at, 60) });
}

const blueskyLists: readonly Case[] = [
  createCase({
    provider: 'bluesky',
    read: 'post',
    name: 'replies',
    write: (chance, bytes) => {
      const replies = fill(bytes, (at) => bskyNode(replyRow(chance, at)));
      return { getPostThread: { thread: bskyNode(bskyPost({ rkey: '3kabc' }), { replies }) } };
    },
  }),
  createCase({
    provider: 'bluesky',
    read: 'post',
    name: 'parents and replies within replies',
    write: (chance, bytes) => {
      let parent: Fields | undefined;
      let replies: readonly Fields[] = [];
      for (let depth = 0; depth < Math.min(800, bytes / 2000); depth += 1) {
        parent = bskyNode(replyRow(chance, depth), { parent });
        replies = [bskyNode(replyRow(chance, depth), { replies })];
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
    write: (chance, bytes) => ({
      getAuthorFeed: { feed: fill(bytes, (at) => ({ post: replyRow(chance, at) })) },
      getProfile: bskyActor('mira.test'),
    }),
  }),
  createCase({
    provider: 'bluesky',
    read: 'followers',
    name: 'accounts',
    write: (chance, bytes) => ({
      getFollowers: {
        followers: fill(bytes, (at) =>
          bskyActor(`a${at}.test`, { description: rowText(chance, at, 60) }),
        ),
      },
    }),
  }),
];

/** Hostile answers of Mastodon servers and of Bluesky. */
export const fediverseCases: readonly Case[] = [
  ...mastodonPosts,
  ...mastodonLists,
  ...blueskyPosts,
  ...blueskyLists,
];
