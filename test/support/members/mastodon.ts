import { systemClock } from '../../../src/lib/clock.ts';
import { describeAccountState, shapeAccount } from '../../../src/normalize/mastodon/identity.ts';
import { createSurroundings, shapePost } from '../../../src/normalize/mastodon/normalize.ts';
import { parseAccount, parseStatus } from '../../../src/normalize/mastodon/wire.ts';
import { createMastodon } from '../../../src/providers/mastodon/index.ts';
import { askProvider } from '../../suites/provider-suite.ts';
import { accountRow, homeHost, statusRow } from '../mastodon-payloads.ts';
import { createOpenLimits } from '../mastodon-rig.ts';
import { byReason, type Platform } from './platform.ts';
import { createStubHttp } from './stub-http.ts';
import type { Json, Kinds } from './walk.ts';

const leftOut: Platform['leftOut'] = {
  'status.application.website': 'the page of the client',
  'status.emojis': 'pictures of emoji; the text keeps their names',
  'status.tags[].url': 'hashtags in the text lead where the text says',
  'status.pleroma.quote_url': 'that it is there says that a post is quoted',
  'status.media_attachments[].meta.small': 'a smaller form of the picture',
  'status.media_attachments[].meta.focus': 'where to cut the picture',
  'status.media_attachments[].preview_remote_url': 'the preview on the server of the author',
  'status.media_attachments[].text_url': 'an older address of the same file',
  'account.emojis': 'pictures of emoji; the name keeps their names',
  'account.uri': 'the address among servers; `url` is the page',
  'account.locked': 'says that followers are approved; public posts are public all the same',
  'account.group': 'a group has posts like any account',
  'account.roles': 'what the account does for its server',
  'account.discoverable': 'for directories and suggestions, of which Perch has none',
  'account.indexable': 'for the search of servers, which serves those who are signed in',
  'account.noindex': 'for search engines, which are kept from all replies',
  'account.fields[].verified_at': 'that it is there makes the link the `website`',
  'account.last_status_at': 'the day of the last post',
  'card.type': 'a page, a picture or a video are all a link',
  'card.language': 'the language of the page',
  'card.provider_url': 'the home page of the site; `url` is on it',
  'card.published_at': 'when the page was published',
  'poll.expired': 'follows from `ends_at` and the time of the read',
  'poll.emojis': 'pictures of emoji; the choices keep their names',
  ...byReason({
    'nothing is read by it': 'status.media_attachments[].id poll.id',
    'a blurred form of the picture': 'status.media_attachments[].blurhash card.blurhash',
    'follows from width and height':
      'status.media_attachments[].meta.original.aspect ' +
      'status.media_attachments[].meta.original.size',
    'the picture without movement': 'account.avatar_static account.header_static',
    'what is embedded in other pages': 'card.html card.embed_url',
    'nobody lays out the picture of a card': 'card.width card.height',
  }),
};

const envelope: Platform['envelope'] = {};

const account = { platform: 'mastodon', handle: `wren@${homeHost}` } as const;
const wren = accountRow('wren');

/** Creates a provider whose responses are selected by the end of the path. */
const provide = (bodies: Readonly<Record<string, unknown>>) =>
  createMastodon({
    callHost: createOpenLimits(),
    http: createStubHttp(({ pathname }) => {
      const end = Object.keys(bodies).find((each) => pathname.endsWith(each));
      return end === undefined ? undefined : bodies[end];
    }),
    clock: systemClock,
  });

const readStatus = (status: Json) =>
  askProvider<'post'>(provide({ [`/statuses/${status.id}`]: status }), {
    kind: 'post',
    post: { ...account, id: String(status.id) },
    thread: false,
    replies: 'off',
  });

async function readAccount(row: Json): Promise<unknown> {
  const profile = { kind: 'profile', account } as const;
  const followers = { kind: 'followers', account, cursor: null, count: 20 } as const;
  const own = provide({ '/lookup': row, '/followers': [] });
  const others = provide({ '/lookup': wren, '/followers': [row] });
  const reads = [
    askProvider<'profile'>(own, profile),
    askProvider<'followers'>(own, followers),
    askProvider<'followers'>(others, followers),
  ];
  return Promise.all(reads.map((read: Promise<unknown>) => read.catch(String)));
}

function kindOf(member: string, value: Json): string | null {
  if ('content' in value && 'account' in value) return 'status';
  if ('acct' in value && 'note' in value) return 'account';
  if (member === 'card') return 'card';
  return 'options' in value ? 'poll' : null;
}

const kinds: Kinds = {
  of: kindOf,
  readers: {
    status: readStatus,
    account: readAccount,
    poll: (poll) => readStatus(statusRow('1', wren, { poll })),
  },
};

const file = (name: string) => `https://files.example.org/${name}`;
const kelp = accountRow('kelp@kelp.example.net');
const post = (fields: Json) => statusRow('20', wren, fields);
const reactions = [{ name: 'blobcat', count: 2, url: file('blobcat.png') }];
const page = { url: 'https://news.example/1', title: 'A' };

const samples: readonly (readonly [string, Json])[] = [
  [
    'status',
    post({
      content:
        '<p>With <a href="https://b.example/k" class="u-url mention">@kelp</a> and <a href="https://a.example/otter" class="u-url mention">@otter</a></p>',
      mentions: [
        {
          id: '9',
          username: 'kelp',
          acct: 'kelp@kelp.example.net',
          url: 'https://kelp.example.net/@kelp',
        },
        { id: '10', username: 'kelp', acct: 'kelp@other.example.net', url: 'https://b.example/k' },
        { id: '11', username: 'otter', acct: 'otter@otter.example.net', url: null },
      ],
      tags: [{ name: 'heron' }],
      in_reply_to_id: '19',
      in_reply_to_account_id: '9',
      edited_at: '2026-01-01T00:00:00.000Z',
      spoiler_text: 'Birds',
      sensitive: true,
      application: { name: 'Perch Tests' },
      quotes_count: 3,
      media_attachments: [
        { type: 'unknown', url: file('songs'), mime: 'application/zip' },
        { type: 'unknown', url: file('notes'), pleroma: { mime_type: 'application/pdf' } },
        {
          type: 'video',
          url: file('v'),
          preview_url: file('v.png'),
          description: 'A heron',
          meta: { original: { width: 4, height: 3, duration: 3.5, bitrate: 1 } },
        },
        { type: 'image', url: null, remote_url: file('r.png') },
        { type: 'unknown', url: file('f'), pleroma: { mime_type: 'application/zip' } },
        { type: 'unknown', url: file('g'), mime: 'application/pdf' },
      ],
      poll: {
        expires_at: '2026-01-01T00:00:00.000Z',
        multiple: true,
        votes_count: 9,
        voters_count: 4,
        options: [{ title: 'Yes', votes_count: 3 }],
      },
      card: {
        ...page,
        description: 'B',
        image: file('c.png'),
        image_description: 'C',
        provider_name: 'D',
        author_name: 'E',
        author_url: 'https://news.example/e',
      },
    }),
  ],
  ['status', post({ url: null })],
  ['status', post({ card: { ...page, authors: [{ name: 'E', url: 'https://news.example/e' }] } })],
  [
    'status',
    post({
      card: {
        ...page,
        authors: [
          {
            account: { display_name: 'E', url: 'https://news.example/@e' },
          },
        ],
      },
    }),
  ],
  ['status', post({ reblog: statusRow('5', kelp) })],
  ['status', post({ quote: { state: 'accepted', quoted_status: statusRow('5', kelp) } })],
  ['status', post({ quote: { state: 'accepted', quoted_status_id: '5' } })],
  ['status', post({ quoted_status: statusRow('5', kelp) })],
  ['status', post({ quote_id: '5' })],
  ['status', post({ quote_url: 'https://kelp.example.org/@kelp/109876543210987654' })],
  ['status', post({ quote: { state: 'accepted', quote_url: 'https://kelp.example.org/@kelp/5' } })],
  [
    'status',
    post({
      quotes_count: undefined,
      pleroma: {
        quote: statusRow('5', kelp),
        quote_visible: true,
        quote_url: 'https://a.example/5',
        quotes_count: 2,
        emoji_reactions: reactions,
      },
    }),
  ],
  ['status', post({ pleroma: { quote_id: '5' } })],
  ['status', post({ emoji_reactions: reactions })],
  ['status', post({ reactions })],
  [
    'account',
    accountRow('wren', {
      header: file('h.png'),
      fields: [
        { name: 'Home', value: '<a href="https://a.example/">a</a>', verified_at: null },
        { name: 'Blog', value: '<a href="https://b.example/">b</a>', verified_at: '2026-01-01' },
      ],
      moved: { acct: 'wren@kelp.example.net' },
      memorial: true,
      limited: true,
      suspended: false,
    }),
  ],
  ['account', accountRow('wren', { display_name: '', hide_collections: true })],
];

function shape(kind: string, value: unknown): void {
  const home = { host: homeHost, domain: homeHost };
  const row = kind === 'account' ? parseAccount(value) : null;
  const status = kind === 'status' ? parseStatus(value) : null;
  if (row !== null) {
    shapeAccount(row, home);
    describeAccountState(row, home);
  }
  if (status !== null) shapePost(status, createSurroundings([status], home));
}

/** Description of the Mastodon payloads. */
export const mastodonMembers: Platform = { kinds, samples, shape, leftOut, envelope };
