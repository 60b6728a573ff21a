import { systemClock } from '../../../src/lib/clock.ts';
import { createFxTwitter } from '../../../src/providers/fxtwitter/index.ts';
import { shapeAccount, shapePost } from '../../../src/providers/fxtwitter/normalize.ts';
import { parsePost, parseUser } from '../../../src/providers/fxtwitter/wire.ts';
import { askProvider } from '../../suites/provider-suite.ts';
import { fxBody, fxProfile, fxStatus, fxTombstone, fxUser, fxV1Status } from '../x-payloads.ts';
import { byReason, type Platform } from './platform.ts';
import { createStubHttp } from './stub-http.ts';
import type { Json, Kinds } from './walk.ts';

const leftOut: Platform['leftOut'] = {
  'status.provider': 'always `twitter`',
  'status.url': 'made from the handle and the id, so that no other address can stand there',
  'status.message': 'the sentence of a tombstone; Perch has its own for each reason',
  'status.raw_text.text': 'the text with short links; it only shows where the facets belong',
  'status.raw_text.display_text_range': 'only shows where the facets belong',
  'status.raw_text.facets[].display': 'the shortened link; the text has the whole one',
  'status.raw_text.facets[].id': 'mentions lead to the account by its handle',
  'status.is_note_tweet': 'the text is whole, whether the post is long or not',
  'status.embed_card': 'a hint for previews that FxTwitter makes itself',
  'status.twitter_card': 'the same under its older name',
  'status.replying_to.url': 'made from the handle and the id',
  'status.poll.time_left_en': 'depends on the clock; `ends_at` is the moment',
  'status.media.mosaic': 'a collage that FxTwitter makes of the photos',
  'status.media.all[].format': 'the same as `container` of the formats',
  'status.media.all[].formats[].codec': '`container` tells what can be played',
  'status.media.all[].publisher':
    'the account that a video was first posted by; null in every recording',
  'status.article.cover_media.media_info.__typename': 'the address tells that it is a picture',
  'status.article.cover_media.media_info.color_info': 'colours of the picture',
  'status.article.content.blocks[].key': 'nothing refers to a block',
  'status.article.content.entityMap[].value.mutability': 'for editors of articles',
  'user.type': 'always `profile`',
  'user.raw_description.text': 'the description with short links; `description` has the whole ones',
  'user.raw_description.facets[].display': 'a shortened form of the link',
  'status.community_note.facets[].original': 'the same words are in the text of the note',
  'user.verification.verified_at': 'null in every recording',
  'user.about_account': 'only sent where it is asked for, which Perch does not',
  ...byReason({
    'always null': 'status.color user.avatar_color',
    'made from the handle': 'status.replying_to.profile_url user.url',
    'the same objects as in `all`': 'status.media.photos status.media.videos',
    'nothing is read by it':
      'status.media.all[].id status.article.cover_media.id ' +
      'status.article.cover_media.media_id status.article.cover_media.media_key',
    'nobody lays out the picture of a card': 'status.card.image.width status.card.image.height',
    'nobody lays out the cover':
      'status.article.cover_media.media_info.original_img_width ' +
      'status.article.cover_media.media_info.original_img_height',
  }),
};

const envelope: Platform['envelope'] = {
  'body.code': 'the true status of an answer',
  'body.message': 'tells a missing account from a missing route',
  'body.cursor.bottom': 'where a list goes on',
  'body.cursor.top': 'leads back',
  'body.thread': 'null where only the post itself was found',
  'body.results[].type': '`thread` with `groupthreads=1`, which Perch does not send',
  'body.results[].conversation_id': 'of such a group',
  'body.results[].all_status_ids[]': 'of such a group',
  'body.results[].truncated': 'of such a group',
};

const posts: ReadonlySet<string> = new Set([
  'status',
  'tweet',
  'quote',
  'thread',
  'replies',
  'statuses',
]);
const people: ReadonlySet<string> = new Set(['author', 'user', 'reposted_by', 'publisher']);

const provide = (body: unknown) =>
  createFxTwitter({
    http: createStubHttp(() => body),
    apiUrl: 'https://api.fxtwitter.example',
    clock: systemClock,
  });

const kinds: Kinds = {
  of: (member, value) => {
    if (people.has(member) || (member === 'results' && 'screen_name' in value)) return 'user';
    if (posts.has(member) || (member === 'results' && value.type !== 'thread')) return 'status';
    return null;
  },
  readers: {
    status: (status) =>
      askProvider<'post'>(provide(fxBody(status)), {
        kind: 'post',
        post: { platform: 'x', handle: null, id: '20' },
        thread: false,
        replies: 'off',
      }),
    user: (user) =>
      askProvider<'profile'>(provide(fxProfile(user)), {
        kind: 'profile',
        account: { platform: 'x', handle: 'mira_holm' },
      }),
  },
};

const photo = {
  type: 'photo',
  url: 'https://pbs.example/heron.jpg',
  width: 640,
  height: 480,
  altText: 'A heron',
};

const video = {
  type: 'video',
  url: 'https://video.example/heron.mp4',
  width: 640,
  height: 480,
  thumbnail_url: 'https://pbs.example/heron.jpg',
  duration: 3.5,
  formats: [{ url: 'https://video.example/heron.mp4', container: 'mp4', bitrate: 832_000 }],
};

const oldVideo = {
  ...video,
  formats: [],
  variants: [{ url: 'https://video.example/1', content_type: 'video/mp4', bitrate: 1 }],
};

const variants = [
  { url: 'https://video.example/2', content_type: 'video/mp4', bitrate: 2 },
  { url: 'https://video.example/3', content_type: 'video/mp4', bit_rate: 2 },
  { url: 'https://video.example/4', content_type: 'video/mp4', bitrate: 2 },
];

const picture = {
  original_img_url: 'https://pbs.example/2.jpg',
  original_img_width: 3,
  original_img_height: 2,
};

const blockData = {
  urls: [{ fromIndex: 0, toIndex: 9, text: 'a.example' }],
  mentions: [{ fromIndex: 10, toIndex: 14, text: 'mira' }],
  hashtags: [{ fromIndex: 15, toIndex: 20, text: 'heron' }],
  cashtags: [{ fromIndex: 21, toIndex: 24, text: 'ABC' }],
};

const article = {
  id: '77',
  title: 'Herons',
  preview_text: 'Of the mill',
  created_at: '2026-01-01T00:00:00.000Z',
  modified_at: '2026-01-02T00:00:00.000Z',
  cover_media: { media_info: picture },
  content: {
    blocks: [
      {
        type: 'unstyled',
        text: 'a.example mira heron ABC link bold',
        data: blockData,
        entityRanges: [{ key: 4, offset: 25, length: 4 }],
        inlineStyleRanges: [{ style: 'Bold', offset: 30, length: 4 }],
      },
      ...[0, 1, 2, 3].map((key) => ({
        type: 'atomic',
        text: ' ',
        entityRanges: [{ key, offset: 0, length: 1 }],
      })),
    ],
    entityMap: [
      { key: '0', value: { type: 'MARKDOWN', data: { markdown: '`x`' } } },
      { key: '1', value: { type: 'TWEET', data: { tweetId: '20' } } },
      { key: '2', value: { type: 'MEDIA', data: { mediaItems: [{ mediaId: '1' }] } } },
      {
        key: '3',
        value: { type: 'MEDIA', data: { mediaItems: [{ mediaId: '2' }, { mediaId: '3' }] } },
      },
      { key: '4', value: { type: 'LINK', data: { url: 'https://a.example/' } } },
    ],
  },
  media_entities: [
    { media_id: '1', media_info: picture },
    { media_id: '2', media_info: { variants } },
    { media_id: '3', media_info: { video_info: { variants } } },
  ],
};

const text = 'See https://a.example/ by @mira_holm';

const samples: readonly (readonly [string, Json])[] = [
  [
    'status',
    fxStatus('20', {
      text,
      raw_text: {
        text: 'See https://t.co/a by @mira_holm',
        display_text_range: [0, 32],
        facets: [
          {
            type: 'url',
            indices: [4, 18],
            original: 'https://t.co/a',
            replacement: 'https://a.example/',
          },
          { type: 'mention', indices: [22, 32], original: 'mira_holm' },
        ],
      },
      views: 7,
      possibly_sensitive: true,
      replying_to: { screen_name: 'tove_ek', status: '19' },
      reposted_by: fxUser('otto_lind'),
      quote: fxStatus('18'),
      media: {
        all: [photo, video],
        external: {
          url: 'https://video.example/x',
          thumbnail_url: 'https://video.example/t',
          width: 4,
          height: 3,
        },
      },
      poll: {
        choices: [{ label: 'Yes', count: 3, percentage: 100 }],
        total_votes: 3,
        ends_at: '2026-01-01T00:00:00.000Z',
      },
      card: {
        url: 'https://a.example/',
        title: 'A',
        description: 'B',
        domain: 'a.example',
        image: { url: 'https://pbs.example/a.jpg', alt: 'C' },
      },
      community: { id: '1506', name: 'Herons', description: 'All of them' },
      community_note: {
        text: 'It is a stork: storks.example/…',
        facets: [
          {
            type: 'url',
            indices: [15, 31],
            original: 'https://t.co/St0rk',
            replacement: 'https://storks.example/a-stork',
          },
        ],
      },
      article,
    }),
  ],
  ['status', fxV1Status('20', { media: { all: [oldVideo] } })],
  [
    'status',
    fxStatus('21', { quote: { ...fxTombstone('20', 'suspended'), author: fxUser('tove_ek') } }),
  ],
  ['status', fxStatus('22', { created_timestamp: null })],
  ['user', fxUser('mira_holm', { location: 'Mill', banner_url: 'https://pbs.example/b.jpg' })],
  [
    'user',
    fxUser('mira_holm', {
      description: 'Maps: https://maps.example/mira',
      raw_description: {
        text: 'Maps: https://t.co/M4ps',
        facets: [
          {
            type: 'url',
            indices: [6, 23],
            original: 'https://t.co/M4ps',
            replacement: 'https://maps.example/mira',
          },
        ],
      },
    }),
  ],
];

function shape(kind: string, value: unknown): void {
  const user = kind === 'user' ? parseUser(value) : null;
  const post = kind === 'status' ? parsePost(value) : null;
  if (user !== null) shapeAccount(user);
  if (post !== null) shapePost(post);
}

/** Description of the FxTwitter payloads. */
export const fxTwitterMembers: Platform = { kinds, samples, shape, leftOut, envelope };
