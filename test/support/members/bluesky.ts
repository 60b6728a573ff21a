import { systemClock } from '../../../src/lib/clock.ts';
import {
  describeLabels,
  restrictionOf,
  shapeAccount,
} from '../../../src/normalize/bluesky/account.ts';
import { shapePost } from '../../../src/normalize/bluesky/normalize.ts';
import {
  parseActor,
  parseFeedRow,
  parsePost,
  parseThreadNode,
} from '../../../src/normalize/bluesky/wire.ts';
import { createBluesky } from '../../../src/providers/bluesky/index.ts';
import { askProvider } from '../../suites/provider-suite.ts';
import {
  bskyActor,
  bskyLabel,
  bskyPost,
  bskyProfile,
  bskyQuoted,
  bskyUri,
} from '../bluesky-payloads.ts';
import { byReason, type Platform } from './platform.ts';
import { createStubHttp } from './stub-http.ts';
import type { Json, Kinds } from './walk.ts';

const leftOut: Platform['leftOut'] = {
  'post.threadgate': 'who may reply',
  'record.embed':
    'what the author wrote; the AppView sends it with its addresses beside the record',
  'record.bridgyOriginalText': 'a bridge keeps the text of another network there',
  'record.bridgyOriginalUrl': 'a bridge keeps the address in another network there',
  'embed.cid': 'the file of a video; its playlist is read',
  'node.createdAt': 'no member of the lexicon; one synthetic recording has it',
  'node.threadContext': 'for readers who are signed in',
  'row.reason.indexedAt': 'only bounds a read by time, since the post has the time of its own',
  'row.reply.grandparentAuthor': 'who wrote what the parent answers',
  'actor.associated': 'what else the account has: lists, feeds, who may write to it',
  'actor.indexedAt': 'when the AppView last read the profile',
  'actor.labels[].cid': 'names a version of the profile',
  'actor.pinnedPost': 'stands in the timeline of the account',
  'actor.verification.verifications': 'who verified; the status says whether it holds',
  ...byReason({
    'the members show what an object is':
      'post.$type quoted.$type record.$type record.facets[].$type ' +
      'record.facets[].index.$type record.labels.$type record.reply.$type embed.$type ' +
      'embed.items[].$type node.$type',
    'names a version of a record, and posts have one':
      'post.cid post.labels[].cid quoted.cid record.reply.parent.cid',
    'every labeller counts alike': 'post.labels[].src quoted.labels[].src actor.labels[].src',
    'a label of a post is on the post': 'post.labels[].uri quoted.labels[].uri',
    'when a label was given': 'post.labels[].cts quoted.labels[].cts actor.labels[].cts',
    'the first post of the thread, which the thread itself shows':
      'record.reply.root row.reply.root',
    'a smaller form of the picture': 'embed.images[].thumb embed.items[].thumbnail',
    'the record of the repost': 'row.reason.uri row.reason.cid',
  }),
};

const envelope: Platform['envelope'] = {
  'body.cursor': 'where a list goes on',
  'body.topics': 'of a list of trends, which Perch does not ask for',
  'body.suggested': 'of a list of trends, which Perch does not ask for',
  'body.did': 'of a handle that is resolved, which Perch does not ask for',
  'body.uri': 'of a list of likes, which Perch does not ask for',
  'body.cid': 'of a list of likes, which Perch does not ask for',
  'body.likes[].createdAt': 'of a list of likes, which Perch does not ask for',
  'body.likes[].indexedAt': 'of a list of likes, which Perch does not ask for',
};

const people: ReadonlySet<string> = new Set([
  'actor',
  'actors',
  'author',
  'by',
  'creator',
  'followers',
  'follows',
  'profiles',
  'repostedBy',
  'subject',
]);

const provide = (body: unknown) =>
  createBluesky({
    http: createStubHttp(() => body),
    apiUrl: 'https://api.bsky.example',
    clock: systemClock,
  });

const account = { platform: 'bluesky', handle: 'mira.test' } as const;
const readThread = (thread: unknown) =>
  askProvider<'post'>(provide({ thread }), {
    kind: 'post',
    post: { ...account, id: '3kabc' },
    thread: true,
    replies: 'top',
  });

const isView = ({ $type }: Json) => $type === undefined || String($type).endsWith('#view');

/** Kinds of objects that are recognized by their members. */
const forms: readonly (readonly [kind: string, is: (value: Json, member: string) => boolean])[] = [
  ['actor', (value, member) => people.has(member) || ('did' in value && 'handle' in value)],
  ['row', (value, member) => 'post' in value && (member === 'feed' || member === 'row')],
  ['node', (value) => 'post' in value],
  ['quoted', (value, member) => member === 'record' && 'uri' in value],
  ['post', (value) => 'author' in value && 'record' in value && 'uri' in value],
  ['record', (value, member) => (member === 'record' || member === 'value') && 'text' in value],
  ['embed', (value, member) => /^(?:embeds?|media)$/.test(member) && isView(value)],
];

function kindOf(member: string, value: Json): string | null {
  return forms.find(([, is]) => is(value, member))?.[0] ?? null;
}

const kinds: Kinds = {
  of: kindOf,
  readers: {
    node: readThread,
    post: (post) => readThread({ post }),
    row: (row) =>
      askProvider<'timeline'>(provide({ feed: [row] }), {
        kind: 'timeline',
        account,
        withReplies: true,
        withReposts: true,
        untilSeconds: null,
        cursor: null,
        count: 20,
      }),
    actor: (actor) => askProvider<'profile'>(provide(actor), { kind: 'profile', account }),
  },
};

const labelled = (uri: string, val = 'sexual') => ({
  labels: [bskyLabel(val, uri, { neg: false, exp: '2099-01-01T00:00:00Z' })],
});
const ratio = { width: 1200, height: 800 };
const address = (name: string) => `https://cdn.bsky.example/${name}`;
const picture = { fullsize: address('f'), alt: 'A heron', aspectRatio: ratio };
const facet = (type: string, byteStart: number, fields: Json) => ({
  index: { byteStart, byteEnd: byteStart + 4 },
  features: [{ $type: `app.bsky.richtext.facet#${type}`, ...fields }],
});
const record = {
  facets: [
    facet('link', 0, { uri: 'https://a.example/' }),
    facet('mention', 4, { did: 'did:plc:abc' }),
    facet('tag', 8, { tag: 'reef' }),
  ],
  langs: ['en'],
  tags: ['heron'],
  labels: { values: [{ val: 'nudity' }] },
};
const entities = [{ index: { start: 0, end: 4 }, type: 'link', value: 'https://a.example/' }];
const verified = (verifiedStatus: string, trustedVerifierStatus: string) =>
  bskyProfile('mira.test', {
    ...labelled('at://x', 'spam'),
    verification: { verifiedStatus, trustedVerifierStatus },
  });
const mira = bskyActor('mira.test');
const post = (embed: Json, fields: Json = {}) =>
  bskyPost({ rkey: '3kabc', text: 'linkmentreef', record }, { embed, ...fields });
const shown = {
  uri: 'at://did:plc:abc/app.bsky.feed.generator/herons',
  creator: bskyActor('tove.test'),
  labels: [],
  description: 'All of them',
  avatar: address('a'),
};
const deeper = { record: bskyQuoted(bskyPost({ rkey: '3kdeep' })) };
const quoting = {
  record: bskyQuoted(bskyPost({ handle: 'tove.test', rkey: '3kq' }, labelled('at://x')), [deeper]),
};
const gone = (member: string) => ({ record: { uri: bskyUri('tove.test', '3kq'), [member]: true } });

const samples: readonly (readonly [string, Json])[] = [
  ['post', post({ images: [picture] })],
  ['post', post({ items: [picture] })],
  [
    'post',
    bskyPost({
      rkey: '3kabc',
      record: { embed: { $type: 'app.test.embed.map', media: 'sea', record: 'sea' } },
    }),
  ],
  ['post', bskyPost({ rkey: '3kabc' }, labelled('at://x'))],
  ['post', bskyPost({ rkey: '3kabc', text: 'link', record: { entities } })],
  ['post', bskyPost({ rkey: '3kabc' }, { author: { ...mira, ...labelled(String(mira.did)) } })],
  [
    'post',
    post({
      playlist: address('p'),
      thumbnail: address('t'),
      alt: 'A heron',
      aspectRatio: ratio,
      presentation: 'gif',
    }),
  ],
  [
    'post',
    post({
      external: { uri: 'https://a.example/', title: 'A', description: 'B', thumb: address('t') },
    }),
  ],
  ['post', post({ media: { images: [picture] }, ...quoting })],
  ['post', post(quoting)],
  ['post', post({ record: { ...shown, displayName: 'Herons' } })],
  ['post', post({ record: { ...shown, name: 'Herons' } })],
  [
    'post',
    post({
      record: { ...shown, description: undefined, record: { name: 'Herons', description: 'B' } },
    }),
  ],
  ...['notFound', 'blocked', 'detached'].map((member) => ['post', post(gone(member))] as const),
  [
    'node',
    {
      post: bskyPost({ rkey: '3kabc', parent: bskyUri('mira.test', '3kup') }),
      parent: { post: bskyPost({ rkey: '3kup' }) },
      replies: [{ post: bskyPost({ rkey: '3kdown' }) }],
    },
  ],
  [
    'row',
    {
      post: bskyPost({ rkey: '3kabc', parent: bskyUri('tove.test', '3kup') }),
      reply: { parent: bskyPost({ handle: 'tove.test', rkey: '3kup' }) },
      reason: {
        $type: 'app.bsky.feed.defs#reasonRepost',
        by: bskyActor('mira.test'),
        indexedAt: '2026-03-05T00:00:00.000Z',
      },
    },
  ],
  ['actor', verified('valid', 'none')],
  ['actor', verified('none', 'valid')],
];

function shape(kind: string, value: unknown): void {
  const nowMs = Date.UTC(2026, 10, 21);
  const actor = kind === 'actor' ? parseActor(value) : null;
  if (actor !== null) {
    shapeAccount(actor);
    restrictionOf(actor, nowMs);
    describeLabels(actor, nowMs);
  }
  const node = kind === 'node' ? parseThreadNode(value) : null;
  const row = kind === 'row' ? parseFeedRow(value) : null;
  const post = node?.post ?? row?.post ?? (kind === 'post' ? parsePost(value) : null);
  if (post !== null) shapePost(post, { nowMs, parentAuthor: null });
  if (row !== null) parsePost(row.reply?.parent);
}

/** Description of the Bluesky payloads. */
export const blueskyMembers: Platform = { kinds, samples, shape, leftOut, envelope };
