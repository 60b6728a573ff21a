import { createSyndication } from '../../../src/providers/syndication/index.ts';
import { shapePost } from '../../../src/providers/syndication/normalize.ts';
import { parsePost } from '../../../src/providers/syndication/wire.ts';
import { askProvider } from '../../suites/provider-suite.ts';
import { syndicationPost, syndicationUser } from '../x-payloads.ts';
import type { Platform } from './platform.ts';
import { createStubHttp } from './stub-http.ts';
import type { Json, Kinds } from './walk.ts';

const searched = 'the text is searched for what is not there';

const leftOut: Platform['leftOut'] = {
  'post.display_text_range': 'the text is shown whole, with the mentions that a reply begins with',
  'post.conversation_count':
    'counts all posts of the conversation, so it is not the number of replies',
  'post.news_action_type': 'for the widget of X',
  'post.isEdited': 'says that a post was edited, and not when',
  'post.isStaleEdit': 'says that there is a later version, which has another id',
  'post.edit_control': 'what its author may still do',
  'post.note_tweet.id': 'nothing is read by it; that it is there says that the text is cut',
  'post.photos': 'older form of `mediaDetails`',
  'post.entities.urls[].indices[]': searched,
  'post.entities.user_mentions[].indices[]': searched,
  'post.entities.hashtags[].indices[]': searched,
  'post.entities.symbols[].indices[]': searched,
  'post.entities.media[].indices[]': searched,
  'post.mediaDetails[].indices[]': searched,
  'post.entities.urls[].display_url': 'the shortened link; the text has the whole one',
  'post.entities.user_mentions[].id_str': 'mentions lead to the account by its handle',
  'post.entities.user_mentions[].name': 'the text has the handle',
  'post.entities.media[].display_url': 'the link to media goes from the text',
  'post.entities.media[].expanded_url': 'the link to media goes from the text',
  'post.mediaDetails[].display_url': 'the link to media goes from the text',
  'post.mediaDetails[].expanded_url': 'the link to media goes from the text',
  'post.mediaDetails[].ext_media_availability': 'media that are gone have no address',
  'post.mediaDetails[].original_info.focus_rects': 'where the widget cuts a picture',
  'post.mediaDetails[].sizes': 'smaller forms of the picture',
  'post.card.name': 'tells a poll from a page',
  'post.card.card_platform': 'the device that the card was made for',
  'post.card.binding_values.*.type': 'the member beside it shows which type it is',
  'post.card.binding_values.*.scribe_key': 'for the statistics of X',
  'post.card.binding_values.*.image_value.width': 'nobody lays out the picture of a card',
  'post.card.binding_values.*.image_value.height': 'nobody lays out the picture of a card',
  'post.card.binding_values.*.image_color_value': 'colours of the picture',
  'post.card.binding_values.site': 'the account of the site; `vanity_url` names it',
  'post.card.binding_values.photo_image_full_size': 'the picture in another size',
  'post.card.binding_values.photo_image_full_size_alt_text': 'also beside the picture',
  'post.card.binding_values.photo_image_full_size_original': 'the picture in another size',
  'post.card.binding_values.photo_image_full_size_small': 'the picture in another size',
  'post.card.binding_values.photo_image_full_size_x_large': 'the picture in another size',
  'post.card.binding_values.summary_photo_image': 'the picture in another size',
  'post.card.binding_values.summary_photo_image_alt_text': 'also beside the picture',
  'post.card.binding_values.summary_photo_image_original': 'the picture in another size',
  'post.card.binding_values.summary_photo_image_small': 'the picture in another size',
  'post.card.binding_values.summary_photo_image_x_large': 'the picture in another size',
  'post.card.binding_values.thumbnail_image_original': 'the picture in another size',
  'post.card.binding_values.thumbnail_image_small': 'the picture in another size',
  'post.card.binding_values.thumbnail_image_x_large': 'the picture in another size',
  'user.profile_image_shape': 'a round picture, or a square one',
};

const envelope: Platform['envelope'] = {
  'body.__typename': 'tells a post from a tombstone',
  'body.tombstone.text.text': 'the reason, by its wording',
  'body.tombstone.text.entities': 'a link to the help pages of X',
  'body.tombstone.text.rtl': 'the direction of the reason',
  // The rest is the oEmbed document of X, which Perch does not request.
  'body.url': 'of an oEmbed document',
  'body.author_name': 'of an oEmbed document',
  'body.author_url': 'of an oEmbed document',
  'body.html': 'of an oEmbed document',
  'body.width': 'of an oEmbed document',
  'body.height': 'of an oEmbed document',
  'body.type': 'of an oEmbed document',
  'body.cache_age': 'of an oEmbed document',
  'body.provider_name': 'of an oEmbed document',
  'body.provider_url': 'of an oEmbed document',
  'body.version': 'of an oEmbed document',
};

const provide = (body: unknown) =>
  createSyndication({
    http: createStubHttp(() => body),
    apiUrl: 'https://cdn.syndication.example',
  });

const kinds: Kinds = {
  of: (member, value) => {
    if (member === 'user') return 'user';
    const isPost = member === 'post' || member === 'quoted_tweet' || member === 'parent';
    return isPost || value.__typename === 'Tweet' ? 'post' : null;
  },
  readers: {
    post: (post) =>
      askProvider<'post'>(provide({ __typename: 'Tweet', ...post }), {
        kind: 'post',
        post: { platform: 'x', handle: null, id: '20' },
        thread: true,
        replies: 'off',
      }),
  },
};

const word = (string_value: string) => ({ string_value });
const image = (name: string) => ({
  image_value: { url: `https://pbs.example/${name}`, alt: name },
});
const page = { title: word('A'), description: word('B'), card_url: word('https://t.co/a') };
const run = (start: number, end: number) => ({ indices: [start, end] });

const samples: readonly (readonly [string, Json])[] = [
  [
    'post',
    syndicationPost('20', {
      text: 'See https://t.co/a by @mira #heron $ABC https://t.co/m',
      entities: {
        urls: [{ ...run(4, 18), url: 'https://t.co/a', expanded_url: 'https://a.example/' }],
        user_mentions: [{ ...run(22, 27), screen_name: 'mira' }],
        hashtags: [{ ...run(28, 34), text: 'heron' }],
        symbols: [{ ...run(35, 39), text: 'ABC' }],
        media: [{ ...run(40, 54), url: 'https://t.co/m' }],
      },
      user: syndicationUser('mira', { verified_type: 'Business' }),
      reply_count: 1,
      retweet_count: 2,
      possibly_sensitive: true,
      in_reply_to_screen_name: 'tove_ek',
      in_reply_to_status_id_str: '19',
      parent: syndicationPost('19'),
      quoted_tweet: syndicationPost('18'),
      note_tweet: { id: '1' },
      article: {
        rest_id: '7',
        title: 'Herons',
        preview_text: 'Of the mill',
        cover_media: { media_info: { original_img_url: 'https://pbs.example/c' } },
      },
      card: {
        name: 'summary_large_image',
        url: 'https://t.co/a',
        binding_values: {
          ...page,
          domain: word('www.a.example'),
          vanity_url: word('a.example'),
          photo_image_full_size_large: image('1'),
        },
      },
    }),
  ],
  [
    'post',
    syndicationPost('21', {
      entities: null,
      text: 'A picture https://t.co/m',
      mediaDetails: [
        {
          type: 'video',
          media_url_https: 'https://pbs.example/v.jpg',
          ext_alt_text: 'A heron',
          original_info: { width: 4, height: 3 },
          video_info: {
            duration_millis: 3500,
            variants: [{ url: 'https://video.example/1', content_type: 'video/mp4', bitrate: 1 }],
          },
          indices: [10, 24],
          url: 'https://t.co/m',
        },
      ],
      user: syndicationUser('mira', { is_blue_verified: false, verified: true }),
      card: {
        name: 'player',
        binding_values: { ...page, domain: word('b'), player_image_large: image('3') },
      },
    }),
  ],
  [
    'post',
    syndicationPost('22', {
      card: {
        name: 'summary',
        url: 'https://t.co/a',
        binding_values: { title: word('A'), summary_photo_image_large: image('2') },
      },
    }),
  ],
  [
    'post',
    syndicationPost('23', {
      card: { name: 'summary', binding_values: { ...page, thumbnail_image_large: image('4') } },
    }),
  ],
  [
    'post',
    syndicationPost('24', {
      card: { name: 'summary', binding_values: { ...page, thumbnail_image: image('5') } },
    }),
  ],
  [
    'post',
    syndicationPost('25', {
      card: {
        name: 'poll4choice_text_only',
        binding_values: {
          ...Object.fromEntries(
            [1, 2, 3, 4].flatMap((number) => [
              [`choice${number}_label`, word(`Choice ${number}`)],
              [`choice${number}_count`, word(`${number}`)],
            ]),
          ),
          end_datetime_utc: word('2026-01-01T00:00:00Z'),
        },
      },
    }),
  ],
];

function shape(kind: string, value: unknown): void {
  const post = kind === 'post' ? parsePost(value) : null;
  if (post === null) return;
  shapePost(post);
  parsePost(post.parent);
}

/** Description of the syndication payloads. */
export const syndicationMembers: Platform = { kinds, samples, shape, leftOut, envelope };
