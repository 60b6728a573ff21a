import { makeTweet } from './x-export.ts';

/*
 * Samples of records with all members that X exports are known to contain, and the members that the archive leaves out.
 * Members and names of files are those of `data/README.txt` and `data/manifest.js`.
 */

const media = {
  expanded_url: 'https://x.example/wren/status/20/photo/1',
  indices: ['46', '62'],
  url: 'https://t.co/pic1',
  media_url: 'http://pictures.example/1.jpg',
  id_str: '500',
  id: '500',
  media_url_https: 'https://pictures.example/1.jpg',
  source_status_id: '600',
  source_status_id_str: '600',
  source_user_id: '700',
  source_user_id_str: '700',
  sizes: {
    thumb: { w: '150', h: '150', resize: 'crop' },
    small: { w: '680', h: '383', resize: 'fit' },
    medium: { w: '1200', h: '675', resize: 'fit' },
    large: { w: '2048', h: '1152', resize: 'fit' },
  },
  type: 'video',
  display_url: 'pic.example/1',
  ext_alt_text: 'A heron',
  video_info: {
    aspect_ratio: ['16', '9'],
    duration_millis: '12500',
    variants: [
      { bitrate: '832000', content_type: 'video/mp4', url: 'https://pictures.example/1.mp4' },
    ],
  },
  additional_media_info: { monetizable: false, title: 'Herons' },
};

const { tweet } = makeTweet('1841206275088290279', {
  full_text: '@heron see https://t.co/link1 #tide $SEA and this https://t.co/pic1',
  entities: {
    urls: [
      {
        url: 'https://t.co/link1',
        expanded_url: 'https://pages.example/1',
        display_url: 'pages.example/1',
        indices: ['11', '29'],
      },
    ],
    user_mentions: [
      { name: 'Heron', screen_name: 'heron', indices: ['0', '6'], id_str: '9', id: '9' },
    ],
    hashtags: [{ text: 'tide', indices: ['30', '35'] }],
    symbols: [{ text: 'SEA', indices: ['36', '40'] }],
    media: [media],
  },
  extended_entities: { media: [media] },
  in_reply_to_status_id: '800',
  in_reply_to_status_id_str: '800',
  in_reply_to_user_id: '9',
  in_reply_to_user_id_str: '9',
  in_reply_to_screen_name: 'heron',
  possibly_sensitive: true,
  coordinates: { type: 'Point', coordinates: ['1.5', '2.5'] },
  geo: { type: 'Point', coordinates: ['2.5', '1.5'] },
  contributors: ['9'],
  withheld_copyright: true,
  withheld_in_countries: ['FR'],
  community_id: '77',
  community_id_str: '77',
  scopes: { followers: false },
});

/** Records by the name of their file. */
export const samples: Readonly<Record<string, object>> = {
  tweets: { tweet },
  account: {
    account: {
      email: 'wren@post.example',
      createdVia: 'web',
      username: 'Wren_Example',
      accountId: '1001',
      createdAt: '2011-05-01T08:30:00.000Z',
      accountDisplayName: 'Wren & Co',
    },
  },
  profile: {
    profile: {
      description: { bio: 'Small bird', website: 'https://wren.example/', location: 'A hedge' },
      avatarMediaUrl: 'https://pictures.example/wren.jpg',
      headerMediaUrl: 'https://pictures.example/header',
    },
  },
  follower: {
    follower: { accountId: '2001', userLink: 'https://x.example/intent/user?user_id=2001' },
  },
  following: {
    following: { accountId: '2002', userLink: 'https://x.example/intent/user?user_id=2002' },
  },
  'protected-history': {
    protectedHistory: { protectedAt: '2026-01-01T00:00:00.000Z', action: 'Protect' },
  },
  'note-tweet': {
    noteTweet: {
      noteTweetId: '5',
      createdAt: '2024-10-01T19:59:18.000Z',
      updatedAt: '2024-10-01T19:59:18.000Z',
      lifecycle: { value: '1', name: 'Active' },
      core: {
        text: 'see https://t.co/link2 #tide $SEA and this whole text',
        urls: [{ shortUrl: 'https://t.co/link2', expandedUrl: 'https://pages.example/2' }],
        mentions: [{ screenName: 'heron', fromIndex: '0', toIndex: '6' }],
        hashtags: [{ text: 'tide' }],
        cashtags: [{ text: 'SEA' }],
        styletags: [{ styletypes: ['bold'], fromIndex: '0', toIndex: '3' }],
      },
    },
  },
};

const repeated = 'the same fact is in another member';
const position = 'a position that does not fit the text is searched for';
const unknownUse = 'Perch has no member for this fact';

/** Members that are left out, with the reason. Names of members cover the members below them. */
export const leftOut: Readonly<Record<string, string>> = {
  'tweets.tweet.edit_info.initial.editTweetIds[0]': 'a post with one version is not edited',
  'tweets.tweet.edit_info.initial.isEditEligible': 'state of the account that made the export',
  'tweets.tweet.retweeted': 'state of the account that made the export',
  'tweets.tweet.favorited': 'state of the account that made the export',
  'tweets.tweet.display_text_range': 'Perch shows the whole text',
  'tweets.tweet.truncated': 'decides only whether a text that ends with an ellipsis is complete',
  'tweets.tweet.id': repeated,
  'tweets.tweet.in_reply_to_status_id': repeated,
  'tweets.tweet.in_reply_to_user_id': repeated,
  'tweets.tweet.in_reply_to_user_id_str': 'the handle of the account is in the export',
  'tweets.tweet.community_id': repeated,
  'tweets.tweet.coordinates': unknownUse,
  'tweets.tweet.geo': unknownUse,
  'tweets.tweet.contributors': unknownUse,
  'tweets.tweet.withheld_copyright': unknownUse,
  'tweets.tweet.withheld_in_countries': unknownUse,
  'tweets.tweet.scopes': unknownUse,
  'tweets.tweet.entities.urls[0].display_url': 'Perch shows the full URL',
  'tweets.tweet.entities.urls[0].indices': position,
  'tweets.tweet.entities.user_mentions[0].name': 'Perch shows the handle',
  'tweets.tweet.entities.user_mentions[0].id': 'Perch links to the handle',
  'tweets.tweet.entities.user_mentions[0].id_str': 'Perch links to the handle',
  'tweets.tweet.entities.user_mentions[0].indices': position,
  'tweets.tweet.entities.hashtags[0].indices': position,
  'tweets.tweet.entities.symbols[0].indices': position,
  ...Object.fromEntries(
    Object.keys(media)
      .filter((name) => name !== 'url')
      .map((name) => [`tweets.tweet.entities.media[0].${name}`, 'extended_entities has all media']),
  ),
  'tweets.tweet.extended_entities.media[0].expanded_url': 'page of the post itself',
  'tweets.tweet.extended_entities.media[0].display_url': 'page of the post itself',
  'tweets.tweet.extended_entities.media[0].indices': position,
  'tweets.tweet.extended_entities.media[0].url': 'entities has the same short link',
  'tweets.tweet.extended_entities.media[0].media_url': repeated,
  'tweets.tweet.extended_entities.media[0].id': unknownUse,
  'tweets.tweet.extended_entities.media[0].id_str': unknownUse,
  'tweets.tweet.extended_entities.media[0].source_status_id': unknownUse,
  'tweets.tweet.extended_entities.media[0].source_status_id_str': unknownUse,
  'tweets.tweet.extended_entities.media[0].source_user_id': unknownUse,
  'tweets.tweet.extended_entities.media[0].source_user_id_str': unknownUse,
  'tweets.tweet.extended_entities.media[0].sizes.thumb': 'Perch has the size of the largest file',
  'tweets.tweet.extended_entities.media[0].sizes.small': 'Perch has the size of the largest file',
  'tweets.tweet.extended_entities.media[0].sizes.medium': 'Perch has the size of the largest file',
  'tweets.tweet.extended_entities.media[0].sizes.large.resize': unknownUse,
  'tweets.tweet.extended_entities.media[0].type': 'decides only between a video and a GIF',
  'tweets.tweet.extended_entities.media[0].video_info.aspect_ratio': 'follows from the size',
  'tweets.tweet.extended_entities.media[0].additional_media_info': unknownUse,
  'account.account.email': 'private',
  'account.account.createdVia': unknownUse,
  'follower.follower.userLink': 'follows from the id',
  'following.following.userLink': 'follows from the id',
  'protected-history.protectedHistory.protectedAt': 'decides only which change is the newest',
  'note-tweet.noteTweet.noteTweetId': 'not the id of a post',
  'note-tweet.noteTweet.updatedAt': 'the post has its own time',
  'note-tweet.noteTweet.lifecycle': 'deleted texts are in another file',
  'note-tweet.noteTweet.core.mentions': 'found in the text',
  'note-tweet.noteTweet.core.hashtags': 'found in the text',
  'note-tweet.noteTweet.core.cashtags': 'found in the text',
  'note-tweet.noteTweet.core.styletags': unknownUse,
};

/** Names of all other files in the folder `data`, without `.js`. */
export const otherFiles: readonly string[] = [
  ...['account-creation-ip', 'account-label', 'account-suspension', 'account-timezone'],
  ...['ad-engagements', 'ad-impressions', 'ad-mobile-conversions-attributed'],
  ...['ad-mobile-conversions-unattributed', 'ad-online-conversions-attributed'],
  ...['ad-online-conversions-unattributed', 'ads-revenue-sharing', 'ageinfo', 'app', 'article'],
  ...['article-metadata', 'audio-video-calls-in-dm', 'audio-video-calls-in-dm-recipient-sessions'],
  ...['block', 'branch-links', 'catalog-item', 'commerce-catalog', 'community-note'],
  ...['community-note-rating', 'community-note-tombstone', 'connected-application', 'contact'],
  ...['deleted-note-tweet', 'deleted-tweet-headers', 'deleted-tweets', 'device-token'],
  ...['direct-message-group-headers', 'direct-message-headers', 'direct-message-mute'],
  ...['direct-messages', 'direct-messages-group', 'email-address-change', 'grok-chat-item'],
  ...['ip-audit', 'key-registry', 'like', 'lists-created', 'lists-member', 'lists-subscribed'],
  ...['message-event', 'moment', 'mute', 'ni-devices', 'periscope-account-information'],
  ...['periscope-ban-information', 'periscope-broadcast-metadata', 'periscope-followers'],
  ...['periscope-comments-made-by-user', 'periscope-expired-broadcasts', 'personalization'],
  ...['periscope-profile-description', 'phone-number', 'product-drop', 'product-set'],
  ...['professional-data', 'reply-prompt', 'saved-search', 'screen-name-change', 'shop-module'],
  ...['shopify-account', 'smartblock', 'spaces-metadata', 'sso', 'tweet-headers', 'tweetdeck'],
  ...['twitter-article', 'twitter-article-metadata', 'twitter-circle', 'twitter-circle-member'],
  ...['twitter-circle-tweet', 'twitter-shop', 'user-link-clicks', 'verified'],
  ...['verified-organization', 'like-part1', 'direct-messages-part12'],
];

/** Names of the folders of media that belong to no imported post. */
export const mediaFolders: readonly string[] = [
  ...['deleted_tweets_media', 'direct_messages_media', 'direct_messages_group_media'],
  ...['grok_chat_media', 'moments_media', 'moments_tweets_media', 'spaces_media'],
  ...['twitter_article_media', 'twitter_circle_tweet_media'],
];
