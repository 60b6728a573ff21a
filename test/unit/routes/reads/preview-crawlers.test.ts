import { describe, expect, it } from 'vitest';
import { isPreviewCrawler } from '../../../../src/routes/reads/preview-crawlers.ts';

const chrome =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const webview =
  'Mozilla/5.0 (Linux; Android 10; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/80.0.3987.87 Mobile Safari/537.36';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';

it.each([
  'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Slackbot 1.0 (+https://api.slack.com/robots)',
  'Slack-ImgProxy (+https://api.slack.com/robots)',
  'TelegramBot (like TwitterBot)',
  'WhatsApp/2.23.20.0 A',
  'WhatsApp/2',
  'WhatsApp',
  'WhatsApp/2 (compatible; AnytypeBot/1.0; +https://anytype.io/bot)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'facebookexternalhit/1.1;line-poker/1.0',
  'facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
  'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
  'Twitterbot/1.0',
  'Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)',
  'http.rb/5.1.1 (Mastodon/4.2.1; +https://mastodon.social/)',
  'Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.social/)',
  'Mozilla/5.0 (compatible; SummalyBot/5.2.0)',
  'Pleroma 2.6.0; https://pleroma.example <admin@pleroma.example>',
  'Synapse (bot; +https://github.com/matrix-org/synapse)',
  'Mozilla/5.0 (compatible; January/1.0; +https://gitlab.insrt.uk/revolt/january)',
  'Mozilla/5.0 (compatible; ZulipURLPreview/11.2; +https://zulip.example)',
  'Mattermost-Bot/1.0',
  `${chrome} Rocket.Chat/4.2.0`,
  'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
  'GoogleMessages',
  'Mozilla/5.0 Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)',
  'Viber/13.2.0.8',
  'Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots',
  'Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)',
  'Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)',
  'Pinterest/0.2 (+https://www.pinterest.com/bot.html)',
  'Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)',
  'Discourse Forum Onebox v2.4.0.beta8',
  'XenForo/2.x (https://forum.example)',
  'Nextcloud-Server-Crawler/32.0.0',
  'Nextcloud Server Crawler',
  'WordPress/6.8.2; https://blog.example',
  'WordPress.com; https://blog.example',
  'Ghost/5.82.2+moya (https://github.com/TryGhost/Ghost)',
  'Mozilla/5.0 (compatible; Ghost/5.0; +https://ghost.org/)',
  'Drupal/11.1.5 (+https://www.drupal.org/) GuzzleHttp/7',
  'Drupal (+http://drupal.org/)',
  'MoodleBot/4.5 (+https://moodle.example)',
  'Citoid (Wikimedia tool; learn more at https://www.mediawiki.org/wiki/Citoid)',
  'Iframely/1.3.1 (+https://iframely.com/docs/about)',
  'Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)',
])('a crawler of link previews is %j', (userAgent) => {
  expect(isPreviewCrawler(userAgent)).toBe(true);
});

describe('a client that is not a crawler of link previews', () => {
  it.each([
    undefined,
    '',
    chrome,
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0',
    `${webview} Viber/13.2.0.8`,
    `${webview} [Pinterest/Android]`,
    `${iphone} [LinkedInApp]/9.1`,
    `${iphone} [FBAN/FBIOS;FBAV/400.0.0.37.76]`,
    `${iphone} Twitter for iPhone/10.5`,
    `${iphone} Snapchat/12.0 (like Safari/8615)`,
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Rocket.Chat/3.9.0 Chrome/108.0 Electron/22.0 Safari/537.36',
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) discord/1.0.9 Chrome/108.0 Electron/22.0 Safari/537.36',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko; Applebot/0.1; +http://www.apple.com/go/applebot)',
    'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
    'Mozilla/5.0 (compatible; GPTBot/1.1; +https://openai.com/gptbot)',
    'aioviber/1.0',
    'Mozilla/5.0 (compatible; Ghost/1.0)',
    'wp-iphone/24.0 WordPress/24.0',
    'DrupalConsole/1.0',
    'curl/8.4.0',
    'node',
  ])('is %j', (userAgent) => {
    expect(isPreviewCrawler(userAgent)).toBe(false);
  });

  it('has the name of a crawler only beyond the part that is searched', () => {
    expect(isPreviewCrawler(`${'x'.repeat(1024)} Twitterbot/1.0`)).toBe(false);
    expect(isPreviewCrawler('http.rb/'.repeat(1_000_000))).toBe(false);
    expect(isPreviewCrawler(' rocket.chat/ '.repeat(1_000_000))).toBe(false);
  });
});
