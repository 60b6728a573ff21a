/**
 * Crawlers of link previews: a pattern for `User-Agent`, and the owner. A leading `^` excludes an
 * app's built-in browser, whose `User-Agent` does not start with the name. No search engines or AI
 * training.
 */
const crawlers: readonly (readonly [pattern: RegExp, whose: string])[] = [
  [/discordbot/i, 'Discord'],
  [/slackbot/i, 'Slack: Slackbot-LinkExpanding, and Slackbot'],
  [/slack-imgproxy/i, 'Slack, for pictures'],
  [/telegrambot/i, 'Telegram'],
  [/^whatsapp/i, 'WhatsApp; Signal and Anytype call themselves the same'],
  [/facebookexternalhit/i, 'Facebook, Instagram, Threads, Messenger; iMessage, LINE and KakaoTalk'],
  [/facebot/i, 'Facebook; iMessage'],
  [/kakaotalk-scrap/i, 'KakaoTalk'],
  [/linkedinbot/i, 'LinkedIn'],
  [/twitterbot/i, 'X; iMessage'],
  [/bluesky cardyb/i, 'Bluesky'],
  [/http\.rb\/[\d.]{1,20} \(mastodon\//i, 'Mastodon up to 4.2'],
  [/^mastodon\/\S* \(http\.rb\//i, 'Mastodon'],
  [/summalybot/i, 'Misskey'],
  [/^(?:pleroma|akkoma|friendica|misskey)[ /]/i, 'servers of the fediverse by those names'],
  [/^lemmy\//i, 'Lemmy'],
  [/^synapse/i, 'Matrix: the home server Synapse'],
  [/matrix-media-repo/i, 'Matrix: a media server'],
  [/revolt\/january/i, 'Revolt'],
  [/zulipurlpreview/i, 'Zulip'],
  [/mattermost-bot/i, 'Mattermost'],
  [/rocket\.chat\/[^\s/]*$/i, 'Rocket.Chat; its desktop app names Electron after it'],
  [/skypeuripreview/i, 'Microsoft Teams and Skype'],
  [/googlemessages/i, 'Google Messages'],
  [/developers\.google\.com\/\+\/web\/snippet/i, 'Google Chat and other products of Google'],
  [/^viber/i, 'Viber'],
  [/snap url preview service/i, 'Snapchat'],
  [/redditbot/i, 'Reddit'],
  [/pinterestbot/i, 'Pinterest'],
  [/^pinterest\/0\./i, 'Pinterest, for pins'],
  [/vkshare/i, 'VK'],
  [/odklbot/i, 'Odnoklassniki'],
  [/quora link preview/i, 'Quora'],
  [/discourse forum onebox/i, 'Discourse'],
  [/^xenforo\//i, 'XenForo'],
  // Programs for web sites that look for the oEmbed link or the Open Graph tags only in HTML.
  [/^wordpress(?:\.com)?[/;]/i, 'WordPress'],
  [/^ghost\//i, 'Ghost'],
  [/compatible; ghost\/[\d.]{1,20}; \+https:\/\/ghost\.org/i, 'Ghost, for embeds and bookmarks'],
  [/^drupal[/ ]/i, 'Drupal'],
  [/^moodlebot/i, 'Moodle'],
  [/^citoid[/ ]/i, 'MediaWiki, for citations'],
  [/nextcloud[ -]server[ -]crawler/i, 'Nextcloud'],
  [/iframely/i, 'Iframely, which unfurls links for others'],
  [/embedly/i, 'Embedly, which unfurls links for others'],
];

const maxLength = 1024;

export function isPreviewCrawler(userAgent: string | undefined): boolean {
  const name = userAgent?.slice(0, maxLength);
  return name !== undefined && crawlers.some(([pattern]) => pattern.test(name));
}

/** Names in `crawlers` for `robots.txt` (RFC 9309 §2.2.1), if only letters and hyphens. */
export const previewProducts: readonly string[] = crawlers.flatMap(
  ([{ source }]) => /^\^?([a-z-]+)$/.exec(source)?.[1] ?? [],
);
