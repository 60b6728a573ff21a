/**
 * The crawlers that make previews of links which people share, by their part of `User-Agent`
 * (RFC 9110 §10.1.5; an expression, any case). A name is anchored where an app's own browser carries
 * it too, as Viber's and Pinterest's do: people get what every reader gets. Crawlers that index or
 * train (Googlebot, Applebot, meta-externalagent) are not here.
 */
const crawlers: readonly (readonly [pattern: string, whose: string])[] = [
  ['discordbot', 'Discord'],
  ['slackbot', 'Slack: Slackbot-LinkExpanding, and Slackbot'],
  ['slack-imgproxy', 'Slack, for pictures'],
  ['telegrambot', 'Telegram'],
  ['^whatsapp', 'WhatsApp; Signal and Anytype call themselves the same'],
  ['facebookexternalhit', 'Facebook, Instagram, Threads, Messenger; iMessage, LINE and KakaoTalk'],
  ['facebot', 'Facebook; iMessage'],
  ['kakaotalk-scrap', 'KakaoTalk'],
  ['linkedinbot', 'LinkedIn'],
  ['twitterbot', 'X; iMessage'],
  ['bluesky cardyb', 'Bluesky'],
  ['http\\.rb/\\S* \\(mastodon/', 'Mastodon up to 4.2'],
  ['^mastodon/\\S* \\(http\\.rb/', 'Mastodon'],
  ['summalybot', 'Misskey'],
  ['^(?:pleroma|akkoma|friendica|misskey)[ /]', 'servers of the fediverse by those names'],
  ['^lemmy/', 'Lemmy'],
  ['^synapse', 'Matrix: the home server Synapse'],
  ['matrix-media-repo', 'Matrix: a media server'],
  ['revolt/january', 'Revolt'],
  ['zulipurlpreview', 'Zulip'],
  ['mattermost-bot', 'Mattermost'],
  ['rocket\\.chat/\\S*$', 'Rocket.Chat; its desktop app names Electron after it'],
  ['skypeuripreview', 'Microsoft Teams and Skype'],
  ['googlemessages', 'Google Messages'],
  ['developers\\.google\\.com/\\+/web/snippet', 'Google Chat and other products of Google'],
  ['^viber', 'Viber'],
  ['snap url preview service', 'Snapchat'],
  ['redditbot', 'Reddit'],
  ['pinterestbot', 'Pinterest'],
  ['^pinterest/0\\.', 'Pinterest, for pins'],
  ['vkshare', 'VK'],
  ['odklbot', 'Odnoklassniki'],
  ['quora link preview', 'Quora'],
  ['discourse forum onebox', 'Discourse'],
  ['^xenforo/', 'XenForo'],
  ['nextcloud[ -]server[ -]crawler', 'Nextcloud'],
  ['iframely', 'Iframely, which unfurls links for others'],
  ['embedly', 'Embedly, which unfurls links for others'],
];

const known = new RegExp(crawlers.map(([pattern]) => pattern).join('|'), 'i');

/** Real values are a fifth of this; a name that stands further back does not count. */
const maxLength = 1024;

/** Tells whether a `User-Agent` names a known crawler of link previews; browsers are none. */
export function isPreviewCrawler(userAgent: string | undefined): boolean {
  return userAgent !== undefined && known.test(userAgent.slice(0, maxLength));
}

/** The crawlers that a file of rules can name (RFC 9309 §2.2.1): those that are told apart by a plain word. */
export const previewProducts: readonly string[] = crawlers.flatMap(
  ([pattern]) => /^\^?([a-z-]+)$/.exec(pattern)?.[1] ?? [],
);
