/** Words by which FxTwitter recognizes a crawler of link previews in `User-Agent`. Crawlers do not receive JSON. */
const words = [
  'discordbot',
  'telegrambot',
  'facebook',
  'whatsapp',
  'firefox/92',
  'vkshare',
  'revoltchat',
  'preview',
  'iframely',
] as const;

export const forbiddenInUserAgent = (userAgent: string): string | undefined =>
  words.find((word) => userAgent.toLowerCase().includes(word));
